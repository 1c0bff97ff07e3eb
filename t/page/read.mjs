// Pasted reports, as the page reads them.  Prints TAP; t/page_read.t runs it.
//
// The texts have the forms that tools print or that their documentation
// describes, with invented addresses and ids.  A comment says if no tool was
// available.

import { Duplex } from 'node:stream';
import zlib from 'node:zlib';
import { pack, unpack } from '../../page/link.mjs';
import { History, points, readMetrics } from '../../page/figures.mjs';
import { Unreadable, modulesOf, read, whyNot } from '../../page/read.mjs';
import { takeSentry } from '../../page/ask.mjs';
import { isDump, reportOf } from '../../page/dump.mjs';
import { readJava, requestOf, takeJava } from '../../page/java.mjs';
import { readScript, requestOf as requestOfScript, takeScript } from '../../page/script.mjs';

// Debian 12's node has these streams, like browsers, but not this format.
try {
  new CompressionStream('deflate-raw');
} catch {
  globalThis.CompressionStream = function deflate() { return Duplex.toWeb(zlib.createDeflateRaw()); };
  globalThis.DecompressionStream = function inflate() { return Duplex.toWeb(zlib.createInflateRaw()); };
}

let n = 0;
let failed = 0;

function ok(good, name, note = '') {
  n += 1;
  failed += good ? 0 : 1;
  console.log(`${good ? 'ok' : 'not ok'} ${n} - ${name.replace(/#/g, '')}`);
  if (!good) {
    console.log(`# ${note}`);
  }
}

function is(got, want, name) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  ok(a === b, name, `got ${a}, want ${b}`);
}

// "module/id+offset", or the known parts of a frame.
function frames(report, stack = 0) {
  return report.stacks[stack].frames.map((f) => {
    const m = report.modules[f.module];
    return [m && f.offset !== null ? `${m.name}/${m.id}+${f.offset.toString(16)}` : '', f.name, f.file, f.line]
      .filter((v) => v !== undefined && v !== '').join(' ');
  });
}

const known = (text) => modulesOf(text).modules;

function refuses(text, where, why, name) {
  try {
    read(text);
    ok(false, name, 'it was read');
  } catch (error) {
    const p = error.problems && error.problems[0];
    ok(error instanceof Unreadable && p && where.test(p.where) && why.test(p.why), name, `${error.stack} ${JSON.stringify(p)}`);
  }
}

// --- requests ---

const ID = 'BBA6FA10B8AAB33D00000000000000000';
let r = read(JSON.stringify({ memoryMap: [['a', ID], ['b', '1A']], stacks: [[[0, 16], [1, 32], [-1, 5]], [[1, 2]]] }));
is([r.kind, r.stacks.length], ['v5', 2], 'a request of one job');
is(frames(r), [`a/${ID}+10`, 'b/1A+20', ''], '... its frames');
r = read(JSON.stringify({ jobs: [{ memoryMap: [], stacks: [[]] }, { memoryMap: [['a', ID]], stacks: [[[0, 1]]] }] }));
is(r.stacks.map((s) => s.title), ['Job 2, stack 1'], 'jobs; empty stacks are omitted');
refuses('{"memoryMap": [["a", "1"]], "stacks": [[[1, 2]]]}', /^stacks\[0\]\[0\]$/, /has 1 modules; there is no module 1/, 'an index past the end');
refuses('{"jobs": [{"memoryMap": [["a"]], "stacks": []}]}', /^jobs\[0\]\.memoryMap\[0\]$/, /two strings/, 'half a module');
refuses('{"memoryMap": [], "stacks": [[[0.5, 2]]]}', /stacks\[0\]\[0\]/, /whole numbers/, 'half an index');
refuses('{"memoryMap": [],\n "stacks": }', /line 2, column|JSON/, /./, 'no JSON');
refuses('{"a": 1, "b": 2}', /keys: a, b/, /Known are/, 'unknown JSON');

