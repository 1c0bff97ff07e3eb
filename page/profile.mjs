// profile.mjs - a profile's file as a tree of stacks.
//
// readProfile(bytes) is a generator, which a page drives in turns (turns.mjs).
// It returns a Profile, or null: not a profile.
//
//   frames     distinct frames of the stacks, as frames of a report
//              (read.mjs); `calls`, if the file has them: [{name, file, line}],
//              innermost first
//   parents, frameOf, weights
//              the stacks, in arrays: a stack is its outer stack (-1: none) and
//              a frame.  The outer one precedes it.  A stack's weight is
//              that of the samples that ended in it.
//   report     modules, problems, and a stack of all frames without a name
//   unit       of weights
//   isWhole    the server names it as a whole (ask.mjs, nameProfile())

import { isOtlp, readOtlp } from './otlp.mjs';
import { MALFORMED, append, fieldsOf, message } from './protobuf.mjs';
import { Report, Unreadable, baseName, big, isObject, isSafe } from './read.mjs';

// Keys of maps are one number, combined from a parent and a frame.
const SHIFT = 2 ** 21;
const MAX_FRAMES = 2 ** 20;
const MAX_STACKS = 2 ** 22;

const LINES_PER_TURN = 500;
const ROWS_PER_TURN = 5000;
const PIECE = 256 * 1024;

class Profile {
  constructor(title, unit) {
    this.report = new Report('profile', title);
    this.unit = unit;
    this.samples = 0;
    this.frames = [];
    this.parents = [];
    this.frameOf = [];
    this.weights = [];
    this.frameByKey = new Map();
    this.stackByKey = new Map();
    this.isCut = false;
    this.isWhole = false;
  }

  // A location of pprof or OTLP: its calls, or its offset in the module.
  location(key, { module, mapping, address, calls }) {
    const raw = `0x${address.toString(16)}`;
    const offset = mapping ? address - mapping.start + mapping.offset : -1n;
    return this.frame(key, () => ({
      raw, module, offset: module >= 0 && isSafe(offset) ? Number(offset) : null,
      ...(calls.length ? { calls } : module < 0 ? { name: raw } : {}),
    }));
  }

  // The frame with that key; make() creates it the first time.
  frame(key, make) {
    let index = this.frameByKey.get(key);
    if (index === undefined) {
      if (this.frames.length === MAX_FRAMES) {
        this.isCut = true;
        return MAX_FRAMES - 1;
      }
      index = this.frames.push({ module: -1, offset: null, raw: '', ...make() }) - 1;
      this.frameByKey.set(key, index);
    }
    return index;
  }

  // A thread, process or the like, as the root of its stacks.
  outermost(name) {
    return this.stack(-1, this.frame(`\n${name}`, () => ({ name, raw: name })));
  }

  stack(parent, frame) {
    const key = (parent + 1) * SHIFT + frame;
    let index = this.stackByKey.get(key);
    if (index === undefined) {
      if (this.parents.length === MAX_STACKS) {
        this.isCut = true;
        return parent;
      }
      index = this.parents.push(parent) - 1;
      this.frameOf.push(frame);
      this.weights.push(0);
      this.stackByKey.set(key, index);
    }
    return index;
  }

  sample(stack, weight = 1) {
    if (stack >= 0 && weight > 0 && Number.isFinite(weight)) {
      this.weights[stack] += weight;
      this.samples += 1;
    }
  }

  done() {
    if (this.samples === 0) {
      throw new Unreadable(`${this.report.title}: there are no samples in it.`, this.report.problems);
    }
    if (this.isCut) {
      this.report.problem('', '', 'The profile has more stacks than the page takes; the others are counted as their callers.');
    }
    this.report.stack(this.report.title).frames = this.frames.filter((f) => !f.name && !f.calls);
    return this;
  }
}

const column = (table, name) => (isObject(table) && Array.isArray(table[name]) ? table[name] : []);

const isAddress = (name) => /^0x[0-9a-f]+$/i.test(name);

// --- perf script ---

