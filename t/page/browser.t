# The page in a real browser: a user pastes a report and reads it, with or
# without a mouse, on a desktop or a phone, in dark mode; nothing freezes,
# nothing leaves the server, and names are never more than text.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Cpanel::JSON::XS ();
use SymBrowser;
use SymLoader qw(sym_text write_file);
use SymTest;
use File::Path qw(make_path);
use Test::More;

binmode Test::More->builder->$_, ':utf8' for qw(output failure_output todo_output);

my $JSON = Cpanel::JSON::XS->new->utf8->allow_nonref;
my $program = $ENV{SYM_CHROMIUM} // '/usr/bin/chromium';
BAIL_OUT("no $program: ./dev page installs it") if !-x $program;

my $t = SymTest->new(workers => 2);
my $shots = $ENV{SYM_SHOTS};
make_path($shots) if $shots;

$t->conf(locations => <<'CONF');
        client_max_body_size 32m;
        location /symbolicate { symbolicate; }
        location = /symbolicate { symbolicate sentry; }
        location = /symbolicate/profile { symbolicate profile; }
        location /__ { symbolicate_health; }
        location /some/page/ {
            symbolicate_page sentry=/symbolicate admin=/admin metrics=/metrics;
        }
        location /bare/ { symbolicate_page; }
        location /unready/ { symbolicate_page api=/failing/symbolicate/v5 admin=/admin; }
        location /failing { symbolicate; symbolicate_source down uri=/_down/; symbolicate_loader unix:%%DIR%%/none.sock; }
        location /_down/ { internal; return 502; }
        location /told/ { symbolicate_page admin=/told_admin; }
        # from docs/use/directives.md, symbolicate_missing
        location = /told_admin/missing {
            return 200 '{"total": 7, "modules": [{"name": "xul.pdb", "id": "44E4EC8C2F41492B9369D6B9A059577C2",
                "code_id": "", "kind": "symcache", "requests": 1234, "frames": 4, "state": "absent",
                "first_asked": "2020-11-22T10:00:00Z", "last_asked": "2020-11-22T10:05:00Z"}]}';
        }
        location /admin { symbolicate; symbolicate_admin on; }
        location /metrics { symbolicate_metrics; }
CONF

# names that would run if they were markup
my $EVIL = '<img src=x onerror=window.hurt=1><script>window.hurt=1</script>';
my $EVIL_ID = '0' x 31 . '11';
my $folder = $t->dir . '/symbols';
make_path("$folder/evil/$EVIL_ID");
write_file("$folder/evil/$EVIL_ID/evil.sym", <<"SYM");
MODULE Linux x86_64 $EVIL_ID evil
FILE 0 $EVIL/a.c
FUNC 1000 100 0 $EVIL
1000 100 7 0
SYM
for my $n (1 .. 12) {
    my ($name, $id) = ("lib$n.so", sprintf('%032X0', $n));
    make_path("$folder/$name/$id");
    write_file("$folder/$name/$id/$name.sym", sym_text($name, $id));
}
$t->load("$folder", SymTest::root() . '/samples')->start;

my $here = 'http://' . $t->address;
my $b = SymBrowser->new($program, $t->dir);
$b->screen(1280, 900, 'light');

sub shot {
    my ($name) = @_;
    return if !$shots;
    for my $screen (['desk', 1280, 900], ['phone', 390, 844]) {
        for my $colours (qw(light dark)) {
            $b->screen(@$screen[1, 2], $colours);
            $b->shot("$shots/$name-$screen->[0]-$colours.png");
        }
    }
    $b->screen(1280, 900, 'light');
    return;
}

