#!/usr/bin/perl

# libdwarf, which shares no code with ours, must find the same functions,
# ranges, names and lines in a debug file as a dump of it contains: in real
# files, and in those that gcc and clang make with DWARF 2 to 5.  It gets its
# sections from our readers of ELF and Mach-O, so it also reads zstd and slices
# of fat files.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP;
use Test::More;

use SymElf qw(folder run_ok output);
use SymFixtures qw(fixtures have_fixtures);
use SymLoader qw(root read_file write_file);
use SymMacho qw(fat);

my $dir = folder();
my $read = root() . '/' . ($ENV{SYM_BUILD} // 'build') . '/t/libdwarf_read';
my $t = SymLoader->new;

sub dump_of {
    my ($file) = @_;
    my $r = $t->run({ no_store => 1 }, 'dump', '--no-demangle',
                    '--format=json', $file);
    is("$r->{code}$r->{err}", '0', '... is dumped');
    return $r->{out};
}

# The counts of t/lib/libdwarf_compare.py; its messages go to a file.
sub differences {
    my ($file, $dump, @options) = @_;
    my $path = write_file("$dir/dump.json", $dump);
    my $out = output('/bin/sh', '-c', 'exec "$0" "$@" 2>' . "$dir/said",
                     'python3', root() . '/t/lib/libdwarf_compare.py', $read,
                     $path, $file, '--show', 3, @options);

    return eval { decode_json($out) } // die read_file("$dir/said");
}

# Allowed differences, and why: docs/formats/dwarf.md.
my %explained = map { $_ => 1 } 'symbol', 'qualified', 'claimed twice',
    'lines without a function', 'first file', 'folder twice';

sub agree {
    my ($name, $file, $functions, $lines, @options) = @_;

    pass($name);
    my $dump = dump_of($file);
    my $r = differences($file, $dump, @options);
    is_deeply($r->{errors}, [], '... libdwarf reads all of it');
    cmp_ok($r->{functions}, '>=', $functions, '... functions');
    cmp_ok($r->{lines}, '>=', $lines, '... and positions with a line');
    is_deeply([ grep { !$explained{$_} } sort keys(%{$r->{different}}) ], [],
              '... are the same')
        or diag(read_file("$dir/said"));
    return ($dump, $r);
}

# --- real files ---

my $debug = fixtures('elf/crash.debug');
for my $packed ('', '-zlib', '-zstd') {
    my (undef, $r) = agree("crash.debug$packed", "$debug$packed", 155, 6500);

    # old versions of libdwarf stopped at repeated attributes
    is($r->{functions} + $r->{different}{'claimed twice'}, 162,
       '... no function is missing') if have_fixtures();
}

SKIP: {
    my $dsym = fixtures('macho/crash.dSYM/Contents/Resources/DWARF/crash');
    agree('crash.dSYM', $dsym, 190, 4500);

    write_file("$dir/fat", fat([ 0x01000007, 3, read_file($dsym) ]));    # x86_64
    agree('a fat file', "$dir/fat", 190, 4500, '--arch', 'x86_64');
}

# --- files of each version ---

write_file("$dir/shape.h", <<'END');
namespace shapes {
template <class T> struct square {
    T side;
    T area() const { return side * side; }
};
static inline int add(int a, int b) { return a + b * 3; }
}
END
write_file("$dir/all.cc", <<'END');
#include <vector>
#include "shape.h"
namespace {
struct hidden { static int f(int); };
__attribute__((noinline)) int hidden::f(int x) { return shapes::add(x, 4); }
}
struct base { virtual ~base() {} virtual int go(int x) = 0; };
struct one : base { int go(int x) override; };
int one::go(int x)
{
    auto times = [x](int y) { return x * y; };
    if (x > 7)
        throw 7;
    return times(x) + hidden::f(x);
}
int areas(std::vector<int> &v)
{
    int sum = 0;
    for (int x : v)
        sum += shapes::square<int>{x}.area();
    v.push_back(sum);
    return sum;
}
long digits(const char *s)
{
    long n = 0;
    while (*s >= '0' && *s <= '9') {
        n = n * 10 + (*s - '0');
        s++;
    }
    if (n > 99)
        return -n;
    return n;
}
int main(int argc, char **argv)
{
    std::vector<int> v{argc};
    one o;
    base *b = &o;
    return b->go(argc) + areas(v) + digits(argv[0]);
}
END
write_file("$dir/alone.S", <<'END');
    .text
    .globl alone
    .type alone, @function
alone:
    nop
    ret
    .size alone, . - alone
    .section .note.GNU-stack, "", @progbits
END

for my $how ('g++ -gdwarf-2 -O1', 'g++ -gdwarf-3 -O2', 'g++ -gdwarf-4 -O2',
             'g++ -gdwarf-5 -O0', 'g++ -gdwarf-5 -O2',
             'g++ -gdwarf-5 -gdwarf64 -O2',
             'g++ -gdwarf-5 -O2 -ffunction-sections -Wl,--gc-sections',
             'g++ -gdwarf-4 -O1 -fdebug-types-section',
             'clang++ -gdwarf-2 -O1', 'clang++ -gdwarf-3 -O1',
             'clang++ -gdwarf-4 -O2', 'clang++ -gdwarf-5 -O0',
             'clang++ -gdwarf-5 -O2', 'clang++ -gdwarf-5 -O2 -gmlt')
{
    run_ok('/bin/sh', '-c', "cd $dir && $how all.cc alone.S -o all");
    agree($how, "$dir/all", 3, 80);
}

# --- differences are detected ---

my ($dump) = agree('once more', $debug, 155, 6500);
my %wrong = (
    'other: name' => sub { s/("function": "_ZN)([^"]*", "inlines")/$1x$2/ },
    'other: range' => sub {
        s/("size": )(\d+)(, "function": "_ZN)/$1 . ($2 - 1) . $3/e;
    },
    'other: line' => sub { s/("line": )(\d+)(\}\]\})/$1 . ($2 + 1) . $3/e },
);
for my $kind (sort keys(%wrong)) {
    local $_ = $dump;
    ok($wrong{$kind}->(), "$kind: made");
    my $r = differences($debug, $_);
    ok($r->{different}{$kind}, '... and found');
}

done_testing();
