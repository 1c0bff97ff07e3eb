#!/usr/bin/perl

# Which modules of a dump count: those that overlap one before them do not (minidump-common's
# IntoRangeMapSafe), nor do empty ones; unused ones without any id are not listed.  And
# which addresses on a stack count as code of Windows on x86: with STACK WIN alone, all in a
# module (Symbolicator's check_frame_by_cfi looks at STACK CFI only).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use File::Path qw(make_path);
use SymDump qw(minidump);
use SymLoader qw(write_file);

my $BASE = 0x400000;
my $t = SymLoader->new;
my $symbols = $t->dir . '/symbols';
make_path($symbols);

sub walk {
    my (%dump) = @_;
    my $dump = $t->file('a.dmp', minidump(os => 'windows', cpu => 'x86', stack => pack('V64', (0) x 64),
        registers => { eip => $BASE + 0x1004, esp => 0x20000, ebp => 0 }, %dump));
    my $r = $t->run({ no_store => 1 }, 'walk', '--format=json', "--symbols=native:$symbols", $dump);
    like($r->{code}, qr/^[01]$/, 'the dump is walked') or diag $r->{err};
    return Cpanel::JSON::XS->new->decode($r->{out});
}

# --- modules ---

my @modules = map { { at => $BASE + $_->[1], size => $_->[2], name => $_->[0], time => $_->[3] // 1 } }
    ['inside', 0x1000, 0x1000], ['first', 0, 0x3000], ['across', 0x2fff, 0x2000], ['next', 0x3000, 0x1000],
    ['longer', 0x6000, 0x2000], ['shorter', 0x6000, 0x1000], ['empty', 0x9000, 0],
    ['twice', 0xa000, 0x1000], ['again', 0xa000, 0x1000];
is(join(' ', map { $_->{code_file} } @{ walk(modules => \@modules)->{modules} }), 'first next shorter twice',
   'of two that overlap the first counts, or the shorter of two with one address');

# --- addresses ---

my $id = 'ABCD1234ABCD1234ABCDABCD123456781';
make_path("$symbols/f.pdb/$id");
write_file("$symbols/f.pdb/$id/f.sym", <<"END");
MODULE windows x86 $id f.pdb
FUNC 1000 100 0 f
STACK WIN 4 1000 100 0 0 0 0 4 0 0 \$eip .raSearch = \$esp .raSearch 4 + =
END
my $record = 'RSDS' . pack('VvvH16V', 0xabcd1234, 0xabcd, 0x1234, 'abcdabcd12345678', 1) . "f.pdb\0";

# A scan examines 160 words of the stack after the innermost frame, and 40 after later ones.
sub frames {
    my (%words) = @_;
    my @stack = (0) x 128;
    $stack[$_] = $BASE + $words{$_} for keys %words;
    my $got = walk(stack => pack('V128', @stack), registers => { eip => $BASE + 0x5000, esp => 0x20000, ebp => 0 },
                   modules => [{ at => $BASE, size => 0x8000, name => 'f.exe', codeview => $record }]);
    return join ' ', map { ($_->{function} // '?') . ":$_->{trust}" } @{ $got->{stacktraces}[0]{frames} };
}
is(frames(100 => 0x1008), '?:context f:scan', 'the caller is far away');
is(frames(2 => 0x6000, 100 => 0x1008), '?:context', 'an address without function or rules counts, and the caller is too far');
is(frames(2 => 0x6000, 20 => 0x1008), '?:context f:scan', '... or is found after it');

done_testing;
