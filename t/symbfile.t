#!/usr/bin/perl

# Profilers of a whole machine know executables by FileID, and their users push
# symbols as symbfiles.  Such a file, loaded under its FileID, answers from its
# ranges and return pads, whatever tool wrote it and whatever its name.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use Digest::SHA ();
use Math::BigInt;
use Test::More;

use SymLoader qw(read_file);
use SymTest;

my $t = SymLoader->new;
my $writer = "$FindBin::Bin/lib/symbfile.py";
my ($hex, $base64) = ('77efa716a912a49217445787329fd29a', 'd--nFqkSpJIXRFeHMp_Smg');
my $id = uc($hex) . '0';

sub symbfile {
    my ($name, $records, @options) = @_;
    my $file = $t->file($name, '');
    my $json = $t->file("$name.json", Cpanel::JSON::XS->new->allow_bignum->encode($records));
    system('python3', $writer, 'write', $json, $file, @options) == 0 or die;
    unlink $json;
    return $file;
}

sub frames {
    my ($module, @addrs) = @_;
    my $r = $t->run('lookup', $module, map { sprintf '%x', $_ } @addrs);
    return [ split /\n\n/, $r->{out} ];
}

# main is split where it includes a file; deep has no line at its start, and
# takes the file of its call from its caller.
my @records = (
    { strings => [ 'main', 'main.c', 'inner', 'inner.h', 'deep', '' ] },
    { range => { va => 0x1000, length => 64, func => 0, file => 1,
                 lines => [ [ 0, 10 ], [ 8, 12 ], [ 40, 20 ] ] } },
    { range => { va => 0x1040, length => 32, func => 0, file => 'part.inc',
                 lines => [ [ 0, 100 ] ] } },
    { range => { va => 0x1010, length => 16, func => 2, file => 3, depth => 1,
                 call_line => 12, call_file => 1, lines => [ [ 0, 5 ], [ 12, 6 ] ] } },
    { range => { va => 0x1018, length => 4, func => 4, file => 'deep.h', depth => 2,
                 call_line => 7, lines => [ [ 2, 99 ] ] } },
    { range => { va => 0x1050, length => 4, func => 4, file => 'deep.h', depth => 2,
                 call_line => 7, lines => [ [ 0, 98 ] ] } },
    { range => { va => 0x2000, length => 16, func => 'symbol alone' } },
    { raw => [ 77, '010203' ] },
    { pad => { va => 0x5003, frames => [ [ 0, 1, 30 ], [ 2, 3, 31 ], [ 4, 5, 7 ] ] } },
);
my %want = (
    0xfff => '??:0',
    0x1000 => "main\nmain.c:10",
    0x1008 => "main\nmain.c:12",
    0x1010 => "inner\ninner.h:5\nmain\nmain.c:12",
    0x1018 => "deep\ndeep.h:0\ninner\ninner.h:7\nmain\nmain.c:12",
    0x101b => "deep\ndeep.h:99\ninner\ninner.h:7\nmain\nmain.c:12",
    0x101c => "inner\ninner.h:6\nmain\nmain.c:12",
    0x1020 => "main\nmain.c:12",
    0x103f => "main\nmain.c:20",
    0x1040 => "main\npart.inc:100",
    0x1050 => "main\npart.inc:100",    # depth 1 is missing
    0x105f => "main\npart.inc:100",
    0x1060 => '??:0',
    0x200f => "symbol alone\n??:0",
    0x5002 => '??:0',
    0x5003 => "deep\n??:0\ninner\ninner.h:31\nmain\nmain.c:30",
    0x5004 => '??:0',
);

