'use strict';
// The page requests the same paths as the command line (docs/console.md) and stores only a token
// while its tab is open.

const $ = (id) => document.getElementById(id);
const api = '/console/api/';
const pageSize = 100;

// -- requests -------------------------------------------------------------------------------------

function headers() {
  const token = sessionStorage.getItem('token');
  return token ? {Authorization: 'Bearer ' + token} : {};
}

// Views of one machine; the others are the cluster's.
const ofNode = ['actors', 'actor', 'tree', 'top', 'rates', 'flow', 'warnings', 'trace'];

async function ask(path, query = {}, signal = undefined) {
  const parameters = new URLSearchParams();
  if (state.node && ofNode.includes(path)) parameters.set('node', state.node);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value);
  const answer = await fetch(api + path + '?' + parameters, {headers: headers(), signal});
  if (answer.status === 401 || answer.status === 403) {
    if (!$('login').open) $('login').showModal();
    throw new Error('credentials are needed');
  }
  if (!answer.ok) {
    const status = await answer.json().catch(() => ({}));
    throw new Error(status.message || 'the server answered ' + answer.status);
  }
  return answer;
}

async function askJson(path, query) {
  const answer = await ask(path, query);
  const total = answer.headers.get('x-total-count');
  return {body: await answer.json(), total: total === null ? undefined : Number(total)};
}

function say(text, bad = false) {
  $('status').textContent = text;
  $('status').className = bad ? 'bad' : '';
}

// -- rendering ------------------------------------------------------------------------------------

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(3).filter((child) => child !== undefined && child !== null));
  return node;
}

function humanTime(s) {
  const size = Math.abs(s);
  if (size === 0) return '0';
  if (size < 1e-3) return (s * 1e6).toPrecision(3) + ' µs';
  if (size < 1) return (s * 1e3).toPrecision(3) + ' ms';
  if (size < 60) return s.toPrecision(3) + ' s';
  if (size < 3600) return Math.floor(s / 60) + 'm' + Math.floor(s % 60) + 's';
  if (size < 86400) return Math.floor(s / 3600) + 'h' + Math.floor(s % 3600 / 60) + 'm';
  return Math.floor(s / 86400) + 'd' + Math.floor(s % 86400 / 3600) + 'h';
}

function humanSize(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return bytes.toFixed(unit === 0 ? 0 : 1) + ' ' + units[unit];
}

function listText(value) {
  return value.map((each) => each !== null && typeof each === 'object' && 'path' in each
    ? `${each.path}: ${each.from ?? ''} → ${each.to ?? ''}` : JSON.stringify(each)).join('\n');
}

