// report.mjs - the tab "Report": read, send, show.

import { explain, modulesNamed, nameProfile, otherIds, symbolicate, symbolicateRest, symbolicateSentry } from './ask.mjs';
import { amount, flameGraph } from './chart.mjs';
import { $, copy, el, notice } from './draw.mjs';
import { isDump, symbolicateDump } from './dump.mjs';
import { flameTree } from './flame.mjs';
import { readJava, symbolicateJava } from './java.mjs';
import { collect, pack, unpack } from './link.mjs';
import { readProfile } from './profile.mjs';
import { Unreadable, applyKnown, framesOf, hex, modulesOf, read, whyNot } from './read.mjs';
import { readScript, symbolicateScript } from './script.mjs';
import { inTurns } from './turns.mjs';

// Reports that have an address of Sentry's API.
const OWN_APIS = { sentry: symbolicateSentry, java: symbolicateJava, script: symbolicateScript };

const ROWS_PER_TURN = 200;
const MAX_LOOKUPS = 40;
const MAX_TURNS = 60;
const MAX_LINK = 64 * 1024;
const MAX_FILE = 512 * 1024 * 1024;
const MAX_SHOWN = 2 * 1024 * 1024;

const EXAMPLE = `Crash of linux_inline, a program in the samples of ngx_symbolicate

linux_inline BBA6FA10B8AAB33D00000000000000000 0x15b87
linux_inline BBA6FA10B8AAB33D00000000000000000 0x15b9e
libc.so.6(+0x29d90) [0x7f3a1c429d90]
`;

let settings;
let running = null;
let opened = null;                      // a file outside of the text box

// --- a frame ---

const place = (call) => (call.file ? `${call.file}${call.line ? `:${call.line}` : ''}` : '');

// Calls at the address, innermost first; none if it is not symbolicated.
export function callsOf(frame) {
  if (frame.answer) {
    return [...frame.answer.inlines, frame.answer];
  }
  return frame.name ? [{ name: frame.name, file: frame.file, line: frame.line }] : [];
}

export function originOf(report, frame) {
  const module = report.modules[frame.module];
  if (module && frame.offset !== null) {
    return `${module.name} + ${hex(frame.offset)}`;
  }
  if (frame.address) {
    return frame.address;
  }
  return module ? module.name : '';
}

function drawCall(call, isFirst, tag) {
  return el('span', { class: 'call' },
    el('span', { class: 'name' }, call.name || '(no name)'), tag ? ' ' : null, tag,
    isFirst || place(call) ? el('div', { class: 'place' }, place(call)) : null);
}

function drawFrame(report, frame, i) {
  const calls = callsOf(frame);
  const tag = frame.answer ? null : calls.length ? el('span', { class: 'tag' }, 'as pasted') : null;
  const origin = originOf(report, frame);
  const body = el('div', {});

  if (calls.length === 0) {
    body.append(el('span', { class: 'name' }, origin || frame.raw));
  } else {
    body.append(drawCall(calls[0], true, tag));
    if (calls.length > 1) {
      body.append(el('details', { class: 'inlines' },
        el('summary', {}, `inlined into ${calls.length - 1} more ${calls.length === 2 ? 'call' : 'calls'}: `
          + `${(calls[calls.length - 1].name || '').slice(0, 80)}`),
        calls.slice(1).map((call) => drawCall(call, false, null))));
    }
    body.append(el('div', { class: 'origin' }, origin,
      frame.count ? `  ${frame.count} ${frame.count === 1 ? 'sample' : 'samples'}` : null));
  }
  return el('li', { class: `frame${calls.length ? '' : ' unknown'}` },
    el('span', { class: 'number', 'aria-hidden': 'true' }, frame.number ?? i), body);
}

export function asText(report) {
  const lines = [];
  report.stacks.forEach((stack) => {
    lines.push(stack.title);
    stack.frames.forEach((frame, i) => {
      const calls = callsOf(frame);
      const origin = originOf(report, frame) || frame.raw;
      const number = String(frame.number ?? i).padStart(3);
      if (calls.length === 0) {
        lines.push(`${number}  ${origin}`);
      }
      calls.forEach((call, c) => {
        const isLast = c === calls.length - 1;
        lines.push(`${c === 0 ? number : '   '}  ${call.name || '(no name)'}${place(call) ? ` at ${place(call)}` : ''}`
          + `${isLast ? ` (${origin})` : ' [inlined]'}`);
      });
    });
    lines.push('');
  });
  return lines.join('\n');
}

