// The dashboard polls the overview about once a second and updates the elements that have changed.

import {Chart} from './chart.js';
import {InstanceTable, setText} from './instances.js';
import {formatHours, formatRubles, formatTime, text} from './format.js';

const POLL_MS = 1000, RETRY_MS = 3000, HOURS_PER_MONTH = 730;
const $ = id => document.getElementById(id);

const chart = new Chart($('chart'));
const announce = message => setText($('announcement'), message);
const table = new InstanceTable($('instances'), {control, showMessage: toast, announce});
let latest = null;
let timer = 0;
let renderedLedger = '';
let toastTimer = 0;

function toast(message, isError) {
  const box = $('toast');
  box.className = isError ? 'shown error' : 'shown';
  setText(box, message);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.className = ''; }, isError ? 8000 : 2500);
}

// control sends a request to the control API, shows the result, and polls the overview immediately.
async function control(method, path, body) {
  try {
    const headers = body ? {'Content-Type': 'application/json'} : {};
    const response = await fetch('/control' + path, {method, headers, body: body && JSON.stringify(body)});
    if (response.ok) {
      toast(text.done);
    } else {
      const {error} = await response.json();
      const issues = (error.details?.issues ?? []).map(i => `${i.field}: ${i.message}`);
      toast(`${text.failed}: ${[error.message, ...issues].join('; ')}`, true);
    }
  } catch {
    toast(`${text.failed}: ${text.lost}`, true);
  }
  await poll();
}

async function poll() {
  clearTimeout(timer);
  let delay = POLL_MS;
  try {
    const response = await fetch('/console/overview', {cache: 'no-store', signal: AbortSignal.timeout(10000)});
    if (!response.ok) throw new Error(response.status);
    latest = await response.json();
    render(latest);
    $('connection').className = 'connection online';
    setText($('connection'), text.live);
  } catch {
    delay = RETRY_MS;
    $('connection').className = 'connection offline';
    setText($('connection'), text.lost);
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(poll, delay);
}

function render(overview) {
  setText($('clock'), formatTime(overview.now));
  $('clock').dateTime = overview.now;
  const clockMode = overview.time_scale === 1 ? text.realClock : `${overview.time_scale}${text.times}`;
  setText($('clock-mode'), overview.clock === 'manual' ? text.manualClock : clockMode);
  renderBalance(overview.balance, overview.now);
  renderCount(overview);
  $('no-instances').hidden = overview.total > 0;
  $('instances').hidden = overview.total === 0;
  table.update(overview.instances);
  $('more').hidden = overview.total <= overview.instances.length;
  setText($('more'), `${overview.total - overview.instances.length} ${text.more}`);
  chart.update(overview.history);
  renderLedger(overview.ledger, new Map(overview.instances.map(i => [i.id, i.name])));
  $('faults').hidden = overview.faults === 0;
  setText($('faults'), `${text.faultsNow}: ${overview.faults}`);
}

function renderBalance(b, now) {
  setText($('available'), formatRubles(b.available_kop));
  $('available').classList.toggle('low', b.available_kop + b.credit_limit_kop <= 0);
  const credit = b.credit_limit_kop ? ` · ${text.credit} ${formatRubles(b.credit_limit_kop)}` : '';
  setText($('balance'), `${text.onAccount} ${formatRubles(b.balance_kop)}${credit}`);
  setText($('burn'), b.burn_kop_h ? `${formatRubles(b.burn_kop_h)} ${text.perHour}` : '—');
  const perMonth = formatRubles(b.burn_kop_h * HOURS_PER_MONTH);
  setText($('monthly-burn'), b.burn_kop_h ? `${perMonth} ${text.perMonth}` : text.idle);
  const finite = b.runway_hours !== null;
  setText($('runway'), finite ? formatHours(b.runway_hours) : '∞');
  $('runway').classList.toggle('low', finite && b.runway_hours < 2);
  const end = finite ? new Date(Date.parse(now) + b.runway_hours * 3600000) : null;
  setText($('runway-end'), end && end.getUTCFullYear() < 3000 ? formatTime(end).slice(0, 16) + ' UTC' : '');
}

function renderCount(overview) {
  const states = new Map();
  for (const i of overview.instances) states.set(i.status, (states.get(i.status) ?? 0) + 1);
  setText($('count'), String(overview.total));
  setText($('states'), [...states].map(([status, n]) => `${n}\u00a0${text['s_' + status] ?? status}`).join(' · '));
}

function renderLedger(entries, names) {
  const body = $('ledger').tBodies[0];
  const ledger = JSON.stringify([entries, [...names]]);
  if (ledger === renderedLedger) return;
  renderedLedger = ledger;
  body.replaceChildren(...entries.map(e => {
    const row = document.createElement('tr');
    row.setAttribute('role', 'row'); // the layout for phones removes the implicit role
    const time = row.insertCell(), type = row.insertCell(), amount = row.insertCell();
    time.className = 'timestamp';
    type.className = 'type';
    for (const cell of [time, type, amount]) cell.setAttribute('role', 'cell');
    time.textContent = formatTime(e.at).slice(5, 19);
    time.title = formatTime(e.at);
    type.textContent = text['t_' + e.type] ?? e.type;
    const description = document.createElement('span');
    description.className = 'secondary';
    description.textContent = e.description === type.textContent ? '' : e.description;
    type.append(description);
    if (e.instance_id) {
      const server = document.createElement('span');
      server.className = 'secondary';
      server.textContent = names.get(e.instance_id) || e.instance_id;
      server.title = e.instance_id;
      type.append(server);
    }
    amount.textContent = (e.amount_kop > 0 ? '+' : '') + formatRubles(e.amount_kop);
    amount.className = e.amount_kop > 0 ? 'number credit' : 'number';
    return row;
  }));
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
document.addEventListener('visibilitychange', () => { if (!document.hidden) poll(); });
poll();