r = read('{"stacktraces": [{"frames": [{"instruction_addr": "0x15"}, {"instruction_addr": 7}]}], "modules": []}');
is([r.kind, r.stacks[0].frames.map((f) => f.raw)], ['sentry', ['0x15', '7']], 'Sentry');
takeSentry(r, {
  status: 'completed', modules: [{ type: 'elf', debug_file: '/x/a', debug_id: 'd', debug_status: 'found' }],
  stacktraces: [{ frames: [
    { status: 'symbolicated', original_index: 0, function: 'inner', filename: 'a.c', lineno: 3 },
    { status: 'symbolicated', original_index: 0, function: 'outer', filename: 'b.c', lineno: 4 },
    { status: 'unknown_image', original_index: 1 }] }],
});
is(r.stacks[0].frames.map((f) => f.answer), [
  { name: 'outer', file: 'b.c', line: 4, inlines: [{ name: 'inner', file: 'a.c', line: 3 }] }, null], '... inlined calls are grouped');
refuses('{"stacktraces": [{"frames": [{}]}]}', /stacktraces\[0\]\.frames\[0\]/, /instruction_addr/, '... without an address');

// --- Apple: developer.apple.com, "Examining the fields in a crash report" ---

r = read(`Incident Identifier: 6156848E-344E-4D9E-84E0-87AFD0D0AE7B
Process:             TouchCanvas [1052]
Code Type:           ARM-64 (Native)

Thread 0 name:  Dispatch queue: com.apple.main-thread
Thread 0 Crashed:
0   libswiftCore.dylib            \t0x00000001bd38da70 0x1bd19a000 + 2046576
1   TouchCanvas                   \t0x0000000102afb3d0 closure #1 in Line.add + 62416 (Line.swift:45)
2   My App                        \t0x0000000102af0010 0x102aec000 + 16400

Thread 1:
0   libsystem_pthread.dylib       \t0x00000001e5c05000 0x1e5c00000 + 20480

Thread 0 crashed with ARM Thread State (64-bit):
    x0: 0x00000001c4c0be18   x1: 0x0000000000000000

Binary Images:
0x102aec000 - 0x102b03fff TouchCanvas arm64  <fe7745ae12db30fa886c8baa1980437a> /var/containers/TouchCanvas.app/TouchCanvas
0x1bd19a000 - 0x1bd4fffff libswiftCore.dylib arm64e  <11111111222233334444555555555555> /usr/lib/swift/libswiftCore.dylib
       0x1e5c00000 -        0x1e5c0ffff +com.example.thread (1.0 - 1.0.1) <AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE> /usr/lib/libsystem_pthread.dylib
`);
is(r.title, 'Apple crash report', 'Apple: text');
is(frames(r), ['libswiftCore.dylib/111111112222333344445555555555550+1f3a70',
  'TouchCanvas/FE7745AE12DB30FA886C8BAA1980437A0+f3d0 closure #1 in Line.add Line.swift 45',
  'TouchCanvas/FE7745AE12DB30FA886C8BAA1980437A0+4010'], '... frames by "Binary Images"');
is(frames(r, 1), ['libsystem_pthread.dylib/AAAAAAAABBBBCCCCDDDDEEEEEEEEEEEE0+5000'], '... of macOS');
is([r.problems.length, r.stacks.length, r.stacks[0].title], [0, 2,
  'Thread 0 name:  Dispatch queue: com.apple.main-thread, Thread 0 Crashed'], '... registers are not frames');

// developer.apple.com, "Interpreting the JSON format of a crash report"
r = read(`{"app_name":"Demo","bug_type":"309"}
{"usedImages": [{"uuid": "a1b2c3d4-0000-1111-2222-333344445555", "name": "Demo", "base": 4300000000, "path": "/x/Demo"}],
 "threads": [{"triggered": true, "queue": "main", "frames": [{"imageOffset": 4660, "imageIndex": 0, "symbol": "f"}, {"imageIndex": 0}]}]}`);
is([r.title, r.stacks[0].title, frames(r)], ['Apple crash report of Demo', 'Thread 0 (crashed): main',
  ['Demo/A1B2C3D400001111222233334444555500'.replace(/00$/, '0') + '+1234 f']], 'Apple: .ips');
is(r.problems.map((p) => p.where), ['threads[0].frames[1]'], '... unreadable lines');

// --- lines ---

