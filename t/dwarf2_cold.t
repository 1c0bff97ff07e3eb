#!/usr/bin/perl

# DWARF 2 has no lists of ranges, so gcc gives the cold part of a function an
# entry of its own.  A crash there must still name the calls inlined into it,
# whose entries are below the function.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(folder output run_ok);
use SymLlvm qw(frame_differences llvm_frames loader_frames);
use SymLoader qw(write_file);

my $dir = folder();
my $t = SymLoader->new;

# BEFORE is the code of the cold part before the calls.
write_file("$dir/cold.c", <<'CODE');
volatile int sink;
static inline __attribute__((always_inline)) void note(int n)
{
    sink = n;
    sink += 3;
}
static inline __attribute__((always_inline)) void report(int n)
{
    note(n);
    sink += 7;
}
__attribute__((noinline)) int outer(int n)
{
    sink = n;
    if (__builtin_expect(n > 3, 0)) {
        BEFORE;
        report(n);
        sink = 2;
        __builtin_trap();
    }
    sink = n + 3;
    return n * sink;
}
int main(int argc, char **argv)
{
    (void) argv;
    return outer(argc);
}
CODE

sub build {
    my ($name, @options) = @_;

    run_ok('gcc', '-gdwarf-2', '-gstrict-dwarf', '-O2', @options,
           '-Wl,--build-id', "$dir/cold.c", '-o', "$dir/$name");
    my $r = $t->run('load', "$dir/$name");
    is($r->{code}, 0, "$name: loaded");
    my ($module) = $r->{out} =~ m{: (\S+/[0-9A-F]{33}): } or die $r->{out};
    return ("$dir/$name", $module);
}

# The addresses of entries by name, as gcc wrote them: [first, end].
sub entries {
    my ($file) = @_;
    my %at;

    for (split /\n\n/, output('llvm-dwarfdump', '--debug-info', $file)) {
        my ($name) = /DW_AT_(?:abstract_origin|name)\s.*"(\w+)"\)/ or next;
        my ($low) = /DW_AT_low_pc\s+\(0x(\w+)\)/ or next;
        my ($high) = /DW_AT_high_pc\s+\(0x(\w+)\)/ or next;
        $at{$name} = [ hex $low, hex $high ];
    }
    return %at;
}

sub names {
    return [ map { join ' < ', map { $_->[0] } @$_ } @_ ];
}

# Every address of both parts, as llvm-symbolizer shows it.
{
    my ($file, $module) = build('middle', '-DBEFORE=sink = 1');
    my %at = entries($file);
    my $cold = $at{__second_sect_of_outer} or die 'no entry of a cold part';
    ok($at{note}[0] > $cold->[0] && $at{note}[1] <= $cold->[1],
       '... note is in the cold part');

    my @addrs = map { $_->[0] .. $_->[1] - 1 } $cold, $at{outer};
    my @ours = loader_frames($t, $module, @addrs);
    is_deeply([ frame_differences(\@ours,
                                  [ llvm_frames($t, $file, '', @addrs) ]) ],
              [], '... all addresses are as in llvm-symbolizer');
    my ($in) = loader_frames($t, $module, $at{note}[0]);
    is_deeply([ map { [ $_->[0], $_->[2] ] } @$in ],
              [ [ 'note', 4 ], [ 'report', 0 ], [ 'outer.cold', 0 ] ],
              '... a crash in note says so');

    my $dump = $t->run('dump', $file)->{out};
    my $size = sprintf '%x %x', $cold->[0], $cold->[1] - $cold->[0];
    like($dump, qr/^FUNC $size \d+ outer\.cold$/m,
         '... and the cold part is one function');
}

# If the calls begin with the cold part, LLVM loses them or the part.
{
    my ($file, $module) = build('start', '-DBEFORE=');
    my %at = entries($file);
    my $cold = $at{__second_sect_of_outer} or die 'no entry of a cold part';
    is($at{note}[0], $cold->[0], '... note begins the cold part');

    is_deeply(names(loader_frames($t, $module, $at{note}[0],
                                  $at{note}[1] - 1, $cold->[1] - 1)),
              [ ('note < report < outer.cold') x 2, 'outer.cold' ],
              '... and is named, as is the code after it');
}

is($t->run('verify')->{code}, 0, 'the store is sound');
done_testing();
