#!/usr/bin/perl

# dwz makes the DWARF of a file smaller: shared parts of its units go to partial
# units, which name a line table and have no code.  Answers must equal those for
# the file before dwz, every inlined call and line; LLVM reads that one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cwd qw(abs_path);
use JSON::PP;
use Test::More;

use SymElf qw(output run_ok);
use SymLlvm;
use SymLoader qw(write_file);

my $build = $ENV{SYM_BUILD} // 'build';
my $loader = abs_path("$build/symloader");
my $dir = SymElf::folder();

# dwz shares the common parts of the standard library
write_file("$dir/one.cc", <<'CODE');
#include <algorithm>
#include <map>
#include <string>
#include <vector>

typedef std::map<std::string, std::vector<int>> table;
int sum(table &t, const std::string &key);

int main(int argc, char **argv)
{
    table t;
    for (int i = 0; i < argc; i++) {
        t[argv[i]].push_back(i);
        std::sort(t[argv[i]].begin(), t[argv[i]].end());
    }
    return sum(t, argv[0]);
}
CODE
write_file("$dir/two.cc", <<'CODE');
#include <algorithm>
#include <map>
#include <string>
#include <vector>

int sum(std::map<std::string, std::vector<int>> &t, const std::string &key)
{
    int total = 0;
    for (auto &entry : t) {
        std::sort(entry.second.begin(), entry.second.end());
        for (int value : entry.second)
            total += value;
    }
    t[key].push_back(total);
    return total;
}
CODE

# All output of `symloader dump`, except the MODULE record with the file's name.
sub dumped {
    my ($file) = @_;
    my @lines = split /\n/, output($loader, 'dump', $file);
    return grep { !/^MODULE / } @lines;
}

for my $how ('-gdwarf-2 -gno-strict-dwarf', '-gdwarf-3', '-gdwarf-4',
             '-gdwarf-5')
{
    my $whole = "$dir/whole", my $small = "$dir/small";
    run_ok('g++', split(/ /, $how), '-O2', '-Wl,--build-id', "$dir/one.cc",
           "$dir/two.cc", '-o', $whole);
    run_ok('dwz', $whole, '-o', $small);
    like(output('llvm-dwarfdump', $small), qr/DW_TAG_partial_unit/,
         "$how: dwz made partial units");

    my $said = output('python3', 't/lib/dwarf_compare.py',
        "$build/t/dwarf_lookup", $small, '--whole', $whole,
        '--symbolizer', SymLlvm::symbolizer(), '--random', 3000);
    my $r = eval { decode_json($said) } or die "$how: $said";
    cmp_ok($r->{named}, '>', 1000, '... addresses with functions');
    delete @{ $r->{different} }{qw(padding qualified)};
    is_deeply($r->{different}, {},
        '... answers equal those for the original file');

    my @whole = dumped($whole);
    cmp_ok(scalar(grep { /^INLINE / } @whole), '>', 300, '... calls');
    is_deeply([dumped($small)], \@whole, '... each is kept');
}

done_testing();