const one = (text, ids = '') => frames(read(text, known(ids)))[0];
const lines = [
  ['libfoo.so+0x1234', 'libfoo.so/+1234', 'module+offset'],
  ['#3  /usr/lib/libfoo-1.2.so + 0x1A', 'libfoo-1.2.so/+1a', '... behind a number'],
  ['  1  xul.dll + 0x10', 'xul.dll/+10', '... of minidump-stackwalk'],
  [`linux_inline ${ID} 0x15b87`, `linux_inline/${ID}+15b87`, 'name, id, offset'],
  [`linux_inline/${ID}+0x15b87`, `linux_inline/${ID}+15b87`, 'name/id+offset'],
  // glibc's manual, "Backtraces"
  ['./prog(+0x11e9) [0x55d0c0de11e9]', 'prog/+11e9', 'glibc'],
  ['/lib/libc.so.6(__libc_start_main+0xf3) [0x7f0000000123]', '__libc_start_main', 'glibc with a name'],
  ['addr2line -Cfie ./a.out 0x1234 1240', 'a.out/+1234', 'addr2line'],
  // source.android.com, "Diagnosing native crashes"
  ['    #00 pc 00042c98  /system/lib/libc.so (tgkill+12) (BuildId: 0123456789abcdef0123456789abcdef01234567)',
    'libc.so/0123456789abcdef0123456789abcdef01234567+42c98 tgkill', 'Android'],
  // systemd-coredump(8)
  ['#0  0x00007f37ba39d9fb n/a (libc.so.6 + 0x949fb)', 'libc.so.6/+949fb', 'systemd-coredump'],
  ['#01: ???[/opt/firefox/libxul.so +0x1b4c8]', 'libxul.so/+1b4c8', 'Firefox'],
  // clang's documentation of AddressSanitizer
  ['    #1 0x7fddabac9854  (/lib/x86_64-linux-gnu/libc.so.6+0x23854) (BuildId: abcdef0123456789)',
    'libc.so.6/abcdef0123456789+23854', 'AddressSanitizer'],
  ['    #0 0x4f2b10 in main /tmp/a.cc:4:10', 'main /tmp/a.cc 4', '... with names'],
  ['#1  0x00005555555551a9 in foo (x=1) at foo.c:12', 'foo foo.c 12', 'gdb'],
  ['Nov 22 12:00:00 host app[12]: libfoo.so+0x1234', 'libfoo.so/+1234', 'after a log\'s prefix'],
];
lines.forEach(([text, want, name]) => is(one(text), want, name));

is(frames(read('0x10 0x20\n30ab', known('a.out 0123456789abcdef'))), ['a.out/0123456789abcdef+10',
  'a.out/0123456789abcdef+20', 'a.out/0123456789abcdef+30ab'], 'only addresses, of the only module');
is(frames(read('0x555500001010\n0x7f0000000020', known('a 0123456789abcdef 0x555500000000\nb fedcba9876543210 0x7f0000000000-0x7f0000001000'))),
  ['a/0123456789abcdef+1010', 'b/fedcba9876543210+20'], '... by the addresses of modules');
is(frames(read('55d0c0de0000-55d0c0df0000 r-xp 00000000 08:01 1234   /usr/bin/prog\n./prog(main+0x19) [0x55d0c0de1169]')),
  ['prog/+1169 main'], '... by /proc/PID/maps');
is(one('a.out+0x10\na.out: ELF 64-bit LSB pie executable, BuildID[sha1]=0123456789abcdef0123456789abcdef01234567, not stripped'),
  'a.out/0123456789abcdef0123456789abcdef01234567+10', 'an id by the output of file');
is(one('#0  0x01 x (a.out + 0x10)\nModule /usr/bin/a.out with build-id 0123456789abcdef'), 'a.out/0123456789abcdef+10 x', '... of systemd');
is(one(`a.out+0x10\nMODULE Linux x86_64 ${ID} a.out`), `a.out/${ID}+10`, '... of a .sym file');
is(one('a.out+0x10', 'a.out 0123456789ABCDEF'), 'a.out/0123456789ABCDEF+10', '... of the list');
is(modulesOf('only_a_name\n# a comment\n').problems.length, 1, 'a list without ids says so');

// --- Go: pkg.go.dev/runtime, GOTRACEBACK ---

r = read(`panic: oops

goroutine 1 [running]:
main.(*T).run(0xc000012345, {0x1, 0x2})
\t/home/u/x.go:12 +0x1d
main.main()
\t/home/u/main.go:5 +0x25 fp=0xc00006df70 sp=0xc00006df60 pc=0x47e7a1

goroutine 18 [chan receive]:
main.worker(...)
\t/home/u/w.go:3
created by main.main in goroutine 1
\t/home/u/main.go:4 +0x99
`, known('prog 0123456789abcdef 0x400000'));
is(frames(r), ['main.(*T).run /home/u/x.go 12', 'prog/0123456789abcdef+7e7a1 main.main /home/u/main.go 5'], 'Go');
is(frames(r, 1), ['main.worker /home/u/w.go 3', 'main.main /home/u/main.go 4'], '... several goroutines');

