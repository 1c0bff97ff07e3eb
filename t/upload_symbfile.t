#!/usr/bin/perl

# Elastic's tools push symbfiles: in one request or in parts, with a FileID in the
# header.  Requests are answered from ranges as soon as all parts are there, and
# errors are the JSON of that interface.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymSymbfile qw($HEADER range pad);
use SymUpload;

my $KEY = 'aWQ6c2VjcmV0';    # base64 of id:secret
my $t = SymUpload->new(layout => 'unified', tokens => { agent => { secret => $KEY, rest => 'at_once=20' } })->start;
my $dir = $t->{dir};

my $n = 0;

# FileIDs: 16 bytes, as base64url and as a debug id.
sub file_id {
    my $bytes = pack 'Nn6', 0x12345678, map { ++$n * 257 } 1 .. 6;
    require MIME::Base64;
    return (MIME::Base64::encode_base64url($bytes), uc(unpack 'H*', $bytes) . '0');
}

sub push_symbols {
    my ($kind, $id, $body, @headers) = @_;
    return $t->request('POST', "/upload/api/symbols-$kind", body => $body,
        headers => [ Authorization => "APIKey $KEY", FileID => $id, @headers ]);
}

sub name_at {
    my ($debug_id, $addr) = @_;
    my $r = $t->post_json('/symbolicate/v5', { memoryMap => [[ 'any', $debug_id ]], stacks => [[[0, $addr]]] });
    return $r->{json}{results}[0]{stacks}[0][0]{function};
}

my $OK = '{"success": true, "status": 200}';

# --- one part ---

my ($id, $debug_id) = file_id();
my $r = push_symbols(ranges => $id, $HEADER . range(0x1000, 16, 'first') . range(0x1010, 16, 'second'));
is_deeply([ $r->{status}, $r->{body} ], [ 200, $OK ], 'ranges') or diag $r->{body};
is(name_at($debug_id, 0x1004), 'first',  '... answer at once');
is(name_at($debug_id, 0x1010), 'second', '... both');
$r = push_symbols(returnpads => $id, $HEADER . pad(0x1004, 'pad'));
is($r->{status}, 200, 'return pads') or diag $r->{body};
is(name_at($debug_id, 0x1010), 'second', '... hide no range');
is(push_symbols(ranges => $id, $HEADER . range(0x1000, 16, 'third'))->{status}, 200, 'other ranges');
is(name_at($debug_id, 0x1004), 'third', '... take the place of the first ones');

($id, $debug_id) = file_id();
$r = $t->request('PUT', '/upload/api/symbols-returnpads', body => $HEADER . pad(0x2004, 'pad'),
    headers => [ Authorization => "apikey $KEY", FileID => $id, FilePart => 0, FileParts => 1 ]);
is($r->{status}, 200, 'return pads alone') or diag $r->{body};
is(name_at($debug_id, 0x2004), 'pad', '... answer');
is(push_symbols(ranges => $id, $HEADER . range(0x2000, 16, 'ranges'))->{status}, 200, '... until ranges come');
is(name_at($debug_id, 0x2008), 'ranges', '... which answer');

# --- parts, in any order ---

($id, $debug_id) = file_id();
my @parts = map { $HEADER . range(0x1000 * $_, 16, "part$_") } 1 .. 3;
for my $part (2, 0) {
    $r = push_symbols(ranges => $id, $parts[$part], FilePart => $part, FileParts => 3);
    is($r->{body}, $OK, "part $part of 3");
    isnt(name_at($debug_id, 0x1000 * ($part + 1)), 'part' . ($part + 1), '... is not seen yet');
}
is(push_symbols(ranges => $id, $parts[0], FilePart => 0, FileParts => 3)->{body}, $OK, 'part 0 again');
is(push_symbols(ranges => $id, 'symbfile', FilePart => 1, FileParts => 3)->{status}, 400, 'a bad part 1');
$t->loader->stop;
$t->loader_start;
$t->wait_for(sub { ($r = push_symbols(ranges => $id, $parts[1], FilePart => 1, FileParts => 3))->{status} != 503 });
is($r->{body}, $OK, 'part 1, after a restart of the loader');
is(name_at($debug_id, 0x1000 * $_), "part$_", "... all are seen: $_") for 1 .. 3;

is_deeply([ glob "$dir/symbols/.parts/*" ], [], '... and no part is left');

# --- parts at once: one of them is the last, the others may find all parts, too ---

