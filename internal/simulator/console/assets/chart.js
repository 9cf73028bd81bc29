// Step chart of the balance over time.

import {formatRubles, formatShortTime, formatTime, formatWholeRubles, text} from './format.js';

const NS = 'http://www.w3.org/2000/svg';
const HEIGHT = 220, LEFT = 92, RIGHT = 16, TOP = 12, BOTTOM = 26;

function appendElement(name, attributes, parent) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  parent.append(node);
  return node;
}

// historySince returns the last span seconds of the history, or the whole history if span is 0. The first point is the
// balance at the start.
function historySince(history, span) {
  const points = history.map(p => ({at: Date.parse(p.at), kop: p.balance_kop}));
  const end = points[points.length - 1].at;
  if (!span) return points;
  const begin = end - span * 1000;
  const before = points.filter(p => p.at < begin).pop();
  const rest = points.filter(p => p.at >= begin);
  return before ? [{at: begin, kop: before.kop}, ...rest] : rest;
}

// ticks returns round values between low and high, in kopecks.
function ticks(low, high) {
  const minStep = (high - low) / 4, magnitude = 10 ** Math.floor(Math.log10(minStep));
  const step = [1, 2, 5, 10].map(n => n * magnitude).find(n => n >= minStep);
  const values = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) values.push(Math.round(at));
  return values;
}

export class Chart {
  constructor(container) {
    this.container = container;
    this.span = 86400;
    this.selected = null;
    container.addEventListener('pointermove', e => this.selectAt(e.clientX - container.getBoundingClientRect().left));
    container.addEventListener('pointerleave', () => { this.selected = null; this.renderCursor(); });
    container.addEventListener('keydown', e => this.moveCursor(e));
    new ResizeObserver(() => this.render()).observe(container);
  }

  update(history) {
    this.history = history;
    this.render();
  }

  render() {
    const width = this.container.clientWidth;
    if (!this.history || !this.history.length || !width) return;
    const points = this.points = historySince(this.history, this.span);
    const first = points[0].at, last = Math.max(points[points.length - 1].at, first + 1000);
    let low = Math.min(...points.map(p => p.kop)), high = Math.max(...points.map(p => p.kop));
    const padding = Math.max((high - low) * 0.08, 100);
    low -= padding; high += padding;
    this.x = at => LEFT + (at - first) / (last - first) * (width - LEFT - RIGHT);
    this.y = kop => TOP + (high - kop) / (high - low) * (HEIGHT - TOP - BOTTOM);
    const svg = document.createElementNS(NS, 'svg');
    svg.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute('role', 'img');
    const newest = points[points.length - 1];
    svg.setAttribute('aria-label', `${text.chart}: ${formatRubles(points[0].kop)} → ${formatRubles(newest.kop)}`);
    this.renderAxes(svg, width, low, high, first, last);
    const end = this.x(last);
    const segment = (p, n) => {
      const [x, y] = [this.x(p.at).toFixed(1), this.y(p.kop).toFixed(1)];
      return n ? `H${x}V${y}` : `M${x} ${y}`;
    };
    const line = points.map(segment).join('') + `H${end.toFixed(1)}`;
    appendElement('path', {class: 'area', d: `${line}V${HEIGHT - BOTTOM}H${this.x(first)}Z`}, svg);
    appendElement('path', {class: 'line', d: line}, svg);
    appendElement('circle', {class: 'point', cx: end, cy: this.y(points[points.length - 1].kop), r: 3.5}, svg);
    this.cursor = appendElement('g', {class: 'cursor'}, svg);
    this.container.replaceChildren(svg);
    this.renderCursor();
  }

  renderAxes(svg, width, low, high, first, last) {
    for (const kop of ticks(low, high)) {
      const y = this.y(kop);
      appendElement('line', {class: 'grid', x1: LEFT, x2: width - RIGHT, y1: y, y2: y}, svg);
      const label = appendElement('text', {class: 'tick', x: LEFT - 8, y: y + 4, 'text-anchor': 'end'}, svg);
      label.textContent = formatWholeRubles(kop);
    }
    const count = Math.max(Math.min(Math.floor((width - LEFT) / 110), 6), 1), span = (last - first) / 1000;
    for (let n = 0; n <= count; n++) {
      const at = first + (last - first) * n / count;
      const anchor = n === count ? 'end' : n ? 'middle' : 'start';
      const label = appendElement('text', {class: 'tick', x: this.x(at), y: HEIGHT - 6, 'text-anchor': anchor}, svg);
      label.textContent = formatShortTime(at, span);
    }
  }

  selectAt(x) {
    if (!this.points) return;
    let index = 0;
    this.points.forEach((p, n) => { if (this.x(p.at) <= x) index = n; });
    this.selected = index;
    this.renderCursor();
  }

  moveCursor(event) {
    const offset = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!offset || !this.points) return;
    event.preventDefault();
    this.selected = Math.min(Math.max((this.selected ?? this.points.length) + offset, 0), this.points.length - 1);
    this.renderCursor();
  }

  // renderCursor shows the selected point with its value.
  renderCursor() {
    if (!this.cursor) return;
    this.cursor.replaceChildren();
    const p = this.points[this.selected];
    if (!p) return;
    const x = this.x(p.at), y = this.y(p.kop), width = this.container.clientWidth;
    appendElement('line', {class: 'cursor-line', x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM}, this.cursor);
    appendElement('circle', {class: 'point', cx: x, cy: y, r: 4}, this.cursor);
    const label = appendElement('text', {
      class: 'value', 'text-anchor': 'middle',
      x: Math.min(Math.max(x, LEFT + 120), width - 130), y: y < 50 ? y + 32 : y - 12,
    }, this.cursor);
    label.textContent = `${formatRubles(p.kop)} · ${formatTime(p.at)}`;
  }
}
