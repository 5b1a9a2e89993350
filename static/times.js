// Keeps the times on the page true, in the reader's zone; tells the server that zone, so that the next page starts right.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`placet_zone=${zone}`)) {
  document.cookie = `placet_zone=${zone}; path=/; max-age=31536000; samesite=lax${location.protocol === 'https:' ? '; secure' : ''}`;
}

// The server's clock counts, not this computer's.
const told = Date.parse(document.documentElement.dataset.now);
const skew = Number.isNaN(told) ? 0 : told - Date.now();
const now = () => new Date(Date.now() + skew);

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const dayOf = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' });
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const second = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

function span(seconds, short) {
  const whole = Math.max(0, Math.floor(seconds));
  const days = Math.floor(whole / DAY), hours = Math.floor((whole % DAY) / HOUR), minutes = Math.floor((whole % HOUR) / MINUTE);
  if (days) return days === 1 ? '1 day' : `${days} days`;
  if (hours) return short || !minutes ? `${hours} h` : `${hours} h ${minutes} min`;
  if (minutes >= 5 || (minutes && short)) return `${minutes} min`;
  const rest = whole % MINUTE;
  return minutes && rest ? `${minutes} min ${rest} s` : minutes ? `${minutes} min` : `${rest} s`;
}

function ago(when) {
  const passed = (now() - when) / 1000;
  if (passed < 5) return 'just now';
  return passed < 7 * DAY ? `${span(passed, true)} ago` : dayOf.format(when);
}

function at(when, format) {
  const clock = format.format(when);
  return dayOf.format(when) === dayOf.format(now()) ? clock : `${dayOf.format(when)}, ${clock}`;
}

function shortest(when) {
  if (dayOf.format(when) === dayOf.format(now())) return hour.format(when);
  return Math.abs(when - now()) / 1000 < 6 * DAY ? `${weekday.format(when)} ${hour.format(when)}` : dayOf.format(when);
}

const KINDS = {
  when: shortest,
  at: (when) => at(when, hour),
  second: (when) => at(when, second),
  ago,
  left: (when) => span((when - now()) / 1000),
  brief: (when) => span((when - now()) / 1000, true),
  day: (when) => dayOf.format(when),
};

function keep() {
  for (const element of document.querySelectorAll('time[data-as]')) {
    const when = new Date(element.dateTime);
    const words = KINDS[element.dataset.as](when);
    if (element.textContent !== words) element.textContent = words;
    if (!element.dataset.told) {
      element.title = `${exact.format(when)}, ${zone}`;
      element.dataset.told = 'yes';
    }
  }
}

keep();
setInterval(keep, 1000);
document.addEventListener('htmx:afterSettle', keep);
