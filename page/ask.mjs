// ask.mjs - requests to the server: about frames, modules, and itself.

import { framesOf, whyNot } from './read.mjs';

const FRAMES_PER_REQUEST = 2000;

export class Refused extends Error {
  constructor(status, message, body = null) {
    super(message);
    this.status = status;
    this.body = body;                   // JSON of the answer, if it is JSON
  }
}

// An answer that is not 200, with its reason.
async function refusal(response) {
  const text = await response.text();
  let body = null;
  let reason = text.startsWith('<') ? response.statusText : text.slice(0, 2000);
  try {
    body = JSON.parse(text);
    reason = body.description || body.title || body.error || reason;
  } catch {
    // the text is the reason
  }
  return new Refused(response.status, `${response.status}: ${reason}`, body);
}

export async function get(url, signal) {
  const response = await fetch(url, { signal, headers: { Accept: 'application/json, text/plain' } });
  if (!response.ok) {
    throw await refusal(response);
  }
  return response;
}

// body: a form, a file, or a value that is sent as JSON.
async function post(url, body, signal) {
  const response = await fetch(url, body instanceof FormData || body instanceof Blob ? { method: 'POST', signal, body } : {
    method: 'POST', signal, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' },
  });
  if (!response.ok) {
    throw await refusal(response);
  }
  return response;
}

const sleep = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(signal.reason);
  });
});

// --- frames by v5: each distinct address is looked up once ---

// Sets frame.answer, {name, file, line, inlines: [{name, file, line}]} with the
// innermost call first, or null; and of each module
//
//   found      true, false (no symbols), or null (not asked)
//   isPending  whether the server is still fetching it
//   reason     why its fetch failed, if the server says so
//
// Returns the requests about pending modules, for symbolicateRest().
export async function symbolicate(report, url, { signal, onProgress = () => {} } = {}) {
  const asked = new Map();

  report.modules.forEach((m) => {
    m.found = null;
  });
  framesOf(report).forEach((frame) => {
    frame.answer = null;
    if (frame.module >= 0 && frame.offset !== null && !whyNot(report.modules[frame.module])) {
      const key = `${frame.module}:${frame.offset}`;
      if (!asked.has(key)) {
        asked.set(key, { module: frame.module, offset: frame.offset, frames: [] });
      }
      asked.get(key).frames.push(frame);
    }
  });

  const questions = [...asked.values()].sort((a, b) => a.module - b.module || a.offset - b.offset);
  return askAll(report, url, questions, { signal, onProgress });
}

// Repeats the requests about pending modules, when the server said to.
export async function symbolicateRest(report, url, pending, signal) {
  await sleep(pending.retryAfter_s * 1000, signal);
  return askAll(report, url, pending, { signal, onProgress: () => {} });
}

async function askAll(report, url, questions, { signal, onProgress }) {
  const pending = [];
  pending.retryAfter_s = 1;
  for (let i = 0; i < questions.length; i += FRAMES_PER_REQUEST) {
    onProgress(i, questions.length);
    const part = questions.slice(i, i + FRAMES_PER_REQUEST);
    const retryAfter_s = await askPart(report, url, part, signal);
    pending.retryAfter_s = Math.max(pending.retryAfter_s, retryAfter_s);
    part.filter((q) => report.modules[q.module].isPending).forEach((q) => pending.push(q));
  }
  onProgress(questions.length, questions.length);
  return pending;
}

// A server with symbolicate_on_failure 503 refuses a request if the fetch of
// one module failed, and names all such modules: the request is repeated
// without them.
async function askPart(report, url, part, signal) {
  let rest = part.filter((q) => !report.modules[q.module].reason);
  while (rest.length > 0) {
    try {
      return await askOnce(report, url, rest, signal);
    } catch (error) {
      const n = rest.length;
      takeFailures(report, rest, error.body);
      rest = rest.filter((q) => !report.modules[q.module].reason);
      if (rest.length === n) {
        throw error;
      }
    }
  }
  return 0;
}

const plain = (id) => id.replace(/[-{}]/g, '');

function takeFailures(report, part, body) {
  const failed = new Map((body && Array.isArray(body.modules) ? body.modules : []).filter(Boolean)
    .map((m) => [`${m.debug_file}/${plain(String(m.debug_id)).toLowerCase()}`, m]));
  part.forEach((q) => {
    const module = report.modules[q.module];
    const told = failed.get(`${module.name}/${plain(module.id).toLowerCase()}`);
    if (told) {
      module.found = false;
      module.isPending = false;
      module.reason = String(told.reason || 'the fetch failed');
    }
  });
}