sub fresh {
    my ($path) = @_;
    $b->open($here . ($path // '/some/page/'));
    $b->wait_for('document.getElementById("version")?.textContent', 'the page starts');
    return;
}

sub paste {
    my ($text, $known) = @_;
    $b->run('document.getElementById("clear").click()');
    $b->run('document.getElementById("text").value = ' . $JSON->encode($text));
    $b->run('document.getElementById("known").value = ' . $JSON->encode($known // ''));
    $b->run('document.getElementById("go").click()');
    $b->wait_for('document.getElementById("result").dataset.done || document.querySelector("#problems .error")',
        'an answer');
    # innerText omits text below the screen
    return $b->run('document.getElementById("status").innerText + document.getElementById("problems").innerText'
        . ' + document.getElementById("result").textContent');
}

# --- read ---

fresh();
shot('1-empty');
my $said = paste(<<'TEXT');
{"memoryMap": [["linux_inline", "BBA6FA10B8AAB33D00000000000000000"]], "stacks": [[[0, 88967], [-1, 5]]]}
TEXT
like($said, qr/1 of 2 frames symbolicated/, 'a request is answered');
like($said, qr/func\(\)\s*linux_inline\.cpp:9/, 'the innermost call, with its line');
is($b->run('document.querySelector(".inlines").open'), Cpanel::JSON::XS::false(), '... the others are folded');
$b->run('document.querySelector(".inlines summary").click()');
is($b->run('document.querySelector(".inlines").open'), Cpanel::JSON::XS::true(), '... unfold');
$said = $b->run('document.getElementById("result").textContent');
like($said, qr/bar\(\)\s*c\.cpp:32.*foo\(\)\s*b\.cpp:39.*main\s*a\.cpp:42/s, '... in order');
shot('2-frames');

$said = paste("#0 linux_inline+0x15b87\n#1 nowhere.so+0x10\n#2 0x1 odd [0xzz");
like($said, qr/1 of 2 frames symbolicated/, 'an id is looked up in the store');
like($said, qr/line 3 — This looks like a frame/, 'what was not understood, and where');
like($said, qr/its id is not known/, 'a module without an id');
shot('3-problems');

$said = paste('{"memoryMap": [], "stacks": [[[3, 1]]]}');
like($said, qr/stacks\[0\]\[0\] — The memoryMap has 0 modules/, 'wrong JSON: where, and why');
$said = paste("{\"memoryMap\": [],\n \"stacks\": }");
like($said, qr/line 2|JSON/, 'not JSON: where');
$said = paste('Nothing here.');
like($said, qr/No addresses were found/, 'no addresses');
shot('4-error');

$said = paste($JSON->encode({
    stacktraces => [{ frames => [{ instruction_addr => '0x15b87', addr_mode => 'rel:0' }] }],
    modules => [{ type => 'elf', debug_file => 'linux_inline',
        debug_id => 'bba6fa10-b8aa-b33d-0000-000000000000' }],
}));
like($said, qr/1 of 1 frames symbolicated.*func\(\)\s*linux_inline\.cpp:9/s, 'Sentry\'s API');

# --- the answer first; a failed source hides nothing ---

fresh('/unready/');
$said = paste("linux_inline BBA6FA10B8AAB33D00000000000000000 0x15b87\n"
    . "lost.so AAAAAAAABBBBCCCCDDDDEEEEEEEEEEEE0 0x10\n"
    . 'lib3.so AAAAAAAABBBBCCCCDDDDEEEEEEEEEEEE0 0x10');
like($said, qr/1 of 3 frames symbolicated/, 'present modules are answered');
like($said, qr/lost\.so AAAA.*?: no symbols on this server: [^:]*loader/, 'which module failed, and why');
like($said, qr/known under other ids: 00000000000000000000000000000003/, 'other ids of the name');
is($b->run('document.activeElement.tagName'), 'H2', 'focus is at the answer');
cmp_ok($b->run('Math.abs(document.getElementById("status").getBoundingClientRect().top)'), '<', 20,
    '... which is at the top of the screen');
cmp_ok($b->run('document.querySelector(".stack").getBoundingClientRect().top'), '<',
    $b->run('document.querySelector("#result .modules").getBoundingClientRect().top'), 'modules are below');
shot('2-failed');
fresh();

# --- names are text ---

$b->complaints;
$said = paste("MODULE Linux x86_64 $EVIL_ID evil\nevil+0x1010\n$EVIL+0x10\n$EVIL");
like($said, qr/\Q$EVIL\E/, 'a hostile name is shown');
is($b->run('document.querySelectorAll("#panel-report img, #panel-report script").length'), 0,
    '... as text');
is($b->run('window.hurt'), undef, '... which does not run');
shot('5-hostile');
is_deeply([$b->complaints], [], '... and the policy had nothing to refuse');
isnt($b->run('try { document.body.innerHTML = "x" } catch (e) { e.name }'), undef,
    'scripts cannot write markup');
$b->complaints;

# --- the text and the link, copied ---

my $TEXT = <<'TEXT';
Stack
  0  func() at linux_inline.cpp:9 [inlined]
     bar() at c.cpp:32 [inlined]
     foo() at b.cpp:39 [inlined]
     main at a.cpp:42 (linux_inline + 0x15b87)
  1  nowhere.so + 0x10
TEXT

# Clicks; returns the contents of the clipboard.
sub copied {
    my ($button) = @_;
    $b->run("document.getElementById('$button').click()");
    $b->wait_for("document.getElementById('$button').textContent === 'Copied'", $button);
    return $b->clipboard;
}

fresh();
paste("linux_inline BBA6FA10B8AAB33D00000000000000000 0x15b87\nnowhere.so+0x10");
is(copied('copy-text'), $TEXT, 'the text is copied, with all inlined calls');
my $link = copied('copy-link');
like($link, qr{^\Q$here\E/some/page/#report=[\w-]+\z}, 'a link is copied');
is($b->run('location.href'), $link, '... which is the address, too');
$b->wait_for('document.getElementById("copy-link").textContent === "Copy a link"', 'the button is as before');
$b->requests;
$b->open('about:blank');
$b->open($link);
$b->wait_for('document.getElementById("result")?.dataset.done', 'the link is followed');
is(copied('copy-text'), $TEXT, 'a link shows the report again');
is_deeply([grep { !/^\Q$here\E\/|^about:/ || /report=/ } map { s/#.*//r } $b->requests], [],
    'all requests go to this server, none with the report in its address');
$b->open("$here/some/page/#report=x!");
$b->wait_for('document.querySelector("#problems .error")', 'a broken link says so');

# Browsers allow the clipboard only to secure pages: TLS, or this machine.
my $plain = $here =~ s/127\.0\.0\.1/plain.example/r;
$b->open("$plain/some/page/");
$b->wait_for('document.getElementById("version")?.textContent', 'the page of another host');
is($b->run('window.isSecureContext'), Cpanel::JSON::XS::false(), '... without TLS');
paste("linux_inline BBA6FA10B8AAB33D00000000000000000 0x15b87\nnowhere.so+0x10");
for my $button (qw(copy-link copy-text)) {
    $b->run("document.getElementById('$button').click()");
    $b->wait_for("document.getElementById('$button').textContent === 'Copied'", $button);
}
fresh();
is($b->clipboard, $TEXT, '... copies nevertheless');

# --- many frames ---

# Time in which the page could not react to a key.
my $WATCH = 'window.longest = 0; window.last = performance.now(); (function tick() {'
    . ' const now = performance.now(); window.longest = Math.max(window.longest, now - window.last);'
    . ' window.last = now; setTimeout(tick, 0); })(); 0';

fresh();
$b->run($WATCH);
my $n = 10_000;
$said = paste(join "\n", map { sprintf 'linux_inline BBA6FA10B8AAB33D00000000000000000 0x%x',
    0x15000 + $_ } 1 .. $n);
is($b->run('document.querySelectorAll(".frame").length'), $n, "$n frames");
my $longest = $b->run('window.longest');
cmp_ok($longest, '<', 1500, sprintf 'the page never froze for long (%.0f ms)', $longest);
is(scalar(() = copied('copy-text') =~ /^ *\d+  \S/mg), $n, '... and all are copied');

# --- a profile ---

# Opens a file with the text that the function returns.
sub open_file {
    my ($function) = @_;
    $b->run('(() => { const all = new DataTransfer(); all.items.add(new File([(' . $function . ')()], "profile"));'
        . ' const file = document.getElementById("file"); file.files = all.files;'
        . ' delete document.getElementById("result").dataset.done; document.getElementById("clear").click();'
        . ' window.longest = 0; window.last = performance.now(); file.dispatchEvent(new Event("change")); })(); 0');
    $b->wait_for('document.getElementById("result").dataset.done || document.querySelector("#problems .error")',
        'the file is read');
    return $b->run('document.getElementById("status").innerText + document.getElementById("problems").innerText'
        . ' + document.getElementById("result").textContent');
}

# The text about the selected call, after a key.
sub said_after {
    my ($key, %more) = @_;
    $b->key($key, %more);
    return $b->run('document.getElementById("flame-said").textContent');
}

fresh();
$said = open_file(<<'JS');
() => ['15b87', '15b9e', '15b87'].map((a, i) =>
    `prog 7 1.00000${i}: 1 cycles: \n\t ${a} [unknown] (/opt/linux_inline)\n\t 10 start+0x1 (/opt/start)\n`).join('\n')
JS
like($said, qr/3 samples.* 2 of 2 addresses symbolicated/s, 'addresses of a profile are symbolicated');
$b->run('document.querySelector(".flame").focus()');
like(said_after('ArrowDown'), qr/^prog: self 0 samples \(0\.0%\), total 3 samples \(100\.0%\)/, 'an arrow: name, self, total');
said_after('ArrowDown') for 1 .. 2;
is(said_after('ArrowUp') =~ s/:.*//sr, 'start', '... and back');
is_deeply([map { said_after('ArrowDown') =~ s/:.*//sr } 1 .. 4], ['main', 'foo()', 'bar()', 'func()'],
    '... inlined calls are within their callers');
shot('10-flame-small');

# --- profiles that the server names ---

sub varint {
    my ($n) = @_;
    return $n < 128 ? chr $n : chr($n & 127 | 128) . varint($n >> 7);
}

# A field: a number, or bytes in a reference.
sub field {
    my ($number, $value) = @_;
    return ref $value ? varint($number << 3 | 2) . varint(length $$value) . $$value : varint($number << 3) . varint($value);
}

# Opens a file of these bytes.
sub open_bytes {
    my ($bytes) = @_;
    return open_file('() => new Uint8Array([' . join(',', unpack 'C*', $bytes) . '])');
}

# The sample's build id has 8 bytes (INFO CODE_ID).  A mapping without
# start and limit has the file's addresses.
my @texts = ('', 'cpu', 'count', '/opt/linux_inline', '10faa6bbaab83db3', 'process.executable.build_id.gnu', 'start');
my @addresses = (0x15b87, 0x15b9e);
my $type = field(1, 1) . field(2, 2);
my $pprof = join '', field(1, \$type),
    (map { my $s = field(1, \varint($_)) . field(2, \varint(2)); field(2, \$s) } 1 .. 2),
    do { my $m = field(1, 1) . field(5, 3) . field(6, 4); field(3, \$m) },
    (map { my $l = field(1, $_) . field(2, 1) . field(3, $addresses[$_ - 1]); field(4, \$l) } 1 .. 2),
    (map { field(6, \$_) } @texts);
my $otlp = do {
    my $entry = sub { my ($table, @fields) = @_; my $e = join '', @fields; return field($table, \$e) };
    my $value = field(1, \$texts[4]);
    my $dictionary = join '',
        $entry->(1), $entry->(1, field(4, 3), field(5, \varint(1))),
        $entry->(2), (map { $entry->(2, field(1, 1), field(2, $_)) } @addresses),
        $entry->(3), $entry->(6), $entry->(6, field(1, 5), field(2, \$value)),
        $entry->(7), (map { $entry->(7, field(1, \varint($_))) } 1 .. 2), map { field(5, \$_) } @texts;
    my $profile = join '', field(1, \$type), map { $entry->(2, field(1, $_), field(4, \varint(2))) } 1 .. 2;
    my $scope = field(2, \$profile);
    my $resource = field(2, \$scope);
    field(1, \$resource) . field(2, \$dictionary);
};
for my $form (['pprof', $pprof], ['OTLP', $otlp]) {
    my ($name, $bytes) = @$form;
    $said = open_bytes($bytes);
    like($said, qr/2 samples.* 2 of 2 addresses symbolicated/s, "a profile of $name is named by the server");
    $b->run('document.querySelector(".flame").focus()');
    my @path = map { said_after('ArrowDown') =~ s/:.*//sr } 1 .. 4;
    is_deeply(\@path, ['main', 'foo()', 'bar()', 'func()'], '... with inlined calls');

    fresh('/bare/');
    $said = open_bytes($bytes);
    like($said, qr/2 samples.* 2 of 2 addresses symbolicated/s, '... also without other settings');
    fresh('/unready/');
    $said = open_bytes($bytes);
    like($said, qr{The server did not name the profile\. It takes no profiles at /failing/symbolicate/profile}, '... where none are taken: says so');
    like($said, qr/2 samples.* 0 of 2 addresses symbolicated/s, '... and shows the addresses');
    fresh();
}
like(open_bytes(substr $otlp, 0, -9), qr/fields are damaged/, 'half a profile: an error');

fresh();
$b->run(<<'JS');
(async () => {
    document.getElementById('tab-figures').click();
    document.getElementById('clear').click();
    const packed = new Blob(['a 1 1.0: 1 cycles: \n\t 1 dropped (x)\n']).stream().pipeThrough(new CompressionStream('gzip'));
    const all = new DataTransfer();
    all.items.add(new File([await new Response(packed).blob()], 'f.gz'));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: all, bubbles: true, cancelable: true }));
})()
JS
$b->wait_for('!document.getElementById("panel-report").hidden && document.getElementById("result").dataset.done === "1"',
    'a file dropped anywhere is unpacked and opened');

my $SAMPLES = 100_000;
my $many = <<"JS";
() => {
    const parts = [];
    let seed = 1;
    for (let i = 0; i < $SAMPLES; i += 1) {
        const frames = [];
        let f = 0;
        for (let d = 0; d < 12; d += 1) {
            seed = (seed * 48271) % 2147483647;
            f = (f * 5 + 1 + (seed % 8 === 0 ? seed % 3 : 0)) % 300;
            frames.unshift(`\\t \${(f * 64 + d).toString(16)} work_\${f}(std::vector<int> const&)+0x\${d} (/opt/app)\\n`);
        }
        parts.push(`app 7 1.\${String(i).padStart(6, '0')}:  250000 cpu-clock: \\n\${frames.join('')}\\n`);
    }
    return parts.join('');
}
JS
# The machine may be busy, so that one turn takes longer: the best of three
# counts, or more if many processes want each core.
my ($best, $slow) = (1e9, 1);
$b->run($WATCH);
for my $try (1 .. 3) {
    open my $in, '<', '/proc/loadavg' or die "/proc/loadavg: $!";
    my ($load) = split ' ', readline $in;
    my $cores = () = do { open my $cpu, '<', '/proc/cpuinfo' or die $!; local $/; readline($cpu) =~ /^processor/mg };
    $said = open_file($many);
    my $took = $b->run('window.longest');
    $best = $took if $took < $best;
    $slow = $load / $cores if $load / $cores > $slow;
    last if $best < 200;
}
like($said, qr/^100,000 samples\./, "$SAMPLES samples");
cmp_ok($best, '<', 200 * $slow, sprintf 'no turn was long (%.0f ms)', $best);
is($b->run('document.getElementById("text").value'), '', 'the text is not in the box');
$b->run('const s = document.getElementById("flame-search"); s.value = "WORK_31("; s.dispatchEvent(new Event("input")); s.focus()');
like($b->run('document.getElementById("flame-found").textContent'), qr/^[1-9][\d,]* found, [\d.]+%/, 'a search');
like(said_after('Enter', windowsVirtualKeyCode => 13), qr/^work_31\(/, '... Enter selects the match');
shot('11-flame-search');
$b->run('document.querySelector(".flame").focus()');
said_after('Enter', windowsVirtualKeyCode => 13);
is($b->run('document.getElementById("flame-out").disabled'), Cpanel::JSON::XS::false(), 'Enter zooms in');
shot('12-flame-zoom');
said_after('Escape', windowsVirtualKeyCode => 27) for 1 .. 20;
is($b->run('document.getElementById("flame-out").disabled'), Cpanel::JSON::XS::true(), '... Escape out');
$b->screen(390, 844, 'light');
cmp_ok($b->run('document.documentElement.scrollWidth'), '<=', 390, 'it fits a phone');
$b->screen(1280, 900, 'light');

# --- keyboard ---

fresh();
$b->run('document.getElementById("tab-report").focus()');
$b->key('ArrowRight', windowsVirtualKeyCode => 39);
is($b->run('document.activeElement.id'), 'tab-modules', 'arrows change the tab');
$b->wait_for('document.querySelectorAll("#modules tbody tr").length', 'modules are listed');
is($b->run('document.getElementById("panel-report").hidden'), Cpanel::JSON::XS::true(), '... shown alone');
is($b->run('[...document.querySelectorAll("button, input, select, textarea, summary")].filter(n => n.type !== "file" && '
    . '!(n.labels?.length || n.getAttribute("aria-label") || n.textContent.trim())).length'), 0,
    'everything that takes input has a label');

# --- modules ---

$b->run('document.getElementById("q").value = "LIB1"; document.querySelector("#search .primary").click()');
$b->wait_for('document.querySelectorAll("#modules tbody tr").length === 4', 'a search');
shot('6-modules');
$b->run('document.querySelector("#modules tbody button").click()');
$b->wait_for('document.getElementById("explained").innerText.includes("ready")', 'a module is explained');
shot('7-explained');
$b->open("$here/some/page/#module=linux_inline/BBA6FA10B8AAB33D00000000000000000");
$b->wait_for('document.getElementById("explained")?.innerText.includes("Compiled")', 'a link to a module');

# --- missing, figures ---

$b->run('document.getElementById("tab-missing").click()');
$b->wait_for('document.getElementById("missing-status").innerText.includes("not switched on")', 'no ledger');
fresh('/told/#missing');
$said = $b->wait_for('document.querySelector("#missing tbody")?.innerText', 'missing modules');
like($said, qr/xul\.pdb.*44E4EC8C2F41492B9369D6B9A059577C2.*absent.*1,234.*4.*days ago/s, 'the list of missing modules');
like($b->run('document.getElementById("missing-status").innerText'), qr/7 modules; the 1 that most/, '... and their number');
shot('8-missing');
$b->run('document.querySelector("#missing tbody button").click()');
$b->wait_for('location.hash === "#module=xul.pdb/44E4EC8C2F41492B9369D6B9A059577C2"', 'one is explained');
$b->complaints;
fresh();
$b->run('document.getElementById("tab-figures").click()');
$b->wait_for('document.querySelector("[data-figure=requests] path.line")?.getAttribute("d")', 'a chart');
$b->wait_for('document.querySelector("#stores tbody tr")?.innerText.includes("readable")', 'the store');
# more in one half minute than in all before it
$t->post('/symbolicate/v5', '{"memoryMap": [["linux_inline", "BBA6FA10B8AAB33D00000000000000000"]], "stacks": [['
    . join(',', ('[0, 88967]') x 60_000) . ']]}');
my $most = q{Number(document.querySelector('[data-figure=frames] .origin').textContent.replace(/\D/g, ''))};
$b->wait_for("$most >= 2000", 'the chart continues');
fresh('/some/page/#figures');
$b->wait_for("$most >= 2000", 'the time before the page was opened');
like($b->run('document.querySelector("[data-figure=frames] .origin").textContent'), qr/in the last hour/, 'the last hour');
shot('9-figures');

# --- a page without the other locations; widths ---

fresh('/bare/');
$b->run('document.getElementById("tab-figures").click()');
$b->wait_for('document.getElementById("figures-status").innerText.includes("was not told")', 'no figures');
is($b->run('document.getElementById("q").disabled'), Cpanel::JSON::XS::true(), 'no search');
for my $width (320, 390, 1280) {
    $b->screen($width, 800, 'dark');
    for my $tab (qw(report modules missing figures)) {
        $b->open("$here/some/page/#$tab");
        $b->wait_for("document.getElementById('version')?.textContent && !document.getElementById('panel-$tab').hidden", $tab);
        cmp_ok($b->run('document.documentElement.scrollWidth'), '<=', $width, "$tab fits $width pixels");
    }
}

is_deeply([grep { !/404/ } $b->complaints], [], 'no script failed');
undef $b;
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