// --- modules of a report ---

function moduleState(module) {
  if (module.found === true) {
    return el('span', { class: 'good' }, 'symbols found');
  }
  if (module.isPending) {
    return 'the server is still fetching it';
  }
  if (module.found === false) {
    return el('span', { class: 'bad' }, module.status
      || `no symbols on this server${module.reason ? `: ${module.reason}` : ''}`);
  }
  return module.status || whyNot(module) || 'not requested';
}

export const linkOf = (name, id) => `#module=${encodeURIComponent(name)}/${encodeURIComponent(id)}`;

// The usual reason for a module without symbols: the server has those of
// another build.
export function drawOthers(others) {
  if (!others || others.length === 0) {
    return null;
  }
  return el('div', { class: 'place others' }, 'This name is known under other ids: ',
    others.slice(0, 8).map((m, i) => [i ? ', ' : '', el('a', { class: 'mono', href: linkOf(m.name, m.id) }, m.id)]).flat(),
    others.length > 8 ? ', …' : null);
}

// One line for the modules that lack symbols although their ids are known.
function drawLacking(report) {
  const used = new Set(framesOf(report).map((f) => f.module));
  const lacking = report.modules.filter((m, i) => (used.has(i) || OWN_APIS[report.kind]) && (m.found === false || m.isPending));
  return lacking.length === 0 ? null : notice(
    `${lacking.length === 1 ? 'One module has' : `${lacking.length} modules have`} no symbols${
      lacking.some((m) => m.isPending) ? ' yet' : ''}:`,
    { list: [...lacking.slice(0, 5).map((m) => el('span', {}, `${m.name} ${m.id}: `, moduleState(m), drawOthers(m.others))),
      ...(lacking.length > 5 ? ['… the others are listed below'] : [])] },
  );
}

function drawModules(report) {
  const used = new Map();
  framesOf(report).forEach((f) => used.set(f.module, (used.get(f.module) || 0) + 1));

  const rows = report.modules.map((module, i) => ({ module, n: used.get(i) || 0 }))
    .filter((row) => row.n > 0 || OWN_APIS[report.kind]).sort((a, b) => b.n - a.n);
  if (rows.length === 0) {
    return null;
  }
  const needs = rows.filter(({ module }) => module.id === '');
  const inputs = [];
  const box = el('details', { class: 'card' },
    el('summary', { class: 'pad' }, `${rows.length} ${rows.length === 1 ? 'module' : 'modules'}`,
      needs.length ? `, ${needs.length} without an id` : ''),
    el('ul', { class: 'modules' }, rows.slice(0, 500).map(({ module, n }) => {
      const item = el('li', {}, el('span', { class: 'name' }, module.name), ' ',
        el('span', { class: 'mono origin' }, module.id), el('div', { class: 'place' }, moduleState(module),
          n ? ` · ${n} ${n === 1 ? 'frame' : 'frames'}` : ''), drawOthers(module.others));
      if (module.id === '') {
        const label = `Id of ${module.name}`;
        const input = module.choices && module.choices.length
          ? el('select', { 'aria-label': label }, el('option', { value: '' }, 'choose one of this server'),
            module.choices.map(({ id }) => el('option', { value: id }, id)))
          : el('input', { type: 'text', 'aria-label': label, placeholder: 'debug id or build id', spellcheck: 'false' });
        inputs.push({ module, input });
        item.append(input);
      }
      return item;
    })));
  if (needs.length) {
    box.open = true;
    box.append(el('div', { class: 'buttons pad' }, el('button', {
      type: 'button',
      on: {
        click: () => {
          const lines = inputs.filter(({ input }) => input.value.trim())
            .map(({ module, input }) => `${module.name} ${input.value.trim()}`);
          if (lines.length) {
            $('known').value = [$('known').value.trim(), ...lines].filter(Boolean).join('\n');
            $('known-box').open = true;
            run();
          }
        },
      },
    }, 'Use these ids')));
  }
  return box;
}

// --- the result ---