// bash 27872 [001]  2731.133714:  250000 cpu-clock:  and the only frame, if it
// was recorded without stacks
const SAMPLE = /^(\S.*?)\s+(?:-?\d+)(?:\/\d+)?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:\d+\s+)?(\S+?):\s*(\s[0-9a-f]+ .*)?$/;
// 14f02 intel_check_word+0x122 (/usr/lib/ld.so)
const FRAME = /^\s+([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)?(?: \(((?:[^()]|\(deleted\))*)\))?\s*$/;

function perfFrame(profile, line) {
  return profile.frame(line, () => {
    const m = line.match(FRAME);
    const path = m[3] || '';
    const name = m[2] === '[unknown]' ? undefined : m[2];
    if (!path.startsWith('/') || path.startsWith('//')) {
      return { raw: line.trim(), name: name || '[unknown]' };
    }
    const address = big(m[1]);
    return {
      raw: line.trim(), name, module: profile.report.module(baseName(path.replace(/ \(deleted\)$/, ''))),
      offset: isSafe(address) ? Number(address) : null,
    };
  });
}

// Lines of the text, decoded piece by piece.
function* linesOf(bytes) {
  const decoder = new TextDecoder();
  let rest = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    const text = rest + decoder.decode(bytes.subarray(at, at + PIECE), { stream: true });
    const lines = text.split('\n');
    rest = lines.pop().slice(0, PIECE);
    yield* lines;
  }
  yield rest;
}

function* readPerf(bytes) {
  const profile = new Profile('Profile of perf', 'samples');
  let outermost = -1;
  let event = null;
  let frames = [];
  let n = 0;

  const finish = () => {
    let stack = outermost;
    for (let i = frames.length - 1; i >= 0; i -= 1) {
      stack = profile.stack(stack, frames[i]);
    }
    profile.sample(stack);
    outermost = -1;
    frames = [];
  };

  for (const line of linesOf(bytes)) {
    n += 1;
    if (n % LINES_PER_TURN === 0) {
      yield;
    }
    const s = line.slice(0, 4000);
    if (s.startsWith('\t') || s.startsWith(' ')) {
      if (outermost >= 0 && FRAME.test(s)) {
        frames.push(perfFrame(profile, s));
      }
      continue;
    }
    const m = s.match(SAMPLE);
    if (m) {
      finish();
      event = event || m[2];
      outermost = profile.outermost(m[2] === event ? m[1] : `${m[1]} (${m[2]})`);
      if (m[3]) {
        frames.push(perfFrame(profile, m[3]));
      }
    } else if (s.trim() === '') {
      finish();
    }
  }
  finish();
  return profile.done();
}

// --- collapsed stacks: github.com/brendangregg/FlameGraph, stackcollapse-perf.pl ---

// bash;main;read_file 17
const COLLAPSED = /^(\S.*?)\s+(\d+(?:\.\d+)?)\s*$/;

// A list of stacks has no other lines; the last line of the text may be cut.
function isCollapsed(text) {
  const lines = text.split('\n').slice(0, -1).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.some((line) => line.includes(';')) && lines.every((line) => COLLAPSED.test(line));
}

function* readCollapsed(bytes) {
  const profile = new Profile('Collapsed stacks', 'samples');
  let n = 0;

  for (const line of linesOf(bytes)) {
    n += 1;
    if (n % LINES_PER_TURN === 0) {
      yield;
    }
    const m = line.match(COLLAPSED);
    if (m && !line.startsWith('#')) {
      let stack = -1;
      for (const name of m[1].split(';')) {
        stack = profile.stack(stack, profile.frame(name, () => ({ raw: name, name: name || '(no name)' })));
      }
      profile.sample(stack, Number(m[2]));
    } else if (line.trim() !== '' && !line.startsWith('#')) {
      profile.report.problem(`line ${n}`, line.slice(0, 200), 'This is no stack with a number of samples.');
    }
  }
  return profile.done();
}

// --- Firefox, processed: tables of columns ---

function* readThread(profile, of, thread, libs, title) {
  const shared = isObject(of.shared) ? of.shared : {};
  const table = (name) => thread[name] || shared[name];
  const strings = [table('stringArray'), table('stringTable')].find(Array.isArray) || [];
  const [frames, funcs, resources, stacks] = ['frameTable', 'funcTable', 'resourceTable', 'stackTable'].map(table);
  const [frame, prefix] = [column(stacks, 'frame'), column(stacks, 'prefix')];
  const [address, func, lines] = [column(frames, 'address'), column(frames, 'func'), column(frames, 'line')];
  const samples = column(thread.samples, 'stack');
  const weights = column(thread.samples, 'weight');
  const own = new Map();

  const frameAt = (f) => {
    if (!own.has(f)) {
      const text = strings[column(funcs, 'name')[func[f]]];
      const name = typeof text === 'string' && !isAddress(text) ? text : undefined;
      const lib = libs[column(resources, 'lib')[column(funcs, 'resource')[func[f]]]];
      const offset = lib !== undefined && Number.isSafeInteger(address[f]) && address[f] >= 0 ? address[f] : null;
      const file = strings[column(funcs, 'fileName')[func[f]]];
      own.set(f, profile.frame(`${name ?? ''}\n${lib ?? ''}\n${name === undefined ? offset ?? text : file}`, () => ({
        name: name ?? (offset === null ? String(text ?? '(no name)') : undefined), module: lib ?? -1, offset,
        raw: String(text ?? ''), file: typeof file === 'string' ? file : undefined,
        line: Number.isInteger(lines[f]) ? lines[f] : undefined,
      })));
    }
    return own.get(f);
  };

  yield* addStacks(profile, title, { prefix, frame, frameAt }, samples, weights);
}

