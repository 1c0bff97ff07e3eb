#!/usr/bin/perl

# The fault server fails exactly as requested.  Tests of nginx with a bad source
# prove nothing if the source fails in another way.  Checked with curl, and with
# plain sockets where curl hides what happened.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use Errno qw(ECONNRESET);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Socket::INET;
use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SymFault;
use SymLoader qw(read_file);
use SymTest;

my $out = tempdir(CLEANUP => 1) . '/body';
my $name = 'a/B/a.sym';
my $bytes = join '', map {"line $_ of a file\n"} 1 .. 60000;
my $size = length $bytes;

my $f = SymFault->new(tls => 1)->start;
$f->file($name, $bytes)->file('small', 'x' x 4000);

# exit codes of curl: 18 partial, 28 timed out, 52 nothing, 56 receive error
whole("ok/$name", 'a file');
whole("chunked/$name", 'in chunks');
whole("close/$name", 'until it closes');
answers('ok/none', 404, 'a file that does not exist');
answers('ok/../../etc/passwd', 404, 'a file outside of the folder');
answers('nothing/of/this', 404, 'an unknown behaviour');
answers('status/503/x', 503, 'a status');
answers('status/x', 400, 'no status');
answers('redirect/302/ok/small', 302, 'a redirect');
is(curl('redirect/302/ok/small', '-L')->{size}, 4000, 'leads there');
answers('accel/ok/small', 200, 'a way inside');

breaks("short/7/$name", 18, $size - 7, 'too little');
breaks("chunkcut/70000/$name", 18, 70000, 'chunks that end early');
breaks("reset/200000/$name", 56, 200000, 'a reset after a part');
breaks("part/70000/plain/$name", 18, 70000, 'a part, and an ETag');
whole("part/all/plain/$name", 'the whole of it');
answers("part/all/rest/$name", 400, 'a rest that was not requested');
answers("part/all/rest/$name", 206, 'the rest', '-r', '70000-', '-H', 'If-Range: "'
    . sha256_hex($bytes) . '"');
ok(read_file($out) eq substr($bytes, 70000), '... every byte');
answers("part/all/plain/$name", 200, 'the rest of another version', '-r',
    '70000-',
    '-H',
    'If-Range: "other"');
answers("key/X-A/b/ok/$name", 403, 'without a key');
answers("key/X-A/b/ok/$name", 200, 'with it', '-H', 'X-A: b');
breaks('hangup/x', 52, 0, 'closed without an answer');
breaks('reset/none/x', 56, 0, 'a reset without an answer');
breaks("stall/5000/$name", 28, 5000, 'a part, then nothing', '-m', 2);
my $endless = curl('endless/x', '-m', 1);
is($endless->{exit}, 28, 'a body without end');
cmp_ok($endless->{size}, '>', 1 << 16, 'goes on');
breaks('blackhole/x', 28, 0, 'no answer at all', '-m', 0.3);

my $socket = raw("reset/100/$name");
my ($text, $error) = drain($socket);
like($text, qr/\r\nContent-Length: $size\r\n\r\nline 1 of a file\n/,
    'all of the length, and what was sent before the reset');
is(length(($text =~ /\r\n\r\n(.*)/s)[0]), 100, 'which is exactly that');
is($error, ECONNRESET, 'a reset is RST, not an end');

($text, $error) = drain(raw('long/5/small'));
like($text, qr/Content-Length: 4000\r\n\r\nx{4005}\z/, 'too much');
is($error, 0, 'ends');
like((drain(raw('garbage')))[0], qr/\A\0\x01 what/, 'no HTTP');

my $r = curl('bighead/9000/small', '-D', "$out.head");
is($r->{size}, 4000, 'a body after a big header');
like(read_file("$out.head"), qr/^X-Big: x{9000}\r$/m, 'which is big');