// Long reports are drawn over several turns, so that the page stays responsive.
async function drawStacks(report, into, signal) {
  let n = 0;
  for (const stack of report.stacks) {
    const frames = el('ol', { class: 'frames' });
    into.append(el('section', { class: 'stack' }, el('h3', {}, stack.title || 'Stack'), frames));
    for (let i = 0; i < stack.frames.length; i += 1) {
      frames.append(drawFrame(report, stack.frames[i], i));
      n += 1;
      if (n % ROWS_PER_TURN === 0) {
        await new Promise((resolve) => { setTimeout(resolve); });
        if (signal.aborted) {
          return;
        }
      }
    }
  }
}

function drawProblems(problems) {
  const shown = problems.filter((p) => p.why);
  $('problems').replaceChildren(...(shown.length ? [notice(
    `${shown.length === 1 ? 'One thing was' : `${shown.length} things were`} not understood:`,
    { list: shown.slice(0, 20).map((p) => [p.where, p.why, p.text ? `“${p.text}”` : ''].filter(Boolean).join(' — ')) },
  )] : []));
}

function say(message) {
  $('status').replaceChildren(message ? el('p', { class: 'hint' }, message) : '');
}

async function button(node, work) {
  const text = node.textContent;
  try {
    node.textContent = await work();
  } catch (error) {
    node.textContent = error.message;
  }
  setTimeout(() => { node.textContent = text; }, 2000);
}

async function link(state) {
  const packed = await pack(state);
  if (packed.length > MAX_LINK) {
    throw new Error('Too long for a link');
  }
  return `${location.href.replace(/#.*/, '')}#report=${packed}`;
}

function drawButtons(report, state) {
  const copyText = el('button', { type: 'button', id: 'copy-text' }, 'Copy as text');
  const copyLink = el('button', { type: 'button', id: 'copy-link' }, 'Copy a link');
  copyText.addEventListener('click', () => button(copyText, async () => {
    await copy(asText(report));
    return 'Copied';
  }));
  copyLink.addEventListener('click', () => button(copyLink, async () => {
    const url = await link(state);
    history.replaceState(null, '', url);
    await copy(url);
    return 'Copied';
  }));
  const open = el('button', {
    type: 'button',
    on: {
      click: () => {
        const all = [...$('result').querySelectorAll('details.inlines')];
        const isOpen = all.some((d) => !d.open);
        all.forEach((d) => { d.open = isOpen; });
      },
    },
  }, 'Open all inlined calls');
  return el('div', { class: 'buttons' }, copyText, copyLink, open);
}

// Modules without an id: the server's list may have one with that name.
async function lookUpIds(report, signal) {
  const used = new Set(framesOf(report).map((f) => f.module));
  const names = report.modules.filter((m, i) => used.has(i) && m.id === '').slice(0, MAX_LOOKUPS);
  for (const module of names) {
    try {
      const found = await modulesNamed(settings.admin, module.name, signal);
      if (found.length === 1) {
        Object.assign(module, found[0]);
      } else {
        module.choices = found.filter((m) => m.name === module.name);
      }
    } catch (error) {
      if (signal.aborted) {
        throw error;
      }
      return `Ids could not be looked up in the store (${error.message}).`;
    }
  }
  return '';
}

// Why modules have no symbols, from the store's records: a server with
// symbolicate_on_failure partial only says that there are none.
async function lookUpReasons(report, signal) {
  const lacking = report.modules.filter((m) => m.found === false && !m.status && !m.others).slice(0, MAX_LOOKUPS);
  for (const module of lacking) {
    try {
      const told = await explain(settings.admin, module.name, module.id.replace(/[-{}]/g, ''), signal);
      module.reason = module.reason || told.reason;
      module.others = await otherIds(settings.admin, module.name, module.id, signal);
    } catch (error) {
      if (signal.aborted) {
        throw error;
      }
      return;                           // the frames matter more
    }
  }
}

function clear() {
  $('result').replaceChildren();
  delete $('result').dataset.done;
  drawProblems([]);
  say('');
}

function complain(error) {
  if (!(error instanceof Unreadable)) {
    throw error;
  }
  say('');
  $('problems').replaceChildren(notice(error.message, {
    isError: true,
    list: error.problems.map((p) => [p.where, p.why, p.text ? `“${p.text}”` : ''].filter(Boolean).join(' — ')),
  }));
}

function begin() {
  running?.abort();
  running = new AbortController();
  clear();
  return running.signal;
}

