// Table of servers. Each server keeps its row element, so that updates preserve the focus and open menus.

import {formatRubles, text} from './format.js';

const bootStatuses = ['creating', 'starting'];
const activeStatuses = ['creating', 'starting', 'running'];

function createElement(tag, className, content) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (content !== undefined) node.textContent = content;
  return node;
}

// setText sets the text of an element only if it differs.
export function setText(node, content) {
  if (node.textContent !== content) node.textContent = content;
}

// statusDetails returns details that the status does not contain.
function statusDetails(instance) {
  const details = [];
  if (instance.stop_reason) details.push(text['r_' + instance.stop_reason] ?? instance.stop_reason);
  const {status, desired_state: desired} = instance;
  const changing = ['running', 'stopped'].includes(desired) && desired !== status;
  if (changing && !['failed', ...bootStatuses].includes(status)) details.push(`${text.to} ${text['s_' + desired]}`);
  return details.join(' · ');
}

// actions lists the menu items of a server: the name, the condition, and the request to the control API.
const actions = [
  {name: 'outbid', when: i => i.type === 'interruptible' && activeStatuses.includes(i.status),
    path: i => `/offers/${i.offer_id}`, body: i => ({interruptible_kop_h: i.bid_kop_h + 1})},
  {
    name: 'fail', when: i => activeStatuses.includes(i.status),
    path: i => `/instances/${i.id}`, body: () => ({status: 'failed'}),
  },
  {name: 'adminStop', when: i => activeStatuses.includes(i.status), path: i => `/instances/${i.id}`,
    body: () => ({status: 'stopped', desired_state: 'stopped', stop_reason: 'admin'})},
  {name: 'destroy', when: i => i.status !== 'destroying', path: i => `/instances/${i.id}`,
    body: () => ({status: 'destroyed', desired_state: 'destroyed'})},
];

class Row {
  constructor(instance, control, showMessage) {
    this.showMessage = showMessage;
    this.node = createElement('tr');
    this.node.dataset.id = instance.id;
    this.node.setAttribute('role', 'row'); // the card layout removes the implicit role
    const cell = (label, className) => {
      const td = createElement('td', className);
      td.dataset.label = label;
      td.setAttribute('role', 'cell');
      this.node.append(td);
      return td;
    };
    const server = cell(text.name, 'server'), hardware = cell(text.hardware, 'hardware');
    const price = cell(text.price, 'number');
    this.cost = cell(text.cost, 'number cost');
    this.access = cell(text.access, 'access');
    this.badge = createElement('span', 'badge');
    this.name = createElement('strong');
    this.id = createElement('span', 'secondary id', instance.id);
    this.details = createElement('span', 'secondary details');
    server.append(this.badge, this.name, this.id, this.details);
    const origin = [instance.country, instance.template.name].filter(Boolean).join(' · ');
    const gpu = `${instance.gpu.count} × ${instance.gpu.name}`;
    hardware.append(createElement('span', '', gpu), createElement('span', 'secondary', origin));
    this.kind = hardware.appendChild(createElement('span', 'secondary'));
    this.price = price.appendChild(createElement('span'));
    this.disk = price.appendChild(createElement('span', 'secondary'));
    this.burn = price.appendChild(createElement('span', 'secondary'));
    this.menu = createElement('details', 'menu');
    this.menu.name = 'menu'; // browsers open only one element with this name
    const summary = this.menu.appendChild(createElement('summary', '', text.actions));
    summary.setAttribute('aria-label', `${text.actions}: ${instance.name || instance.id}`);
    this.menu.addEventListener('keydown', event => {
      if (event.key !== 'Escape') return;
      this.menu.open = false;
      summary.focus();
    });
    const list = this.menu.appendChild(createElement('div', 'list'));
    this.buttons = actions.map(action => {
      const button = list.appendChild(createElement('button', '', text[action.name]));
      button.dataset.action = action.name;
      button.title = text[action.name + 'Help'];
      button.addEventListener('click', () => {
        this.menu.open = false;
        summary.focus();
        control('PATCH', action.path(this.instance), action.body(this.instance));
      });
      return button;
    });
    cell('', 'actions').append(this.menu);
  }

  update(instance) {
    this.instance = instance;
    setText(this.badge, text['s_' + instance.status] ?? instance.status);
    if (this.badge.dataset.status !== instance.status) this.badge.dataset.status = instance.status;
    this.badge.title = instance.status;
    setText(this.name, instance.name || '—');
    setText(this.details, statusDetails(instance));
    const bid = instance.bid_kop_h ? ` · ${text.bid} ${formatRubles(instance.bid_kop_h)}` : '';
    setText(this.kind, text[instance.type] + bid);
    setText(this.price, formatRubles(instance.price.running_kop_h));
    setText(this.disk, `${text.stoppedPrice} ${formatRubles(instance.price.stopped_kop_h)}`);
    setText(this.burn, `${text.billedNow} ${formatRubles(instance.burn_kop_h)}`);
    setText(this.cost, formatRubles(instance.cost_so_far_kop));
    this.updateAccess(instance);
    actions.forEach((action, n) => { this.buttons[n].hidden = !action.when(instance); });
    this.menu.hidden = !actions.some(action => action.when(instance));
  }

  // updateAccess shows the addresses and rebuilds them only if they changed.
  updateAccess(instance) {
    const placeholder = activeStatuses.includes(instance.status) ? text.noAddress : '—';
    const access = JSON.stringify([instance.ssh, instance.urls, placeholder]);
    if (access === this.renderedAccess) return;
    this.renderedAccess = access;
    this.access.replaceChildren();
    if (instance.ssh) {
      const line = createElement('span', 'ssh');
      const copy = createElement('button', 'copy', text.copy);
      copy.addEventListener('click', () => navigator.clipboard.writeText(instance.ssh.command).then(() => {
        setText(copy, text.copied);
        setTimeout(() => setText(copy, text.copy), 1500);
      }, () => this.showMessage(text.notCopied, true)));
      copy.title = text.copyHelp;
      line.append(createElement('code', '', instance.ssh.command), copy);
      this.access.append(line);
    }
    for (const link of instance.urls.filter(u => u.url)) {
      const a = createElement('a', 'web-link', link.label);
      a.href = link.url;
      a.rel = 'noreferrer noopener';
      a.target = '_blank';
      this.access.append(a);
    }
    this.access.classList.toggle('no-access', !this.access.childNodes.length);
    if (!this.access.childNodes.length) this.access.append(createElement('span', 'secondary', placeholder));
  }
}

export class InstanceTable {
  // control sends a request to the control API. showMessage shows a temporary message. announce sends a message to
  // screen readers.
  constructor(table, {control, showMessage, announce}) {
    this.body = table.tBodies[0];
    Object.assign(this, {control, showMessage, announce});
    this.rows = new Map();
  }

  update(instances) {
    const changes = [];
    const ids = new Set(instances.map(i => i.id));
    for (const [id, row] of this.rows) {
      if (!ids.has(id)) {
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
      const oldStatus = row.instance?.status;
      row.update(instance);
      if (oldStatus && oldStatus !== instance.status) {
        changes.push(`${instance.name || instance.id}: ${row.badge.textContent}`);
      }
    });
    if (changes.length) this.announce(changes.join(', '));
  }
}