$r = curl("gzip/$name", '-D', "$out.head", '--compressed');
ok(read_file($out) eq $bytes, 'gzip unpacks');
like(read_file("$out.head"), qr/^Content-Encoding: gzip\r$/m, 'and says so');
curl("gzipbare/$name", '-D', "$out.head");
unlike(read_file("$out.head"), qr/Content-Encoding/, 'or does not');
ok(`gzip -dc < '$out'` eq $bytes, 'and is gzip nevertheless');

my $begin = time;
is(curl('drip/8000/small')->{size}, 4000, 'a drip');
cmp_ok(time - $begin, '>=', 0.45, 'takes its time');

is(curl("ok/$name", '-I')->{exit}, 0, 'HEAD');
is(read_file($out) =~ /^Content-Length: $size\r$/m, 1, 'says the length');

# --- one connection, many requests ---

$socket = raw('ok/small', '');
for (1 .. 3) {
    read $socket, my $got, length("HTTP/1.1 200 Told\r\nContent-Length: 4000"
        . "\r\n\r\n") + 4000;
    like($got, qr/x{4000}\z/, 'an answer');
    print $socket "GET /ok/small HTTP/1.1\r\nHost: x\r\n\r\n";
}
close $socket;
$f->wait(undef, now => 0);

# --- counts, gates, scripts ---

$f->forget;
is($f->count, 0, 'counts start again');
my @waiting = map { raw('gate/g/ok/small') } 1 .. 5;
$f->wait('/gate/g/ok/small', count => 5);
my $of = $f->stats->{paths}{'/gate/g/ok/small'};
is_deeply($of, { count => 5, done => 0, now => 5, max => 5 },
    'five wait at a gate');
close shift @waiting;
$f->wait('/gate/g/ok/small', done => 1);
is($f->stats->{total}{now}, 4, 'a client that leaves is noticed');
$f->open_gate('g');
like((drain($_))[0], qr/x{4000}\z/, 'goes on') for @waiting;
$f->wait(undef, now => 0);
answers('gate/g/status/500', 500, 'a gate that is open');
$f->close_gate('g');
breaks('gate/g/ok/small', 28, 0, 'and closed again', '-m', 0.3);
$f->wait('/gate/g/ok/small', done => 6);
is($f->count('/gate/g/ok/small'), 6, 'counted by path');
is($f->count, 7, 'and all together');

$f->script('s', 'status/503', 'hangup', 'ok');
answers('as/s/small', 503, 'a script, first');
breaks('as/s/small', 52, 0, 'then');
answers('as/s/small', 200, 'at last');
answers('as/s/small', 200, 'and for ever');
ok(!eval { $f->script('s'); 1 }, 'a script needs a behaviour');
ok(!eval { $f->control('POST', 'nonsense'); 1 }, 'no such command');

# --- credentials: instance metadata, version 2 ---

my $iam = 'latest/meta-data/iam/security-credentials/';
my $ttl = 'X-aws-ec2-metadata-token-ttl-seconds';
answers($iam, 401, 'metadata without a token');
answers($iam, 401, 'with another', '-H', 'X-aws-ec2-metadata-token: no');
answers('latest/api/token', 400, 'a token without a lifetime', '-X', 'PUT');
answers('latest/api/token', 400, 'a lifetime that is too long', '-X', 'PUT',
    '-H',
    "$ttl: 21601");
answers('latest/api/token', 403, 'through a proxy', '-X', 'PUT', '-H',
    "$ttl: 60", '-H', 'X-Forwarded-For: 10.0.0.1');
answers('latest/api/token', 405, 'by GET', '-H', "$ttl: 60");
answers('latest/api/token', 200, 'a token', '-X', 'PUT', '-H', "$ttl: 60");
my @token = ('-H', 'X-aws-ec2-metadata-token: ' . read_file($out));
answers($iam, 200, 'the role', @token);
is(read_file($out), 'test-role', 'its name');
answers($iam . 'test-role', 401, 'its keys without a token');
answers($iam . 'other', 404, 'of another role', @token);
$f->credentials(access_key => 'AKID', secret_key => 's', token => 't',
    expires_in_s => -10);
