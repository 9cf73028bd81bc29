// Formatters for money and time in the language of the page.

export const text = JSON.parse(document.getElementById('texts').textContent);

const russian = document.documentElement.lang === 'ru';

// formatRubles formats an integer number of kopecks as rubles, without floating-point arithmetic.
export function formatRubles(kopecks) {
  const sign = kopecks < 0 ? '−' : '';
  const absolute = Math.abs(kopecks);
  const whole = String(Math.trunc(absolute / 100)).replace(/\B(?=(\d{3})+$)/g, russian ? '\u00a0' : ',');
  return `${sign}${whole}${russian ? ',' : '.'}${String(absolute % 100).padStart(2, '0')}\u00a0₽`;
}

// formatWholeRubles formats kopecks as rubles and omits zero kopecks.
export function formatWholeRubles(kopecks) {
  return kopecks % 100 ? formatRubles(kopecks) : formatRubles(kopecks).replace(/[.,]00(?=\u00a0₽$)/, '');
}

// formatTime returns a time in UTC, such as 2026-03-03 12:10:00 UTC.
export function formatTime(iso) {
  return new Date(iso).toISOString().replace('T', ' ').slice(0, 19) + ' UTC';
}

// formatShortTime returns the label of a time on an axis of span seconds.
export function formatShortTime(iso, span) {
  const at = new Date(iso).toISOString();
  if (span > 2 * 86400) return at.slice(5, 10);
  return at.slice(11, span > 600 ? 16 : 19);
}

// formatHours returns a duration as hours, or as days from 72 hours.
export function formatHours(hours) {
  const n = hours < 10 ? hours.toFixed(1) : Math.round(hours);
  const shown = hours >= 72 ? Math.round(hours / 24) : n;
  return `${String(shown).replace('.', russian ? ',' : '.')}\u00a0${hours >= 72 ? text.days : text.hours}`;
}
