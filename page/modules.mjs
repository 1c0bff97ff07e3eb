// modules.mjs - the tabs "Modules" and "Missing", through symbolicate_admin.

import { Refused, below, explain, get, listModules, otherIds } from './ask.mjs';
import { $, ago, bytes, el, list, notice, table } from './draw.mjs';
import { drawOthers } from './report.mjs';

const ROWS = 100;
const TURNS = 50;

let settings;
let searching = null;

const CLASS = { ready: 'good', absent: 'bad', failed: 'bad', malformed: 'bad' };

const stateOf = (state) => el('span', { class: CLASS[state] }, state);

const COLUMNS = [
  { title: 'Name or path', class: 'mono', show: (m) => m.name ?? m.path },
  { title: 'Id', class: 'mono', show: (m) => m.id ?? '–' },
  { title: 'State', class: 'nowrap', show: (m) => stateOf(m.state) },
  { title: 'Has', class: 'nowrap', show: (m) => (m.state === 'ready' ? m.quality || m.kind : '–') },
  { title: 'Source', class: 'nowrap', show: (m) => m.source },
  { title: 'Size', class: 'right', show: (m) => (m.state === 'ready' ? bytes(m.stored_bytes) : '–') },
  { title: 'Last use', class: 'nowrap', show: (m) => (m.path ? '–' : ago(m.used_at)) },
  { title: 'More', show: (m) => (m.path ? m.outcome : el('button', {
    type: 'button', 'aria-label': `Explain ${m.name}`, on: { click: () => show(m.name, m.id) },
  }, 'Explain')) },
];

// Adds rows of the server's list: one for each id, whatever its case, with the
// record that is ready if there is one.
export function addRows(rows, more) {
  const at = new Map(rows.map((m, i) => [keyOf(m), i]));
  more.forEach((m) => {
    const i = at.get(keyOf(m));
    if (i === undefined) {
      at.set(keyOf(m), rows.push(m) - 1);
    } else if (rows[i].state !== 'ready') {
      rows[i] = m;
    }
  });
}

const keyOf = (m) => [m.path ?? m.name, (m.id ?? '').toLowerCase(), m.kind, m.source].join('\n');

const without = (what) => notice(`The page was not told where ${what} (symbolicate_page admin=PATH).`);

function trouble(error) {
  return notice(error instanceof Refused && error.status === 403
    ? 'This server does not let you see its modules (403).'
    : `The server did not answer. ${error.message}`, { isError: true });
}

// A page of the server's list may have few rows, because it reads a bounded
// number of records: more pages are requested until a screen is full.
async function search(after = '', rows = []) {
  searching?.abort();
  const control = new AbortController();
  searching = control;
  const question = { q: $('q').value.trim(), state: $('state').value };
  let next = after;
  let read = 0;

  $('modules-status').replaceChildren(el('p', { class: 'hint' }, 'Searching…'));
  try {
    const enough = rows.length + ROWS;
    for (let turn = 0; turn < TURNS && rows.length < enough; turn += 1) {
      const page = await listModules(settings.admin, { ...question, after: next }, control.signal);
      addRows(rows, page.modules);
      read += page.read;
      next = page.after;
      if (!next) {
        break;
      }
    }
  } catch (error) {
    if (!control.signal.aborted) {
      $('modules-status').replaceChildren(trouble(error));
    }
    return;
  }
  $('modules-status').replaceChildren(el('p', { class: 'hint' }, rows.length === 0
    ? `No module matches${next ? ` among the first ${read} records` : ''}.`
    : `${rows.length}${next ? ' and perhaps more' : ''} ${rows.length === 1 ? 'module' : 'modules'}.`));
  $('modules').replaceChildren(...(rows.length ? [table(COLUMNS, rows)] : []),
    next ? el('button', { type: 'button', on: { click: () => search(next, rows) } }, 'Search on') : '');
}

const plainRow = (key, title) => ({ title, class: 'nowrap', show: (row) => row[key] ?? '–' });