function cellText(name, value) {
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') {
    if (name.endsWith('Seconds')) return humanTime(value);
    if (name.endsWith('Bytes')) return humanSize(value);
    return Number.isInteger(value) ? value.toLocaleString('en') : value.toPrecision(4);
  }
  if (Array.isArray(value)) return listText(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const heading = (name) => name.replace(/(Seconds|Bytes)$/, '').replace(/[A-Z]/g, (c) => ' ' + c.toLowerCase());

// Rows that open a view can be selected with the keyboard.
function table(rows, {columns, open} = {}) {
  if (rows.length === 0) return make('p', {}, 'Nothing.');
  const names = columns || Object.keys(rows[0]).filter((name) => name !== 'depth' && name !== 'id');
  const numeric = (name) => typeof rows[0][name] === 'number' && name !== 'revision';
  const head = make('tr', {}, names.map((name) => make('th', {class: numeric(name) ? 'number' : undefined}, heading(name))));
  const body = rows.map((row) => make('tr', open ? {class: 'opens', tabindex: -1, onclick: () => open(row)} : {},
    names.map((name, i) => {
      const cell = make('td', {class: numeric(name) ? 'number' : 'wide'}, cellText(name, row[name]));
      if (i === 0 && row.depth) cell.style.paddingLeft = row.depth * 1.2 + 'rem';
      return cell;
    })));
  return make('table', {}, make('thead', {}, head), make('tbody', {}, body));
}

function facts(object) {
  const plain = Object.entries(object).filter(([, value]) => !Array.isArray(value) && !String(value).includes('\n'));
  return make('dl', {}, plain.map(([name, value]) => [make('dt', {}, heading(name)), make('dd', {}, cellText(name, value))]));
}

function chart(caption, points, unit) {
  const canvas = make('canvas', {width: 300, height: 70, role: 'img', 'aria-label': caption});
  const pen = canvas.getContext('2d');
  const most = Math.max(1, ...points);
  pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
  pen.lineWidth = 1.5;
  pen.beginPath();
  points.forEach((value, i) => {
    const x = 300 - (points.length - 1 - i) * (300 / Math.max(60, points.length));
    pen[i === 0 ? 'moveTo' : 'lineTo'](x, 66 - value / most * 60);
  });
  pen.stroke();
  const text = (value) => Math.round(value).toLocaleString('en') + unit;
  return make('figure', {}, make('figcaption', {}, `${caption}: ${text(points.at(-1) ?? 0)} (most ${text(most)})`), canvas);
}

// -- the views ----------------------------------------------------------------------------------
// Each fills its own element, and may return a function that ends it (see show).

const state = {actors: {match: '', sort: 'mailbox', offset: 0}, object: '', trace: '', node: ''};
let stopView = () => {};

function searchBar(placeholder, value, submit, ...more) {
  const input = make('input', {type: 'search', placeholder, value, class: 'search', 'aria-label': placeholder});
  return make('form', {class: 'bar', onsubmit: (event) => { event.preventDefault(); submit(input.value.trim()); }},
    input, make('button', {}, 'Go'), more);
}

async function showActors(view) {
  const now = state.actors;
  const {body, total} = await askJson('actors', {...now, top: pageSize});
  const again = (change) => { Object.assign(now, change); reload(); };
  const sorts = ['mailbox', 'messages', 'busy', 'longest', 'oldest', 'restarts', 'age', 'name'];
  const sort = make('select', {'aria-label': 'Sort', onchange: (e) => again({sort: e.target.value, offset: 0})},
    sorts.map((name) => make('option', {value: name, selected: name === now.sort ? '' : undefined}, name)));
  const last = Math.min(now.offset + body.length, total);
  view.replaceChildren(
    searchBar('part of a name, or a pattern such as pod/default/*', now.match, (match) => again({match, offset: 0}), sort,
      make('button', {type: 'button', id: 'previous', onclick: () => again({offset: Math.max(0, now.offset - pageSize)})}, '←'),
      make('button', {type: 'button', id: 'next', onclick: () => { if (last < total) again({offset: now.offset + pageSize}); }}, '→'),
      make('span', {id: 'count'}, `${total === 0 ? 0 : now.offset + 1}–${last} of ${total.toLocaleString('en')}`)),
    table(body, {columns: ['actor', 'state', 'mailbox', 'oldestSeconds', 'handled', 'busySeconds', 'longestSeconds', 'restarts', 'ageSeconds'],
      open: (row) => openActor(row.actor)}));
}

async function showTree(view) {
  const {body} = await askJson('tree', {depth: 3});
  view.replaceChildren(table(body, {open: (row) => { if (row.id) openActor(row.actor); }}));
}

async function showLive(view) {
  const draw = async () => {
    const [top, rates] = await Promise.all([askJson('top'), askJson('rates')]);
    const line = (name) => rates.body.map((row) => row[name]);
    const marked = markedIn(view);
    view.replaceChildren(
      make('div', {class: 'charts'},
        chart('messages', line('messagesPerSecond'), '/s'), chart('transactions', line('transactionsPerSecond'), '/s'),
        chart('requests', line('requestsPerSecond'), '/s'), chart('mailboxes', line('mailbox'), '')),
      facts(top.body), make('h2', {}, 'Kinds'), table(top.body.kinds),
      make('h2', {}, 'Busiest'), table(top.body.busiest, {open: (row) => openActor(row.actor)}),
      make('h2', {}, 'Fullest mailboxes'), table(top.body.fullest, {open: (row) => openActor(row.actor)}));
    markAgain(view, marked);
  };
  await draw();
  const timer = setInterval(() => draw().catch((error) => say(error.message, true)), 2000);
  return () => clearInterval(timer);
}

async function showFlow(view) {
  view.replaceChildren(table((await askJson('flow')).body));
}

async function showObject(view) {
  const bar = searchBar('an object: pods/default/web-1', state.object, (object) => { state.object = object; reload(); });
  view.replaceChildren(bar);
  if (!state.object) return;
  const [why, history] = await Promise.all([askJson('why', {object: state.object}), askJson('history', {object: state.object})]);
  view.replaceChildren(bar, make('h2', {}, 'Why it is as it is'), table(why.body),
    make('h2', {}, 'History'), table(history.body));
}

async function showTrace(view) {
  const lines = make('pre', {id: 'trace'});
  const bar = searchBar('an actor (pod/default/web-1) or an object (pods/default/web-1); nothing: all', state.trace,
    (trace) => { state.trace = trace; reload(); });
  view.replaceChildren(bar, lines);
  const stopper = new AbortController();
  const query = {as: 'text'};
  if (state.trace) {
    const isActor = await ask('actor', {name: state.trace}).then(() => true, () => false);
    query[isActor ? 'name' : 'object'] = state.trace;
  }
  const answer = await ask('trace', query, stopper.signal);
  follow(answer.body.getReader(), lines).catch(() => {});
  return () => stopper.abort();
}

async function follow(reader, into) {
  const decoder = new TextDecoder();
  const kept = [];
  let rest = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, {stream: true})).split('\n');
    rest = lines.pop();
    kept.push(...lines.filter((line) => line));
    if (kept.length > 500) kept.splice(0, kept.length - 500);
    into.textContent = kept.join('\n');
    into.scrollTop = into.scrollHeight;
  }
}