// --- Firefox profiles: written by hand, after docs-developer/processed-profile-format ---

const profile = {
  meta: {}, libs: [{ name: 'libxul.so', debugName: 'libxul.so', breakpadId: ID }],
  threads: [{
    name: 'GeckoMain', tid: 7,
    frameTable: { address: [-1, 16, 32, 16], func: [0, 1, 1, 1], length: 4 },
    funcTable: { resource: [-1, 0] }, resourceTable: { lib: [0] },
    stackTable: { frame: [0, 1, 2, 3], prefix: [null, 0, 1, 0] }, samples: { stack: [1, 2, 2, 3, null], length: 5 },
  }],
};
r = read(JSON.stringify(profile));
is([r.kind, frames(r), r.stacks[0].frames.map((f) => f.count)],
  ['profile', [`libxul.so/${ID}+10`, `libxul.so/${ID}+20`], [2, 2]], 'a processed profile: addresses by samples');
const { frameTable, funcTable, resourceTable, stackTable, ...rest } = profile.threads[0];
r = read(JSON.stringify({ ...profile, shared: { frameTable, funcTable, resourceTable, stackTable }, threads: [rest] }));
is(frames(r), [`libxul.so/${ID}+10`, `libxul.so/${ID}+20`], '... with shared tables');
r = read(JSON.stringify({
  meta: {}, libs: [{ name: 'a', debugName: 'a', breakpadId: ID, start: 0x10000, end: 0x20000 }],
  threads: [{ name: 'T', stringTable: ['(root)', '0x10010', '0x99999'], frameTable: { schema: { location: 0 }, data: [[0], [1], [2]] },
    stackTable: { schema: { prefix: 0, frame: 1 }, data: [[null, 1]] }, samples: { schema: { stack: 0 }, data: [[0], [0]] } }, 5],
}));
is([frames(r), r.stacks[0].frames[0].count, r.problems[0].where], [[`a/${ID}+10`], 2, 'threads[1]'], 'a raw profile');

// --- gdb 13, of a program without symbols: bt, info proc mappings ---

r = read(`#4  0x000055555555515e in ?? ()
#5  0x00007ffff7e13bf4 in abort () from /lib/x86_64-linux-gnu/libc.so.6
#6  0x00007ffff7e139a4 in ?? () from /opt/unmapped.so
Mapped address spaces:

          Start Addr           End Addr       Size     Offset  Perms  objfile
      0x555555554000     0x555555555000     0x1000        0x0  r--p   /tmp/stripped
      0x555555555000     0x555555556000     0x1000     0x1000  r-xp   /tmp/stripped
      0x7ffff7dd4000     0x7ffff7dfa000    0x26000        0x0  r--p   /usr/lib/x86_64-linux-gnu/libc.so.6
      0x7ffff7dfa000     0x7ffff7f50000   0x156000    0x26000  r-xp   /usr/lib/x86_64-linux-gnu/libc.so.6
      0x7ffff7fa9000     0x7ffff7fb6000     0xd000        0x0  rw-p   `);
is(frames(r), ['stripped/+115e', 'libc.so.6/+3fbf4 abort', 'libc.so.6/+3f9a4'], 'gdb: frames by "info proc mappings"');
is(r.stacks[0].frames.map((f) => f.number), [4, 5, 6], '... keep their numbers');
r = read(`555555554000-555555555000 r--p 00000000 08:01 1234   /tmp/prog
#0  0x00007ffff7e13bf4 in abort () from /lib/libc.so.6
#1  0x0000555555554010 in ?? ()`);
is(frames(r), ['abort', 'prog/+10'], 'a frame that names its module is not moved to another');

// --- minidump-stackwalk, partly named ---

