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
    this.timer = setInterval(() => this.open || document.hidden || this.tick(), LOOK_AGAIN);
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
      if (this.missed) this.tick();
      this.missed = false;
      document.documentElement.dataset.live = 'stream';
    };
    source.onerror = () => {
      this.open = false;
      this.missed = true;
      document.documentElement.dataset.live = 'polling';
      if (source.readyState === EventSource.CLOSED) this.later();
    };
  }

  later() {
    clearTimeout(this.again);
    this.again = setTimeout(() => document.hidden || this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, RETRY_MOST);
  }

  tick() { this.dispatchEvent(new MessageEvent('tick')); }

  sleep() {
    clearTimeout(this.again);
    this.source?.close();
    this.open = false;
    this.missed = true;
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

// The inbox: new rows wait behind a button while a row has the focus, so that nothing moves under a hand.
document.addEventListener('htmx:beforeSwap', (event) => {
  const inbox = event.detail.target;
  if (!inbox.matches(FIRST) || !event.detail.shouldSwap) return;
  before = versions(inbox);
  const coming = versions(new DOMParser().parseFromString(event.detail.serverResponse, 'text/html'));
  const fresh = [...coming.keys()].filter((id) => !before.has(id)).length;
  const held = document.activeElement?.closest(`${FIRST} .rows > li`);
  if (held && fresh && !force) {
    event.detail.shouldSwap = false;
    waiting(inbox, fresh);
    speak(`${fresh} new`);
  } else {
    inbox.dataset.held = held?.id ?? '';
    if (fresh) speak(`${fresh} new`);
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
    if (before && before.get(id) !== version) document.getElementById(id).classList.add('fresh');
  }
  const held = inbox.dataset.held ? document.getElementById(inbox.dataset.held) : null;
  held?.querySelector('a').focus({ preventScroll: true });
});

document.addEventListener('htmx:oobAfterSwap', (event) => {
  if (!event.detail.target.matches('#spoken, #news')) event.detail.target.classList.add('fresh');
});

// Signed out, or no longer a member: say so once, and take nothing away from the page.
document.addEventListener('htmx:responseError', (event) => {
  const kept = event.detail.elt.matches('#inbox, #news, #run, #runs');
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
