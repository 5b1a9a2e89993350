// The inbox: who looks at what, and which rows are selected, both kept while the list is fetched anew.

const LIST = '#inbox';
const boxes = () => [...document.querySelectorAll(`${LIST} .pick > input`)];
let picked = new Set();

document.addEventListener('htmx:beforeSwap', ({ detail: { target } }) => {
  if (target.matches(LIST)) picked = new Set(boxes().filter((box) => box.checked).map((box) => box.value));
});

document.addEventListener('htmx:afterSwap', ({ detail: { target } }) => {
  if (target.matches(LIST)) {
    for (const box of boxes()) box.checked = picked.has(box.value);
    count();
  }
  if (target.id === 'looks') look(target);
});

// What was heard of who looks goes into the rows, without fetching the list.
function look(heard) {
  const told = new Map([...heard.children].map((one) => [one.dataset.looks, one.innerHTML]));
  for (const place of document.querySelectorAll(`${LIST} [data-looks]`)) {
    const now = told.get(place.dataset.looks) ?? '';
    if (place.innerHTML !== now) place.innerHTML = now;
  }
}

function count() {
  const told = document.querySelector('[data-picked]');
  const many = boxes().filter((box) => box.checked).length;
  if (told) told.textContent = many ? `${many} selected` : 'Select what you want to answer together.';
}

document.addEventListener('change', (event) => { if (event.target.matches('.pick > input')) count(); });
document.addEventListener('reset', () => setTimeout(count));