r = read(`Thread 0  (crashed)
 0  c-O0!sum [c.c : 9 + 0x4]
    rip = 0x00005618402fd1bd   rsp = 0x00007fff5ed53760
    Found by: given as instruction pointer in context
 1  c-O0!level3 + 0x31
 2  libc.so.6 + 0x27249

Loaded modules:
0x5618402fc000 - 0x561840300fff  c-O0  ???  (main)
0x7fe8f6014000 - 0x7fe8f61e8fff  libc.so.6  6.0.0.0  (WARNING: No symbols, libc.so.6, 93AC00A1B2C3D4E5F60718293A4B5C6D0)`);
is(frames(r), ['sum c.c 9', 'level3', 'libc.so.6/93AC00A1B2C3D4E5F60718293A4B5C6D0+27249'], 'minidump-stackwalk: named frames, too');
is(r.stacks[0].frames.map((f) => f.number), [0, 1, 2], '... with their numbers');

r = read(`Crash reason:  SIGSEGV / SEGV_MAPERR
Crashing instruction: \`mov dword [0x45], 0x5\`
Memory accessed by instruction:
  0. Address: 0x0000000000000045
     Size: 4
Thread 0  (crashed)
 0  libc.so.6 + 0x27249`);
is([frames(r), r.problems], [['libc.so.6/+27249'], []], '... the instruction that crashed is not a frame');

// --- WinDbg's k: written by hand, after Microsoft's description of the command ---

r = read(` # Child-SP          RetAddr           Call Site
00 00000000\`0012f8a0 00007ff8\`1c2d7bd4 ntdll!NtWaitForSingleObject+0x14
01 000000a5\`6e2ff5d8 00007ff6\`1d2a1034 app!main+0x24 [C:\\src\\app\\main.cpp @ 12]
02 (Inline Function) --------\`-------- app!foo+0x5 [C:\\src\\app\\main.cpp @ 7]
03 000000a5\`6e2ff610 00000000\`00000000 app+0x1234`);
is(frames(r), ['NtWaitForSingleObject', 'main C:\\src\\app\\main.cpp 12', 'foo C:\\src\\app\\main.cpp 7', 'app/+1234'], 'WinDbg: k');
is(one('0012f8a0 7c90e9c0 00000001 00000002 00000003 app!main+0x10'), 'main', '... kb, with arguments');

// --- the kernel: written by hand, after docs.kernel.org, admin-guide/bug-hunting ---

r = read(`[  123.456789] RIP: 0010:do_wp_page+0x577/0x9a0
[  123.456790] Call Trace:
[  123.456791]  <TASK>
[  123.456792]  ? handle_mm_fault+0xd0/0x2c0
[  123.456793]  probe+0x1b/0x40 [snd_hda 0123456789abcdef0123456789abcdef01234567]`);
is(r.stacks.flatMap((s, i) => frames(r, i)), ['do_wp_page+0x577', 'handle_mm_fault+0xd0', 'probe+0x1b'], 'an oops of the kernel');
is(r.modules.map((m) => [m.name, m.id]), [['vmlinux', ''], ['snd_hda.ko', '0123456789abcdef0123456789abcdef01234567']], '... its modules');

// --- perf 6.1: perf script, perf buildid-list ---

r = read(`bash 27872  2731.133714:     250000 cpu-clock: 
\tffffffff815eea80 handle_mm_fault+0xd0 ([kernel.kallsyms])
\t           14f38 intel_check_word.constprop.0+0x158 (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
\t      1e00000000 [unknown] ([unknown])

bash 27872  2731.133968:     250000 cpu-clock: 
\t           14bc7 [unknown] (/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)
`, known('f0753121ed06ba30f52774fdfc0f1d3acc40eda7 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2'));
is(r.stacks.map((s, i) => frames(r, i).slice(0, 2)), [['handle_mm_fault',
  'ld-linux-x86-64.so.2/f0753121ed06ba30f52774fdfc0f1d3acc40eda7+14f38 intel_check_word.constprop.0'],
['ld-linux-x86-64.so.2/f0753121ed06ba30f52774fdfc0f1d3acc40eda7+14bc7']], 'perf script: a stack for each sample');

r = read(`${'a 0123456789abcdef 0x10'}\n${'a 0123456789ABCDEF 0x20'}`);
is(r.modules.length, 1, 'an id in either case is one module');

// --- Java and Android: Throwable.printStackTrace(), and logcat before it ---

