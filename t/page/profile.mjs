// Profiles, as the page reads them.  Prints TAP; t/page_profile.t runs it.

import zlib from 'node:zlib';
import { boxes, flameTree, neighbour, search } from '../../page/flame.mjs';
import { readProfile } from '../../page/profile.mjs';
import { Unreadable, applyKnown, modulesOf } from '../../page/read.mjs';
import { inTurns } from '../../page/turns.mjs';

let n = 0;
let failed = 0;

function ok(good, name, note = '') {
  n += 1;
  failed += good ? 0 : 1;
  console.log(`${good ? 'ok' : 'not ok'} ${n} - ${name}`);
  if (!good) {
    console.log(`# ${note}`);
  }
}

function is(got, want, name) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  ok(a === b, name, `got ${a}, want ${b}`);
}

const bytesOf = (text) => new TextEncoder().encode(text);
const profileOf = (bytes) => inTurns(readProfile(bytes));

// "a;b self total" of each call, outermost first.
function calls(tree) {
  const path = (i) => (i > 0 ? [...path(tree.parent[i]), tree.names[tree.nameOf[i]].name] : []);
  return [...tree.parent.keys()].slice(1).map((i) => `${path(i).join(';')} ${tree.self[i]} ${tree.total[i]}`).sort();
}

const treeOf = (profile) => inTurns(flameTree(profile));

