// link.mjs - pasted text, packed into a link's fragment, which browsers do not
// send to servers.

const MAX_TEXT = 8 * 1024 * 1024;

// All bytes of a stream; fails after `max`.
export async function collect(stream, max) {
  const reader = stream.getReader();
  const chunks = [];
  let size = 0;

  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    size += value.length;
    if (size > max) {
      await reader.cancel();
      throw new RangeError(`It unpacks to more than ${max / 1024 / 1024} MiB.`);
    }
    chunks.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  chunks.forEach((chunk) => {
    all.set(chunk, at);
    at += chunk.length;
  });
  return all;
}

const through = (stream, bytes, max) => collect(new Blob([bytes]).stream().pipeThrough(stream), max);

export async function pack(state) {
  const bytes = await through(new CompressionStream('deflate-raw'),
    new TextEncoder().encode(JSON.stringify(state)), Infinity);
  let binary = '';
  for (let i = 0; i < bytes.length; i += 32768) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 32768));
  }
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

// {text, modules}
export async function unpack(packed) {
  const binary = atob(packed.replace(/-/g, '+').replace(/_/g, '/'));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const text = new TextDecoder('utf-8', { fatal: true })
    .decode(await through(new DecompressionStream('deflate-raw'), bytes, MAX_TEXT));
  const state = JSON.parse(text);
  if (typeof state.text !== 'string' || typeof state.modules !== 'string') {
    throw new TypeError('The link has no report in it.');
  }
  return state;
}