sub answers_are {
    my ($module, $what) = @_;
    my @at = sort { $a <=> $b } keys %want;
    my $got = frames($module, @at);
    is(join("\n\n", map { sprintf('%x ', $at[$_]) . ($got->[$_] // '') } 0 .. $#at),
       join("\n\n", map { sprintf('%x ', $_) . ($want{$_} =~ /^\?\?/ ? "??\n$want{$_}" : $want{$_}) } @at),
       $what);
    return;
}

for ([ "$hex.symbfile", "$hex/$id", 'named by its FileID' ],
     [ "$base64.symbfile", "$base64/$id", 'in base 64' ],
     [ "app/$hex/ranges.symbfile", "app/$id", 'in a folder of the store\'s layout' ],
     [ "$hex.unpacked.symbfile", "$hex.unpacked/$id", 'columns that are not packed',
       '--unpacked' ])
{
    my ($name, $module, $what, @options) = @$_;
    my $file = symbfile($name, \@records, @options);
    my $r = $t->run('load', $file);
    is($r->{code}, 0, "$what: loaded") or diag($r->{err});
    like($r->{out}, qr{^\Q$file\E: \Q$module\E: lines and inlines}, '... as its module');
    answers_are($module, '... its answers');
    is($t->run('rm', $module)->{code}, 0, '... removed');
}

{
    my $file = symbfile("$hex.symbfile", \@records);
    system('zstd', '-q', '--rm', $file) == 0 or die;
    is($t->run('load', "$file.zst")->{code}, 0, 'packed with zstd');
    answers_are("$hex/$id", '... its answers');
    is(frames($hex, 0x1000)->[0], "main\nmain.c:10", '... by FileID alone');
}

# a pad takes precedence over the range that covers it
{
    my $other = '0123456789abcdef0123456789abcdef';
    $t->run('load', symbfile("$other.symbfile", [
        { strings => [ 'f', 'f.c' ] },
        { pad => { va => 0x1004, frames => [ [ 0, 1, 7 ] ] } },
        { range => { va => 0x1000, length => 16, func => 0, file => 1, lines => [ [ 0, 5 ] ] } },
    ]));
    is_deeply(frames($other, 0x1003, 0x1004, 0x1005),
              [ "f\nf.c:5", "f\nf.c:7", "f\nf.c:5" ], 'ranges and pads in one file');
}

# a kernel: 64-bit addresses, looked up without their base
{
    my $kernel = 'ffffffffffffffff0123456789abcdef';
    my $start = Math::BigInt->new('0xffffffff81000000');
    my $r = $t->run('load', symbfile("$kernel.symbfile", [
        { range => { va => $start, length => 16, func => 'start_kernel' } },
        { range => { va => $start + 0x3f000000, length => 16, func => 'a_module' } },
        { range => { va => 0x1000, length => 16, func => 'percpu' } },
    ]));
    like($r->{err}, qr/1 records ignored/, 'an address far from the others');
    is_deeply(frames($kernel, 0x1000000, 0x40000000),
              [ "start_kernel\n??:0", "a_module\n??:0" ], '... the others are answered');
}

my $file = symbfile('app.symbfile', \@records);
my $r = $t->run('load', $file);
is($r->{code}, 1, 'neither name nor folder has an id');
like($r->{err}, qr/does not contain the id of its executable; name it FILEID\.symbfile/,
     '... which is reported');
$r = $t->run('dump', $file);
is($r->{code}, 1, '... and dumped neither');

$r = $t->run('load', symbfile("$hex.symbfile", []));
is($r->{code}, 0, 'no records');
like($r->{err}, qr/no symbols: it has neither ranges nor return pads/, '... a warning');

# the ids of executables, one of Elastic's documentation among them
{
    my $zeros = $t->file('zeros', "\0" x 123);
    my $large = $t->file('large', join '', map { chr($_ % 251) } 0 .. 20_000);
    my $ends = read_file($large);
    my $digest = Digest::SHA::sha256_hex(substr($ends, 0, 4096) . substr($ends, -4096)
                                         . pack('Q>', length $ends));
    my $r = $t->run({ no_store => 1 }, 'fileid', $zeros, $large);
    my @lines = split /\n/, $r->{out};
    is($r->{code}, 0, 'fileid');
    is($lines[0], "f4c1e5fe2f28034fcceb0776ec00b125 9MHl_i8oA0_M6wd27ACxJQ $zeros",
       '... of a small file');
    like($lines[1], qr/^@{[ substr $digest, 0, 32 ]} \S{22} \Q$large\E$/, '... of a large one');
    $r = $t->run({ no_store => 1 }, 'fileid', $t->dir, "$zeros.gone", $zeros);
    is($r->{code}, 1, '... of a folder and of nothing');
    like($r->{err}, qr/: not a regular file\n.*gone: No such file/, '... both are named');
    like($r->{out}, qr/\Af4c1\S+ \S+ \S+\n\z/, '... and the next file is read');
}

# over HTTP, by FileID and address
{
    my $nginx = SymTest->new;
    $nginx->load(symbfile("$hex.symbfile", \@records))->start;
    my $r = $nginx->post_json('/symbolicate/v5', { jobs => [ {
        memoryMap => [ [ 'any name', $id ], [ 'app', $hex ] ],
        stacks => [ [ [ 0, 0x101b ], [ 1, 0x5003 ] ] ] } ] });
    my @frames = @{ $r->{json}{results}[0]{stacks}[0] };
    is(join(' ', map { $_->{function} } @frames), 'main main', 'v5 knows the FileID');
    is(join(' ', map { $_->{function} } @{ $frames[0]{inlines} }), 'deep inner',
       '... and its ranges');
    is(join(' ', map { $_->{function} } @{ $frames[1]{inlines} }), 'deep inner',
       '... and its return pads');
    is($nginx->stop->log_trouble, '', '... the log is clean');
}

is($t->verify, 'sound', 'the store is sound');
done_testing();
