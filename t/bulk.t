# POST /symbolicate/bulk: each line of the body is a v5 request, and each line of
# the answer is what /symbolicate/v5 says to it.  The lines may come in any
# pieces; a bad one is answered in its place; what a source does not give is
# pending, and never ends the answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip $GzipError);
use SymFetch;
use IO::Select;
use Test::More;

my $t = SymFetch->new(how => <<'HOW', http => 'client_max_body_size 0;')->start;
            symbolicate_max_frames 30;
            symbolicate_source fault uri=/src/;
HOW
my $bulk = '/symbolicate/bulk';

my @modules = map { ["m$_.so", SymFetch::id($_)] } 1 .. 6;
$t->fault->script('src', 'ok');
$t->upload(@$_, functions => 50) for @modules;

sub line {
    my ($n, $frames) = @_;
    my @map = @modules[map { ($n + $_) % @modules } 0 .. 2];
    return $t->json({ memoryMap => \@map, stacks => [
        [map { [$_ % 3, 0x1000 + ($n * 37 + $_ * 11) % 900] } 1 .. $frames]] });
}

# The answer of v5; each line is sent only once.
my %said;
sub v5 {
    my ($line) = @_;
    return $said{$line} //= $t->post('/symbolicate/v5', $line)->{body};
}

sub rss {
    my ($pid) = $t->workers;
    my ($kib) = SymTest::slurp("/proc/$pid/status") =~ /^VmRSS:\s+(\d+) kB/m;
    return $kib / 1024;
}

# Sanitizers and valgrind keep freed memory.
my $before;
sub little {
    my ($mb, $what) = @_;
    cmp_ok(rss() - $before, '<', SymTest::is_slow() ? 1000 : $mb, $what);
    return;
}

# --- very many batches ---

my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', $bulk, chunks => []) =~ s/0\r\n\r\n\z//r);
my $single = line(0, 2);
my $one = sprintf "%x\r\n%s\r\n", 1 + length $single, "$single\n";
my $wanted = v5($single);
my $n = SymTest::is_slow() ? 500 : 20_000;
my $answered = 0;
for my $i (0 .. $n - 1) {
    $before = rss() if $i == 200;
    $t->send_all($socket, $one);
    my $text = '';
    while (index($text, $wanted) < 0) {
        $t->fill($socket, \$text) or last;
    }
    $answered += index($text, $wanted) >= 0;
}
is($answered, $n, 'batches of one line each');
little(1, '... leave nothing in memory');
close $socket;

# --- lines, in pieces ---

my @lines = map { line($_ % 40, 1 + $_ % 20) } 0 .. 3_999;
my $body = join "\n", @lines, '';
my @pieces;
for (my $at = 0; $at < length $body; $at += length $pieces[-1]) {
    push @pieces, substr $body, $at, 1 + ($at * 7919) % 20_000;
}

