#!/usr/bin/perl

# Static functions of one name and type in several files share one id in the PDB
# of a program that was optimised at link time.  The lines of an inlined one
# must be those of the file that calls it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader;

my $t = SymLoader->new;
my $dir = $t->dir;

# Each statement has an effect that no optimiser can leave out.
my %source = ('one.c' => <<'ONE', 'two.c' => <<'TWO', 'three.c' => <<'THREE');
#include "all.h"
static INLINED int helper(int n)
{
    sink += n;                          // one helper
    return sink;                        // one helper
}
APART int one(int n)
{
    return helper(n) + 1;               // one
}
INLINED_ABROAD int abroad(int n)
{
    sink *= n;                          // one abroad
    return helper(n);
}
ONE
#include "all.h"



static INLINED int helper(int n)
{
    sink -= n;                          // two helper
    return sink;                        // two helper
}

static INLINED int between(int n)
{
    sink ^= n;                          // two between
    return helper(n);
}
APART int two(int n)
{
    return between(n) - 2;              // two
}
TWO
#include "all.h"

static INLINED int helper(int n)
{

    sink |= n;                          // three helper
    return sink;                        // three helper
}
APART int three(int n)
{
    return apply(helper, n) * 3;        // three
}
APART int guest(int n)
{
    return abroad(n) * 5;               // guest
}
volatile int sink;
int _DllMainCRTStartup(void *a, unsigned b, void *c) { return 1; }
THREE

$t->file($_, $source{$_}) for keys %source;
$t->file('all.h', <<'END');
#define INLINED inline __attribute__((always_inline))
#define INLINED_ABROAD __attribute__((always_inline))
#define APART __declspec(dllexport) __attribute__((noinline))
extern volatile int sink;
int abroad(int n);
static INLINED int apply(int (*f)(int), int n) { sink &= n; return f(n); }
END

# "one.c:4" of each line with one of these comments.
sub lines {
    my (@comments) = @_;
    my @lines;

    for my $file (keys %source) {
        my $number = 0;
        for my $line (split /\n/, $source{$file}) {
            $number++;
            push @lines, "$file:$number"
                if grep { $line =~ m{// \Q$_\E$} } @comments;
        }
    }
    return @lines;
}

# Lines inlined into each function.
my %want = (
    one => [ lines('one helper') ],
    two => [ lines('two helper', 'two between') ],
    three => [ lines('three helper'), 'all.h:6' ],
    guest => [ lines('one helper', 'one abroad') ],
);

# The positions of a function in the dump.
sub dumped {
    my ($function, $dump) = @_;
    my %files = $dump =~ m{^FILE (\d+) .*/(\S+)$}mg;
    my ($records) =
        $dump =~ /^FUNC \S+ \S+ \S+ \Q$function\E\(int\)\n((?:[I0-9a-f].*\n)*)/m;

    return map { /^[0-9a-f]+ [0-9a-f]+ (\d+) (\d+)$/ ? "$files{$2}:$1" : () }
        split /\n/, $records // '';
}

for my $order ('one.obj two.obj three.obj', 'three.obj two.obj one.obj') {
    my $command = "cd '$dir' && clang --target=x86_64-pc-windows-msvc -O2 -g"
        . ' -gcodeview -flto -c one.c two.c three.c'
        . ' && for f in one two three; do mv -f $f.o $f.obj; done'
        . ' && lld-link-19 /dll /noimplib /debug /nodefaultlib'
        . " /entry:_DllMainCRTStartup /out:lto.dll $order";
    is(system($command), 0, "linked: $order");

    my $r = $t->run('dump', "$dir/lto.pdb");
    is($r->{code}, 0, '... dumped');
    for my $function (sort keys %want) {
        my %own = map { $_ => 1 } lines($function);
        my %inlined = map { $_ => 1 }
            grep { !$own{$_} } dumped($function, $r->{out});

        is(join(' ', sort keys %inlined),
           join(' ', sort @{ $want{$function} }), "... inlined into $function");
    }
}

done_testing();