export async function run() {
  if (opened && $('text').value === '') {
    await runFile();
    return;
  }
  opened = null;
  await runText($('text').value, begin());
}

async function runText(text, signal) {
  const state = { text, modules: $('known').value };
  const known = modulesOf(state.modules);
  let report;

  try {
    report = readJava(state.text, known.modules) || readScript(state.text, known.modules)
      || read(state.text, known.modules);
  } catch (error) {
    complain(error);
    return;
  }
  report.problems.unshift(...known.problems);
  await ask(report, signal, (isFirst) => drawResult(report, state, signal, { isFirst }));
}

// Sends the report's frames to the server, and shows them after each answer.
async function ask(report, signal, show) {
  const { problems } = report;
  drawProblems(problems);

  const progress = el('progress', { class: 'bar', 'aria-label': 'Progress' });
  $('status').replaceChildren(el('p', { class: 'hint' }, 'Asking the server…'), progress);
  const onProgress = (done, total) => {
    if (total) {
      progress.max = total;
      progress.value = done;
    }
  };

  let pending = [];
  try {
    if (OWN_APIS[report.kind]) {
      if (!settings.sentry) {
        throw new Error('Sentry\'s API answers this, and the page was not told where that is '
          + '(symbolicate_page sentry=PATH).');
      }
      await OWN_APIS[report.kind](report, settings.sentry, { signal, onProgress });
    } else {
      const trouble = settings.admin ? await lookUpIds(report, signal) : '';
      if (trouble) {
        problems.push({ where: '', text: '', why: trouble });
        drawProblems(problems);
      }
      pending = await symbolicate(report, settings.api, { signal, onProgress });
    }
    await show(true);
    for (let turn = 0; pending.length > 0 && turn < MAX_TURNS && !signal.aborted; turn += 1) {
      const before = pending.length;
      pending = await symbolicateRest(report, settings.api, pending, signal);
      if (pending.length < before) {
        await show(false);
      }
    }
  } catch (error) {
    if (!signal.aborted) {
      say('');
      $('problems').append(notice(`The server did not answer the question. ${error.message}`, { isError: true }));
      if (report.kind === 'profile') {
        await show(true);               // frames that have names
      }
    }
  }
}

// The answer comes first, and the keyboard's focus goes to it; modules are below.
async function drawResult(report, state, signal, { isFirst }) {
  if (settings.admin) {
    await lookUpReasons(report, signal);
  }
  if (signal.aborted) {
    return;
  }
  const frames = framesOf(report);
  const answered = frames.filter((f) => f.answer).length;
  const result = $('result');
  const heading = el('h2', { tabindex: '-1' }, report.title);
  const stacks = el('div', {});

  say(`${answered} of ${frames.length} frames symbolicated.`);
  delete result.dataset.done;
  result.replaceChildren(heading, drawButtons(report, state), drawLacking(report) || '', stacks, drawModules(report) || '');
  if (isFirst) {
    $('status').scrollIntoView({ block: 'start' });
    heading.focus({ preventScroll: true });
  }
  await drawStacks(report, stacks, signal);
  result.dataset.done = String(frames.length);
}

// --- files ---

// asked: addresses that had no name before the server named the profile.
async function drawProfile(profile, signal, isFirst, asked = 0) {
  if (settings.admin) {
    await lookUpReasons(profile.report, signal);
  }
  const { report } = profile;
  const tree = await inTurns(flameTree(profile), signal);
  const unnamed = framesOf(report);
  const n = asked || unnamed.length;
  const answered = asked ? asked - unnamed.length : unnamed.filter((f) => f.answer).length;
  const heading = el('h2', { tabindex: '-1' }, report.title);
  const result = $('result');

  say(`${profile.samples.toLocaleString('en')} samples${
    profile.unit === 'samples' ? '' : `, ${amount(tree.total[0], profile.unit)}`}.${
    n ? ` ${answered} of ${n} addresses symbolicated.` : ''}`);
  result.replaceChildren(heading, drawLacking(report) || '', flameGraph(tree, profile.unit), drawModules(report) || '');
  if (isFirst) {
    $('status').scrollIntoView({ block: 'start' });
    heading.focus({ preventScroll: true });
  }
  result.dataset.done = String(profile.samples);
}

