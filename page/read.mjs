// read.mjs - parses pasted text into stacks of addresses in modules.
//
// read(text, known) gives a report:
//
//   kind      'v5', 'sentry', 'apple', 'profile' or 'text'
//   title     the recognised format
//   modules   [{name, id, base, end}]; id: '' if the text does not have it;
//             base, end: BigInt, the module's addresses, or null
//   stacks    [{title, frames}]
//   problems  [{where, text, why}]: unreadable lines
//   request   of 'sentry': the text as JSON, which is sent as it is
//
// A frame has `module` (index, or -1), `offset` (number, or null), `raw` (as
// pasted), and, if the text has them, `name`, `file`, `line`, and `count`
// (samples of a profile).
//
// known: modules that the user named, in the form that modulesOf() returns;
// they override the text.  Nothing here uses the DOM, so node can test it.

const MAX_FRAMES = 200000;
const MAX_PROBLEMS = 50;

// Formats that the server's API accepts.
const NAME = /^[A-Za-z0-9_.+{}@<> ~-]+$/;
const ID = /^[0-9A-Fa-f]{8,64}$/;

export class Unreadable extends Error {
  constructor(message, problems = []) {
    super(message);
    this.problems = problems;
  }
}

export const baseName = (path) => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

const plainId = (id) => id.replace(/[-{}]/g, '');

// A debug id: a UUID of Apple, which has no age, gets the age 0.
const uuidId = (uuid) => {
  const plain = plainId(uuid).toUpperCase();
  return plain.length === 32 ? `${plain}0` : plain;
};

export const big = (hex) => BigInt(/^0x/i.test(hex) ? hex : `0x${hex}`);

export const isSafe = (value) => value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER);

const bigOfWindbg = (text) => big(text.replace('`', ''));

const number = (hex) => {
  const value = big(hex);
  return isSafe(value) ? Number(value) : null;
};

export const hex = (value) => `0x${value.toString(16)}`;

// --- the report under construction ---

export class Report {
  constructor(kind, title) {
    this.kind = kind;
    this.title = title;
    this.modules = [];
    this.stacks = [];
    this.problems = [];
    this.frames = 0;
    this.isCut = false;
    this.byName = new Map();
  }

  module(name, id = '') {
    const key = `${name}\n${id.toLowerCase()}`;
    let index = this.byName.get(key);
    if (index === undefined && id === '') {
      index = this.modules.findIndex((m) => m.name === name);
      index = index < 0 ? undefined : index;
    }
    if (index === undefined && id !== '') {
      index = this.byName.get(`${name}\n`);
      if (index !== undefined) {
        this.modules[index].id = this.modules[index].id || id;
        this.byName.set(key, index);
      }
    }
    if (index === undefined) {
      index = this.modules.length;
      this.modules.push({ name, id, base: null, end: null });
      this.byName.set(key, index);
    }
    return index;
  }

  place(index, base, end = null) {
    const module = this.modules[index];
    if (module.base === null) {
      module.base = base;
      module.end = end;
    }
  }

  // One mapping of a file; each part has its own line, and the module reaches
  // from the first to the last.
  map(name, start, end, offset) {
    const index = this.module(name);
    const module = this.modules[index];
    if (module.base === null) {
      this.place(index, start > offset ? start - offset : start, end);
    } else if (module.end !== null && start >= module.base && end > module.end && offset > 0n) {
      module.end = end;
    }
  }

  // The module at an absolute address; the nearest of those without an end.
  at(address) {
    let found = -1;
    this.modules.forEach((m, i) => {
      if (m.base !== null && address >= m.base && (m.end === null || address < m.end)
        && (found < 0 || m.base > this.modules[found].base)) {
        found = i;
      }
    });
    return found;
  }

  stack(title) {
    const stack = { title, frames: [] };
    this.stacks.push(stack);
    return stack;
  }

  add(stack, frame) {
    if (this.frames === MAX_FRAMES) {
      this.isCut = true;
      return;
    }
    this.frames += 1;
    stack.frames.push({ module: -1, offset: null, ...frame });
  }

  problem(where, text, why) {
    if (this.problems.length < MAX_PROBLEMS) {
      this.problems.push({ where, text: text.slice(0, 200), why });
    } else if (this.problems.length === MAX_PROBLEMS) {
      this.problems.push({ where: '', text: '', why: 'More lines were not understood.' });
    }
  }

  done() {
    this.stacks = this.stacks.filter((s) => s.frames.length > 0);
    if (this.isCut) {
      this.problem('', '', `Only the first ${MAX_FRAMES} frames were read.`);
    }
    return this;
  }
}

// --- modules that the user names: NAME ID [BASE[-END]], one per line ---