for my $round (1 .. 5) {
    my ($some, $debug) = file_id();
    my @sent = map {
        my $part = $_ % 6;
        my $s = $t->connect;
        my $bytes = $HEADER . range(0x1000 * $part, 16, "at_once$part");
        $t->send_all($s, "POST /upload/api/symbols-ranges HTTP/1.1\r\nHost: a\r\nAuthorization: APIKey $KEY\r\n"
            . "FileID: $some\r\nFilePart: $part\r\nFileParts: 6\r\nContent-Length: " . length($bytes) . "\r\n\r\n$bytes");
        $s;
    } 0 .. 17;
    my @answers = map { $t->response($_) } @sent;
    is_deeply([ map { $_->{status} } @answers ], [ (200) x 18 ], "round $round: parts at once, each three times");
    is(name_at($debug, 0x1000 * $_), "at_once$_", "... part $_ is seen") for 0, 5;
}

# --- parts of a push that was never completed ---

($id, $debug_id) = file_id();
my $six = 6 * 3600;
@parts = map { $HEADER . range(0x1000 * $_, 16, "old$_") } 0 .. 2;
is(push_symbols(ranges => $id, $parts[$_], FilePart => $_, FileParts => 3)->{status}, 200, "part $_") for 0, 1;
my ($old) = glob "$dir/symbols/.parts/*.ranges.1-3";
utime time - $six - 60, time - $six - 60, $old or die $old;
@parts = map { $HEADER . range(0x1000 * $_, 16, "new$_") } 0 .. 2;
is(push_symbols(ranges => $id, $parts[$_], FilePart => $_, FileParts => 3)->{status}, 200, "part $_ of a later push")
    for 0, 2;
is(name_at($debug_id, 0x1000), undef, '... is not joined with an old one');
is(push_symbols(ranges => $id, $parts[1], FilePart => 1, FileParts => 3)->{status}, 200, 'part 1 of it');
is(name_at($debug_id, 0x1000 * $_), "new$_", "... all are seen: $_") for 0 .. 2;

($id) = file_id();
push_symbols(ranges => $id, $parts[$_], FilePart => $_, FileParts => 3) for 0, 1;
($old) = glob "$dir/symbols/.parts/*.ranges.1-3";
utime time - $six - 60, time - $six - 60, $old or die $old;
$t->loader->stop;
$t->loader_start;
$t->wait_for(sub { $t->loader->stats; return !-e $old }, 'an old part goes');
ok(!-e $old, 'an old part goes when the loader starts');
ok(-e $old =~ s/1-3$/0-3/r, '... the other one stays');
$t->wait_for(sub { push_symbols(ranges => $id, 'x')->{status} != 503 });

# --- errors ---

sub error {
    my ($got, $status, $code, $name) = @_;
    my $json = eval { JSON::PP::decode_json($got->{body}) } // {};
    is_deeply([ $got->{status}, $json->{status}, $json->{success}, $json->{error}{Code} ],
        [ $status, $status, JSON::PP::false(), $code ], "$name: $code") or diag $got->{body};
    like($json->{uuid}, qr/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, '... with a UUID');
    like($t->error_log, qr/\Q$json->{uuid}\E/, '... which is in the log');
    return;
}

my $body = $HEADER . range(1, 1, 'a');
error($t->request('POST', '/upload/api/symbols-ranges', body => $body), 401, '1101', 'no key');
error($t->request('POST', '/upload/api/symbols-ranges', body => $body,
    headers => [ Authorization => 'APIKey x', FileID => $id ]), 401, '1101', 'another key');
error(push_symbols(ranges => 'abc', $body), 400, '1001', 'no FileID');
error(push_symbols(ranges => $id, $body, FilePart => 3, FileParts => 3), 400, '1002', 'a part too many');
error(push_symbols(ranges => $id, $body, FilePart => 0), 400, '1002', 'a part of no number');
error(push_symbols(ranges => $id, 'ELF'), 400, '1005', 'something else');
error(push_symbols(ranges => $id, $HEADER . "\5\2ab"), 400, '1005', 'a message that is cut');
$r = $t->request('POST', '/upload/api/symbols-ranges', body => "MODULE Linux x86_64 ${debug_id} a\nPUBLIC 1 0 a\n",
    headers => [ Authorization => "APIKey $KEY", FileID => $id ]);
error($r, 400, '1005', 'symbols of another format');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
