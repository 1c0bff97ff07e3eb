# A short request can ask for a very long answer, and its client need not read
# it.  A worker buffers a few megabytes of each answer and continues when those
# are taken.  In any case a client gets the complete answer, or notices that it
# is incomplete.

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

# Waits until a part of the answer has arrived.
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

# --- up to 4 MiB: as always ---

my $r = $t->post('/symbolicate/v5', body_of(150));
is_text($r->{body}, want(150), '2.9 MB: the answer');
is($r->{headers}{'content-length'}, length want(150), '... has a length');

# --- above: in parts ---

my $FRAMES = 600;
my $want = want($FRAMES);
my $sum = sha256_hex($want);
$r = $t->post('/symbolicate/v5', body_of($FRAMES));
is_text($r->{body}, $want, 'a long answer');
is($r->{headers}{'transfer-encoding'}, 'chunked', '... is sent in chunks');
ok($r->{complete}, '... with the last chunk');

# --- ten clients that do not read ---

my $before = rss();
my @idle = map { send_request($FRAMES) } 1 .. 10;
# all have started when each has the beginning of its answer
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

# --- a module is removed while its client does not read ---

my $mixed = body_of($FRAMES, \@big, \@other);
my $slow = send_request($FRAMES, body => $mixed);
await_first($slow);
$t->wait_for(sub { $t->symloader('stat') =~ / 0 reading$/m },
    'the answer pauses');
$t->symloader('rm', join '/', @other);
$r = $t->raw_response($slow);
# reading megabytes of JSON takes long, and most of it is one name
(my $short = $r->{body}) =~ s/x{1000,}//g;
my $json = eval { JSON::PP::decode_json($short) };
ok($r->{complete} && $json, 'a module was removed meanwhile: valid JSON');
my $job = $json->{results}[0];
is_deeply($job->{found_modules}, { "big.so/$ID" => JSON::PP::true,
    "other.so/$ID" => undef }, '... that module is pending');
is(scalar(grep { !defined $_->{function} && $_->{module} eq 'big.so' }
    @{$job->{stacks}[0]}), 0, '... the other has all of its names');
is($job->{stacks}[0][1]{function}, 'big', '... it had names at first');
is($job->{stacks}[0][-1]{function}, undef, '... and none at the end');
close $slow;

# --- other ways of sending ---

$r = $t->post('/symbolicate/v5', body_of($FRAMES), 'Accept-Encoding' => 'gzip');
is($r->{headers}{'content-encoding'}, 'gzip', 'compressed by nginx');
require IO::Uncompress::Gunzip;
IO::Uncompress::Gunzip::gunzip(\$r->{body} => \my $plain);
is(sha256_hex($plain), $sum, '... it is the same answer');

(my $old = $t->request_text('POST', '/symbolicate/v5',
    body => body_of($FRAMES))) =~ s{HTTP/1\.1\r}{HTTP/1.0\r};
my $socket = $t->connect;
$t->send_all($socket, $old);
$r = $t->raw_response($socket);
is($r->{headers}{'transfer-encoding'}, undef, 'HTTP/1.0: no chunks');
is($r->{headers}{'connection'}, 'close', '... it ends with the connection');
is(sha256_hex($r->{body}), $sum, '... it is the same answer');

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
is_text($r->{body}, "before $atos->{body} after", 'a part of a page');

# --- a limit ---

$r = $t->post('/mega/v5', body_of(200));
is($r->{status}, 400, 'longer than the limit: 400');
is($r->{json}{title}, 'please ask for less in a single request: its answer is '
    . 'longer than 1048576 bytes', '... the limit is named');
is_text($t->post('/mega/v5', body_of(3))->{body}, $few, 'a shorter one is sent');

$r = $t->post('/twenty/v5', body_of(1200));
is($r->{status}, 200, 'a limit reached after the answer has begun: 200');
ok(!$r->{complete}, '... incomplete');
cmp_ok(length $r->{body}, '<=', 20 * $MIB, '... nor more than the limit');
$t->wait_for(sub { $t->error_log =~ /an answer is cut short after \d+ bytes: please ask for less .* 20971520 bytes/ },
    'the log says why');

# --- the memory is returned ---

$t->wait_for(sub { rss() - $before < 24 * $MIB }, 'memory is freed')
    if !SymTest::is_slow();
is_text($t->post('/symbolicate/v5', body_of(3))->{body}, $few,
    'the next is served');
is($t->stop->log_trouble, '', 'the log is clean');

# --- many clients share a worker's memory for answers ---

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
is(sha256_hex($r->{body}), $sum, 'one of them finally reads: all of it');
close $_ for @idle;
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