async function askOnce(report, url, part, signal) {
  const indexes = new Map();
  const memoryMap = [];
  const modules = [];
  part.forEach((q) => {
    if (!indexes.has(q.module)) {
      const m = report.modules[q.module];
      indexes.set(q.module, memoryMap.length);
      memoryMap.push([m.name, plain(m.id)]);
      modules.push(m);
    }
  });
  const response = await post(url, {
    memoryMap, stacks: [part.map((q) => [indexes.get(q.module), q.offset])],
  }, signal);
  const retryAfter_s = Math.min(Number(response.headers.get('Retry-After')) || 0, 60);
  const answer = await response.json();
  const result = answer.results && answer.results[0];
  if (!result || !Array.isArray(result.stacks) || !Array.isArray(result.stacks[0])) {
    throw new Refused(200, 'The answer is not one of the symbolication API: is "api=" its address?');
  }
  modules.forEach((m, i) => {
    const found = (result.found_modules || {})[`${memoryMap[i][0]}/${memoryMap[i][1]}`];
    m.isPending = found === null && retryAfter_s > 0;
    m.found = found === undefined ? m.found : found;
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
  return retryAfter_s;
}

// --- profiles of pprof and OTLP, by the location next to that of v5 ---

// Returns the bytes of the same profile with names.
export async function nameProfile(file, api, signal) {
  const url = new URL('profile', api);
  try {
    return new Uint8Array(await (await post(url, file, signal)).arrayBuffer());
  } catch (error) {
    if (error instanceof Refused && [404, 405].includes(error.status)) {
      throw new Refused(error.status, `It takes no profiles at ${url.pathname}: a location needs "symbolicate profile" there.`);
    }
    throw error;
  }
}

// --- Sentry's API ---

// The answer to a request, which may outlive its first client.
export async function settled(url, request, { signal, onProgress = () => {} } = {}) {
  let answer = await (await post(url, request, signal)).json();
  for (let turn = 0; answer.status === 'pending'; turn += 1) {
    if (turn === 600) {
      throw new Refused(200, 'The server is still at work after ten minutes.');
    }
    onProgress(0, 0);
    await sleep(Math.min(Math.max(Number(answer.retry_after) || 1, 1), 10) * 1000, signal);
    answer = await (await get(new URL(`requests/${encodeURIComponent(answer.request_id)}?timeout=5`, url), signal)).json();
  }
  return answer;
}

// The answer's frames replace the report's.  A frame may become several, all
// but the last of which were inlined.
export async function symbolicateSentry(report, url, options = {}) {
  takeSentry(report, await settled(url, report.request, options));
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

// A path below the one in the settings.
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

// The name that Windows' tools use for a module, and that of its debug file.
const isFileOf = (file, name) => file === name
  || (/\.pdb$/i.test(file) && file.slice(0, -4).toLowerCase() === name.replace(/\.(?:exe|dll|sys)$/i, '').toLowerCase());

// Modules of this name that are ready: [{name, id}].
export async function modulesNamed(admin, name, signal) {
  const found = new Map();
  let after = '';
  for (let turn = 0; turn < 20 && found.size < 20; turn += 1) {
    const list = await listModules(admin, { q: name.replace(/\.(?:exe|dll|sys)$/i, ''), state: 'ready', after }, signal);
    list.modules.forEach((m) => {
      if (isFileOf(m.name, name) && m.kind === 'symcache') {
        found.set(`${m.name}/${m.id.toLowerCase()}`, { name: m.name, id: m.id });
      }
    });
    after = list.after;
    if (!after) {
      break;
    }
  }
  return [...found.values()];
}

export async function otherIds(admin, name, id, signal) {
  const own = plain(id).toLowerCase();
  return (await modulesNamed(admin, name, signal)).filter((m) => m.name === name && m.id.toLowerCase() !== own);
}

export async function explain(admin, name, id, signal) {
  const url = below(admin, `explain/${encodeURIComponent(name)}/${encodeURIComponent(id)}`);
  const response = await fetch(url, { signal });
  if (response.status !== 404 && !response.ok) {
    throw await refusal(response);
  }
  return response.json();
}
