// otlp.mjs - profiles of OpenTelemetry: opentelemetry/proto/profiles/v1development of
// github.com/open-telemetry/opentelemetry-proto.

import { append, fieldsOf, message } from './protobuf.mjs';
import { Unreadable, baseName } from './read.mjs';

const LINES_PER_TURN = 500;
const [MAPPING, LOCATION, FUNCTION, STRING, ATTRIBUTE, STACK] = [1, 2, 3, 5, 6, 7];
const IDS = ['process.executable.build_id.gnu', 'process.executable.build_id.htlhash'];
const NAMES = ['service.name', 'process.executable.name', 'container.id'];

const isBytes = (value) => value instanceof Uint8Array;

// Field 1 of pprof has numbers, and OTLP's has messages.  Field 2 is a sample of
// pprof, with fields 1 to 3, or OTLP's dictionary, with messages in fields 1 to 7.
export function isOtlp(bytes) {
  for (const [number, value] of fieldsOf(bytes)) {
    if (number > 2 || !isBytes(value)) {
      return false;
    }
    for (const [inner, content] of fieldsOf(value)) {
      if (number === 1 || !isBytes(content) || inner > 3) {
        return isBytes(content);
      }
    }
  }
  return true;
}

// A value of an attribute; only strings name things.
const textOf = (value) => {
  const [number, text] = isBytes(value) ? [...fieldsOf(value)][0] || [] : [];
  return number === 1 && isBytes(text) ? new TextDecoder().decode(text) : '';
};

// The name of a resource, for its stacks.
function nameOf(resource) {
  const names = new Map();
  for (const [number, value] of isBytes(resource) ? fieldsOf(resource) : []) {
    if (number === 1 && isBytes(value)) {
      const { 1: key, 2: content } = message(value);
      names.set(isBytes(key) ? new TextDecoder().decode(key) : '', textOf(content));
    }
  }
  return NAMES.map((name) => names.get(name)).find(Boolean) || '(no name)';
}

// Messages in fields of this number.
const within = (bytes, number) => [...fieldsOf(bytes)].filter(([n, value]) => n === number && isBytes(value)).map(([, value]) => value);

// The dictionary may be in several parts, and its tables, too.
function* readTables(bytes) {
  const tables = new Map([MAPPING, LOCATION, FUNCTION, STRING, ATTRIBUTE, STACK].map((n) => [n, []]));
  const resources = [];
  let n = 0;
  for (const [number, value] of fieldsOf(bytes)) {
    if (number === 1) {
      resources.push(value);
    }
    for (const [inner, content] of number === 2 ? fieldsOf(value) : []) {
      tables.get(inner)?.push(inner === STRING ? new TextDecoder().decode(content) : content);
      n += 1;
      if (n % LINES_PER_TURN === 0) {
        yield;
      }
    }
  }
  return { tables, resources };
}

function readMappings(report, tables, text) {
  const attributes = tables.get(ATTRIBUTE);
  return tables.get(MAPPING).map((bytes) => {
    const indexes = [];
    const ids = new Map();
    const m = message(bytes);
    for (const [number, value] of fieldsOf(bytes)) {
      if (number === 5) {
        append(indexes, value);
      }
    }
    indexes.filter((i) => attributes[i]).map((i) => message(attributes[i])).forEach((a) => ids.set(text(a[1]), textOf(a[2])));
    const name = text(m[4]);
    return {
      start: BigInt(m[1] ?? 0), offset: BigInt(m[3] ?? 0),
      module: name ? report.module(baseName(name), IDS.map((id) => ids.get(id)).find(Boolean) || '') : -1,
    };
  });
}

// How often, or how much: values, else one for each time.  Before OTLP 1.10 the values
// were in field 2.
function weightOf(sample) {
  const values = [];
  if (isBytes(sample[4]) || !isBytes(sample[5])) {
    append(values, isBytes(sample[4]) ? sample[4] : sample[2] ?? new Uint8Array());
    return values.reduce((sum, value) => sum + Number(value), 0);
  }
  return sample[5].length / 8;
}

export function* readOtlp(bytes, Profile) {
  const { tables, resources } = yield* readTables(bytes);
  const text = (index) => tables.get(STRING)[index] ?? '';
  const profiles = resources.flatMap((r) => within(r, 2).flatMap((scope) => within(scope, 2)
    .map((body) => ({ resource: message(r)[1], body }))));
  if (tables.get(STRING).length === 0 || profiles.length === 0) {
    throw new Unreadable('This is a profile of OTLP without a dictionary, or without samples. Profiles of OTLP before 1.8 cannot be read.');
  }

  const typeOf = ({ body }) => {
    const type = message(body)[1];
    const { 1: name, 2: unit } = isBytes(type) ? message(type) : {};
    return { name: text(name), unit: text(unit) };
  };
  const { name, unit } = typeOf(profiles[0]);
  const profile = new Profile(`Profile of OTLP: ${name}`, unit === 'count' || unit === '1' ? name : unit || 'samples');
  const counted = profiles.filter((p) => typeOf(p).name === name);
  if (counted.length < profiles.length) {
    profile.report.problem('', '', `${profiles.length - counted.length} profiles of other types are not shown.`);
  }

  const functions = tables.get(FUNCTION).map(message);
  const mappings = readMappings(profile.report, tables, text);
  const frames = [];
  const stacks = [];
  let n = 0;
  for (const part of tables.get(LOCATION)) {
    const location = message(part);
    const calls = within(part, 3).map(message).map((line) => {
      const f = functions[line[1]] || {};
      return { name: text(f[1]) || text(f[2]), file: text(f[3]) || undefined, line: Number(line[2]) || undefined };
    }).filter((call) => call.name);
    const mapping = mappings[location[1] ?? 0];
    const key = frames.length;
    frames.push({ module: mapping ? mapping.module : -1, mapping, address: BigInt(location[2] ?? 0), calls, key });
    n += 1;
    if (n % LINES_PER_TURN === 0) {
      yield;
    }
  }
  for (const part of tables.get(STACK)) {
    const indexes = [];
    for (const [number, value] of fieldsOf(part)) {
      if (number === 1) {
        append(indexes, value);
      }
    }
    stacks.push(indexes.reverse().map((i) => frames[i]).filter(Boolean));
  }

  for (const { resource, body } of counted) {
    const outermost = resources.length > 1 ? profile.outermost(nameOf(resource)) : -1;
    for (const [number, value] of fieldsOf(body)) {
      if (number === 2) {
        const sample = message(value);
        const stack = (stacks[sample[1] ?? 0] || []).reduce((outer, f) => profile.stack(outer, profile.location(f.key, f)), outermost);
        profile.sample(stack, weightOf(sample));
      }
      n += 1;
      if (n % LINES_PER_TURN === 0) {
        yield;
      }
    }
  }
  return profile.done();
}