answers($iam . 'test-role', 200, 'its keys', @token);
my $json = decode_json(read_file($out));
my $expiration = delete $json->{Expiration};
is_deeply($json, { Code => 'Success', Type => 'AWS-HMAC',
    LastUpdated => '2024-01-01T00:00:00Z', AccessKeyId => 'AKID',
    SecretAccessKey => 's', Token => 't' }, 'as told');
my ($then) = `date -u -d '$expiration' +%s` =~ /(\d+)/;
cmp_ok(abs($then - time + 10), '<', 5, 'expired as requested');

$f->credentials(status => { keys => 500, token => 503 },
    body => { role => 'x' }, expiration => '2099-01-01T00:00:00Z');
answers($iam . 'test-role', 500, 'a status as requested', @token);
answers('latest/api/token', 503, 'for each', '-X', 'PUT', '-H', "$ttl: 60");
answers($iam, 200, 'another body', @token);
is(read_file($out), 'x', 'as told');

# --- credentials: a container's ---

answers('container/v1', 200, 'a container');
is(decode_json(read_file($out))->{Expiration}, '2099-01-01T00:00:00Z',
    'its keys');
$f->credentials(authorization => 'secret');
answers('container/v1', 401, 'without authorization');
answers('container/v1', 200, 'with it', '-H', 'Authorization: secret');
ok(!eval { $f->credentials(roll => 1); 1 }, 'no such setting');
is($f->count("/container/v1"), 3, 'counted as well');

# --- TLS; stop and start ---

is(fetch($f->tls_url('ok/small'))->{exit}, 60,
    'TLS: its certificate is not trusted');
is(fetch($f->tls_url('ok/small'), '--cacert', ($f->certificate)[0])->{size},
    4000, 'except with its CA');
is($f->trouble, '', 'it logs no error');

my @ports = ($f->url(''), $f->tls_url(''));
$f->stop;
breaks('ok/small', 7, 0, 'refuses when stopped');
$f->start;
is_deeply([$f->url(''), $f->tls_url('')], \@ports, 'the same ports again');
whole("ok/$name", 'and files');

done_testing();

# { exit, status, size }; the body goes to $out.
sub fetch {
    my ($url, @args) = @_;
    unlink $out;
    open my $from, '-|', 'curl', '-s', '--path-as-is', '--globoff', '-m', 20,
        '-o', $out, '-w', '%{http_code} %{size_download}', @args, $url
        or die "curl: $!";
    my ($status, $got) = split ' ', scalar <$from>;
    close $from;
    SymLoader::write_file($out, '') if !-e $out;
    return { exit => $? >> 8, status => $status, size => $got };
}

sub curl {
    my ($path, @args) = @_;
    return fetch($f->url($path), @args);
}

sub whole {
    my ($path, $what) = @_;
    my $r = curl($path);
    is("$r->{exit} $r->{status}", '0 200', $what);
    ok(read_file($out) eq $bytes, "$what: every byte");
    return;
}

sub answers {
    my ($path, $status, $what, @args) = @_;
    my $r = curl($path, @args);
    is("$r->{exit} $r->{status}", "0 $status", $what);
    return;
}

sub breaks {
    my ($path, $exit, $got, $what, @args) = @_;
    my $r = curl($path, @args);
    is("$r->{exit} $r->{size}", "$exit $got", $what);
    return;
}

# A connection that has sent a request.
sub raw {
    my ($path, $header) = @_;
    my $s = IO::Socket::INET->new($f->address) or die "connect: $!";
    $s->autoflush(1);
    print $s "GET /$path HTTP/1.1\r\nHost: x\r\n",
        $header // "Connection: close\r\n", "\r\n";
    return $s;
}

# Everything received until the end, and the error that ended it.
sub drain {
    my ($s) = @_;
    my $all = '';
    my $n;
    while ($n = sysread $s, $all, 65536, length $all) { }
    return ($all, defined $n ? 0 : $! + 0);
}