export function modulesOf(text) {
  const modules = [];
  const problems = [];

  text.split('\n').forEach((line, i) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) {
      return;
    }
    const found = moduleLine(trimmed)
      || trimmed.match(/^(?<name>\S.*?)(?:\s+(?<id>[0-9A-Fa-f{}-]{8,70}))?(?:\s+(?<base>0x[0-9a-f]+)(?:-(?<end>0x[0-9a-f]+))?)?$/i)?.groups;
    const id = found ? plainId(found.id || '') : '';
    if (!found || (id && !ID.test(id)) || (!id && !found.base)) {
      problems.push({
        where: `module list, line ${i + 1}`, text: trimmed,
        why: 'A module is written as NAME ID, or NAME ID 0xBASE if the addresses are absolute.',
      });
      return;
    }
    modules.push({
      name: baseName(found.name), id,
      base: found.base ? big(found.base) : null, end: found.end ? big(found.end) : null,
    });
  });
  return { modules, problems };
}

// Lines in which tools print a module and its id.
function moduleLine(line) {
  let m = line.match(/^MODULE \S+ \S+ ([0-9A-Fa-f]{9,40}) (.+)$/);           // .sym
  if (m) {
    return { name: m[2], id: m[1] };
  }
  m = line.match(/^(.+?): .*\bBuildID\[\w+\]=([0-9a-f]{16,64})\b/);          // file
  if (m) {
    return { name: m[1], id: m[2] };
  }
  m = line.match(/^Module (\S+)(?: from .+?)? with build-id ([0-9a-f]{16,64})$/); // systemd
  if (m) {
    return { name: m[1], id: m[2] };
  }
  m = line.match(/^(?:UUID: )?([0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}) \(\w+\) (.+)$/); // dwarfdump -u
  if (m) {
    return { name: m[2], id: uuidId(m[1]) };
  }
  m = line.match(/^([0-9a-f]{40}) (\/\S.*)$/);                                // perf buildid-list
  if (m) {
    return { name: baseName(m[2]), id: m[1] };
  }
  m = line.match(/^Module\|([^|]+)\|[^|]*\|([^|]*)\|([0-9A-Fa-f]{9,40})\|(0x[0-9a-f]+)\|(0x[0-9a-f]+)\|/);
  if (m) {                                                                   // minidump-stackwalk
    return { name: m[2] || m[1], id: m[3], base: m[4], end: m[5] };
  }
  return null;
}

// --- JSON ---

export const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);

function syntaxPlace(text, error) {
  const at = error.message.match(/position (\d+)/);
  if (!at) {
    return /end of JSON/.test(error.message) ? 'at its end' : 'JSON';
  }
  const before = text.slice(0, Number(at[1]));
  const line = before.split('\n').length;
  return `line ${line}, column ${before.length - before.lastIndexOf('\n')}`;
}

function fail(where, why) {
  throw new Unreadable('This JSON has an unexpected structure.', [{ where, text: '', why }]);
}

function readV5(body) {
  const report = new Report('v5', 'Request of the symbolication API');
  const isOne = !('jobs' in body);
  const jobs = isOne ? [body] : body.jobs;

  if (!Array.isArray(jobs)) {
    fail('jobs', 'It must be a list.');
  }
  jobs.forEach((job, j) => {
    const at = isOne ? '' : `jobs[${j}].`;
    if (!isObject(job) || !Array.isArray(job.memoryMap)) {
      fail(`${at}memoryMap`, 'It must be a list of [NAME, ID].');
    }
    if (!Array.isArray(job.stacks)) {
      fail(`${at}stacks`, 'It must be a list of stacks.');
    }
    const indexes = job.memoryMap.map((m, i) => {
      if (!Array.isArray(m) || m.length !== 2 || typeof m[0] !== 'string' || typeof m[1] !== 'string') {
        fail(`${at}memoryMap[${i}]`, 'It must be [NAME, ID], two strings.');
      }
      return report.module(m[0], m[1]);
    });
    job.stacks.forEach((frames, s) => {
      if (!Array.isArray(frames)) {
        fail(`${at}stacks[${s}]`, 'It must be a list of frames.');
      }
      const stack = report.stack(isOne ? `Stack ${s + 1}` : `Job ${j + 1}, stack ${s + 1}`);
      frames.forEach((frame, f) => {
        const where = `${at}stacks[${s}][${f}]`;
        if (!Array.isArray(frame) || frame.length !== 2 || !frame.every(Number.isInteger)) {
          fail(where, 'A frame must be [MODULE INDEX, OFFSET], two whole numbers.');
        }
        if (frame[0] < -1 || frame[0] >= indexes.length) {
          fail(where, `The memoryMap has ${indexes.length} modules; there is no module ${frame[0]}.`);
        }
        const offset = frame[1] >= 0 && Number.isSafeInteger(frame[1]) ? frame[1] : null;
        report.add(stack, {
          module: frame[0] < 0 ? -1 : indexes[frame[0]], offset,
          raw: offset === null ? String(frame[1]) : hex(offset),
        });
      });
    });
  });
  return report.done();
}