// Modules of a profile that the server named.
function noteFound({ report, frames }) {
  report.modules.forEach((m) => {
    m.found = m.id ? false : null;
  });
  frames.filter((f) => f.calls && f.module >= 0).forEach((f) => {
    report.modules[f.module].found = true;
  });
}

// The server gets the file as it is.  If it fails, the names that the profile has are shown.
async function askWhole(file, profile, signal) {
  const asked = framesOf(profile.report).length;
  drawProblems(profile.report.problems);
  if (asked === 0) {
    await drawProfile(profile, signal, true);
    return;
  }
  say('The server names the profile…');
  try {
    const named = await inTurns(readProfile(await nameProfile(file, settings.api, signal)), signal);
    noteFound(named);
    await drawProfile(named, signal, true, asked);
  } catch (error) {
    if (!signal.aborted) {
      say('');
      $('problems').append(notice(`The server did not name the profile. ${error.message}`, { isError: true }));
      await drawProfile(profile, signal, true);
    }
  }
}

async function askDump(dump, signal) {
  if (!settings.sentry) {
    throw new Unreadable('This is a minidump, and the page was not told where Sentry\'s API is (symbolicate_page sentry=PATH).');
  }
  say('The server reads the dump…');
  try {
    await drawResult(await symbolicateDump(dump, settings.sentry, { signal }), { text: '', modules: '' }, signal, { isFirst: true });
  } catch (error) {
    if (!signal.aborted) {
      throw new Unreadable(`The server did not answer the question. ${error.message}`);
    }
  }
}

// A dump, a profile, or a report.  A large file is not put into the text box.
async function runFile() {
  const file = opened;
  const signal = begin();
  say(`Reading ${file.name}…`);
  try {
    const packed = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const isPacked = packed[0] === 0x1f && packed[1] === 0x8b;         // as profiles are
    const stream = isPacked ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream();
    const bytes = await collect(stream, MAX_FILE);
    if (isDump(bytes)) {
      await askDump(new Blob([bytes]), signal);
      return;
    }
    const profile = await inTurns(readProfile(bytes), signal);
    if (profile?.isWhole) {
      await askWhole(file, profile, signal);
      return;
    }
    if (profile) {
      const known = modulesOf($('known').value);
      applyKnown(profile.report, known.modules);
      profile.report.problems.unshift(...known.problems);
      await ask(profile.report, signal, (isFirst) => drawProfile(profile, signal, isFirst));
      return;
    }
    const text = new TextDecoder().decode(bytes);
    if (text.length <= MAX_SHOWN) {
      opened = null;
      $('text').value = text;
    }
    await runText(text, signal);
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    complain(error instanceof RangeError || error instanceof TypeError
      ? new Unreadable(`The file cannot be read. ${error.message}`) : error);
  }
}

function openFile(file) {
  opened = file;
  $('text').value = '';
  runFile();
}

// "#report=..."
export async function openLink(packed) {
  try {
    const state = await unpack(packed);
    $('text').value = state.text;
    $('known').value = state.modules;
    $('known-box').open = state.modules !== '';
  } catch (error) {
    $('problems').replaceChildren(notice(`This link cannot be read. ${error.message}`, { isError: true }));
    return;
  }
  await run();
}

export function start(all) {
  settings = all;
  $('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    run();
  });
  $('text').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  $('example').addEventListener('click', () => {
    $('text').value = EXAMPLE;
    run();
  });
  $('clear').addEventListener('click', () => {
    running?.abort();
    opened = null;
    $('text').value = '';
    $('known').value = '';
    clear();
    history.replaceState(null, '', location.pathname);
    $('text').focus();
  });
  $('file').addEventListener('change', () => {
    if ($('file').files.length) {
      openFile($('file').files[0]);
      $('file').value = '';
    }
  });
  // anywhere: outside of the box a browser would leave the page for the file
  ['dragover', 'dragleave', 'drop'].forEach((type) => document.addEventListener(type, (event) => {
    if (!event.dataTransfer.types.includes('Files')) {
      return;
    }
    event.preventDefault();
    $('text').classList.toggle('drop', type === 'dragover');
    if (type === 'drop' && event.dataTransfer.files.length) {
      if ($('panel-report').hidden) {
        location.hash = 'report';
      }
      openFile(event.dataTransfer.files[0]);
    }
  }));
}
