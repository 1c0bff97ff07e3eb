// ask.mjs - what the server says: of frames, of modules, of itself.

import { whyNot } from './read.mjs';

const FRAMES_PER_REQUEST = 2000;

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// What an answer that is not 200 says of its reason.
async function reason(response) {
  const text = (await response.text()).slice(0, 2000);
  try {
    const body = JSON.parse(text);
    return body.description || body.title || body.error || text;
  } catch {
    return text.startsWith('<') ? response.statusText : text;
  }
}

export async function get(url, signal) {
  const response = await fetch(url, { signal, headers: { Accept: 'application/json, text/plain' } });
  if (!response.ok) {
    throw new Refused(response.status, `${response.status}: ${await reason(response)}`);
  }
  return response;
}

async function post(url, body, signal) {
  const response = await fetch(url, {
    method: 'POST', signal, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' },
  });
  if (!response.ok) {
    throw new Refused(response.status, `${response.status}: ${await reason(response)}`);
  }
  return response.json();
}

// --- frames by v5: each distinct address is asked once ---

// Sets frame.answer, {name, file, line, inlines: [{name, file, line}]} with the
// innermost call first, or null; and module.found: true, false (no symbols), or
// null (not asked, or not known).
export async function symbolicate(report, url, { signal, onProgress = () => {} } = {}) {
  const asked = new Map();

  report.modules.forEach((m) => {
    m.found = null;
  });
  report.stacks.forEach((stack) => stack.frames.forEach((frame) => {
    frame.answer = null;
    if (frame.module >= 0 && frame.offset !== null && !whyNot(report.modules[frame.module])) {
      const key = `${frame.module}:${frame.offset}`;
      if (!asked.has(key)) {
        asked.set(key, { module: frame.module, offset: frame.offset, frames: [] });
      }
      asked.get(key).frames.push(frame);
    }
  }));

  const questions = [...asked.values()].sort((a, b) => a.module - b.module || a.offset - b.offset);
  for (let i = 0; i < questions.length; i += FRAMES_PER_REQUEST) {
    onProgress(i, questions.length);
    await askPart(report, url, questions.slice(i, i + FRAMES_PER_REQUEST), signal);
  }
  onProgress(questions.length, questions.length);
}

async function askPart(report, url, part, signal) {
  const indexes = new Map();
  const memoryMap = [];
  const modules = [];
  part.forEach((q) => {
    if (!indexes.has(q.module)) {
      const m = report.modules[q.module];
      indexes.set(q.module, memoryMap.length);
      memoryMap.push([m.name, m.id.replace(/[-{}]/g, '')]);
      modules.push(m);
    }
  });
  const answer = await post(url, {
    memoryMap, stacks: [part.map((q) => [indexes.get(q.module), q.offset])],
  }, signal);
  const result = answer.results && answer.results[0];
  if (!result || !Array.isArray(result.stacks) || !Array.isArray(result.stacks[0])) {
    throw new Refused(200, 'The answer is not one of the symbolication API: is "api=" its address?');
  }
  modules.forEach((m, i) => {
    const found = (result.found_modules || {})[`${memoryMap[i][0]}/${memoryMap[i][1]}`];
    m.found = m.found === true || found === undefined ? m.found : found;
  });
  result.stacks[0].forEach((frame, i) => {
    if (frame && frame.function !== undefined && part[i]) {
      const told = {
        name: frame.function, file: frame.file, line: frame.line,
        inlines: (frame.inlines || []).map((c) => ({ name: c.function, file: c.file, line: c.line })),
      };
      part[i].frames.forEach((f) => {
        f.answer = told;
      });
    }
  });
}

// --- Sentry's API ---

const sleep = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(signal.reason);
  });
});

// The answer's frames take the place of the report's: a frame that was asked may
// be several, of which all but the last were inlined.
export async function symbolicateSentry(report, url, { signal, onProgress = () => {} } = {}) {
  let answer = await post(url, report.request, signal);
  for (let turn = 0; answer.status === 'pending'; turn += 1) {
    if (turn === 600) {
      throw new Refused(200, 'The server is still at work after ten minutes.');
    }
    onProgress(0, 0);
    await sleep(Math.min(Math.max(Number(answer.retry_after) || 1, 1), 10) * 1000, signal);
    answer = await (await get(new URL(`requests/${encodeURIComponent(answer.request_id)}?timeout=5`, url), signal)).json();
  }
  takeSentry(report, answer);
}

export function takeSentry(report, answer) {
  if (!answer || !Array.isArray(answer.stacktraces)) {
    throw new Refused(200, `The server answers: ${String(answer && (answer.status || answer.message)).slice(0, 200)}`);
  }
  report.modules = (answer.modules || []).map((m) => ({
    name: (m.debug_file || m.code_file || '?').split(/[\\/]/).pop(), id: m.debug_id || m.code_id || '',
    base: null, end: null, found: m.debug_status === 'unused' ? null : m.debug_status === 'found',
    status: m.debug_status,
  }));
  answer.stacktraces.forEach((trace, s) => {
    const stack = report.stacks[s];
    const groups = new Map();
    if (!stack) {
      return;
    }
    (trace.frames || []).forEach((frame) => {
      const key = frame.original_index ?? groups.size;
      groups.set(key, [...(groups.get(key) || []), frame]);
    });
    groups.forEach((frames, key) => {
      const asked = stack.frames[key];
      const told = frames.map((f) => ({
        name: f.function || f.symbol, file: f.filename || f.abs_path, line: f.lineno || undefined,
      }));
      if (!asked) {
        return;
      }
      const outer = told.pop();
      const last = frames[frames.length - 1];
      asked.status = last.status;
      asked.package = last.package;
      asked.answer = last.status === 'symbolicated' ? { ...outer, inlines: told } : null;
    });
  });
}

// --- modules of the store, through symbolicate_admin ---

// An address below the one that the settings give.
export const below = (base, path) => {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url;
};

export async function listModules(admin, { q = '', state = '', after = '' }, signal) {
  const url = below(admin, 'modules');
  Object.entries({ q, state, after }).forEach(([key, value]) => {
    if (value) {
      url.searchParams.set(key, value);
    }
  });
  return (await get(url, signal)).json();
}

// Ids of modules of this name that are ready.
export async function idsOf(admin, name, signal) {
  const ids = [];
  let after = '';
  for (let turn = 0; turn < 20 && ids.length < 20; turn += 1) {
    const list = await listModules(admin, { q: name, state: 'ready', after }, signal);
    list.modules.forEach((m) => {
      if (m.name === name && m.kind === 'symcache' && !ids.includes(m.id)) {
        ids.push(m.id);
      }
    });
    after = list.after;
    if (!after) {
      break;
    }
  }
  return ids;
}

export async function explain(admin, name, id, signal) {
  const url = below(admin, `explain/${encodeURIComponent(name)}/${encodeURIComponent(id)}`);
  const response = await fetch(url, { signal });
  if (response.status !== 404 && !response.ok) {
    throw new Refused(response.status, `${response.status}: ${await reason(response)}`);
  }
  return response.json();
}