my $r = $t->request('POST', $bulk, chunks => \@pieces);
is($r->{status}, 200, @lines . ' lines in ' . @pieces . ' chunks');
ok($r->{complete}, '... a complete answer');
is($r->{headers}{'content-type'}, 'application/x-ndjson', '... its type');
my @answers = split /\n/, $r->{body}, -1;
is(pop @answers, '', '... its last line ends');
is(scalar @answers, scalar @lines, '... a line each');
is(scalar(grep { $answers[$_] ne v5($lines[$_]) } 0 .. $#lines), 0,
   '... what v5 answers, in order');
like($answers[0], qr/"function": "/, '... with names');

gzip(\$body, \my $first) or die $GzipError;
gzip(\"$lines[0]\n", \my $second) or die $GzipError;
my $zipped = $t->post($bulk, $first . $second, 'Content-Encoding' => 'gzip');
ok($zipped->{body} eq "$r->{body}$answers[0]\n", 'gzip, in two members');

$r = $t->post($bulk, "$lines[0]\r\n\r\n \n$lines[1]");
is($r->{body}, "$answers[0]\n$answers[1]\n",
   'blank lines are skipped; the last needs no end');
is($r->{headers}{'content-length'}, length $r->{body}, '... a short answer has its length');

is($t->post($bulk, '')->{body}, '', 'no lines');
is($t->request('POST', '/bulk-nowhere', body => '')->{status}, 404, 'another path');
is($t->request('GET', $bulk)->{status}, 405, 'GET');

# --- bad lines ---

my @bad = (
    '{"memoryMap": [], "stacks": []}', 'nonsense', '[]', line(1, 31),
    '{"jobs": [' . line(1, 2) . ', {"stacks": [[[0, 1]]], "memoryMap": []}]}',
    '{"memoryMap": [["a b\u0001", "1"]], "stacks": [[]]}', "\xff",
);
my $good = '{"jobs": [' . line(1, 2) . ', ' . line(2, 3) . ']}';
my @mixed = map { ($_, $good) } @bad;
$r = $t->post($bulk, join "\n", @mixed);
is($r->{status}, 200, 'bad lines between good ones');
@answers = split /\n/, $r->{body};
for my $i (0 .. $#mixed) {
    my $v5 = $t->post('/symbolicate/v5', $mixed[$i]);
    if ($i % 2 == 0) {
        is($v5->{status}, 400, 'a bad line');
        is($answers[$i], $t->json({ title => $v5->{json}{title} }) =~ s/":"/": "/r,
           "... says why: $v5->{json}{title}");
    } else {
        is($answers[$i], $v5->{body}, '... the next is answered');
    }
}

# --- a client that waits for each answer ---

$socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', $bulk, chunks => []) =~ s/0\r\n\r\n\z//r);
my $got = '';
for my $i (0 .. 2) {
    my $line = "$lines[$i]\n";
    $t->send_all($socket, sprintf "%x\r\n%s\r\n", length $line, $line);
    my $want = v5($lines[$i]);
    while (index($got, $want) < 0) {
        $t->fill($socket, \$got) or last;
    }
    cmp_ok(index($got, $want), '>=', 0, "line $i is answered before the next comes");
}
$t->send_all($socket, "0\r\n\r\n");
1 while $t->fill($socket, \$got);
like($got, qr/\r\n0\r\n\r\n\z/, 'the end of the body ends the answer');

# --- modules that are missing, late, or fail ---

my @new = map { ["new$_.so", SymFetch::id(100 + $_)] } 1 .. 3;
$t->upload(@$_) for @new[0, 1];
$r = $t->post($bulk, join "\n", map { $t->question($_) } @new);
@answers = split /\n/, $r->{body};
like($answers[0], qr/"function": .*"found_modules": \{"new1\S+ true/, 'a missing module is fetched');
like($answers[2], qr/"found_modules": \{"new3\S+ false/, '... or absent');

$t->fault->script('src', 'status/500');
my $failed = $t->question(['fails.so', SymFetch::id(200)]);
$r = $t->post($bulk, "$failed\n$lines[0]\n");
is($r->{status}, 200, 'a source fails');
@answers = split /\n/, $r->{body};
like($answers[0], qr/"found_modules": \{"fails\S+ null/, '... its module is pending');
is($answers[1], v5($lines[0]), '... other lines are answered');
$t->allow(qr/fails\.so/);

# --- a client that reads nothing ---

# 24 MB of lines, answered by 100 MB: the worker must stop reading.
$before = rss();
my $deaf = $t->connect(receive_buffer => 4096);
my $much = $body x 20;
$t->send_all($deaf, "POST $bulk HTTP/1.1\r\nHost: x\r\nContent-Length: "
    . length($much) . "\r\n\r\n");
$deaf->blocking(0);
my $sent = 0;
while ($sent < length $much && IO::Select->new($deaf)->can_write(2)) {
    $sent += syswrite($deaf, $much, 1 << 16, $sent) // 0;
}
cmp_ok($sent, '<', length $much, 'a client that reads nothing cannot send all');
little(16, '... and takes little memory');
is($t->post($bulk, "$lines[0]\n")->{body}, v5($lines[0]) . "\n",
   '... others are answered');
$deaf->blocking(1);
my $reader = fork() // die "fork: $!";
if (!$reader) {
    $t->send_all($deaf, substr $much, $sent);
    require POSIX;
    POSIX::_exit(0);
}
$r = $t->raw_response($deaf);
waitpid $reader, 0;
ok($r->{complete}, '... and it gets all answers when it reads');
is(($r->{body} =~ tr/\n//), 20 * @lines, '... a line each');
little(24, '... in little memory');
close $deaf;

# --- a body that is wrong ---

# 50 KB that inflate to 50 MB without an answer: in turns, in little memory
gzip(\("\n" x (50 << 20)), \my $nothing) or die $GzipError;
$before = rss();
is($t->post($bulk, $nothing, 'Content-Encoding' => 'gzip')->{body}, '',
   '50 MB of blank lines');
little(4, '... take no memory');

$r = $t->post($bulk, 'nonsense', 'Content-Encoding' => 'gzip');
is($r->{status}, 400, 'not gzip');
is($r->{json}{description}, 'the body is cut short or damaged', '... says so');
is($t->post($bulk, '', 'Content-Encoding' => 'br')->{status}, 415, 'another encoding');
$t->allow(qr/a line of a bulk request is longer/);
$r = $t->post($bulk, 'x' x (5 << 20));
is($r->{status}, 413, 'a line of 5 MiB');

is($t->end, '', 'nothing is wrong');

done_testing();