const MAPPING = '0c0ffee0-0000-5000-8000-000000000001';
const JAVA = `E/AndroidRuntime( 1234): FATAL EXCEPTION: main
E/AndroidRuntime( 1234): Process: org.example, PID: 1234
E/AndroidRuntime( 1234): a.a.b: no: fuel
E/AndroidRuntime( 1234): \tat a.a.c.a(SourceFile:12)
E/AndroidRuntime( 1234): \tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: a.a.d
\tat app//a.a.e.<init>(Unknown Source)
\tat a.a.e.b(Native Method)
\t... 2 more
`;
r = readJava(JAVA, known(`mapping ${MAPPING}`));
is(r.stacks.map((s) => s.title), ['E/AndroidRuntime( 1234): a.a.b: no: fuel', 'Caused by: a.a.d'], 'exceptions of Java');
is(r.stacks.map((s, i) => frames(r, i)), [['a.a.c.a SourceFile 12', 'java.lang.Thread.run Thread.java 840'],
  ['a.a.e.<init> Unknown Source', 'a.a.e.b Native Method']], '... and their frames');
is(requestOf(r), {
  modules: [{ uuid: MAPPING, type: 'proguard' }],
  stacktraces: [
    { exception: { type: 'b', module: 'a.a' }, frames: [{ module: 'a.a.c', function: 'a', index: 0, lineno: 12 },
      { module: 'java.lang.Thread', function: 'run', index: 1, lineno: 840 }] },
    { exception: { type: 'd', module: 'a.a' }, frames: [{ module: 'a.a.e', function: '<init>', index: 0 },
      { module: 'a.a.e', function: 'b', index: 1 }] }],
  exceptions: [{ type: 'b', module: 'a.a' }, { type: 'd', module: 'a.a' }],
  options: { frame_order: 'callee_first', apply_source_context: false },
}, '... with the mapping that the user names');
takeJava(r, {
  exceptions: [{ type: 'Tank', module: 'org.example' }, { type: 'd', module: 'a.a' }], errors: [],
  stacktraces: [{ frames: [
    { module: 'org.example.Pump', function: 'go', lineno: 7, filename: 'Pump.java', index: 0 },
    { module: 'org.example.Rocket', function: 'start', lineno: 90, filename: 'Rocket.java', index: 0 },
    { module: 'java.lang.Thread', function: 'run', lineno: 840, filename: 'Thread.java', index: 1 }] }, { frames: [] }],
});
is(r.stacks[0].title, 'E/AndroidRuntime( 1234): org.example.Tank: no: fuel', 'an exception under its name');
is(r.stacks[0].frames[0].answer, {
  name: 'org.example.Rocket.start', file: 'Rocket.java', line: 90,
  inlines: [{ name: 'org.example.Pump.go', file: 'Pump.java', line: 7 }],
}, '... a frame with an inlined call');
is([r.stacks[0].frames[1].answer, r.modules[0].found], [null, true], '... one that the mapping does not rename');
takeJava(r, { exceptions: [], stacktraces: [], errors: [{ uuid: MAPPING, type: 'missing' }] });
is([r.modules[0].found, r.modules[0].status], [false, 'no source has it'], 'a missing mapping');
is(readJava(JAVA, []).problems.map((p) => p.where), ['module list'], 'a mapping must be named');
is(readJava('    at foo (app.js:1:2)\n    at app.js:1:2\n#0 0x1 in main\na.out(+0x12)'), null, 'other traces are not Java\'s');
for (const text of [` at ${'a/'.repeat(5000)}`, ` at ${'a.'.repeat(5000)}`, 'a: '.repeat(5000), ' at a.b('.repeat(5000)]) {
  const begun = performance.now();
  readJava(`${text}\n`.repeat(50));
  ok(performance.now() - begun < 2000, `hostile traces take little time: ${text.slice(0, 9)}`);
}

// --- JavaScript: V8's stack trace API, and Error.stack of Firefox and Safari ---

