# A short request can ask for a very long answer, and its client need not read
# it.  A worker holds a few megabytes of each and goes on when those are taken;
# whatever comes in between, a client gets all of its answer, or is told that
# it has not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha256_hex);
use SymTest;
use Test::More;

my $MIB = 1 << 20;
my $ID = '0123456789ABCDEF0123456789ABCDEF1';
my @big = ('big.so', $ID);
my @other = ('other.so', $ID);
my $UUID = '0123456789ABCDEF0123456789ABCDEF';
my @mac = ('mac', $UUID . '0');
my $NAME = 'big' . 'x' x 18_997;

my $t = SymTest->new(workers => 1)->conf(server => <<'CONF',
        client_body_buffer_size 32m;
        gzip                    on;
        gzip_types              application/json;
        large_client_header_buffers 4 64k;
CONF
    locations => <<'CONF')->load(sym_file());
        location /symbolicate { symbolicate; }
        location /atos        { symbolicate atos; }
        location /__          { symbolicate_health; }
        location /mega        { symbolicate_max_answer 1m; symbolicate; }
        location /twenty      { symbolicate_max_answer 20m; symbolicate; }
        location /page        { ssi on; ssi_value_length 64k;
            root %%DIR%%; }
CONF

sub sym_file {
    my $dir = File::Temp::tempdir(CLEANUP => 1);
    for my $module (\@big, \@other, \@mac) {
        my $file = "$dir/$module->[0].sym";
        open my $out, '>', $file or die $!;
        print $out "MODULE Linux x86_64 $module->[1] $module->[0]\n",
            "FILE 0 /src/a.c\nINLINE_ORIGIN 0 inner\n",
            "FUNC 1000 40 0 $NAME\nINLINE 0 7 0 0 1000 10\n1000 40 3 0\n";
        close $out;
    }
    return $dir;
}

sub body_of {
    my ($frames, @modules) = @_;
    @modules = (\@big) if !@modules;
    return '{"jobs": [{"memoryMap": [' . join(', ', map {
        qq(["$_->[0]", "$_->[1]"]) } @modules) . '], "stacks": [['
        . join(', ', map { '[' . $_ % @modules . ', 4096]' } 0 .. $frames - 1)
        . ']]}]}';
}

sub frame {
    my ($n, $name, $module) = @_;
    return qq({"frame": $n, "module": "$module", "module_offset": "0x1000")
        . ($name eq '' ? '}' : qq(, "function": "$name", )
        . '"function_offset": "0x0", "file": "/src/a.c", "line": 7, '
        . '"inlines": [{"function": "inner", "file": "/src/a.c", "line": 3}]}');
}

sub want {
    my ($frames) = @_;
    return '{"results": [{"stacks": [['
        . join(', ', map { frame($_, $NAME, 'big.so') } 0 .. $frames - 1)
        . qq(]], "found_modules": {"big.so/$ID": true}}]});
}

sub send_request {
    my ($frames, %opt) = @_;
    my $socket = $t->connect(receive_buffer => 4096);
    $t->send_all($socket, $t->request_text('POST',
        $opt{path} || '/symbolicate/v5', body => $opt{body} || body_of($frames),
        headers => $opt{headers}));
    return $socket;
}

# Something of the answer has come.
sub await_first {
    my ($socket) = @_;
    ${*$socket}{symtest_rest} = '';
    $t->fill($socket, \${*$socket}{symtest_rest});
    return;
}

sub rss {
    my ($pid) = $t->workers;
    my ($kib) = SymTest::slurp("/proc/$pid/status") =~ /^VmRSS:\s+(\d+) kB/m;
    return $kib << 10;
}

sub is_text {
    my ($got, $want, $what) = @_;
    return ok($got eq $want, $what) || diag(length($got) . ' bytes, want '
        . length($want) . ': ... ' . substr $got, -200);
}

$t->start;
my $few = want(3);
is_text($t->post('/symbolicate/v5', body_of(3))->{body}, $few, 'three frames');

# --- up to 4 MiB: as ever ---

my $r = $t->post('/symbolicate/v5', body_of(150));
is_text($r->{body}, want(150), '2.9 MB: the answer');
is($r->{headers}{'content-length'}, length want(150), '... has a length');

# --- beyond: by parts ---

my $FRAMES = 600;
my $want = want($FRAMES);
my $sum = sha256_hex($want);
$r = $t->post('/symbolicate/v5', body_of($FRAMES));
is_text($r->{body}, $want, 'a long answer');
is($r->{headers}{'transfer-encoding'}, 'chunked', '... goes by chunks');
ok($r->{complete}, '... with the last of them');

# --- ten clients that do not read ---

my $before = rss();
my @idle = map { send_request($FRAMES) } 1 .. 10;
# all of them are at it when each has the beginning of its answer
await_first($_) for @idle;
for (1 .. 20) {
    is_text($t->post('/symbolicate/v5', body_of(3))->{body}, $few,
        'others are served') or last;
}
$t->wait_for(sub { $t->symloader('stat') =~ / 0 reading$/m },
    'they hold no view of the store');
