#!/usr/bin/perl

# Commands that read one file without a store (dump, atos) read the same as
# `load`: also the files that belong to it, and they report those that do not
# match.

use strict;
use warnings;

use Cwd qw(abs_path);
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymCompanions qw(run);
use SymLoader qw(read_file write_file);

my $t = SymLoader->new;
my $dir = abs_path($t->dir);
my %alone = (no_store => 1);
my ($a, $b) = ("$dir/src/a.cc", "$dir/src/b.cc");

write_file($a, <<'END');
static inline __attribute__((always_inline)) int square(int x)
{
    return x > 9 ? x * x : x + __builtin_popcount(x);
}
extern int other(int);
__attribute__((noinline)) int twice(int x) { return square(x) * 2 + other(x); }
int main(int argc, char **argv) { return twice(argc); }
END
write_file($b, <<'END');
__attribute__((noinline)) int other(int x) { return x / 3; }
END

# `load` and `dump` read the same from the file.
sub dumps_alike {
    my ($what, $file) = @_;
    my ($module) = $t->run('load', '--force', $file)->{out} =~ m{: (\S+/\S+): };
    my $r = $t->run(\%alone, 'dump', $file);

    is($r->{err}, '', "$what: dumped without a warning");
    like($r->{out}, qr/^INLINE_ORIGIN \d+ square/m, '... with inlined calls');
    ok($r->{out} =~ s/^STACK .*\n//gmr eq $t->run('dump', $module)->{out}, '... as load stores it');
    return;
}

sub atos_knows {
    my ($what, $file, $whole) = @_;
    my ($at) = qx(nm $whole) =~ /^([0-9a-f]+) T _Z5twicei$/m;

    like($t->run(\%alone, 'atos', '-i', '-o', $file, "0x$at")->{out},
         qr/^twice\(int\) \(in \w+\) \(a\.cc:6\)$/m, "$what: atos, too");
    return;
}

# --- a separate debug file ---

run(\$dir, 'g++', '-g', '-O2', '-o whole', $a, $b);
run(\$dir, 'objcopy --only-keep-debug whole lean.debug;',
    'strip --strip-debug -o lean whole;',
    'objcopy --add-gnu-debuglink=lean.debug lean');
dumps_alike('.gnu_debuglink', "$dir/lean");
atos_knows('.gnu_debuglink', "$dir/lean", "$dir/whole");

write_file("$dir/lean.debug", read_file("$dir/lean.debug") . "\0");
for ([ 'dump' ], [ 'atos', '-o' ]) {
    my $r = $t->run(\%alone, @$_, "$dir/lean", $_->[1] ? '0x0' : ());
    is($r->{code}, 0, "$_->[0] with one that does not fit: reads what there is");
    like($r->{err}, qr/lean: warning: .*\b[0-9a-f]{8}, not [0-9a-f]{8}/,
         '... and warns');
}

# --- split units, and shared parts moved by dwz ---

my $parts = "$dir/parts";
write_file("$parts/readme", "\n");
run(\$parts, 'g++', '-g -gsplit-dwarf -O2', $a, $b, '-o exe');
dumps_alike('.dwo', "$parts/exe");
atos_knows('.dwo', "$parts/exe", "$parts/exe");

run(\$parts, 'rm *.dwo; g++ -g -O2', $a, $b, '-o exe;',
    'cp exe exe2; dwz -m common exe exe2');
dumps_alike('dwz', "$parts/exe");
atos_knows('dwz', "$parts/exe", "$parts/exe");

done_testing();
