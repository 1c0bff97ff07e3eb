// java.mjs - stack traces of Java and Android: parsed, and sent to
// /symbolicate-jvm.
//
// A report of kind 'java' (read.mjs) has the frames of each exception.  Its
// modules are the mappings of ProGuard or R8 that the user names by their
// UUIDs.

import { Refused, settled } from './ask.mjs';
import { Report } from './read.mjs';

// The format of Throwable.printStackTrace(), after any prefix of logcat.
const FRAME = /(?:^|\s)at (?:[^\s()/]*\/)*([^\s()/]+)\.([^\s().]+)\(([^()]*)\)/;
const EXCEPTION = /(?:^|Caused by: |Suppressed: |Exception in thread "[^"]*" |: )((?:[\p{L}_$][\p{L}\p{N}_$]*\.)*[\p{L}_$][\p{L}\p{N}_$]*)(?:: .*)?$/u;
const LINE = /^(.*):(\d{1,9})$/;

const UUID = /^[0-9A-Fa-f]{32}0?$/;

const guid = (id) => id.slice(0, 32).toLowerCase().replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const typeOf = (name) => {
  const dot = name.lastIndexOf('.');
  return { type: name.slice(dot + 1), module: name.slice(0, Math.max(dot, 0)) };
};

const nameOf = ({ type, module }) => (module ? `${module}.${type}` : type);

// null: the text has no Java frames.
export function readJava(text, known = []) {
  const report = new Report('java', 'Stack trace of Java');
  let stack = null;

  for (const whole of text.split(/\r?\n/)) {
    const line = whole.slice(0, 4000);
    const m = line.match(FRAME);
    const e = m ? null : line.match(EXCEPTION);
    if (m) {
      const at = m[3].match(LINE);
      stack = stack || report.stack('Stack');
      report.add(stack, {
        raw: line.trim(), name: `${m[1]}.${m[2]}`, file: at ? at[1] : m[3] || undefined,
        line: at ? Number(at[2]) : undefined, class: m[1], method: m[2],
      });
    } else if (e) {
      stack = report.stack(line.trim());
      stack.exception = typeOf(e[1]);
    }
  }
  report.done();
  if (report.frames === 0) {
    return null;
  }

  report.modules = known.filter((m) => UUID.test(m.id));
  if (report.modules.length === 0) {
    report.problem('module list', '', 'Which mapping is it? Add a line "mapping UUID", with the UUID that symloader or Sentry\'s tools give the file.');
  }
  return report;
}

export function requestOf(report) {
  return {
    modules: report.modules.map((m) => ({ uuid: guid(m.id), type: 'proguard' })),
    stacktraces: report.stacks.map((stack) => ({
      exception: stack.exception || null,
      frames: stack.frames.map((f, index) => ({
        module: f.class, function: f.method, index,
        ...(f.line === undefined ? {} : { lineno: f.line }),
      })),
    })),
    exceptions: report.stacks.filter((s) => s.exception).map((s) => s.exception),
    options: { frame_order: 'callee_first', apply_source_context: false },
  };
}

const whyMissing = { missing: 'no source has it', invalid: 'it is no mapping of ProGuard or R8', no_line_info: 'it has no lines' };

// Sets frame.answer like symbolicate().  A frame may become several, all but
// the last of which were inlined.
export function takeJava(report, answer) {
  if (!answer || !Array.isArray(answer.stacktraces)) {
    throw new Refused(200, `The server answers: ${String(answer && (answer.status || answer.message)).slice(0, 200)}`);
  }
  const errors = new Map((answer.errors || []).map((e) => [e.uuid, e.type]));
  report.modules.forEach((m) => {
    const error = errors.get(guid(m.id));
    m.found = error === undefined;
    m.status = error && (whyMissing[error] || error);
  });

  let e = 0;
  report.stacks.forEach((stack, s) => {
    const groups = new Map();
    if (stack.exception) {
      const named = (answer.exceptions || [])[e];
      e += 1;
      stack.title = named ? stack.title.replace(nameOf(stack.exception), () => nameOf(named)) : stack.title;
    }
    ((answer.stacktraces[s] || {}).frames || []).forEach((f) => {
      groups.set(f.index, [...(groups.get(f.index) || []), f]);
    });
    stack.frames.forEach((frame, index) => {
      const told = (groups.get(index) || []).map((f) => ({
        name: `${f.module}.${f.function}`, file: f.filename || f.abs_path, line: f.lineno || undefined,
      }));
      const outer = told.pop();
      frame.answer = outer && (told.length > 0 || outer.name !== frame.name) ? { ...outer, inlines: told } : null;
    });
  });
}

// url: that of Sentry's API for native events; the one for Java is next to it.
export async function symbolicateJava(report, url, options = {}) {
  takeJava(report, await settled(new URL('symbolicate-jvm', url), requestOf(report), options));
}
