// The table of servers. A row is reused while its server exists, so that it keeps focus and open menus.

import {rubles, text} from './format.js';

const booting = ['creating', 'starting'];
const holding = ['creating', 'starting', 'running'];

function make(tag, className, content) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (content !== undefined) node.textContent = content;
  return node;
}

// setText sets a text if it differs.
export function setText(node, content) {
  if (node.textContent !== content) node.textContent = content;
}

// notes returns details in addition to the status.
function notes(instance) {
  const all = [];
  if (!instance.online) all.push(text.hostAway);
  if (instance.stop_reason && (instance.online || instance.stop_reason !== 'provider')) {
    all.push(text['r_' + instance.stop_reason] ?? instance.stop_reason);
  }
  const {status, desired_state: desired} = instance;
  const changing = ['running', 'stopped'].includes(desired) && desired !== status;
  if (changing && !['failed', ...booting].includes(status)) all.push(`${text.to} ${text['s_' + desired]}`);
  if (instance.fail_boots) all.push(text.bootsFail);
  return all.join(' · ');
}

// actions are the actions of a server: name, condition and control call.
const actions = [
  {name: 'outbid', when: i => i.type === 'interruptible' && holding.includes(i.status),
    path: i => `/offers/${i.offer_id}`, body: i => ({interruptible_kop_h: i.bid_kop_h + 1})},
  {
    name: 'failBoot', when: i => booting.includes(i.status),
    path: i => `/instances/${i.id}`, body: () => ({status: 'failed'}),
  },
  {name: 'hostGoes', when: i => i.online, path: i => `/offers/${i.offer_id}`, body: () => ({online: false})},
  {name: 'hostBack', when: i => !i.online, path: i => `/offers/${i.offer_id}`, body: () => ({online: true})},
  {name: 'adminStop', when: i => holding.includes(i.status), path: i => `/instances/${i.id}`,
    body: () => ({status: 'stopped', desired_state: 'stopped', stop_reason: 'admin'})},
  {name: 'traffic', when: i => i.status === 'running', path: i => `/instances/${i.id}`, body: () => ({traffic_gb: 10})},
];

class Row {
  constructor(instance, control, showMessage) {
    this.showMessage = showMessage;
    this.node = make('tr');
    this.node.dataset.id = instance.id;
    this.node.setAttribute('role', 'row'); // kept in the layout of cards
    const cell = (label, className) => {
      const td = make('td', className);
      td.dataset.label = label;
      td.setAttribute('role', 'cell');
      this.node.append(td);
      return td;
    };
    const who = cell(text.name, 'who'), what = cell(text.hardware, 'what'), price = cell(text.price, 'number');
    this.cost = cell(text.cost, 'number cost');
    this.access = cell(text.access, 'access');
    this.badge = make('span', 'badge');
    this.name = make('strong');
    this.id = make('span', 'fine id', instance.id);
    this.aside = make('span', 'fine aside');
    who.append(this.badge, this.name, this.id, this.aside);
    const origin = [instance.country, instance.template].filter(Boolean).join(' · ');
    what.append(make('span', '', instance.gpu), make('span', 'fine', origin));
    this.kind = what.appendChild(make('span', 'fine'));
    this.price = price.appendChild(make('span'));
    this.disk = price.appendChild(make('span', 'fine'));
    this.burn = price.appendChild(make('span', 'fine'));
    this.menu = make('details', 'menu');
    this.menu.name = 'menu'; // only one is open
    const summary = this.menu.appendChild(make('summary', '', text.actions));
    summary.setAttribute('aria-label', `${text.actions}: ${instance.name || instance.id}`);
    this.menu.addEventListener('keydown', event => {
      if (event.key !== 'Escape') return;
      this.menu.open = false;
      summary.focus();
    });
    const list = this.menu.appendChild(make('div', 'list'));
    this.buttons = actions.map(action => {
      const button = list.appendChild(make('button', '', text[action.name]));
      button.dataset.action = action.name;
      button.title = text[action.name + 'Help'];
      button.addEventListener('click', () => {
        this.menu.open = false;
        summary.focus();
        control('PATCH', action.path(this.instance), action.body(this.instance));
      });
      return button;
    });
    cell('', 'do').append(this.menu);
  }

  update(instance) {
    this.instance = instance;
    setText(this.badge, text['s_' + instance.status] ?? instance.status);
    if (this.badge.dataset.status !== instance.status) this.badge.dataset.status = instance.status;
    this.badge.title = instance.status;
    setText(this.name, instance.name || '—');
    setText(this.aside, notes(instance));
    const bid = instance.bid_kop_h ? ` · ${text.bid} ${rubles(instance.bid_kop_h)}` : '';
    setText(this.kind, text[instance.type] + bid);
    setText(this.price, rubles(instance.running_kop_h));
    setText(this.disk, `${text.stoppedPrice} ${rubles(instance.stopped_kop_h)}`);
    setText(this.burn, `${text.billedNow} ${rubles(instance.burn_kop_h)}`);
    setText(this.cost, rubles(instance.cost_so_far_kop));
    this.updateAccess(instance);
    actions.forEach((action, n) => { this.buttons[n].hidden = !action.when(instance); });
    this.menu.hidden = !actions.some(action => action.when(instance));
  }

  // updateAccess shows the addresses and rebuilds them only if they changed.
  updateAccess(instance) {
    const none = holding.includes(instance.status) ? text.noAddress : '—';
    const now = JSON.stringify([instance.ssh, instance.urls, none]);
    if (now === this.reached) return;
    this.reached = now;
    this.access.replaceChildren();
    if (instance.ssh) {
      const line = make('span', 'ssh');
      const copy = make('button', 'copy', text.copy);
      copy.addEventListener('click', () => navigator.clipboard.writeText(instance.ssh).then(() => {
        setText(copy, text.copied);
        setTimeout(() => setText(copy, text.copy), 1500);
      }, () => this.showMessage(text.notCopied, true)));
      copy.title = text.copyHelp;
      line.append(make('code', '', instance.ssh), copy);
      this.access.append(line);
    }
    for (const link of instance.urls.filter(u => u.url)) {
      const a = make('a', 'web', link.label);
      a.href = link.url;
      a.rel = 'noreferrer noopener';
      a.target = '_blank';
      this.access.append(a);
    }
    this.access.classList.toggle('none', !this.access.childNodes.length);
    if (!this.access.childNodes.length) this.access.append(make('span', 'fine', none));
  }
}

export class InstanceTable {
  // control calls the control API; showMessage shows a message for a while; announce is for screen readers.
  constructor(table, {control, showMessage, announce}) {
    this.body = table.tBodies[0];
    Object.assign(this, {control, showMessage, announce});
    this.rows = new Map();
  }

  update(instances) {
    const changes = [];
    const there = new Set(instances.map(i => i.id));
    for (const [id, row] of this.rows) {
      if (!there.has(id)) {
        row.node.remove();
        this.rows.delete(id);
      }
    }
    instances.forEach((instance, n) => {
      let row = this.rows.get(instance.id);
      if (!row) {
        row = new Row(instance, this.control, this.showMessage);
        this.rows.set(instance.id, row);
        this.body.insertBefore(row.node, this.body.children[n] ?? null);
      }
      const before = row.instance?.status;
      row.update(instance);
      if (before && before !== instance.status) {
        changes.push(`${instance.name || instance.id}: ${row.badge.textContent}`);
      }
    });
    if (changes.length) this.announce(changes.join(', '));
  }
}