// Like "pprof -top" and "perf report": by name, self and total.
function top(tree) {
  const all = new Map();
  for (let i = 1; i < tree.parent.length; i += 1) {
    const { name } = tree.names[tree.nameOf[i]];
    const [self, total] = all.get(name) || [0, 0];
    all.set(name, [self + tree.self[i], total + tree.total[i]]);
  }
  return Object.fromEntries([...all].filter(([, v]) => v[1] > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

// --- perf 6.1: perf record -e cpu-clock -g, perf script ---

const PERF = `w  8333  5773.004535:     250000 cpu-clock: 
	           14f38 intel_check_word.constprop.0+0x158 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
	  7ffcfbe66cb000 [unknown] ([unknown])

w  8333  5773.004777:     250000 cpu-clock: 
	           14ab0 get_common_cache_info.constprop.0+0x110 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)

w  8333  5773.005029:     250000 cpu-clock: 
	            115a leaf+0x31 (/tmp/w)
	            119d work+0xf (/tmp/w)
	            11d6 main+0x1c (/tmp/w)
	           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)

w  8333  5773.005279:     250000 cpu-clock: 
	            1178 leaf+0x4f (/tmp/w)
	            11b2 work+0x24 (/tmp/w)
	            11d6 main+0x1c (/tmp/w)
	           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)

w  8333  5773.005527:     250000 cpu-clock: 
	            115d leaf+0x34 (/tmp/w)
	            119d work+0xf (/tmp/w)
	            11d6 main+0x1c (/tmp/w)
	           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)

w  8333  5773.005777:     250000 cpu-clock: 
	            115d leaf+0x34 (/tmp/w)
	            11b2 work+0x24 (/tmp/w)
	            11d6 main+0x1c (/tmp/w)
	           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)

w  8333  5773.006027:     250000 cpu-clock: 
	            115d leaf+0x34 (/tmp/w)
	            119d work+0xf (/tmp/w)
	            11d6 main+0x1c (/tmp/w)
	           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)

w  8333  5773.006278:     250000 cpu-clock: 
	            117b leaf+0x52 (/tmp/w)
	            119d work+0xf (/tmp/w)
	            11d6 main+0x1c (/tmp/w)
	           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)
`;
let p = await profileOf(bytesOf(PERF));
is([p.samples, p.unit, p.report.modules.map((m) => m.name)], [8, 'samples', ['ld-linux-x86-64.so.2', 'w', 'libc.so.6']], 'perf: samples, modules');
is(calls(await treeOf(p)), [
  'w 0 8', 'w;[unknown] 0 1', 'w;[unknown];intel_check_word.constprop.0 1 1',
  'w;__libc_start_call_main 0 6', 'w;__libc_start_call_main;main 0 6', 'w;__libc_start_call_main;main;work 0 6',
  'w;__libc_start_call_main;main;work;leaf 6 6', 'w;get_common_cache_info.constprop.0 1 1',
].sort(), '... their calls, merged by name');
applyKnown(p.report, modulesOf('fc995d99d5a788a7819950ae55f4df773c1735fa /tmp/w').modules);
is(p.report.modules.map((m) => m.id), ['', 'fc995d99d5a788a7819950ae55f4df773c1735fa', ''], '... ids by perf buildid-list');
p = await profileOf(bytesOf(`swapper     0 [001] 12.000001:  cycles:P:  ffffffff81a3 default_idle+0x3 ([kernel.kallsyms])
my prog 7/8 [000] 12.000002:          1 instructions:u: 
\t    1234 [unknown] (/opt/lib x.so (deleted))
\t    5678 outer(int (*)(char))+0x5 (inlined)

prose that is no sample
`));
is(calls(await treeOf(p)), ['my prog (instructions:u) 0 1', 'my prog (instructions:u);outer(int (*)(char)) 0 1',
  'my prog (instructions:u);outer(int (*)(char));lib x.so + 0x1234 1 1', 'swapper 0 1', 'swapper;default_idle 1 1'],
'... without stacks, of several events, with inlined calls');
is(p.report.stacks[0].frames.map((f) => [p.report.modules[f.module].name, f.offset]), [['lib x.so', 0x1234]], '... the requests to the server');
is(await profileOf(bytesOf('#0 a+0x1\n#1 b+0x2\n')), null, 'a backtrace is not a profile');
is(await profileOf(bytesOf('')), null, 'nor is an empty file');

// --- symbolicated ---

Object.assign(p.report.stacks[0].frames[0], { answer: { name: 'caller', file: 'a.c', inlines: [{ name: 'inlined' }] } });
ok(calls(await treeOf(p)).includes('my prog (instructions:u);outer(int (*)(char));caller;inlined 1 1'), 'an answer with an inlined call');

// --- Firefox: written by hand, after its docs-developer/processed-profile-format ---

const ID = '0123456789ABCDEF0123456789ABCDEF0';
const firefox = {
  meta: {}, libs: [{ name: 'libxul.so', debugName: 'libxul.so', breakpadId: ID }],
  threads: [{
    name: 'GeckoMain', tid: 7, stringArray: ['(root)', '0x10', '0x20', 'draw', 'draw.js'],
    frameTable: { address: [-1, 16, 32, -1], func: [0, 1, 2, 3], line: [null, null, null, 4], length: 4 },
    funcTable: { name: [0, 1, 2, 3], resource: [-1, 0, 0, -1], fileName: [null, null, null, 4] }, resourceTable: { lib: [0] },
    stackTable: { frame: [0, 1, 2, 3, 1], prefix: [null, 0, 1, 0, 4] },
    samples: { stack: [1, 2, 2, 3, null, 3], weight: [1, 1, 1, 2, 1, -2], weightType: 'samples', length: 6 },
  }],
};
const root = 'GeckoMain (7);(root)';
p = await profileOf(bytesOf(JSON.stringify(firefox)));
const WANT = ['GeckoMain (7) 0 7', `${root} 0 7`, `${root};draw 4 4`, `${root};libxul.so + 0x10 1 3`, `${root};libxul.so + 0x10;libxul.so + 0x20 2 2`];
is(calls(await treeOf(p)), WANT, 'Firefox: stacks, with weights');
is(p.report.stacks[0].frames.map((f) => [p.report.modules[f.module].id, f.offset]), [[ID, 16], [ID, 32]], '... the requests to the server');
const { stringArray, frameTable, funcTable, resourceTable, stackTable, ...rest } = firefox.threads[0];
p = await profileOf(bytesOf(JSON.stringify({ ...firefox, shared: { stringArray, frameTable, funcTable, resourceTable, stackTable }, threads: [rest, 5] })));
is(calls(await treeOf(p)), WANT, '... with shared tables');
p = await profileOf(bytesOf(JSON.stringify({
  meta: {}, libs: [{ name: 'a', debugName: 'a', breakpadId: ID, start: 0x10000, end: 0x20000 }],
  threads: [{ name: 'T', stringTable: ['(root)', '0x10010', '0x99999'], frameTable: { schema: { location: 0 }, data: [[0], [1], [2]] },
    stackTable: { schema: { prefix: 0, frame: 1 }, data: [[null, 0], [0, 1], [1, 2]] },
    samples: { schema: { stack: 0 }, data: [[1], [1], [2], [null], 3] } }],
})));
is(calls(await treeOf(p)), ['T 0 3', 'T;(root) 0 3', 'T;(root);a + 0x10 2 3', 'T;(root);a + 0x10;0x99999 1 1'], '... as recorded');

// --- collapsed stacks, after the README of FlameGraph ---

p = await profileOf(bytesOf('# made by hand\nw;main;work(int, char);leaf 6\nw;main;work(int, char) 2\nw 1\n\nw;main;other 0.5'));
is([p.report.title, p.unit, p.samples], ['Collapsed stacks', 'samples', 4], 'collapsed stacks');
is(calls(await treeOf(p)), ['w 1 9.5', 'w;main 0 8.5', 'w;main;other 0.5 0.5', 'w;main;work(int, char) 2 8',
  'w;main;work(int, char);leaf 6 6'], '... calls');
p = await profileOf(bytesOf(`${'w;main;leaf 3\n'.repeat(8000)}no number\nw;main 1\n`));
is([calls(await treeOf(p)), p.report.problems.map((problem) => problem.where)],
  [['w 0 24001', 'w;main 1 24001', 'w;main;leaf 24000 24000'], ['line 8001']], '... of many lines, one of them broken');
is(await profileOf(bytesOf('at main 5\nat leaf 7\n')), null, 'lines without a semicolon are none');
is(await profileOf(bytesOf('a;b 5\n#0 0x1 in main\nin leaf\n')), null, 'nor is a text with other lines');

// --- pprof, from Go's runtime/pprof; expected is the output of "go tool pprof
// -top" ---

const GO = 'H4sIAAAAAAAE/3yQzWvUQBjGzWSSTLIfGdYeXvbimlMsuNmdXffjP/DYs6XobJIui/lYNrvV3nLtQQVBvC49CgULFb0WioIgVKgX'
  + '8VAqiAeP9uRBSbJl00PNJZM8v+d5n3fufn/1/vj895tz0DARKNIwESleO/m580u8l54fxHtn2NCJAEdP9pGRUJgKqxoRqARSTTYT'
  + 'EcHLp6mIqJyKiCqg1GRTNnQiwvGzVBSpkooiJUBqsqkYlGA4OXyODIlguouosFogmKqg1jTzhVApUUzjg53rGhaQiA2dSPAhV8LQ'
  + 'iQwHucGVEhVo0lfDkiziSokiGn89UjUsodSvwOm7ebKERNW0ikQLUKgVTWLohMCXXHilfGGWFJK5Vfh2GVgMkxQViThvWNTV4PMV'
  + 'Bi1LLMDbK4BCkrhcR5XT/kX4mOeX+xUv40KGl+B1Hi8vC5cyoAyHeWA5r5zpOnzK67kAPbvfxQ1gkvEU9vL8Mo8m/XL2MhJxtUIE'
  + 'Gscxgni+j8xSo9wTqisE0Xh+Fu/+uAHxafo29WqViAn552/yCBDPL44mZdeYEnF/7LkRk+xwFkyZaI9nrBDwIIxcOwyciKk+HwV1'
  + 'z+WbrGxN/bE15kPX8uvDkKl+Ij0KJw8XR5+PAlaczILpyHezr5vWLJpYXmhzzxqGVjSxrYVujSehXR+GbGXxo86j7cBem7iuP56y'
  + 'W/8zpsh97juddj1iRtprGN4ezEae02L9Jut2e62WNWg0mpb72LV8ZjpOu9HY7Ld7dzpNd9Budjtd1mg7nPV5t9nq9wZuj/db3Q6T'
  + '17ecKNxg2vpWtB3Z3PM2/gUAAP//F5TzJesDAAA=';
const unpacked = new Uint8Array(zlib.gunzipSync(Buffer.from(GO, 'base64')));
p = await profileOf(unpacked);
is([p.samples, p.unit, p.report.modules[0]], [17, 'nanoseconds', {
  name: 'm', id: 'dd400f948561eb41767204da29a71398be8a9376', base: null, end: null }], 'pprof: samples, unit, module');
is(top(await treeOf(p)), {
  'main.leaf': [140e6, 240e6], 'main.main': [0, 240e6], 'main.work': [0, 240e6],
  'runtime.asyncPreempt': [100e6, 100e6], 'runtime.main': [0, 240e6],
}, '... its calls');

// A profile without names, field by field.
const varint = (value) => {
  const out = [];
  let v = BigInt(value);
  for (; v > 127n; v >>= 7n) {
    out.push(Number(v & 127n) | 128);
  }
  return [...out, Number(v)];
};
const field = (number, value) => (typeof value === 'object' ? [...varint(number * 8 + 2), ...varint(value.length), ...value]
  : [...varint(number * 8), ...varint(value)]);
const strings = ['', 'samples', 'count', '/opt/app', 'abcdef0123456789', 'kernel', 'space', 'bytes', 'f', 'g'];
p = await profileOf(Uint8Array.from([
  field(1, [...field(1, 1), ...field(2, 2)]), field(1, [...field(1, 6), ...field(2, 7)]),
  field(14, 1),                                                    // the first of two types
  field(2, [...field(1, [1, 2]), ...field(2, [3, 99])]),           // packed
  field(2, [...field(1, 2), ...field(1, 3), ...field(2, 1), ...field(2, 5)]),
  field(2, [...field(1, [9]), ...field(2, [1, 1])]),               // without a location
  field(3, [...field(1, 1), ...field(2, 0x400000), ...field(4, 0x1000), ...field(5, 3), ...field(6, 4)]),
  field(3, [...field(1, 2), ...field(2, 0xffffffff81000000n), ...field(5, 5)]),
  field(4, [...field(1, 1), ...field(2, 1), ...field(3, 0x400010)]),
  field(4, [...field(1, 2), ...field(2, 2), ...field(3, 0xffffffff81000020n)]),
  field(4, [...field(1, 3), ...field(4, field(1, 1)), ...field(4, field(1, 2))]),
  field(5, [...field(1, 1), ...field(2, 8)]), field(5, [...field(1, 2), ...field(2, 9)]),
  ...strings.map((s) => field(6, [...bytesOf(s)])),
].flat()));
is(calls(await treeOf(p)), ['g 0 1', 'g;f 0 1', 'g;f;kernel + 0x20 1 1', 'kernel + 0x20 0 3', 'kernel + 0x20;app + 0x1010 3 3'],
  '... without names, with addresses of 64 bits, and inlined calls');
is(p.unit, 'samples', '... of the type that it names');

// --- OTLP, field by field: opentelemetry/proto/profiles/v1development ---

{
  const texts = ['', 'cpu', 'nanoseconds', '/opt/app', 'process.executable.build_id.gnu', 'f', 'g', 'a.c', 'wall',
    'process.executable.build_id.htlhash'];
  const valueOf = (s) => field(2, field(1, [...bytesOf(s)]));
  const entry = {
    mappings: [[], [...field(1, 0x400000), ...field(2, 0x500000), ...field(3, 0x1000), ...field(4, 3), ...field(5, [2, 1])],
      [...field(4, 3), ...field(5, [2])]],
    locations: [[], [...field(1, 1), ...field(2, 0x400010)], [...field(1, 1), ...field(2, 0x400020),
      ...field(3, [...field(1, 1), ...field(2, 7)]), ...field(3, field(1, 2))]],
    functions: [[], [...field(1, 5), ...field(3, 7)], field(2, 6)],
    attributes: [[], [...field(1, 4), ...valueOf('abcdef')], [...field(1, 9), ...valueOf('00112233')]],
    stacks: [[], field(1, [1, 2]), field(1, [2])],
  };
  const tables = [[1, entry.mappings], [2, entry.locations], [3, entry.functions], [6, entry.attributes], [7, entry.stacks]]
    .flatMap(([n, all]) => all.map((e) => field(n, e))).concat(texts.map((s) => field(5, [...bytesOf(s)])));
  const profileOfType = (type, samples) => field(2, [...field(1, [...field(1, type), ...field(2, 2)]),
    ...samples.flatMap((s) => field(2, s))]);
  const values = [[...field(1, 1), ...field(4, [3, 4])], [...field(1, 2), ...field(5, new Array(16).fill(1))]];
  const resource = (name, profiles) => field(1, [...field(1, field(1, [...field(1, [...bytesOf('service.name')]), ...valueOf(name)])),
    ...field(2, [...field(1, field(1, [...bytesOf('scope')])), ...profiles])]);
  const whole = [...resource('shop', profileOfType(1, values)), ...field(2, tables.flat())];
  p = await profileOf(Uint8Array.from(whole));
  is(calls(await treeOf(p)), ['g 0 9', 'g;f 2 9', 'g;f;app + 0x1010 7 7'], 'OTLP: values, times, inlined calls');
  is([p.report.title, p.unit, p.report.modules.map((m) => [m.name, m.id])],
    ['Profile of OTLP: cpu', 'nanoseconds', [['app', 'abcdef'], ['app', '00112233']]], '... its type, its modules by one of two ids');
  is(p.report.stacks[0].frames.map((f) => [p.report.modules[f.module].id, f.offset]), [['abcdef', 0x1010]], '... addresses without a name');
  // as our server writes it
  p = await profileOf(Uint8Array.from([...tables.flatMap((t) => field(2, t)), ...resource('shop', profileOfType(1, values)),
    ...resource('db', [...profileOfType(1, values.slice(1)), ...profileOfType(8, values)])]));
  is(calls(await treeOf(p)), ['db 0 2', 'db;g 0 2', 'db;g;f 2 2', 'shop 0 9', 'shop;g 0 9', 'shop;g;f 2 9', 'shop;g;f;app + 0x1010 7 7'],
    '... a dictionary in parts, and several resources');
  is(p.report.problems.map((x) => x.why), ['1 profiles of other types are not shown.'], '... a profile of another type is named');
  ok(p.isWhole, '... the server names it as a whole');
  for (const [name, bytes] of [['no dictionary', resource('shop', profileOfType(1, values))], ['no samples', field(2, tables.flat())]]) {
    let why = '';
    await profileOf(Uint8Array.from(bytes)).catch((error) => { why = error instanceof Unreadable ? error.message : error.stack; });
    ok(/OTLP.*cannot be read|no samples/s.test(why), `... ${name}: refused`, why);
  }
  const damaged = new Set();
  for (let i = 0; i < whole.length; i += 1) {
    const bad = Uint8Array.from(whole);
    bad[i] ^= 0xff;
    for (const bytes of [bad, bad.subarray(0, i)]) {
      damaged.add(await profileOf(bytes).then(() => 'read', (error) => (error instanceof Unreadable ? 'refused' : error.stack)));
    }
  }
  is([...damaged].sort(), ['read', 'refused'], '... damaged ones are refused, or read as far as they go');
}

// --- damaged, hostile ---

const says = async (bytes) => {
  try {
    await profileOf(bytes);
    return 'read';
  } catch (error) {
    return error instanceof Unreadable ? 'refused' : error.stack;
  }
};
const said = new Set();
for (let i = 0; i < unpacked.length; i += 7) {
  said.add(await says(unpacked.subarray(0, i)));
  const bad = unpacked.slice();
  bad[i] ^= 0xff;
  said.add(await says(bad));
}
is([...said].sort(), ['read', 'refused'], 'damaged profiles of pprof are refused, or read as far as they go');
const thread = firefox.threads[0];
for (const bad of [{ threads: [], meta: {} }, { threads: [null, 1, {}], meta: {} }, { threads: [thread], libs: 'x' },
  { ...firefox, threads: [{ ...thread, stackTable: { frame: [0, 1, 99, {}], prefix: [3, 1, -5, 'x'] } }] },
  { ...firefox, threads: [{ ...thread, samples: { stack: [1e9, -1, 'x', {}, 1], weight: [1, 1, 1, 1, 'NaN'] } }] },
  { ...firefox, threads: [{ ...thread, frameTable: { schema: 5, data: [] } }], libs: [{ debugName: {} }, null] }]) {
  const what = await says(bytesOf(JSON.stringify(bad)));
  ok(what === 'read' || what === 'refused', `hostile JSON: ${JSON.stringify(bad).slice(0, 60)}`, what);
}
is(await profileOf(bytesOf('{"threads": [')), null, 'broken JSON is left to the reader that reports the position');
is(await says(bytesOf(`a 1 1.0: x: \n\t1 ${'('.repeat(5000)}\n${' '.repeat(5000)}1 ${' '.repeat(9000)}x\n`)), 'read', 'hostile text');

// --- the tree: drawn, searched, walked ---

const tree = await treeOf(await profileOf(bytesOf(PERF)));
const nameAt = (i) => tree.names[tree.nameOf[i]].name;
is(boxes(tree, 0, 8).map((b) => `${nameAt(b.node)} ${b.row} ${b.x} ${b.w}`).slice(0, 4),
  ['all 0 0 8', 'w 1 0 8', '__libc_start_call_main 2 0 6', '[unknown] 2 6 1'], 'boxes: the largest first');
ok(boxes(tree, 0, 7).every((b) => b.w >= 1 && nameAt(b.node) !== '[unknown]'), '... none narrower than a pixel');
const found = search(tree, 'MAIN');
is([found.nodes.map(nameAt), found.total], [['__libc_start_call_main', 'main'], 6], 'a search counts a call within another once');
is(search(tree, '').nodes, [], '... for nothing');
const walk = ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowUp', 'ArrowUp'];
let at = 0;
is(walk.map((key) => { at = neighbour(tree, at, key); return nameAt(at); }),
  ['w', '__libc_start_call_main', '[unknown]', 'get_common_cache_info.constprop.0', 'get_common_cache_info.constprop.0',
    '[unknown]', 'w', 'all', 'all'], 'arrows');
const late = new AbortController();
late.abort();
const endless = (function* endless() { for (;;) { yield; } }());
is(await inTurns(endless, late.signal).catch((e) => e.name), 'AbortError', 'long work can be ended');

console.log(`1..${n}`);
process.exit(failed ? 1 : 0);
