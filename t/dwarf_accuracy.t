#!/usr/bin/perl

# A crash must name the same functions, inlined calls and lines as
# llvm-symbolizer does, whatever compiler and version of DWARF made the file:
# every first and last address of a function, and random ones.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP;
use SymFixtures qw(fixtures);
use SymLlvm ();
use SymTools;
use Test::More;

my $build = $ENV{SYM_BUILD} // 'build';
my $dir = tempdir(CLEANUP => 1);

my $symbolizer = SymLlvm::symbolizer();

# Allowed differences, and why: docs/formats/dwarf.md.
my %explained = map { $_ => 1 } 'padding', 'qualified', 'line without a file';

sub compare {
    my ($name, $file, $least) = @_;
    my $out = `python3 t/lib/dwarf_compare.py $build/t/dwarf_lookup $file \\
        --symbolizer $symbolizer --random 5000 --show 3 2>$dir/err`;
    is($?, 0, "$name: compared");
    my $r = eval { decode_json($out) } or return fail("$name: $out");

    cmp_ok($r->{named}, '>=', $least, "$name: addresses with functions");
    is_deeply([grep { !$explained{$_} } sort keys %{$r->{different}}], [],
              "$name: $r->{addresses} addresses")
        or diag(`cat $dir/err`);
}

open(my $out, '>', "$dir/a.c") or die;
print $out <<'END';
struct node { int value; struct node *next; };
static inline int square(int x)
{
    int y = x * x;
    return y > 9 ? y + __builtin_popcount(x) : y;
}
static inline int sum(const struct node *n)
{
    int total = 0;
    for (; n; n = n->next)
        total += square(n->value);
    return total;
}
__attribute__((noinline)) int both(struct node *a, struct node *b)
{
    return sum(a) + sum(b) * square(a->value);
}
__attribute__((cold, noinline)) int never(int x) { return x + 1; }
int main(int argc, char **argv)
{
    struct node n = { argc, 0 }, m = { argc + 1, &n };
    (void) argv;
    if (argc > 100)
        return never(argc);
    return both(&m, &n);
}
END
close($out);

for my $how ('-gdwarf-2 -O1', '-gdwarf-3 -O2', '-gdwarf-4 -O2',
             '-gdwarf-5 -O0', '-gdwarf-5 -O2', '-gdwarf-5 -gdwarf64 -O2',
             '-gdwarf-5 -O2 -ffunction-sections -Wl,--gc-sections',
             '-gdwarf-5 -O2 -flto')
{
    is(system("gcc $how $dir/a.c -o $dir/a.out 2>$dir/err"), 0, "gcc $how")
        or diag(`cat $dir/err`);
    compare("gcc $how", "$dir/a.out", 20);
}

# Split units: each in its own .dwo, then all in a .dwp.  Without these files
# the rest has only lines, so answers with functions come from them.
my %packer = (gcc => 'dwp -e', clang => 'llvm-dwp -e');

for my $how ('gcc -gdwarf-4', 'gcc -gdwarf-5', 'clang -gdwarf-4',
             'clang -gdwarf-5')
{
    my ($cc) = split(/ /, $how);

    is(system("cd $dir && $how -gsplit-dwarf -O2 -ffunction-sections -c a.c"
              . " && $cc a.o -o split 2>err"), 0, "$how -gsplit-dwarf")
        or diag(`cat $dir/err`);
    unlink("$dir/split.dwp");
    compare("$how: .dwo", "$dir/split", 20);

    # gold's dwp crashes on DWARF 5, LLVM's never ends on gcc's output
    next if $how eq 'gcc -gdwarf-5';
    is(system("cd $dir && $packer{$cc} split -o p 2>err && rm a.dwo"
              . ' && mv p split.dwp'), 0, "$how: packed")
        or diag(`cat $dir/err`);
    compare("$how: .dwp", "$dir/split", 20);
}

# C++ of the standard library; its real units have repeated attributes
compare('crash.debug', fixtures('elf/crash.debug'), 5000);

done_testing();