function readSentry(body) {
  const report = new Report('sentry', 'Request of Sentry\'s native API');
  if (!Array.isArray(body.stacktraces)) {
    fail('stacktraces', 'It must be a list.');
  }
  body.stacktraces.forEach((trace, s) => {
    if (!isObject(trace) || !Array.isArray(trace.frames)) {
      fail(`stacktraces[${s}].frames`, 'It must be a list of frames.');
    }
    const stack = report.stack(`Stack ${s + 1}`);
    trace.frames.forEach((frame, f) => {
      if (!isObject(frame) || frame.instruction_addr === undefined) {
        fail(`stacktraces[${s}].frames[${f}]`, 'A frame needs "instruction_addr".');
      }
      report.add(stack, { raw: String(frame.instruction_addr), name: frame.function });
    });
  });
  report.request = body;
  return report.done();
}

// An .ips report of Apple: a line of JSON, then the report as JSON.
function readIps(body, header) {
  const report = new Report('apple', 'Apple crash report');
  const images = Array.isArray(body.usedImages) ? body.usedImages : [];

  const indexes = images.map((image) => {
    if (!isObject(image) || typeof image.uuid !== 'string' || (!image.name && !image.path)) {
      return -1;
    }
    return report.module(baseName(image.path || image.name), uuidId(image.uuid));
  });
  const addFrames = (stack, frames, where) => frames.forEach((frame, f) => {
    if (!isObject(frame) || !Number.isInteger(frame.imageIndex) || !Number.isInteger(frame.imageOffset)) {
      report.problem(`${where}[${f}]`, '', 'A frame needs "imageIndex" and "imageOffset".');
      return;
    }
    const image = images[frame.imageIndex];
    report.add(stack, {
      module: indexes[frame.imageIndex] ?? -1, offset: frame.imageOffset,
      raw: `${image && image.name ? image.name : '???'} + ${frame.imageOffset}`,
      name: frame.symbol, file: frame.sourceFile, line: frame.sourceLine,
    });
  });

  if (Array.isArray(body.lastExceptionBacktrace)) {
    addFrames(report.stack('Last exception backtrace'), body.lastExceptionBacktrace, 'lastExceptionBacktrace');
  }
  (Array.isArray(body.threads) ? body.threads : []).forEach((thread, t) => {
    if (isObject(thread) && Array.isArray(thread.frames)) {
      const name = thread.name || thread.queue;
      addFrames(report.stack(`Thread ${t}${thread.triggered ? ' (crashed)' : ''}${name ? `: ${name}` : ''}`),
        thread.frames, `threads[${t}].frames`);
    }
  });
  if (header && header.app_name) {
    report.title = `Apple crash report of ${header.app_name}`;
  }
  return report.done();
}

// --- Firefox profiles: distinct addresses, the most frequent first ---

function samplesByFrame(stackTable, samples, nFrames) {
  const counts = new Map();
  const n = samples.length ?? samples.stack.length;
  for (let i = 0; i < n; i += 1) {
    const stack = samples.stack[i];
    if (stack !== null && stack !== undefined) {
      const frame = stackTable.frame[stack];
      if (frame < nFrames) {
        counts.set(frame, (counts.get(frame) || 0) + (samples.weight ? Math.abs(samples.weight[i]) : 1));
      }
    }
  }
  return counts;
}

// As the profiler processes it: tables of columns.
function readProcessedThread(report, profile, thread, libs) {
  const shared = isObject(profile.shared) ? profile.shared : {};
  const table = (name) => thread[name] || shared[name];
  const frames = table('frameTable');
  const funcs = table('funcTable');
  const resources = table('resourceTable');
  const stacks = table('stackTable');

  if (!frames || !funcs || !resources || !Array.isArray(frames.address)) {
    return null;
  }
  const counts = thread.samples && stacks && thread.samples.stack
    ? samplesByFrame(stacks, thread.samples, frames.address.length) : new Map();
  const own = thread.samples && !thread.frameTable ? (f) => counts.has(f) : () => true;

  const found = new Map();
  frames.address.forEach((address, f) => {
    const resource = funcs.resource[frames.func[f]];
    const lib = resource >= 0 && resources.lib ? resources.lib[resource] : null;
    if (!(address >= 0) || lib === null || lib === undefined || !(lib in libs) || !own(f)) {
      return;
    }
    const key = `${lib}:${address}`;
    const entry = found.get(key) || { module: libs[lib], offset: address, count: 0 };
    entry.count += counts.get(f) || 0;
    found.set(key, entry);
  });
  return [...found.values()];
}