if (!SymTest::is_slow()) {
    my $mib = (rss() - $before) / $MIB;
    cmp_ok($mib, '<', 64, sprintf 'the worker holds %.1f MiB for them', $mib);
}
for my $socket (@idle[0 .. 2]) {
    $r = $t->raw_response($socket);
    is(sha256_hex($r->{body}), $sum, 'a client that reads late gets all of it');
    ok($r->{complete}, '... to its end');
}
close $_ for @idle;
@idle = ();

# --- a module goes while its client does not read ---

my $mixed = body_of($FRAMES, \@big, \@other);
my $slow = send_request($FRAMES, body => $mixed);
await_first($slow);
$t->wait_for(sub { $t->symloader('stat') =~ / 0 reading$/m },
    'the answer pauses');
$t->symloader('rm', join '/', @other);
$r = $t->raw_response($slow);
# to read megabytes of JSON takes long, and most of it is one name
(my $short = $r->{body}) =~ s/x{1000,}//g;
my $json = eval { JSON::PP::decode_json($short) };
ok($r->{complete} && $json, 'a module went meanwhile: whole JSON');
my $job = $json->{results}[0];
is_deeply($job->{found_modules}, { "big.so/$ID" => JSON::PP::true,
    "other.so/$ID" => undef }, '... that one is pending');
is(scalar(grep { !defined $_->{function} && $_->{module} eq 'big.so' }
    @{$job->{stacks}[0]}), 0, '... the other has all of its names');
is($job->{stacks}[0][1]{function}, 'big', '... it had names at first');
is($job->{stacks}[0][-1]{function}, undef, '... and none at the end');
close $slow;

# --- other ways of sending ---

$r = $t->post('/symbolicate/v5', body_of($FRAMES), 'Accept-Encoding' => 'gzip');
is($r->{headers}{'content-encoding'}, 'gzip', 'compressed on its way');
require IO::Uncompress::Gunzip;
IO::Uncompress::Gunzip::gunzip(\$r->{body} => \my $plain);
is(sha256_hex($plain), $sum, '... it is the same');

(my $old = $t->request_text('POST', '/symbolicate/v5',
    body => body_of($FRAMES))) =~ s{HTTP/1\.1\r}{HTTP/1.0\r};
my $socket = $t->connect;
$t->send_all($socket, $old);
$r = $t->raw_response($socket);
is($r->{headers}{'transfer-encoding'}, undef, 'HTTP/1.0: no chunks');
is($r->{headers}{'connection'}, 'close', '... the connection ends it');
is(sha256_hex($r->{body}), $sum, '... it is the same');

my $query = "/atos?uuid=$UUID&image=mac&offset=true" . '&address=0x1000' x 130;
$socket = $t->connect;
$t->send_all($socket, $t->request_text('GET', $query));
my $atos = $t->raw_response($socket);
is($atos->{status}, 200, 'atos: answered');
is(scalar(() = $atos->{body} =~ /"address": /g), 130, '... to its end');
cmp_ok(length $atos->{body}, '>', 4 * $MIB, '... is long');
mkdir $t->dir . '/page';
open my $out, '>', $t->dir . '/page/index.html' or die $!;
print $out qq(before <!--# include virtual="$query" --> after);
close $out;
$r = $t->request('GET', '/page/index.html');
is_text($r->{body}, "before $atos->{body} after", 'part of a page');

# --- a limit ---

$r = $t->post('/mega/v5', body_of(200));
is($r->{status}, 400, 'longer than the limit: 400');
is($r->{json}{title}, 'please ask for less in a single request: its answer is '
    . 'longer than 1048576 bytes', '... which names it');
is_text($t->post('/mega/v5', body_of(3))->{body}, $few, 'a shorter one is sent');

$r = $t->post('/twenty/v5', body_of(1200));
is($r->{status}, 200, 'a limit that is met when the answer has begun: 200');
ok(!$r->{complete}, '... without an end');
cmp_ok(length $r->{body}, '<=', 20 * $MIB, '... nor more than the limit');
$t->wait_for(sub { $t->error_log =~ /an answer is cut short after \d+ bytes: please ask for less .* 20971520 bytes/ },
    'the log says why');

# --- what they held is given back ---

$t->wait_for(sub { rss() - $before < 24 * $MIB }, 'memory is given back')
    if !SymTest::is_slow();
is_text($t->post('/symbolicate/v5', body_of(3))->{body}, $few,
    'the next is served');
is($t->stop->log_trouble, '', 'the log is clean');

# --- many clients share what a worker has for answers ---

$t = SymTest->new(workers => 1)->load(sym_file())->conf(
    http => 'symbolicate_answer_buffers 4m;',
    server => 'client_body_buffer_size 32m;')->start;
$t->post('/symbolicate/v5', body_of($FRAMES));
$before = rss();
@idle = map { send_request($FRAMES) } 1 .. 40;
await_first($_) for @idle;
$r = $t->post('/symbolicate/v5', body_of($FRAMES));
is(sha256_hex($r->{body}), $sum, 'forty clients do not read: one that reads is served');
if (!SymTest::is_slow()) {
    my $mib = (rss() - $before) / $MIB;
    cmp_ok($mib, '<', 24, sprintf 'the worker holds %.1f MiB for them', $mib);
}
$r = $t->raw_response($idle[-1]);
is(sha256_hex($r->{body}), $sum, 'one of them reads at last: all of it');
close $_ for @idle;
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
