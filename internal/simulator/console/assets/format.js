// Formats money and time in the language of the page.

export const lang = document.documentElement.lang;
export const text = JSON.parse(document.getElementById('texts').textContent);

const russian = lang === 'ru';

// rubles formats kopecks with integer arithmetic.
export function rubles(kopecks) {
  const sign = kopecks < 0 ? '−' : '';
  const all = Math.abs(kopecks);
  const whole = String(Math.trunc(all / 100)).replace(/\B(?=(\d{3})+$)/g, russian ? '\u00a0' : ',');
  return `${sign}${whole}${russian ? ',' : '.'}${String(all % 100).padStart(2, '0')}\u00a0₽`;
}

// formatWholeRubles omits zero kopecks.
export function formatWholeRubles(kopecks) {
  return kopecks % 100 ? rubles(kopecks) : rubles(kopecks).replace(/[.,]00(?=\u00a0₽$)/, '');
}

// formatTime formats a time in UTC.
export function formatTime(iso) {
  return new Date(iso).toISOString().replace('T', ' ').slice(0, 19) + ' UTC';
}

// formatShortTime formats a time for a short axis or list.
export function formatShortTime(iso, span) {
  const at = new Date(iso).toISOString();
  if (span > 2 * 86400) return at.slice(5, 10);
  return at.slice(11, span > 600 ? 16 : 19);
}

// formatHours formats hours as hours or days.
export function formatHours(hours) {
  const n = hours < 10 ? hours.toFixed(1) : Math.round(hours);
  const shown = hours >= 72 ? Math.round(hours / 24) : n;
  return `${String(shown).replace('.', russian ? ',' : '.')}\u00a0${hours >= 72 ? text.days : text.hours}`;
}