// As Firefox records it: rows, and addresses as strings.
function readRawThread(report, thread) {
  const { frameTable, stringTable, stackTable, samples } = thread;
  if (!frameTable || !frameTable.schema || !Array.isArray(frameTable.data) || !Array.isArray(stringTable)) {
    return null;
  }
  const counts = new Map();
  if (stackTable && samples && samples.schema && stackTable.schema) {
    samples.data.forEach((row) => {
      const stack = stackTable.data[row[samples.schema.stack]];
      if (stack) {
        const frame = stack[stackTable.schema.frame];
        counts.set(frame, (counts.get(frame) || 0) + 1);
      }
    });
  }
  const found = [];
  frameTable.data.forEach((row, f) => {
    const location = stringTable[row[frameTable.schema.location]];
    if (typeof location === 'string' && /^0x[0-9a-f]+$/i.test(location)) {
      const address = big(location);
      const module = report.at(address);
      if (module >= 0) {
        found.push({
          module, offset: Number(address - report.modules[module].base), count: counts.get(f) || 0,
        });
      }
    }
  });
  return found;
}

function readProfile(profile, report = new Report('profile', 'Firefox profile'), where = '') {
  const libsOf = (list) => list.map((lib) => {
    const name = lib.debugName || lib.name || '';
    const index = report.module(name, lib.breakpadId || (lib.codeId ? String(lib.codeId) : ''));
    if (Number.isInteger(lib.start) && Number.isInteger(lib.end) && lib.end > lib.start) {
      report.place(index, BigInt(lib.start), BigInt(lib.end));
    }
    return index;
  });
  const libs = Array.isArray(profile.libs) ? libsOf(profile.libs.filter(isObject)) : [];

  (Array.isArray(profile.threads) ? profile.threads : []).forEach((thread, t) => {
    const own = isObject(thread) && Array.isArray(thread.libs) ? libsOf(thread.libs.filter(isObject)) : libs;
    const found = isObject(thread)
      ? readRawThread(report, thread) || readProcessedThread(report, profile, thread, own) : null;
    if (!found) {
      report.problem(`${where}threads[${t}]`, '', 'Its tables have another form than those of Firefox\'s profiles.');
      return;
    }
    found.sort((a, b) => b.count - a.count);
    const stack = report.stack(`${thread.processName ? `${thread.processName}, ` : ''}${thread.name || `thread ${t}`}`
      + `${thread.tid ? ` (${thread.tid})` : ''}: addresses by samples`);
    found.forEach((frame) => report.add(stack, { ...frame, raw: hex(frame.offset) }));
  });
  (Array.isArray(profile.processes) ? profile.processes : []).forEach((process, p) => {
    if (isObject(process)) {
      readProfile(process, report, `${where}processes[${p}].`);
    }
  });
  return report;
}

function readJson(text) {
  let body;
  let header = null;

  try {
    body = JSON.parse(text);
  } catch (error) {
    // an .ips report has two documents
    const end = text.indexOf('\n');
    try {
      header = JSON.parse(text.slice(0, end));
      body = JSON.parse(text.slice(end));
    } catch {
      throw new Unreadable('This begins like JSON, but is not JSON.',
        [{ where: syntaxPlace(text, error), text: '', why: error.message }]);
    }
  }
  if (isObject(body)) {
    if ('stacktraces' in body) {
      return readSentry(body);
    }
    if ('jobs' in body || 'stacks' in body || 'memoryMap' in body) {
      return readV5(body);
    }
    if ('usedImages' in body) {
      return readIps(body, header);
    }
    if ('threads' in body && ('libs' in body || 'meta' in body)) {
      return readProfile(body).done();
    }
  }
  throw new Unreadable('This is JSON of a kind that is not known here.', [{
    where: isObject(body) ? `keys: ${Object.keys(body).slice(0, 10).join(', ')}` : 'JSON', text: '',
    why: 'Known are requests ("stacks" and "memoryMap", "jobs", or Sentry\'s "stacktraces"), '
      + 'Apple\'s .ips reports ("usedImages") and Firefox profiles ("threads" and "libs").',
  }]);
}

// --- text, line by line ---

const HEADING = /^\s*(?:(?:Thread|Crashed Thread|goroutine|THREAD)\s+\d+.*:\s*$|Thread \d+ .*$|(?:Last Exception |Application Specific )?Backtrace.*:\s*$|Stack trace.*:\s*$|Call Trace:\s*$|backtrace:\s*$)/i;
// A sample of perf script:  bash 27872  2731.133714:     250000 cpu-clock:
const SAMPLE = /^\S.*?\s+\d+(?:\/\d+)?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:\d+\s+)?[\w:/.-]+?:\s*$/;
// minidump-stackwalk's:  Crashing instruction: `mov dword [0x45], 0x5`
const INSTRUCTION = /^\s*(?:Crashing instruction|Memory accessed by instruction|\d+\. Address):/i;
const SKIP = /^\s*Thread\s+\d+\s+crashed with/i;