// As Firefox records it: rows, and addresses as strings "0x...".
function* readRawThread(profile, thread, title) {
  const { frameTable, stackTable, samples } = thread;
  const strings = column(thread, 'stringTable');
  const cells = function* cells(table, name) {
    const at = isObject(table) && isObject(table.schema) ? table.schema[name] : undefined;
    const data = column(table, 'data');
    const out = new Array(data.length);
    for (let i = 0; i < data.length; i += 1) {
      out[i] = Array.isArray(data[i]) ? data[i][at] ?? null : null;
      if (i % ROWS_PER_TURN === 0) {
        yield;
      }
    }
    return out;
  };
  const location = yield* cells(frameTable, 'location');
  const frameAt = (f) => {
    const text = String(strings[location[f]] ?? '(no name)');
    return profile.frame(text, () => {
      const address = isAddress(text) ? big(text) : null;
      const module = address === null ? -1 : profile.report.at(address);
      return {
        raw: text, name: module < 0 ? text : undefined, module,
        offset: module < 0 ? null : Number(address - profile.report.modules[module].base),
      };
    });
  };
  const prefix = yield* cells(stackTable, 'prefix');
  const frame = yield* cells(stackTable, 'frame');
  yield* addStacks(profile, title, { prefix, frame, frameAt }, yield* cells(samples, 'stack'), []);
}

// Only stacks with samples, because threads may share a table.
function* addStacks(profile, title, { prefix, frame, frameAt }, samples, weights) {
  const outerOf = (i) => (Number.isInteger(prefix[i]) && prefix[i] >= 0 && prefix[i] < i ? prefix[i] : -1);
  const isUsed = new Uint8Array(frame.length);
  const stackOf = new Int32Array(frame.length).fill(-1);

  for (let i = 0; i < samples.length; i += 1) {
    if (Number.isInteger(samples[i]) && samples[i] >= 0 && samples[i] < frame.length) {
      isUsed[samples[i]] = 1;
    }
  }
  for (let i = frame.length - 1; i >= 0; i -= 1) {
    if (isUsed[i] && outerOf(i) >= 0) {
      isUsed[outerOf(i)] = 1;
    }
    if (i % ROWS_PER_TURN === 0) {
      yield;
    }
  }
  const outermost = profile.outermost(title);
  for (let i = 0; i < frame.length; i += 1) {
    if (isUsed[i]) {
      const outer = outerOf(i);
      stackOf[i] = profile.stack(outer < 0 ? outermost : stackOf[outer], frameAt(frame[i]));
    }
    if (i % ROWS_PER_TURN === 0) {
      yield;
    }
  }
  for (let i = 0; i < samples.length; i += 1) {
    profile.sample(stackOf[samples[i]] ?? -1, weights.length ? Math.abs(weights[i]) : 1);
    if (i % ROWS_PER_TURN === 0) {
      yield;
    }
  }
}

const UNITS = { 'tracing-ms': 'milliseconds', bytes: 'bytes' };

function* addProcess(profile, of) {
  const libsOf = (list) => list.map((lib) => {
    const index = profile.report.module(String(lib.debugName || lib.name || ''), String(lib.breakpadId || lib.codeId || ''));
    if (Number.isInteger(lib.start) && Number.isInteger(lib.end) && lib.end > lib.start) {
      profile.report.place(index, BigInt(lib.start), BigInt(lib.end));
    }
    return index;
  });
  const libs = libsOf(column(of, 'libs').filter(isObject));

  for (const thread of column(of, 'threads').filter(isObject)) {
    const title = [thread.processName, thread.name || 'thread'].filter(Boolean).join(', ') + (thread.tid ? ` (${thread.tid})` : '');
    const own = Array.isArray(thread.libs) ? libsOf(thread.libs.filter(isObject)) : libs;
    profile.unit = UNITS[thread.samples && thread.samples.weightType] || profile.unit;
    yield* thread.frameTable && thread.frameTable.schema ? readRawThread(profile, thread, title)
      : readThread(profile, of, thread, own, title);
  }
  for (const process of column(of, 'processes').filter(isObject)) {
    yield* addProcess(profile, process);
  }
}

