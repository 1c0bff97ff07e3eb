#!/usr/bin/perl

# Most linkers of WebAssembly write no build id.  A module without one is found
# by a hash of its code, which `load` prints and which does not change when
# custom sections are removed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymFixtures qw(need_fixtures);
use SymLoader qw(json_lines read_file write_file);
use SymSentry qw(recorded answers_as_recorded);

my $whole = read_file(need_fixtures('wasm') . '/index.wasm');
my $head = substr $whole, 0, 8;
my @all = sections($whole);
my ($code) = map { $_->{data} } grep { $_->{kind} == 10 } @all;

# WebAssembly Core Specification, 5.5.2: kind, name of a custom section, contents
# and all bytes of each.
sub sections {
    my ($file) = @_;
    my ($at, @sections) = (8);

    while ($at < length $file) {
        my $kind = ord substr $file, $at, 1;
        my ($size, $len) = leb($file, $at + 1);
        my $data = substr $file, $at + 1 + $len, $size;
        push @sections, {
            kind => $kind, data => $data,
            name => $kind == 0 ? substr($data, 1, ord $data) : '',
            bytes => substr $file, $at, 1 + $len + $size,
        };
        $at += 1 + $len + $size;
    }
    return @sections;
}

# A number in LEB128, and its length.
sub leb {
    my ($file, $at) = @_;
    my ($n, $len) = (0, 0);
    while (1) {
        my $byte = ord substr $file, $at + $len, 1;
        $n |= ($byte & 0x7f) << 7 * $len++;
        return ($n, $len) if $byte < 0x80;
    }
}

# The module without the sections of these names.
sub without {
    my ($names) = @_;
    return join '', $head, map { $_->{bytes} } grep { $_->{name} !~ $names } @all;
}

# docs/formats/wasm.md: SipHash-1-3 under two keys, in Python.
sub id_of {
    my ($t, $bytes) = @_;
    my $file = $t->file('code', $bytes);
    my $program = $t->file('siphash.py', <<'PY');
import sys
M = (1 << 64) - 1
def turn(v, n):
    return (v << n | v >> 64 - n) & M
def siphash(k0, k1, data):
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]
    def mix():
        v[0] = (v[0] + v[1]) & M; v[1] = turn(v[1], 13) ^ v[0]
        v[0] = turn(v[0], 32)
        v[2] = (v[2] + v[3]) & M; v[3] = turn(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & M; v[3] = turn(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & M; v[1] = turn(v[1], 17) ^ v[2]
        v[2] = turn(v[2], 32)
    data += bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at:at + 8], "little")
        v[3] ^= word
        mix()
        v[0] ^= word
    v[2] ^= 255
    mix(); mix(); mix()
    return v[0] ^ v[1] ^ v[2] ^ v[3]
code = open(sys.argv[1], "rb").read()
print("".join(siphash(0, k, code).to_bytes(8, "little").hex() for k in (0, 1)))
PY
    chomp(my $hex = qx(python3 '$program' '$file'));
    return uc($hex) . '0';
}

my %recorded = recorded('wasm', 'rel:1', 0);
my $no_id = without(qr/^build_id$/);
my $id;

{
    my $t = SymLoader->new;
    $id = id_of($t, $code);
    my $r = $t->run('load', $t->file('no_id.wasm', $no_id));
    is($r->{code}, 0, 'without a build_id: loaded');
    like($r->{out}, qr{no_id\.wasm: \Qno_id.wasm/$id\E: lines, },
         '... and its id is printed');
    like($r->{err}, qr/no_id\.wasm: warning: the module has no build_id of 16 bytes, /,
         '... with the reason');
    is(answers_as_recorded($t, "no_id.wasm/$id", %recorded), 5,
       '... and it answers');
    is($t->verify, 'sound', '... the store is sound');
}

# the same code
for my $names (qr/^build_id$|^\.debug/, qr/./) {
    my $t = SymLoader->new;
    $t->run('load', $t->file('stripped.wasm', without($names)));
    is_deeply([ $t->modules ], ["stripped.wasm/$id"],
              "stripped of $names: the same id");
}

# other code
{
    my $t = SymLoader->new;
    my $other = substr($code, 0, -2) . chr(ord(substr $code, -2, 1) ^ 1)
        . substr $code, -1;
    (my $file = $no_id) =~ s/\Q$code\E/$other/;
    $t->run('load', $t->file('other.wasm', $file));
    is_deeply([ $t->modules ], [ 'other.wasm/' . id_of($t, $other) ],
              'other code has another id');
    isnt(id_of($t, $other), $id, '... indeed');
}

# eight bytes, as in --build-id=fast, are too short for a debug id
{
    my $t = SymLoader->new;
    my $short = $no_id . "\0\x12\x08build_id\x0801234567";
    is($t->run('load', $t->file('short.wasm', $short))->{code}, 0,
       'a build_id of 8 bytes: loaded');
    is_deeply([ $t->modules ], ["short.wasm/$id"],
        '... with the id of its code');
    my ($shown) = json_lines($t->run('show', "short.wasm/$id", '--json')->{out});
    is($shown->{code_id}, unpack('H*', "\x0801234567"),
       '... and its build_id is its code id');
}

{
    my $t = SymLoader->new;
    my $r = $t->run('load', $t->file('empty.wasm', $head));
    is($r->{code}, 1, 'neither code nor a build_id: refused');
    like($r->{err}, qr/: unsupported: the module has neither code nor a build_id/,
         '... with the reason');
}

# --- over HTTP ---

my $t = SymFetch->new->start;
my ($addr) = grep { @{ $recorded{$_} } } sort { $a <=> $b } keys %recorded;

sub function {
    my ($name, $asked) = @_;
    my $r = $t->post_json('/symbolicate/v5', { jobs => [{
        memoryMap => [[$name, $asked]], stacks => [[[0, $addr]]] }] });
    return $r->{json}{results}[0]{stacks}[0][0]{function};
}

my $file = write_file($t->dir . '/no_id.wasm', $no_id);
is($t->loader->run('load', $file)->{code}, 0, 'loaded by hand');
isnt(function('no_id.wasm', $id), undef, '... a request with the id is answered');

# fetched: only the id in the request identifies the module
my $wrong = 'F' x 32 . '0';
$t->fault->file(SymFetch::path('fetched.wasm', $_), $no_id) for $wrong, $id;
is(function('fetched.wasm', $wrong), undef, 'fetched under another id: refused');
like($t->loader->run('ls', '--json')->{out}, qr/wrong module: its id is \Q$id\E/,
     '... with the reason');

is($t->stop->log_trouble, '', 'the log is clean');
done_testing();