// Each returns a frame in the terms of its text, {name|module..., address,
// ...}, or null.  The first match counts.
const FORMS = [
  // minidump-stackwalk, named:  0  app!main [a.c : 9 + 0x4];  1  app!main + 0x24
  (s) => {
    const m = s.match(/^\s*\d+\s{2}([^!\s]+)!(\S.*?)(?: \[(\S.*) : (\d+)(?: \+ 0x[0-9a-f]+)?\]| \+ 0x[0-9a-f]+)\s*$/i);
    return m && { path: m[1], name: m[2], file: m[3], line: m[4] === undefined ? undefined : Number(m[4]) };
  },
  // WinDbg's k:  01 000000a5`6e2ff5d8 00007ff8`1c2d7bd4 app!main+0x24 [C:\a.c @ 12]
  (s) => {
    const m = s.match(/^\s*(?:[0-9a-f]{2,3}\s+)?(?:\(Inline(?: Function)?\)|[0-9a-f]{8}(?:`[0-9a-f]{8})?)\s+(-{8}(?:`-{8})?|[0-9a-f]{8}(?:`[0-9a-f]{8})?)\s+(?:[0-9a-f`]{8,17}\s+){0,4}(?:: )?([^\s!+]+)(?:!(.+?))?(?:\+(0x[0-9a-f]+))?(?:\s+\[(.+?) @ (\d+)\])?\s*$/i);
    return m && (m[3] || m[4]) && {
      path: m[2], name: m[3], offset: m[3] ? undefined : m[4], file: m[5], line: m[6] === undefined ? undefined : Number(m[6]),
    };
  },
  // the kernel:  [ 12.3]  do_wp_page+0x577/0x9a0 [module];  RIP: 0010:f+0x1/0x2
  (s) => {
    const m = s.match(/^\s*(?:<\d+>)?(?:\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])?)?\s*(?:RIP: [0-9a-f]{4}:|pc : |lr : )?(?:\[<[0-9a-f]+>\] )?(?:\? )?([A-Za-z_][\w.$]*\+0x[0-9a-f]+)\/0x[0-9a-f]+(?: \[(\w+)(?: ([0-9a-f]{40}))?\])?\s*$/);
    return m && { path: m[2] ? `${m[2]}.ko` : 'vmlinux', name: m[1], id: m[3] };
  },
  // perf script:  \t  14f02 intel_check_word+0x122 (/usr/lib/ld.so)
  (s) => {
    const m = s.match(/^\s+([0-9a-f]{3,16}) (\S.*?)(?:\+0x[0-9a-f]+)? \((\/\S.*|\[\S+\]|\S+\.ko)\)\s*$/);
    const isFile = m && m[3].startsWith('/');
    return m && {
      path: isFile ? m[3] : m[3] === '[kernel.kallsyms]' ? 'vmlinux' : m[3], offset: isFile ? m[1] : undefined,
      address: isFile ? undefined : m[1], name: m[2] === '[unknown]' ? undefined : m[2],
    };
  },
  // ASan:  #1 0x7f43  (/lib/libc.so.6+0x2724a) (BuildId: 6196...)
  (s) => {
    const m = s.match(/^\s*#\d+\s+0x[0-9a-f]+\s+(?:in (\S.*?)\s+)?\((\/?[^()]+?)\+(0x[0-9a-f]+)\)(?:\s+\(BuildId: ([0-9a-f]+)\))?\s*$/i);
    return m && { path: m[2], offset: m[3], id: m[4], name: m[1] };
  },
  // ASan with names, gdb:  #0 0x55d in main a.c:3:4;  #0  0x55 in main () at a.c:3
  (s) => {
    const m = s.match(/^\s*#\d+\s+(?:(0x[0-9a-f]+) in )?(\S.*?) (?:\(.*\)\s+at )?(\S+?):(\d+)(?::\d+)?\s*$/i);
    return m && { address: m[1], name: m[2], file: m[3], line: Number(m[4]) };
  },
  // Android:  #00 pc 0001b4c8  /system/lib64/libc.so (abort+160) (BuildId: ab...)
  (s) => {
    const m = s.match(/^\s*#\d+\s+pc\s+(?:0x)?([0-9a-f]+)\s+(\S+)(?:\s+\(offset [^)]*\))?(?:\s+\((?!BuildId)(.+?)(?:\+\d+)?\))?(?:\s+\(BuildId: ([0-9a-f]+)\))?\s*$/i);
    return m && { path: m[2], offset: m[1], id: m[4], name: m[3] };
  },
  // systemd-coredump:  #0  0x00007f12 raise (libc.so.6 + 0x3bce1)
  (s) => {
    const m = s.match(/^\s*#\d+\s+(0x[0-9a-f]+)\s+(\S.*?)\s+\((\S+)\s\+\s(0x[0-9a-f]+)\)\s*$/i);
    return m && { path: m[3], offset: m[4], name: /^(n\/a|\?\?)$/.test(m[2]) ? undefined : m[2] };
  },
  // Firefox:  #01: ???[/usr/lib/libxul.so +0x1b4c8]
  (s) => {
    const m = s.match(/^\s*#?\d+:?\s+(.*?)\s?\[(\S.*?)\s?\+(0x[0-9a-f]+)\]\s*$/i);
    return m && { path: m[2], offset: m[3], name: /^\?*$/.test(m[1]) ? undefined : m[1] };
  },
  // gdb without lines:  #1  0x00007ffff7df in abort () from /lib/libc.so.6
  (s) => {
    const m = s.match(/^\s*#\d+\s+(0x[0-9a-f]+) in (\S.*?)(?: \(.*\))?(?: from (\S+))?\s*$/i);
    return m && { address: m[1], name: /^\?\?/.test(m[2]) ? undefined : m[2], path: m[3] };
  },
  // Apple, and macOS' backtrace():  3   App   0x0000000100  0x100000 + 1234
  (s) => {
    const m = s.match(/^\s*\d+\s+(\S.*?)\s+(0x[0-9a-f]+)\s+(\S.*?)\s\+\s(\d+)(?:\s+\((.+):(\d+)\))?\s*$/i);
    if (!m) {
      return null;
    }
    const hasBase = /^0x[0-9a-f]+$/i.test(m[3]);
    return {
      path: m[1], address: m[2], isApple: true, base: hasBase ? m[3] : undefined,
      name: hasBase || m[3] === m[1] ? undefined : m[3],
      file: m[5], line: m[6] === undefined ? undefined : Number(m[6]),
    };
  },
  // glibc:  ./a.out(+0x1234) [0x55..];  /lib/libc.so.6(abort+0x12) [0x7f..]
  (s) => {
    const m = s.match(/^\s*(?:\[?\d+\]?:?\s+)?(\S[^()[\]]*?)\((.*?)(?:\+(0x[0-9a-f]+))?\)\s?\[(0x[0-9a-f]+)\]\s*$/i);
    return m && {
      path: m[1], address: m[4], offset: m[2] === '' ? m[3] : undefined, name: m[2] || undefined,
    };
  },
  // older glibc:  ./a.out[0x400526]
  (s) => {
    const m = s.match(/^\s*([^\s()[\]]+)\s?\[(0x[0-9a-f]+)\]\s*$/i);
    return m && { path: m[1], address: m[2] };
  },
  // NAME ID 0xOFFSET, NAME/ID+0xOFFSET
  (s) => {
    const m = s.match(/^\s*(?:#?\d+:?\s+)?([^\s/]+)[\s/]([0-9A-Fa-f]{16,64})(?:\s*\+\s*|\s+)(0x[0-9a-f]+)\s*$/);
    return m && { path: m[1], id: m[2], offset: m[3] };
  },
  // addr2line:  addr2line -e a.out 0x1234 0x1240
  (s) => {
    const m = s.match(/^\s*\$?\s*(?:\S+-)?addr2line\s(.*)$/);
    const exe = m && m[1].match(/(?:^|\s)(?:-\w*e\s?|--exe=)(\S+)/);
    const words = m && m[1].split(/\s+/).filter((w) => /^(0x)?[0-9a-f]+$/i.test(w));
    return exe && words.length > 0 && words.map((offset) => ({ path: exe[1], offset }));
  },
  // forms at the end of a line:  #3  libfoo.so+0x1234;  xul.dll + 0x1234;  at
  // app!+0x12
  (s) => {
    const m = s.match(/^\s*(?:#?\d+[:.]?\s+)?(?:at\s+)?(?:0x[0-9a-f]+\s+)?[([]?([^\s()[\]!|+][^()[\]!|]*?)!?\s?\+\s?(0x[0-9a-f]+)[)\]]?\s*$/i);
    return m && { path: m[1], offset: m[2] };
  },
  // addresses alone
  (s) => {
    const words = s.trim().split(/[\s,]+/);
    return words.length <= 64
      && words.every((w) => /^0x[0-9a-f]{1,16}$/i.test(w) || (words.length === 1 && /^(?=.*\d)[0-9a-f]{4,16}$/i.test(w)))
      && words.map((address) => ({ address, isBare: true }));
  },
];

// A range of Apple's "Binary Images:".
const IMAGE = /^\s*(0x[0-9a-f]+)\s+-\s+(0x[0-9a-f]+|\?\?\?)\s+\+?(\S.*?)\s+(?:\(.*?\)\s+)?(?:(?:arm|x86|i386|ppc)\S*\s+)?(?:\([^<]*\)\s+)?<([0-9A-Fa-f-]{32,36})>\s*(.*)$/i;
// A line of /proc/PID/maps; of gdb's "info proc mappings", older ones without
// permissions; of WinDbg's "lm"; of minidump-stackwalk's "Loaded modules:".
const MAPPING = /^\s*([0-9a-f]+)-([0-9a-f]+)\s+[r-][w-][x-][ps]\s+([0-9a-f]+)\s+\S+\s+\d+\s+(\/\S.*)$/i;
const GDB_MAPPING = /^\s*(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+0x[0-9a-f]+\s+(0x[0-9a-f]+)\s+(?:[r-][w-][x-][ps]\s+)?(\/\S.*)$/i;
const WINDBG_MODULE = /^([0-9a-f]{8}(?:`[0-9a-f]{8})?)\s+([0-9a-f]{8}(?:`[0-9a-f]{8})?)\s+(\S+)\s+\((?:deferred|.*symbols)\)/i;
const LOADED = /^\s*(0x[0-9a-f]+) - (0x[0-9a-f]+)\s{2}(\S.*?)\s{2}\S+(?:\s+\(main\))?(?:\s+\(WARNING: No symbols, (\S.*), ([0-9A-Fa-f]{9,40})\))?\s*$/;

// goroutine N [..]: then pairs of lines, a function and a position.
const GO_FUNCTION = /^(?:created by )?([\w.\-/*()·[\]{},$]+?)(?:\([^()]*\))?(?: in goroutine \d+)?$/;
const GO_PLACE = /^\s+(\S.*):(\d+)(?:\s+\+0x[0-9a-f]+)?(?:\s.*\bpc=(0x[0-9a-f]+).*)?$/i;

function placeFrame(report, known, found, raw, name) {
  const position = found.isBare ? null : raw.match(/^#?(\d{1,4})[:.]?\s/);
  const frame = {
    raw, number: position ? Number(position[1]) : undefined, name: found.name, file: found.file, line: found.line, address: found.address,
  };
  const path = found.path && found.path.trim();

  if (path) {
    frame.module = report.module(baseName(path), found.id || '');
  }
  if (found.offset !== undefined) {
    frame.offset = number(found.offset);
  } else if (found.address !== undefined) {
    frame.absolute = big(found.address);
    if (found.base !== undefined) {
      report.place(frame.module, big(found.base));
    }
  }
  if (found.isBare && name >= 0) {
    frame.module = name;
    frame.isBare = true;
  }
  return frame;
}

// Absolute addresses, once all modules and their addresses are known.
function settle(report) {
  report.stacks.forEach((stack) => stack.frames.forEach((frame) => {
    if (frame.absolute === undefined || frame.offset !== null) {
      return;
    }
    const address = frame.absolute;
    let module = frame.module >= 0 && report.modules[frame.module].base !== null ? frame.module : -1;
    const at = report.at(address);

    // without an end the nearest is a guess, and a module named in the text
    // wins
    if (at >= 0 && (report.modules[at].end !== null || frame.module < 0 || frame.isBare)) {
      module = at;
    }
    if (module >= 0 && address >= report.modules[module].base) {
      const offset = address - report.modules[module].base;
      if (isSafe(offset)) {
        frame.module = module;
        frame.offset = Number(offset);
      }
    } else if (frame.isBare && frame.module >= 0 && isSafe(address)) {
      frame.offset = Number(address);
    }
  }));
}

function readText(text, known) {
  const report = new Report('text', 'Backtrace');
  const lines = text.split(/\r?\n/);
  let stack = null;
  let skips = false;
  let isGo = false;
  let isApple = false;
  let go = null;

  known.forEach((m) => {
    const index = report.module(m.name, m.id);
    if (m.base !== null) {
      report.place(index, m.base, m.end);
    }
  });

  // plain addresses belong to the only module that the user names
  const only = known.length === 1 ? 0 : -1;

  lines.forEach((line, i) => {
    const where = `line ${i + 1}`;
    // prefixes of logs: "Nov 22 12:00:00 host app[12]: "
    const s = line.replace(/^\s*[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \S+ \S+?(?:\[\d+\])?: /, '').slice(0, 4000);

    if (s.trim() === '') {
      if (isGo) {
        stack = null;
        isGo = false;
      }
      return;
    }
    if (SKIP.test(s)) {
      skips = true;                     // registers
      stack = null;
      return;
    }
    let m = s.match(IMAGE);
    if (m) {
      isApple = true;
      const index = report.module(baseName(m[5].trim() || m[3]), uuidId(m[4]));
      report.modules[index].base = null;
      report.place(index, big(m[1]), m[2] === '???' ? null : big(m[2]) + 1n);
      return;
    }
    m = s.match(MAPPING) || s.match(GDB_MAPPING);
    if (m) {
      report.map(baseName(m[4].replace(/ \(deleted\)$/, '')), big(m[1]), big(m[2]), big(m[3]));
      return;
    }
    m = s.match(LOADED);
    if (m) {
      report.place(report.module(m[4] || m[3], m[5]), big(m[1]), big(m[2]) + 1n);
      return;
    }
    m = s.match(WINDBG_MODULE);
    if (m) {
      report.place(report.module(m[3]), bigOfWindbg(m[1]), bigOfWindbg(m[2]));
      return;
    }
    m = moduleLine(s.trim());
    if (m) {
      const index = report.module(baseName(m.name), m.id);
      if (m.base) {
        report.place(index, big(m.base), big(m.end) + 1n);
      }
      return;
    }
    if (SAMPLE.test(s)) {
      stack = report.stack(s.trim().replace(/:$/, ''));
      return;
    }
    if (HEADING.test(s)) {
      skips = false;
      isGo = /^goroutine /.test(s);
      // "Thread 0 name:" and "Thread 0 Crashed:" follow each other
      if (stack && stack.frames.length === 0) {
        stack.title += `, ${s.trim().replace(/:$/, '')}`;
      } else {
        stack = report.stack(s.trim().replace(/:$/, ''));
      }
      return;
    }
    if (skips || INSTRUCTION.test(s)) {
      return;
    }
    if (isGo) {
      m = go && s.match(GO_PLACE);
      if (m) {
        report.add(stack, {
          raw: `${go} ${m[1]}:${m[2]}`, name: go, file: m[1], line: Number(m[2]),
          ...(m[3] ? { address: m[3], absolute: big(m[3]) } : {}),
        });
        go = null;
        return;
      }
      m = s.match(GO_FUNCTION);
      go = m ? m[1] : null;
      if (m) {
        return;
      }
    }

    let found = null;
    for (const form of FORMS) {
      found = form(s);
      if (found) {
        break;
      }
    }
    if (!found) {
      if (/^\s*#\d+[\s:]/.test(s) || /\+\s?0x[0-9a-f]|\[0x[0-9a-f]/i.test(s)) {
        report.problem(where, s.trim(), 'This looks like a frame, but its form is not known.');
      }
      return;
    }
    stack = stack || report.stack('Stack');
    [].concat(found).forEach((one) => {
      isApple = isApple || one.isApple === true;
      const frame = placeFrame(report, known, one, s.trim(), only);
      report.add(stack, frame);
    });
  });

  settle(report);
  if (isApple && report.modules.some((m) => m.base !== null)) {
    report.kind = 'apple';
    report.title = 'Apple crash report';
  }
  report.done();

  report.stacks.forEach((s) => s.frames.forEach((frame) => {
    if (frame.offset === null && frame.absolute !== undefined && !frame.name) {
      report.problem('', frame.raw, frame.isBare && known.length !== 1
        ? 'Which module contains this address? Name one module, or several with their addresses, in the module list.'
        : 'The address of the module is unknown: add its base address to the module list (NAME ID 0xBASE).');
    }
  }));

  if (report.frames === 0) {
    const first = lines.findIndex((l) => l.trim() !== '');
    throw new Unreadable('No addresses were found in this text.', report.problems.length ? report.problems : [{
      where: `line ${first + 1}`, text: lines[first].trim().slice(0, 200),
      why: 'A frame is written as in a crash report or backtrace, or as MODULE+0xOFFSET.',
    }]);
  }
  return report;
}

// Modules named by the user override the text.
export function applyKnown(report, known) {
  known.forEach((k) => {
    report.modules.forEach((m) => {
      if (m.name === k.name && k.id && (!m.id || report.kind === 'text')) {
        m.id = k.id;
      }
    });
  });
}

export function read(text, known = []) {
  if (text.trim() === '') {
    throw new Unreadable('There is nothing to read yet.');
  }
  const trimmed = text.replace(/^\ufeff/, '').trimStart();
  const report = /^[{[]\s*["{[\]}]/.test(trimmed) ? readJson(trimmed) : readText(text, known);

  applyKnown(report, known);
  return report;
}

// All frames that are sent to the server.
export const framesOf = (report) => report.stacks.flatMap((stack) => stack.frames);

// Why a module cannot be sent to the server; null: it can.
export function whyNot(module) {
  if (module.id === '') {
    return 'its id is not known';
  }
  if (!ID.test(plainId(module.id))) {
    return 'its id has an invalid form';
  }
  return NAME.test(module.name) ? null : 'the API does not accept a name with such characters';
}