function* readFirefox(bytes) {
  let body;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;                        // read.mjs reports the position
  }
  if (!isObject(body) || !Array.isArray(body.threads) || !('libs' in body || 'meta' in body)) {
    return null;
  }
  const profile = new Profile('Firefox profile', 'samples');
  yield* addProcess(profile, body);
  return profile.done();
}

// --- pprof: github.com/google/pprof, proto/profile.proto ---

function* readPprof(bytes) {
  const strings = [];
  const decoder = new TextDecoder();
  const parts = new Map([[1, []], [2, []], [3, []], [4, []], [5, []]]);
  let byDefault = 0;
  let n = 0;
  const isTurn = () => {
    n += 1;
    return n % LINES_PER_TURN === 0;
  };

  for (const [number, value] of fieldsOf(bytes)) {
    if (number === 6) {
      strings.push(decoder.decode(value));
    } else if (number === 14) {
      byDefault = value;
    } else if (parts.has(number) && value instanceof Uint8Array) {
      parts.get(number).push(value);
    }
    if (isTurn()) {
      yield;
    }
  }

  const text = (index) => strings[index] ?? '';
  const byId = function* byId(number) {
    const all = new Map();
    for (const part of parts.get(number)) {
      const one = message(part);
      all.set(one[1], one);
      if (isTurn()) {
        yield;
      }
    }
    return all;
  };

  const types = parts.get(1).map(message).map((t) => ({ type: text(t[1]), unit: text(t[2]) }));
  const chosen = byDefault ? types.findIndex((t) => t.type === text(byDefault)) : -1;
  const column = chosen >= 0 ? chosen : types.length - 1;
  if (column < 0) {
    throw new Unreadable(MALFORMED);
  }
  const { type, unit } = types[column];
  const profile = new Profile(`Profile of pprof: ${type}`, unit === 'count' ? type : unit);
  const functions = yield* byId(5);
  const mappings = yield* byId(3);
  const modules = new Map([...mappings].map(([id, m]) => [id, m[5]
    ? profile.report.module(baseName(text(m[5])), text(m[6])) : -1]));
  const frameOf = new Map();

  for (const part of parts.get(4)) {
    const location = { lines: [] };
    for (const [number, value] of fieldsOf(part)) {
      if (number === 4 && value instanceof Uint8Array) {
        location.lines.push(message(value));
      } else {
        location[number] = value;
      }
    }
    const mapping = mappings.get(location[2]);
    const module = modules.get(location[2]) ?? -1;
    const calls = location.lines.map((line) => {
      const f = functions.get(line[1]) || {};
      return { name: text(f[2]) || text(f[3]), file: text(f[4]) || undefined, line: Number(line[2]) || undefined };
    }).filter((call) => call.name);
    frameOf.set(location[1], profile.location(location[1], {
      module, address: BigInt(location[3] ?? 0), calls,
      mapping: mapping && { start: BigInt(mapping[2] ?? 0), offset: BigInt(mapping[4] ?? 0) },
    }));
    if (isTurn()) {
      yield;
    }
  }

  for (const part of parts.get(2)) {
    const [locations, values] = [[], []];
    for (const [number, value] of fieldsOf(part)) {
      if (number === 1) {
        append(locations, value);
      } else if (number === 2) {
        append(values, value);
      }
    }
    let stack = -1;
    for (let i = locations.length - 1; i >= 0; i -= 1) {
      if (frameOf.has(locations[i])) {
        stack = profile.stack(stack, frameOf.get(locations[i]));
      }
    }
    profile.sample(stack, Number(values[column] ?? 0));
    if (isTurn()) {
      yield;
    }
  }
  return profile.done();
}

// --- any ---

// No text contains such bytes, but the lengths of the first fields are.
const isProtobuf = (bytes) => bytes.subarray(0, 64 * 1024).some((byte) => byte < 9);

export function* readProfile(bytes) {
  if (isProtobuf(bytes)) {
    const profile = isOtlp(bytes) ? yield* readOtlp(bytes, Profile) : yield* readPprof(bytes);
    profile.isWhole = true;
    return profile;
  }
  const head = bytes.subarray(0, 64 * 1024);
  const text = new TextDecoder().decode(head);
  if (/^\ufeff?\s*\{/.test(text)) {
    return yield* readFirefox(bytes);
  }
  if (text.split('\n').some((line) => SAMPLE.test(line.slice(0, 4000)))) {
    return yield* readPerf(bytes);
  }
  return isCollapsed(text) ? yield* readCollapsed(bytes) : null;
}
