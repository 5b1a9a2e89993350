// News for open pages. One stream per tab that can be seen; without it the page looks again every five seconds.
// A message is only an id: the parts that listen for it fetch themselves through an ordinary view.

const LOOK_AGAIN = 5000;
const RETRY_MOST = 60000;
const FIRST = '#inbox';

class Stream extends EventTarget {
  constructor(url) {
    super();
    this.url = url;
    this.names = new Set();
    this.wait = LOOK_AGAIN;
    this.relay = (event) => this.dispatchEvent(new MessageEvent(event.type, { data: event.data }));
    // Browsers allow six connections to a site: a tab in the background gives its own back.
    this.turn = () => (document.hidden ? this.sleep() : this.wake());
    document.addEventListener('visibilitychange', this.turn);
    this.timer = setInterval(() => this.look(), LOOK_AGAIN);
    if (!document.hidden) this.connect();
  }

  get readyState() { return this.open ? 1 : 0; }

  addEventListener(name, listener, options) {
    super.addEventListener(name, listener, options);
    if (!this.names.has(name)) {
      this.names.add(name);
      this.source?.addEventListener(name, this.relay);
    }
  }

  connect() {
    const source = new EventSource(this.url);
    this.source = source;
    for (const name of this.names) source.addEventListener(name, this.relay);
    source.onopen = () => {
      this.open = true;
      this.wait = LOOK_AGAIN;
      document.documentElement.dataset.live = 'stream';
      // Whatever happened between the making of the page and this moment was told to nobody.
      this.tick();
    };
    source.onerror = () => {
      this.open = false;
      document.documentElement.dataset.live = 'polling';
      if (source.readyState === EventSource.CLOSED) this.later();
    };
  }

  later() {
    clearTimeout(this.again);
    this.again = setTimeout(() => document.hidden || this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, RETRY_MOST);
  }

  // Every five seconds without the stream; with it once a minute, since a message may be lost on the way to it.
  look() {
    this.turns = (this.turns ?? 0) + 1;
    if (!document.hidden && (!this.open || this.turns % 12 === 0)) this.tick();
  }

  tick() { this.dispatchEvent(new MessageEvent('tick')); }

  sleep() {
    clearTimeout(this.again);
    this.source?.close();
    this.open = false;
  }

  wake() { this.sleep(); this.connect(); }

  close() {
    document.removeEventListener('visibilitychange', this.turn);
    clearInterval(this.timer);
    this.sleep();
  }
}

if (window.htmx) htmx.createEventSource = (url) => new Stream(url);

const speak = (words) => { document.querySelector('#spoken').textContent = words; };
const versions = (root) => new Map([...root.querySelectorAll('.rows > li[id]')].map((row) => [row.id, row.dataset.version]));

let before = null;
let force = false;

// A part that is fetched anew keeps the reader's place in it: the link that has the focus, the details that are open.
let focused = null;
const opened = new Set();
const changed = new Set();
document.addEventListener('htmx:beforeSwap', (event) => {
  const part = event.detail.target;
  focused = part.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  for (const details of part.querySelectorAll('details[id][open]')) opened.add(details.id);
});
document.addEventListener('htmx:afterSwap', () => {
  // Before anything else can happen: a key pressed while nothing has the focus would start from the first row.
  if (focused && document.activeElement === document.body) {
    document.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
  focused = null;
});
document.addEventListener('htmx:afterSettle', () => {
  // Only now: while it settles, htmx sets the attributes of elements with an id once more.
  for (const id of changed) document.getElementById(id)?.classList.add('fresh');
  for (const id of opened) document.getElementById(id)?.setAttribute('open', '');
  changed.clear();
  opened.clear();
});

// The inbox: new rows wait behind a button while a row has the focus, so that nothing moves under a hand.
document.addEventListener('htmx:beforeSwap', (event) => {
  const inbox = event.detail.target;
  if (!inbox.matches(FIRST) || !event.detail.shouldSwap) return;
  before = versions(inbox);
  const coming = versions(new DOMParser().parseFromString(event.detail.serverResponse, 'text/html'));
  const fresh = [...coming.keys()].filter((id) => !before.has(id)).length;
  if (fresh) speak(`${fresh} new`);
  if (fresh && !force && document.activeElement?.closest(`${FIRST} .rows > li`)) {
    event.detail.shouldSwap = false;
    waiting(inbox, fresh);
  }
});

function waiting(inbox, count) {
  let bar = document.querySelector('.news');
  if (!bar) {
    bar = document.createElement('p');
    bar.className = 'news';
    bar.append(document.createElement('button'));
    bar.firstChild.className = 'button main';
    bar.firstChild.addEventListener('click', () => { force = true; bar.remove(); htmx.trigger(inbox, 'sse:tick'); });
    inbox.after(bar);
  }
  bar.firstChild.textContent = `${count} new`;
}

document.addEventListener('htmx:afterSwap', (event) => {
  const inbox = event.detail.target;
  if (!inbox.matches(FIRST)) return;
  force = false;
  for (const [id, version] of versions(inbox)) {
    if (before && before.get(id) !== version) changed.add(id);
  }
});

document.addEventListener('htmx:oobAfterSwap', (event) => {
  if (!event.detail.target.matches('#spoken, #news, #tabs, #waiting, #last, #foot-count')) changed.add(event.detail.target.id);
});

// Signed out, or no longer a member: say so once, and take nothing away from the page.
document.addEventListener('htmx:responseError', (event) => {
  const kept = event.detail.elt.matches('#inbox, #news, #run, #runs, #attention');
  if (!kept || ![401, 403, 404].includes(event.detail.xhr.status) || document.querySelector('#ended')) return;
  const note = document.createElement('p');
  note.id = 'ended';
  note.className = 'notice';
  note.setAttribute('role', 'alert');
  const link = document.createElement('a');
  link.href = location.href;
  link.textContent = 'Open it again';
  note.append('This page is no longer kept up to date: you are signed out, or may not see it any more. ', link, '.');
  document.querySelector('#page').prepend(note);
});
