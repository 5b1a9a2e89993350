// The review page: what was typed outlives a page that is replaced, and a bar at the foot leads to the decision.

// A page that is replaced under its reader keeps what they typed: in its field or, where that is gone, in the comment.
const fields = () => [...document.querySelectorAll('#page :is(textarea, input:not([type]))[id]')];
let typed = [];

document.addEventListener('htmx:beforeSwap', (event) => {
  if (event.detail.target.id !== 'page' || !event.detail.shouldSwap) return;
  const active = document.activeElement;
  typed = fields()
    .filter((field) => field.value !== field.defaultValue)
    .map((field) => ({ id: field.id, value: field.value, active: field === active }));
});

document.addEventListener('htmx:afterSwap', (event) => {
  if (event.detail.target.id !== 'page') return;
  for (const { id, value, active } of typed) {
    const field = document.getElementById(id) ?? document.getElementById('remark');
    if (!field) continue;
    if (field.id !== id) document.querySelector('[data-kept]')?.removeAttribute('hidden');
    if (field.value !== value) field.value = field.value ? `${field.value}\n\n${value}` : value;
    if (active) field.focus({ preventScroll: true });
  }
  typed = [];
  watch();
});

// On a phone: not needed while the decision is in view.
function watch() {
  const decision = document.querySelector('#decision');
  const foot = document.querySelector('.foot-bar');
  if (decision && foot) new IntersectionObserver(([seen]) => { foot.hidden = seen.isIntersecting; }).observe(decision);
}
watch();
