// script.mjs - stacks of minified JavaScript: read, and asked of /symbolicate-js.
//
// A report of kind 'script' has the frames of Chrome, Edge, Node, Firefox and Safari.
// Its modules are the scripts; debug ids are known only if the user names them.

import { Refused, settled } from './ask.mjs';
import { Report, baseName } from './read.mjs';

const AT = /^\s*at (?:(.*) \((.+)\)|(?:async )?(.+))$/;
const FIREFOX = /^\s*([^@]{0,500})@(\S+)$/;
const PLACE = /^(.+):(\d{1,9}):(\d{1,9})$/;
const SCRIPT = /^(?:https?|app|file|capacitor|webpack|webpack-internal):|\.(?:[cm]?jsx?|tsx?|bundle|jsbundle)(?:[?#]|$)/;

const UUID = /^[0-9A-Fa-f]{32}0?$/;

const guid = (id) => id.slice(0, 32).toLowerCase().replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const NO_ID = 'by its address';

function readFrame(line) {
  const at = line.match(AT);
  const m = at ? null : line.match(FIREFOX);
  const [name, text] = at ? [at[1], at[2] || at[3]] : m ? [m[1], m[2]] : ['', line.trim()];
  const place = text.match(PLACE);
  return place && SCRIPT.test(place[1]) && Number(place[2]) > 0 && (at || m || /^[a-z-]+:\/\//.test(text))
    ? { name, url: place[1], line: Number(place[2]), column: Number(place[3]) || 1 } : null;
}

// null: the text has no frames of JavaScript.
export function readScript(text, known = []) {
  const report = new Report('script', 'Stack of JavaScript');
  let title = '';
  let stack = null;

  for (const whole of text.split(/\r?\n/)) {
    const line = whole.slice(0, 4000);
    const f = readFrame(line);
    if (f) {
      stack = stack || report.stack(title || 'Stack');
      const own = known.find((k) => UUID.test(k.id) && k.name === baseName(f.url.replace(/[?#].*$/, '')));
      report.add(stack, {
        raw: line.trim(), name: f.name || undefined, file: f.url, line: f.line, column: f.column,
        module: report.module(f.url, own ? guid(own.id) : NO_ID),
      });
    } else if (line.trim() && !/^\s*at /.test(line)) {
      title = line.trim();
      stack = null;
    }
  }
  report.done();
  return report.frames === 0 ? null : report;
}

export function requestOf(report) {
  return {
    modules: report.modules.filter((m) => m.id !== NO_ID)
      .map((m) => ({ type: 'sourcemap', code_file: m.name, debug_id: m.id })),
    stacktraces: report.stacks.map((stack) => ({
      frames: stack.frames.map((f) => ({
        abs_path: f.file, lineno: f.line, colno: f.column, ...(f.name === undefined ? {} : { function: f.name }),
      })),
    })),
    options: { frame_order: 'callee_first', apply_source_context: false },
  };
}

const whyMissing = {
  missing_source: 'no source has this script', missing_sourcemap: 'no source has its source map',
  malformed_sourcemap: 'its source map cannot be read', scraping_disabled: 'no source has it',
};

// Sets frame.answer as symbolicate() does.
export function takeScript(report, answer) {
  if (!answer || !Array.isArray(answer.stacktraces)) {
    throw new Refused(200, `The server answers: ${String(answer && (answer.status || answer.message)).slice(0, 200)}`);
  }
  report.modules.forEach((m) => {
    const error = (answer.errors || []).find((e) => e.abs_path === m.name && whyMissing[e.type]);
    m.found = error === undefined;
    m.status = error && whyMissing[error.type];
  });
  report.stacks.forEach((stack, s) => {
    const told = (answer.stacktraces[s] || {}).frames || [];
    stack.frames.forEach((frame, i) => {
      const f = told[i];
      frame.answer = f && f.data && f.data.symbolicated
        ? { name: f.function, file: f.filename || f.abs_path, line: f.lineno, inlines: [] } : null;
    });
  });
}

// url: of Sentry's API for native events; that for JavaScript lies beside it.
export async function symbolicateScript(report, url, options = {}) {
  takeScript(report, await settled(new URL('symbolicate-js', url), requestOf(report), options));
}
