#!/usr/bin/perl

# Exception tables of 32-bit ARM, which are all that a stripped library of Android has: in
# the body of each function their rules are those that the compiler's call frame information
# (.debug_frame) has there, which another copy of the same library keeps.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(output);
use SymLoader;
use SymRules qw(rules_of rule_at);
use Test::More;

my $t = SymLoader->new;
my $source = $t->file('arm.cc', <<'END');
extern "C" int other(int, void *);
extern "C" void caught(int);
int leaf(int a) { return a * 3; }
int one(int a) { return other(a, 0) + 1; }
int saves(int a, int b, int c)
{
    int x = other(a, 0), y = other(b, 0), z = other(c, 0), w = other(x, 0), v = other(y, 0);
    return x * y + z * w + v + other(w, 0) + other(x * z, 0);
}
int large(int n) { int room[1000]; return other(n, room) + room[n % 1000]; }
int huge(int n) { int room[100000]; return other(n, room) + room[n % 1000]; }
int grows(int n) { int room[n]; return other(n, room) + other(n, room); }
double floats(double a, double b, double c)
{
    double x = other((int) a, 0) * b, y = other((int) b, 0) * c;
    return other((int) x, 0) + x * y + a + b * c;
}
int catches(int a)
{
    try { return other(a, 0); } catch (int e) { caught(e); return -e; }
}
END

# The last row of each function's beginning: where its last prolog instruction was.
sub bodies {
    my ($file) = @_;
    my (@bodies, $end);
    for (split /\n/, output('llvm-dwarfdump', '--debug-frame', $file)) {
        $end = hex $1 if /FDE .*pc=\w+\.\.\.(\w+)/;
        push @bodies, { end => $end } if /FDE /;
        $bodies[-1]{last} = hex $1 if @bodies && /^\s+0x(\w+): CFA=/;
    }
    return @bodies;
}

for my $flags ('-marm', '-mthumb', '-marm -fno-omit-frame-pointer') {
    my ($object, $full, $bare) = map { $t->dir . "/$_" } 'arm.o', 'full.so', 'bare.so';
    system('clang++', '--target=armv7-linux-gnueabihf', '-O1', '-g', '-fPIC', '-nostdinc', split(/ /, $flags),
        '-c', '-o', $object, $source) == 0 or die;
    system('ld.lld-19', '-shared', '-z', 'notext', '--unresolved-symbols=ignore-all', '-o', $full, $object) == 0 or die;
    system('llvm-objcopy', '--remove-section=.debug_frame', '--strip-debug', $full, $bare) == 0 or die;
    my ($want, $got) = (rules_of($t, $full), rules_of($t, $bare));

    my $n = 0;
    for my $f (bodies($full)) {
        # epilogs have rows of their own in neither
        my $rule = rule_at($want, $f->{last}) or next;
        # a function that calls none cannot throw, so its entry is empty
        next if $rule->{'.cfa'} eq 'sp';
        is_deeply(rule_at($got, $f->{end} - 2) // {}, $rule, sprintf '%s: the function that ends at %x', $flags, $f->{end});
        $n++;
    }
    cmp_ok($n, '>=', 6, '... and others');
}

done_testing;
