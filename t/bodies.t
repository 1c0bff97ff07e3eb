# Every way in which a client may send its body must give the same answer: in
# chunks, compressed, with a byte order mark, of any type, in pieces that nginx
# has to write to a file.  Crash reporters in the field do all of these.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

use IO::Compress::Gzip qw(gzip);

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');

# buffers are small, so that bodies go to files and exceed the limit
my $t = SymTest->new->load(SymTest::symbol_file(@module))
    ->conf(server => <<'CONF')->start;
        client_body_buffer_size 4k;
        client_max_body_size    1m;
CONF

sub body_of {
    my ($frames) = @_;
    my @stack = map { [0, 0x1e00 + 16 * $_] } 1 .. $frames;
    return $t->json({ jobs => [{
        stacks => [\@stack], memoryMap => [[@module]] }] });
}

sub zipped {
    my ($text) = @_;
    gzip(\$text => \my $out);
    return $out;
}

my @gzip = ('Content-Encoding' => 'gzip');
my $small = body_of(10);
my $plain = $t->post('/symbolicate/v5', $small);
is($plain->{status}, 200, 'a small body');
is(scalar @{$plain->{json}{results}[0]{stacks}[0]}, 10,
    'all frames are in the answer');
ok((grep { $_->{function} } @{$plain->{json}{results}[0]{stacks}[0]}) > 0,
    'and some have names');

sub same {
    my ($r, $name, $want) = @_;
    is($r->{status}, 200, "$name: 200");
    ok($r->{body} eq ($want || $plain->{body}), "$name: the same answer");
}

for my $type ('application/json', 'application/x-www-form-urlencoded',
    'text/plain; charset=utf-8', 'nonsense')
{
    same($t->post('/symbolicate/v5', $small, 'Content-Type' => $type), $type);
}

same($t->post('/symbolicate/v5', "\xef\xbb\xbf$small"), 'a byte order mark');
same($t->request('POST', '/symbolicate/v5', chunks => [$small]), 'one chunk');
same($t->request('POST', '/symbolicate/v5', chunks => [split //, $small]),
    'chunks of one byte');
same($t->post('/symbolicate/v5', $small, 'Content-Encoding' => 'identity'),
    'identity');
same($t->post('/symbolicate/v5', zipped($small), @gzip), 'gzip');
same($t->post('/symbolicate/v5', zipped($small),
    'Content-Encoding' => 'X-GZip'), 'x-gzip');
same($t->request('POST', '/symbolicate/v5',
    chunks => [zipped($small) =~ /(.{1,7})/gs], headers => [@gzip]),
    'gzip in chunks');
same($t->post('/symbolicate/v5', zipped(substr $small, 0, 40)
    . zipped(substr $small, 40), @gzip), 'gzip of two members');

# a client that sends Expect: 100-continue
my $socket = $t->connect;
my $text = $t->request_text('POST', '/symbolicate/v5', body => $small,
    headers => [Expect => '100-continue']);
my ($head, $rest) = $text =~ /^(.*?\r\n\r\n)(.*)$/s;
$t->send_all($socket, $head);
my $line = <$socket>;
like($line, qr{^HTTP/1.1 100 }, 'Expect: 100 Continue');
<$socket>;
$t->send_all($socket, $rest);
same($t->response($socket), 'Expect');

# the body arrives byte by byte
$socket = $t->connect;
$t->send_all($socket, $_)
    for $t->request_text('POST', '/symbolicate/v5', body => $small) =~ /./gs;
same($t->response($socket), 'byte by byte');

# --- larger than nginx's buffer: in a temporary file ---

my $large = body_of(8000);
cmp_ok(length $large, '>', 50_000, 'a body that does not fit the buffer');
my $want = $t->post('/symbolicate/v5', $large);
is($want->{status}, 200, 'from a file');
is(scalar @{$want->{json}{results}[0]{stacks}[0]}, 8000, 'from a file: frames');
is_deeply([@{$want->{json}{results}[0]{stacks}[0]}[0 .. 9]],
    $plain->{json}{results}[0]{stacks}[0], 'from a file: the same frames');
same($t->request('POST', '/symbolicate/v5',
    chunks => [$large =~ /(.{1,9999})/gs]), 'large, in chunks', $want->{body});
same($t->post('/symbolicate/v5', zipped($large), @gzip), 'large, gzip',
    $want->{body});

# incompressible enough that the compressed body goes to a file, too
my $noise = join '', map { chr(32 + int rand 90) } 1 .. 60_000;
$noise =~ s/["\\]/-/g;
my $noisy = substr($small, 0, -1) . qq(,"unknown":"$noise"});
cmp_ok(length zipped($noisy), '>', 40_000, 'a large compressed body');
same($t->post('/symbolicate/v5', zipped($noisy), @gzip),
    'gzip from a file');

# --- invalid bodies ---

sub refused {
    my ($r, $status, $title, $name) = @_;
    is($r->{status}, $status, "$name: $status");
    is($r->{json} && $r->{json}{title}, $title, "$name: title");
}

my $invalid = 'Payload is not valid JSON';

refused($t->post('/symbolicate/v5', ''), 400, $invalid, 'empty');
refused($t->request('POST', '/symbolicate/v5'), 400, $invalid,
    'no Content-Length');
refused($t->post('/symbolicate/v5', zipped($small)), 400, $invalid,
    'gzip that is not announced');
refused($t->post('/symbolicate/v5', $small, @gzip), 400, $invalid,
    'announced as gzip, but plain');
refused($t->post('/symbolicate/v5', '', @gzip), 400, $invalid, 'empty gzip');
my $zip = zipped($small);
refused($t->post('/symbolicate/v5', substr($zip, 0, -9), @gzip), 400,
    $invalid, 'gzip cut short');
refused($t->post('/symbolicate/v5', $zip . 'x', @gzip), 400, $invalid,
    'gzip with bytes after it');
substr($zip, -6, 1) ^= "\x55";
refused($t->post('/symbolicate/v5', $zip, @gzip), 400, $invalid,
    'gzip with a wrong check sum');

for my $encoding ('br', 'deflate', 'gzip, gzip', 'zstd') {
    my $r = $t->post('/symbolicate/v5', $small,
        'Content-Encoding' => $encoding);
    refused($r, 415, '415 Unsupported Media Type', $encoding);
    is($r->{headers}{'accept-encoding'}, 'gzip',
        "$encoding: the accepted ones");
}

# --- the limit of nginx, before and after inflating ---

my $pad = sub { substr($small, 0, -1) . ',"x":"' . 'x' x $_[0] . '"}' };
my $room = (1 << 20) - length $pad->(0);

same($t->post('/symbolicate/v5', $pad->($room)), 'as large as the limit');
refused($t->post('/symbolicate/v5', $pad->($room + 1)), 413,
    '413 Request Entity Too Large', 'one byte more');
same($t->post('/symbolicate/v5', zipped($pad->($room)), @gzip),
    'inflates to the limit');
refused($t->post('/symbolicate/v5', zipped($pad->($room + 1)), @gzip), 413,
    '413 Request Entity Too Large', 'inflates to one byte more');
refused($t->post('/symbolicate/v5', zipped(' ' x (300 << 20)), @gzip), 413,
    '413 Request Entity Too Large', 'a bomb');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