async function showCluster(view) {
  const {body} = await askJson('cluster');
  view.replaceChildren(facts(body), make('h2', {}, 'Nodes'),
    table(body.nodes, {open: (row) => { state.object = 'nodes/' + row.node; show('object'); }}),
    make('h2', {}, 'Links'), table(body.links, {open: (row) => look(row.node)}),
    make('h2', {}, 'Leading'), table(body.leading),
    make('h2', {}, 'Controllers'), table(body.controllers),
    make('h2', {}, 'Objects'), table(body.objects));
}

async function showStore(view) {
  const [store, watchers] = await Promise.all([askJson('store'), askJson('watchers')]);
  view.replaceChildren(make('h2', {}, 'Store'), facts(store.body), make('h2', {}, 'Watchers'),
    table(watchers.body, {open: (row) => openActor(row.subscriber)}));
}

// Shows the actors of a joined machine; with an empty name those of the attached one.
function look(node) {
  state.node = node;
  state.actors.offset = 0;
  $('node').hidden = !node;
  $('node').textContent = `${node} ×`;
  show('actors');
}

async function openActor(name) {
  const panel = $('detail');
  try {
    const {body} = await askJson('actor', {name});
    const lists = ['messages', 'lastMessages', 'links', 'subscriptions', 'timers', 'restartReasons'];
    panel.replaceChildren(...[
      make('div', {class: 'bar'}, make('h2', {}, body.actor), make('button', {onclick: closeActor}, 'Close'),
        make('button', {onclick: () => { state.trace = body.actor; closeActor(); show('trace'); }}, 'Trace')),
      facts(body),
      body.stateYaml ? [make('h2', {}, 'state'), make('pre', {}, body.stateYaml)] : [],
      lists.filter((each) => body[each] && body[each].length)
        .map((each) => [make('h2', {}, heading(each)), table(body[each])])].flat(3));
    panel.hidden = false;
  } catch (error) {
    say(error.message, true);
  }
}

