// The dashboard polls the overview about once a second and updates what changed.

import {Chart} from './chart.js';
import {InstanceTable, setText} from './instances.js';
import {lang, formatHours, formatTime, rubles, text} from './format.js';

const PERIOD = 1000, RETRY = 3000, HOURS_PER_MONTH = 730;
const $ = id => document.getElementById(id);

const chart = new Chart($('chart'));
const announce = news => setText($('news'), news);
const table = new InstanceTable($('instances'), {control, showMessage: toast, announce});
let latest = null;
let timer = 0;
let shownLedger = '';
let toastTimer = 0;

function toast(message, bad) {
  const box = $('toast');
  box.className = bad ? 'shown bad' : 'shown';
  setText(box, message);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.className = ''; }, bad ? 8000 : 2500);
}

// control calls the control API, shows the result, and polls at once.
async function control(method, path, body) {
  try {
    const headers = {'Accept-Language': lang};
    if (body) headers['Content-Type'] = 'application/json';
    const answer = await fetch('/control' + path, {method, headers, body: body && JSON.stringify(body)});
    if (answer.ok) {
      toast(text.done);
    } else {
      const {error} = await answer.json();
      const issues = (error.details?.issues ?? []).map(i => `${i.field}: ${i.message}`);
      toast(`${text.failed}: ${[error.message, ...issues].join('; ')}`, true);
    }
  } catch {
    toast(`${text.failed}: ${text.lost}`, true);
  }
  await look();
}