export async function show(name, id) {
  const into = $('explained');
  let m;
  let others = [];
  into.replaceChildren(el('p', { class: 'hint' }, 'Asking…'));
  try {
    m = await explain(settings.admin, name, id);
    if (m.state !== 'ready') {
      others = await otherIds(settings.admin, m.name || name, m.id || id);
    }
  } catch (error) {
    into.replaceChildren(trouble(error));
    return;
  }
  into.replaceChildren(
    el('section', { class: 'card' }, el('h3', {}, `${m.name || name} ${m.id || id}`), list([
      ['State', m.state === 'unknown' ? 'unknown: no request has asked for it, or its record has gone' : m.state && stateOf(m.state)],
      ['Why', m.reason],
      ['Has', m.quality], ['Incomplete', m.incomplete], ['Source', m.source], ['File', m.file],
      ['Size of the file', m.file_bytes === undefined ? null : bytes(m.file_bytes)],
      ['Compiled', m.bytes === undefined ? null : `${bytes(m.bytes)}, in the store ${bytes(m.stored_bytes)}`],
      ['Stored', m.stored_at ? ago(m.stored_at) : null], ['Last use', m.used_at === undefined ? null : ago(m.used_at)],
      ['Asked again', m.expires_at ? el('span', {}, m.is_expired ? 'at the next request' : 'after ', m.is_expired ? '' : m.expires_at) : null],
    ]), drawOthers(others)),
    ...(m.sources && m.sources.length ? [el('h3', {}, 'Sources of this location'), table([
      plainRow('name', 'Source'), { title: 'State', class: 'nowrap', show: (s) => stateOf(s.state) },
      { title: 'What it has, or why not', show: (s) => s.quality || s.reason || (s.state === 'unknown' ? 'it was not asked' : '') },
    ], m.sources)] : []),
    ...(m.attempts && m.attempts.length ? [el('h3', {}, 'Where it was looked for'), table([
      plainRow('source', 'Source'), plainRow('outcome', 'Outcome'),
      { title: 'Bytes', class: 'right', show: (a) => bytes(a.bytes) },
      { title: 'Time', class: 'right', show: (a) => `${a.ms} ms` },
      { title: 'URL', class: 'mono', show: (a) => a.url },
    ], m.attempts)] : []),
  );
  into.focus();
  into.scrollIntoView({ block: 'nearest' });
}

// --- missing ---

const MISSING = [
  { title: 'Name', class: 'mono', show: (m) => m.name },
  { title: 'Id', class: 'mono', show: (m) => m.id || m.code_id },
  { title: 'State', class: 'nowrap', show: (m) => stateOf(m.state) },
  { title: 'Requests', class: 'right', show: (m) => m.requests.toLocaleString('en') },
  { title: 'Frames', class: 'right', show: (m) => m.frames.toLocaleString('en') },
  { title: 'First asked', class: 'nowrap', show: (m) => ago(m.first_asked) },
  { title: 'Last asked', class: 'nowrap', show: (m) => ago(m.last_asked) },
  { title: 'More', show: (m) => el('button', {
    type: 'button', 'aria-label': `Explain ${m.name}`, on: {
      click: () => { location.hash = `#module=${encodeURIComponent(m.name)}/${encodeURIComponent(m.id || m.code_id)}`; },
    },
  }, 'Explain') },
];

export async function showMissing() {
  if (!settings.admin) {
    $('missing-status').replaceChildren(without('the list of missing modules is'));
    return;
  }
  $('missing').replaceChildren();
  try {
    const answer = await (await get(below(settings.admin, 'missing'))).json();
    const rows = answer.modules;
    $('missing-status').replaceChildren(el('p', { class: 'hint' }, rows.length === 0
      ? 'None: all modules had symbols.' : `${answer.total} ${answer.total === 1 ? 'module' : 'modules'}`
        + `${answer.total > rows.length ? `; the ${rows.length} that most requests asked for` : ''}.`));
    if (rows.length) {
      $('missing').replaceChildren(table(MISSING, rows));
    }
  } catch (error) {
    $('missing-status').replaceChildren(error instanceof Refused && error.status === 404
      ? notice('The list of missing modules is not switched on at this server (symbolicate_missing on;).') : trouble(error));
  }
}

export function start(all) {
  settings = all;
  $('search').addEventListener('submit', (event) => {
    event.preventDefault();
    if (settings.admin) {
      search();
    }
  });
  if (!settings.admin) {
    $('modules-status').replaceChildren(without('modules can be listed'));
    $('search').querySelectorAll('input, select, button').forEach((node) => { node.disabled = true; });
  }
}

let isListed = false;

export function showModules() {
  if (settings.admin && !isListed) {
    isListed = true;
    search();
  }
}
