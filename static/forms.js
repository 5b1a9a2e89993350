// Forms: a verdict is sent once, however often it is clicked; filters are applied as they are chosen.

document.addEventListener('submit', (event) => {
  const form = event.target.closest('form[data-once]');
  if (!form) return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = 'yes';
  // After this turn: a disabled button would not be sent along.
  setTimeout(() => { for (const button of form.querySelectorAll('button')) button.setAttribute('aria-disabled', 'true'); });
});

// A page out of the browser's back store may be sent again; the server says what already happened.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll('form[data-sent]')) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll('button')) button.removeAttribute('aria-disabled');
  }
});

document.addEventListener('change', (event) => {
  if (event.target.matches('[data-redraw]')) {
    event.target.form.requestSubmit(event.target.closest('.line').querySelector('button[value="draw"]'));
  }
  const form = event.target.closest('form[data-narrow]');
  if (form && event.target.matches('select, input[type="date"]')) form.requestSubmit();
});

for (const button of document.querySelectorAll('[data-needless]')) button.hidden = true;
document.addEventListener('htmx:afterSwap', () => {
  for (const button of document.querySelectorAll('[data-needless]')) button.hidden = true;
});