async function look() {
  clearTimeout(timer);
  let wait = PERIOD;
  try {
    const answer = await fetch('/console/overview', {cache: 'no-store', signal: AbortSignal.timeout(10000)});
    if (!answer.ok) throw new Error(answer.status);
    latest = await answer.json();
    show(latest);
    $('link').className = 'link on';
    setText($('link'), text.live);
  } catch {
    wait = RETRY;
    $('link').className = 'link off';
    setText($('link'), text.lost);
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(look, wait);
}

function show(o) {
  setText($('now'), formatTime(o.now));
  $('now').dateTime = o.now;
  const realClock = o.time_scale === 1 ? text.realClock : `${o.time_scale}${text.times}`;
  setText($('pace'), o.clock === 'manual' ? text.manualClock : realClock);
  showMoney(o.balance, o.now);
  showCount(o);
  $('nobody').hidden = o.total > 0;
  $('instances').hidden = o.total === 0;
  table.update(o.instances);
  $('more').hidden = o.total <= o.instances.length;
  setText($('more'), `${o.total - o.instances.length} ${text.more}`);
  chart.show(o.history);
  showLedger(o.ledger, new Map(o.instances.map(i => [i.id, i.name])));
  showBudgets(o.budgets);
  $('faults').hidden = o.faults === 0;
  setText($('faults'), `${text.faultsNow}: ${o.faults}`);
}

function showMoney(b, now) {
  setText($('available'), rubles(b.available_kop));
  $('available').classList.toggle('short', b.available_kop + b.credit_limit_kop <= 0);
  const credit = b.credit_limit_kop ? ` · ${text.credit} ${rubles(b.credit_limit_kop)}` : '';
  setText($('account'), `${text.onAccount} ${rubles(b.balance_kop)}${credit}`);
  setText($('burn'), b.burn_kop_h ? `${rubles(b.burn_kop_h)} ${text.perHour}` : '—');
  setText($('month'), b.burn_kop_h ? `${rubles(b.burn_kop_h * HOURS_PER_MONTH)} ${text.perMonth}` : text.idle);
  const known = b.runway_hours !== null;
  setText($('runway'), known ? formatHours(b.runway_hours) : '∞');
  $('runway').classList.toggle('short', known && b.runway_hours < 2);
  const end = known ? new Date(Date.parse(now) + b.runway_hours * 3600000) : null;
  setText($('until'), end && end.getUTCFullYear() < 3000 ? formatTime(end).slice(0, 16) + ' UTC' : '');
}

function showCount(o) {
  const states = new Map();
  for (const i of o.instances) states.set(i.status, (states.get(i.status) ?? 0) + 1);
  setText($('count'), String(o.total));
  setText($('states'), [...states].map(([status, n]) => `${n}\u00a0${text['s_' + status] ?? status}`).join(' · '));
}

function showLedger(entries, names) {
  const body = $('ledger').tBodies[0];
  const now = JSON.stringify([entries, [...names]]);
  if (now === shownLedger) return;
  shownLedger = now;
  body.replaceChildren(...entries.map(e => {
    const row = document.createElement('tr');
    row.setAttribute('role', 'row'); // kept in the layout of phones
    const at = row.insertCell(), what = row.insertCell(), amount = row.insertCell();
    at.className = 'when';
    what.className = 'what';
    for (const cell of [at, what, amount]) cell.setAttribute('role', 'cell');
    at.textContent = formatTime(e.at).slice(5, 19);
    at.title = formatTime(e.at);
    what.textContent = text['t_' + e.type] ?? e.type;
    const about = document.createElement('span');
    about.className = 'fine';
    about.textContent = e.description === what.textContent ? '' : e.description;
    what.append(about);
    if (e.instance_id) {
      const which = document.createElement('span');
      which.className = 'fine which';
      which.textContent = names.get(e.instance_id) || e.instance_id;
      which.title = e.instance_id;
      what.append(which);
    }
    amount.textContent = (e.amount_kop > 0 ? '+' : '') + rubles(e.amount_kop);
    amount.className = e.amount_kop > 0 ? 'number plus' : 'number';
    return row;
  }));
}

function showBudgets(budgets) {
  $('no-budget').hidden = budgets.length > 0;
  const list = $('budgets');
  while (list.children.length > budgets.length) list.lastChild.remove();
  budgets.forEach((b, n) => {
    const item = list.children[n] ?? list.appendChild(document.createElement('li'));
    if (!item.children.length) {
      item.append(...['span', 'meter', 'span'].map(name => document.createElement(name)));
    }
    const [who, meter, how] = item.children;
    setText(who, b.caller);
    how.className = 'fine';
    setText(how, `${b.remaining} ${text.left} ${b.limit} · ${text.resets} ${b.reset_seconds}\u00a0${text.seconds}`);
    const {limit, remaining} = b;
    Object.assign(meter, {min: 0, max: limit, low: limit * 0.25, high: limit * 0.5, optimum: limit, value: remaining});
    meter.setAttribute('aria-label', `${b.caller}: ${how.textContent}`);
  });
}

for (const button of document.querySelectorAll('[data-advance]')) {
  button.addEventListener('click', () => control('POST', '/clock', {advance_seconds: Number(button.dataset.advance)}));
}
for (const button of document.querySelectorAll('[data-range]')) {
  button.addEventListener('click', () => {
    for (const other of document.querySelectorAll('[data-range]')) {
      other.setAttribute('aria-pressed', String(other === button));
    }
    chart.span = Number(button.dataset.range);
    chart.render();
  });
}
$('top-up').addEventListener('click', () => {
  if (latest) control('PATCH', '/account', {balance_kop: latest.balance.balance_kop + 100000});
});
$('empty').addEventListener('click', () => control('PATCH', '/account', {balance_kop: 0}));
$('fault').addEventListener('submit', event => {
  event.preventDefault();
  const form = new FormData(event.target);
  const fault = JSON.parse(form.get('kind'));
  control('POST', '/faults', {...fault, path: form.get('path'), times: Number(form.get('times'))});
});
$('clear-faults').addEventListener('click', () => control('DELETE', '/faults'));
setText($('environment'), `export GPURENT_BASE_URL=${location.origin}/api/v1\nexport GPURENT_API_KEY=…`);
document.addEventListener('visibilitychange', () => { if (!document.hidden) look(); });
look();