const APP = 'https://example.com/static/app.min.js';
const CHROME = `Uncaught TypeError: e is undefined
    at t (${APP}?v=1:1:61)
    at async Promise.all (index 0)
    at async ${APP}?v=1:1:104
    at new Promise (<anonymous>)
    at Object.<anonymous> (/srv/my app/dist/main.cjs:3:7)
Caused by: Error: inner
    at a.b (app:///main.jsbundle:1:200)
`;
r = readScript(CHROME, known(`main.jsbundle ${MAPPING}`));
is(r.stacks.map((s) => s.title), ['Uncaught TypeError: e is undefined', 'Caused by: Error: inner'], 'stacks of Chrome and Node');
is(requestOfScript(r), {
  modules: [{ type: 'sourcemap', code_file: 'app:///main.jsbundle', debug_id: MAPPING }],
  stacktraces: [{ frames: [{ abs_path: `${APP}?v=1`, lineno: 1, colno: 61, function: 't' },
    { abs_path: `${APP}?v=1`, lineno: 1, colno: 104 },
    { abs_path: '/srv/my app/dist/main.cjs', lineno: 3, colno: 7, function: 'Object.<anonymous>' }] },
  { frames: [{ abs_path: 'app:///main.jsbundle', lineno: 1, colno: 200, function: 'a.b' }] }],
  options: { frame_order: 'callee_first', apply_source_context: false },
}, '... asked by URL, and by the debug id that the user names');
takeScript(r, {
  stacktraces: [{ frames: [
    { function: 'readCart', abs_path: 'https://example.com/static/src/cart.ts', filename: 'src/cart.ts', lineno: 12, colno: 9, data: { symbolicated: true } },
    { function: '?', abs_path: `${APP}?v=1`, lineno: 1, colno: 104, data: { symbolicated: false } }] }],
  errors: [{ abs_path: '/srv/my app/dist/main.cjs', type: 'missing_source' },
    { abs_path: `${APP}?v=1`, type: 'invalid_location', line: 1, col: 104 }],
});
is(r.stacks[0].frames.map((f) => f.answer), [{ name: 'readCart', file: 'src/cart.ts', line: 12, inlines: [] }, null, null],
  '... and answered frame by frame');
is(r.modules.map((m) => m.found), [true, false, true], '... with the script that is missing');
r = readScript(`t@${APP}:1:61\r\n@${APP}:1:104\r\n${APP}:1:9\r\nglobal code@${APP}:1:1\r\n[native code]`);
is(requestOfScript(r).stacktraces[0].frames.map((f) => [f.function, f.colno]), [['t', 61], [undefined, 104], [undefined, 9],
  ['global code', 1]],
  'stacks of Firefox and Safari');
is([JAVA, 'at src/main.rs:10:5', '#0 0x1 in main\na.out(+0x12)', 'main at /tmp/a.c:3:4'].map((text) => readScript(text)),
  [null, null, null, null], 'other traces are not of JavaScript');
is(readJava(CHROME), null, '... nor is one of JavaScript taken for Java');
for (const text of [` at ${'a('.repeat(5000)}`, `${'a@'.repeat(5000)}`, ` at a (${'a:1'.repeat(5000)}`, 'https:'.repeat(3000)]) {
  const begun = performance.now();
  readScript(`${text}\n`.repeat(50));
  ok(performance.now() - begun < 2000, `hostile stacks take little time: ${text.slice(0, 9)}`);
}

// --- minidumps: Symbolicator's answers ---

is([isDump(new Uint8Array([77, 68, 77, 80, 1])), isDump(new Uint8Array([80, 77, 68, 77])), isDump(new Uint8Array([77]))],
  [true, true, false], 'a minidump in either byte order');
r = reportOf({
  status: 'completed', crash_reason: 'SIGSEGV / SEGV_MAPERR / 0x0', assertion: '', crashed: true,
  system_info: { os_name: 'Linux', os_version: '6.1', cpu_arch: 'x86_64' },
  stacktraces: [
    { thread_id: 7, is_requesting: false, frames: [{ status: 'unknown_image', original_index: 0, instruction_addr: '0x9' }] },
    {
      thread_id: 8, thread_name: 'main', is_requesting: true, frames: [
        { status: 'symbolicated', original_index: 0, instruction_addr: '0x10', package: '/a.out', function: 'deref', filename: 'c.c', lineno: 8 },
        { status: 'symbolicated', original_index: 0, instruction_addr: '0x10', package: '/a.out', function: 'sum', filename: 'c.c', lineno: 9 },
        { status: 'missing', original_index: 1, instruction_addr: '0x20', package: '/b.so' }],
    }],
  modules: [{ debug_status: 'found', debug_file: '/a.out', debug_id: 'x' }],
});
is(r.title, 'Minidump — SIGSEGV / SEGV_MAPERR / 0x0 — Linux 6.1 x86_64', 'a minidump');
is(r.stacks.map((s) => s.title), ['Thread 8 main (crashed)', 'Thread 7'], '... its threads, the crashed one first');
is(r.stacks[0].frames.map((f) => [f.raw, f.answer && f.answer.name, f.answer && f.answer.inlines.map((c) => c.name)]),
  [['0x10 in /a.out', 'sum', ['deref']], ['0x20 in /b.so', null, null]], '... and their frames');
{
  let why = '';
  try {
    reportOf({ status: 'failed', message: 'Minidump version mismatch' });
  } catch (error) {
    why = error.message;
  }
  is(why, 'The server answers: Minidump version mismatch', 'a minidump that the server refuses');
}

