// protobuf.mjs - fields of protobuf messages.

import { Unreadable, isSafe } from './read.mjs';

export const MALFORMED = 'This looks like a profile of pprof or OTLP, and its fields are damaged.';

// Varints, each a number, or a BigInt if it is not a safe integer.
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  varint() {
    let value = 0;
    for (let i = 0; i < 10 && this.at < this.bytes.length; i += 1) {
      const byte = this.bytes[this.at];
      this.at += 1;
      value = i < 7 ? value + (byte & 127) * 128 ** i : BigInt(value) + (BigInt(byte & 127) << BigInt(7 * i));
      if (byte < 128) {
        return typeof value === 'bigint' && isSafe(value) ? Number(value) : value;
      }
    }
    throw new Unreadable(MALFORMED);
  }

  // The bytes of a field with a length.
  part() {
    const length = Number(this.varint());
    if (length > this.bytes.length - this.at) {
      throw new Unreadable(MALFORMED);
    }
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

// Fields of a message, [number, value]: a varint, or bytes.
export function* fieldsOf(bytes) {
  const reader = new Reader(bytes);

  while (reader.at < bytes.length) {
    const tag = Number(reader.varint());
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    if (type === 0) {
      yield [number, reader.varint()];
    } else if (type === 2) {
      yield [number, reader.part()];
    } else if (type === 1 || type === 5) {
      reader.at += type === 1 ? 8 : 4;
    } else {
      throw new Unreadable(MALFORMED);
    }
  }
}

// A message with one value for each field number; the last counts.
export function message(bytes) {
  const all = {};
  for (const [number, value] of fieldsOf(bytes)) {
    all[number] = value;
  }
  return all;
}

// Numbers of a repeated field, packed or not.
export function append(list, value) {
  if (!(value instanceof Uint8Array)) {
    list.push(value);
    return;
  }
  for (const reader = new Reader(value); reader.at < value.length;) {
    list.push(reader.varint());
  }
}
