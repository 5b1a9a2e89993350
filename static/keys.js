// Keys that move the focus. No key decides. They can be turned off in the account menu.

const OFF = 'placet-keys-off';
const off = () => localStorage.getItem(OFF) === 'yes';
const typing = (element) => element.closest('input, textarea, select, [contenteditable]');
const rows = () => [...document.querySelectorAll('.rows .row, .table .what')];

function step(by) {
  const all = rows();
  if (!all.length) return follow(by > 0 ? 'j' : 'k');
  const here = all.indexOf(document.activeElement);
  const next = here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(here + by, 0), all.length - 1);
  all[next].focus();
}

function follow(key) { document.querySelector(`a[data-key="${key}"]`)?.click(); }

function edit() {
  const row = document.activeElement?.closest('.rows li[id] > .row:not(.settled)');
  if (row) location.assign(`${row.href}/edit`);
  else follow('e');
}

function pick() {
  const row = document.activeElement?.closest('.rows li');
  const box = row?.querySelector('.pick > input');
  if (box) box.click();
  else if (row) document.querySelector('#spoken').textContent = 'This one is answered on its own page.';
}

const focus = (selector) => document.querySelector(selector)?.focus();
const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  e: edit,
  x: pick,
  a: () => focus('button[data-key="a"]'),
  r: () => focus('button[data-key="r"]'),
  '/': () => focus('[data-search]'),
  '?': () => document.querySelector('#keys')?.showModal(),
};

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') return closeMenus();
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.querySelector('dialog[open]') || typing(event.target) || off() || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

function closeMenus(except) {
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (menu !== except) menu.open = false;
  }
}

document.addEventListener('click', (event) => closeMenus(event.target.closest('details.menu')));

for (const box of document.querySelectorAll('input[data-keys]')) {
  box.closest('[hidden]')?.removeAttribute('hidden');
  box.checked = !off();
  box.addEventListener('change', () => localStorage.setItem(OFF, box.checked ? 'no' : 'yes'));
}