// --- unreadable lines ---

r = read('a+0x1\n#9 what is this\nplain prose\nx [0x12 y');
is(r.problems.map((p) => p.where), ['line 2', 'line 4'], 'only lines that look like frames are reported');
refuses('Dear all,\nit crashed.', /line 1/, /MODULE\+0xOFFSET/, 'no frame');
r = read(Array.from({ length: 500 }, (_, i) => `#${i} odd`).join('\n') + '\na+0x1');
is(r.problems.length, 51, 'the number of problems is limited');
r = read('a+0x1\n'.repeat(200010));
is([r.stacks[0].frames.length, r.problems.length], [200000, 1], 'the number of frames is limited, and that is reported');
['constructor+0x10', '__proto__+0x10', 'a'.repeat(100000), `${'('.repeat(5000)}+0x1`, `${' '.repeat(20000)}x`, `0x${'0'.repeat(4000)}`,
  `#1 0x1 in ${'a '.repeat(3000)}`].forEach((text) => {
  const begun = performance.now();
  try {
    read(`${text}\nb+0x1`);
  } catch (error) {
    ok(error instanceof Unreadable, 'hostile text', error.stack);
  }
  const ms = performance.now() - begun;
  ok(ms < 2000, `hostile text takes little time: ${text.slice(0, 20)}`, `${ms} ms`);
});
is(whyNot({ name: 'a b.so', id: ID }), null, 'a name that the API accepts');
ok(/such characters/.test(whyNot({ name: '<img>/', id: ID })), 'one that it does not accept');

// --- links ---

const state = { text: 'a+0x1\n'.repeat(1000) + '<b>é𝄞', modules: 'a 1' };
const packed = await pack(state);
ok(/^[A-Za-z0-9_-]+$/.test(packed) && packed.length < 300, 'a link is short and plain', packed.length);
is(await unpack(packed), state, '... and opens');
for (const bad of ['', '!', 'AAAA', packed.slice(0, 20), await pack({ text: 1 }), await pack({ text: 'x'.repeat(9 << 20), modules: '' })]) {
  let error = null;
  await unpack(bad).catch((e) => { error = e; });
  ok(error !== null, `a broken link: ${bad.slice(0, 10)}`);
}

// --- figures: the text of Prometheus' exposition formats ---

const m = readMetrics(`# TYPE symbolicate_requests_total counter
symbolicate_requests_total{dialect="tecken",code="2xx"} 10
symbolicate_requests_total{dialect="te\\"ck\\\\en",code="5xx"} 1
symbolicate_store_quota_bytes{store="/a"} 1e3
broken{
`);
is([...m.keys()], ['symbolicate_requests_total', 'symbolicate_store_quota_bytes'], 'metrics');
is(m.get('symbolicate_requests_total')[1].labels.dialect, 'te"ck\\en', '... labels');
const history = new History();
// from docs/use/directives.md, symbolicate_metrics
const hour = { interval_s: 30, requests: [60, 0, 3], errors: [0, 0, 30], frames: [1, 2, 3], misses: [0, 0, 0], fetches: [] };
history.take(readMetrics('symbolicate_loader_flights 3'), hour);
history.take(readMetrics('symbolicate_loader_flights 4'), hour);
is(['requests', 'errors', 'fetches', 'queue'].map((id) => history.series.get(id)), [[2, 0, 0.1], [0, 0, 1], [], [3, 4]],
  'counters as rates of half minutes, gauges as read');
history.take(readMetrics(''), null);
is(history.series.get('requests'), [], '... a server without history');
is(points([0, 5, 10], 238, 10), [[234, 10], [236, 5], [238, 0]], 'points of a line');
is(points([5], 238, 10, 20), [[238, 7.5]], '... scaled to a limit');

console.log(`1..${n}`);
process.exit(failed ? 1 : 0);