function closeActor() {
  $('detail').hidden = true;
}

const views = [['actors', showActors], ['tree', showTree], ['live', showLive], ['flow', showFlow],
  ['object', showObject], ['trace', showTrace], ['cluster', showCluster], ['store', showStore]];
let current = 'actors';
let shows = 0;

// Drops a response if another view has been requested meanwhile.
async function show(name) {
  const mine = ++shows;
  current = name;
  location.hash = name;
  stopView();
  stopView = () => {};
  for (const button of $('tabs').children) button.removeAttribute('aria-current');
  $('tab-' + name).setAttribute('aria-current', 'page');
  const begin = performance.now();
  const view = make('div');
  let stop = () => {};
  let problem;
  try {
    stop = await views.find(([each]) => each === name)[1](view) ?? stop;
  } catch (error) {
    problem = error;
  }
  if (mine !== shows) return stop();
  stopView = stop;
  if (view.hasChildNodes()) $('view').replaceChildren(view);
  say(problem ? problem.message : `${Math.round(performance.now() - begin)} ms`, problem !== undefined);
}

const reload = () => show(current);

async function showWarnings() {
  try {
    const {body} = await askJson('warnings');
    $('warnings').hidden = body.length === 0;
    $('warnings').replaceChildren(...body.slice(0, 5).map((each) => make('div', {class: 'bad'}, `${each.about}: ${each.message}`)));
  } catch (error) {
    say(error.message, true);
  }
}

// -- keys ---------------------------------------------------------------------------------------

function mark(step) {
  const rows = [...document.querySelectorAll('main tr.opens')];
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row.classList.contains('marked'));
  if (at >= 0) rows[at].classList.remove('marked');
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  next.classList.add('marked');
  next.focus({preventScroll: true});
  next.scrollIntoView({block: 'nearest'});
}

// The selected row, by its table and first cell: rows are recreated.
function markedIn(view) {
  const row = view.querySelector('tr.marked');
  return row && {table: [...view.querySelectorAll('table')].indexOf(row.closest('table')), text: row.firstChild.textContent};
}

function markAgain(view, marked) {
  if (!marked) return;
  const rows = [...view.querySelectorAll('table')[marked.table]?.querySelectorAll('tr.opens') ?? []];
  rows.find((row) => row.firstChild.textContent === marked.text)?.classList.add('marked');
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
}

const keys = {
  '/': () => document.querySelector('.search')?.focus(),
  j: () => mark(1), ArrowDown: () => mark(1), k: () => mark(-1), ArrowUp: () => mark(-1),
  Enter: () => document.querySelector('tr.marked')?.click(),
  n: () => $('next')?.click(), p: () => $('previous')?.click(),
  Escape: closeActor, r: reload, t: toggleTheme, '?': () => $('help').showModal(),
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const tag = event.target.tagName;
  const typing = tag === 'INPUT' || tag === 'SELECT';
  if (typing && event.key === 'Escape') event.target.blur();
  if (typing || document.querySelector('dialog[open]') || (tag === 'BUTTON' && event.key === 'Enter')) return;
  const number = Number(event.key);
  if (number >= 1 && number <= views.length) show(views[number - 1][0]);
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});

// -- start ----------------------------------------------------------------------------------

views.forEach(([name], i) => $('tabs').append(make('button', {id: 'tab-' + name, title: `${i + 1}`, onclick: () => show(name)}, name)));
$('node').addEventListener('click', () => look(''));
$('theme').addEventListener('click', toggleTheme);
$('help-button').addEventListener('click', () => $('help').showModal());
$('login').addEventListener('close', () => { sessionStorage.setItem('token', $('token').value); reload(); });
setInterval(showWarnings, 5000);
const wanted = location.hash.slice(1);
show(views.some(([name]) => name === wanted) ? wanted : 'actors');
