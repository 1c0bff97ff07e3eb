#!/usr/bin/perl

# Users who move symbols as text must get the answers of the original file: a
# module that is dumped and loaded again gives the same answer for every
# address, also for addresses outside all functions (the PLT, padding, before
# the first function and after the last).  A PUBLIC has no end, so `_init` could
# take the whole PLT.  This test uses programs of real compilers, and the
# fixtures; nm and readelf say where symbols must end.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(json_lines read_file write_file);

my $dir = tempdir(CLEANUP => 1);
my $oracle = "$FindBin::Bin/lib/sym_oracle.py";
my $patience = 300;    # seconds, for a compiler

write_file("$dir/a.c", <<'END');
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline int square(int x) { return x > 9 ? x * abs(x) : x; }
__attribute__((cold, noinline)) static void never(int x)
{
    fprintf(stderr, "%d\n", x);
    exit(x);
}
__attribute__((noinline)) int own(int a) { return square(a) + square(a + 1); }
int known_as(int) __attribute__((alias("own")));
__attribute__((noinline)) int split(int *p)
{
    if (__builtin_expect(*p == 77, 0)) {
        never(square(*p));
    }
    return *p + own(*p);
}
int b_labelled(int);
int b_main(int argc, char **argv)
{
    return split(&argc) + b_labelled(argc) + known_as(argc)
        + (int) strlen(argv[0]);
}
END

write_file("$dir/main.c", <<'END');
int b_main(int, char **);
int main(int argc, char **argv) { return b_main(argc, argv); }
END

# without DWARF: with and without sizes, with padding between them, nested
write_file("$dir/b.s", <<'END');
    .text
    .globl b_labelled
    .type b_labelled, @function
b_labelled:
    mov %edi, %eax
    ret
    .size b_labelled, .-b_labelled
    .balign 64
b_sizeless:
    xor %eax, %eax
    ret
    .balign 64
    .globl b_outer
    .type b_outer, @function
b_outer:
    nop
    .globl b_inner
    .type b_inner, @function
b_inner:
    nop
    nop
    .size b_inner, .-b_inner
    nop
    ret
    .size b_outer, .-b_outer
    .balign 64
    .section .note.GNU-stack,"",@progbits
END

write_file("$dir/c.cc", <<'END');
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
extern "C" int b_main(int, char **);
namespace shop {
template <typename T> struct shelf {
    std::vector<T> things;
    T best() const
    {
        if (things.empty()) {
            throw std::runtime_error("nothing there");
        }
        return *std::max_element(things.begin(), things.end(),
                                 [](const T &a, const T &b) { return a < b; });
    }
};
}
__attribute__((noinline)) static std::string longest(int n, char **names)
{
    shop::shelf<std::string> s{{names, names + n}};
    std::map<std::string, int> seen;
    for (auto &t : s.things) {
        seen[t]++;
    }
    return seen.size() > 3 ? s.best() : seen.begin()->first;
}
__attribute__((visibility("default"))) int take(int argc, char **argv)
{
    try {
        return (int) longest(argc, argv).size() + b_main(argc, argv);
    } catch (std::exception &e) {
        return e.what()[0];
    }
}
int main(int argc, char **argv) { return take(argc, argv); }
END

sub run_tool {
    my (@command) = @_;
    my $said = qx(cd '$dir' && timeout $patience @command 2>&1);
    is($?, 0, $command[0]) or BAIL_OUT("@command: $said");
    return;
}

sub built {
    my ($name, $compiler, $options, @sources) = @_;
    run_tool("$compiler $options @sources -Wl,--build-id -o $name");
    return "$dir/$name";
}

sub load {
    my ($t, $file) = @_;
    my $r = $t->run('load', $file);
    $r->{code} == 0 or die "load $file: $r->{err}";
    return;
}

sub dump_of {
    my ($t, $file, @options) = @_;
    my $r = $t->run({ no_store => 1 }, 'dump', @options, $file);
    $r->{code} == 0 or die "dump $file: $r->{err}";
    return $r->{out};
}

# Things that the format cannot express (docs/use/dump.md): code with lines and
# no name, and paths with name/.. in them, which its readers shorten.
sub as_in_sym {
    my ($line) = @_;
    $line =~ s/"function": ""/"function": "<name omitted>"/g;
    1 while $line =~ s{(?<=/)(?!\.\.?/)[^/"]+/\.\./}{};
    return $line =~ s{/(?:\./)+}{/}gr;
}

# The first byte after all records, at most.
sub end_of {
    my ($text) = @_;
    my $end = 0;
    while ($text =~ /^(?:FUNC (\w+) (\w+)|PUBLIC (\w+))/mg) {
        my $to = defined $3 ? hex($3) + 1 : hex($1) + hex $2;
        $end = $to if $to > $end;
    }
    return $end;
}

# Compares all answers; returns the dump's file.
sub same_answers {
    my ($what, $file, %o) = @_;
    my ($from, $to) = map { SymLoader->new } 1 .. 2;
    my $text = dump_of($from, $file, @{ $o{options} // [] });
    my ($id, $name) = $text =~ /^MODULE \S+ \S+ (\S+) (.*)/;
    my $sym = $to->file('dumped.sym', $text);
    my $end = end_of($text) + 4096;
    my $step = $end > 200_000 ? 3 : 1;

    load($from, $file);
    load($to, $sym);

    my $asked = '';
    for (my $at = 0; $at < $end; $at += $step) {
        $asked .= sprintf "%x\n", $at;
    }
    $asked .= "7fffffff\nfffffffe\nffffffff\n";

    my ($n, $known, $wrong, $first) = (0, 0, 0, '');
    my $answers;
    my @said = map {
        my $r = $_->run({ stdin => $asked }, 'lookup', '--json', "$name/$id",
                        '-');
        $answers //= \$r->{out};
        # 1: some addresses have no answer
        is("$r->{code}$r->{err}", '1', "$what: " . ($_ == $to ? 'the text'
                                                     : 'the file'));
        open my $lines, '<', \$r->{out} or die;
        $lines;
    } $from, $to;

    while (defined(my $ours = readline $said[0])) {
        my $theirs = readline($said[1]) // 'nothing';
        $n++;
        $known++ if $ours =~ /"function"/;
        next if $ours eq $theirs;
        next if as_in_sym($ours) eq $theirs;
        $first = "$ours but $theirs" if !$wrong++;
    }

    cmp_ok($n, '>=', $end / $step, "$what: all answers");
    cmp_ok($known, '>', 0, '... some have a name');
    cmp_ok($known, '<', $n, '... and some none');
    is("$wrong $first", '0 ', '... text and file give the same');
    same_as_symbfile($what, $answers, $file, $asked, $text);
    return $sym;
}

# A symbfile has the addresses of the file itself, and no start of a function that
# goes on after another.
sub same_as_symbfile {
    my ($what, $answers, $file, $asked, $text) = @_;
    my $to = SymLoader->new;
    my $id = '77efa716a912a49217445787329fd29a';
    my $symbfile = $to->file("$id.symbfile",
                             dump_of($to, $file, '--format=symbfile'));
    my ($va) = qx(python3 '$FindBin::Bin/lib/symbfile.py' read '$symbfile')
        =~ /"va": (\d+)/;
    my ($first) = sort { $a <=> $b } map { hex } $text =~ /^(?:FUNC|PUBLIC) (\w+)/mg;
    my $base = ($va > 0xffffffff ? $va & 0x7fffffff : $va) - $first;

    load($to, $symbfile);

    my $asked_there = $asked =~ s/^(\w+)$/sprintf '%x', hex($1) + $base/gmer;
    my ($n, $wrong, $first_wrong) = (0, 0, '');
    my $r = $to->run({ stdin => $asked_there }, 'lookup', '--json', $id, '-');
    my @said = map { open my $lines, '<', $_ or die; $lines } $answers, \$r->{out};

    while (defined(my $ours = readline $said[0])) {
        my $theirs = readline($said[1]) // 'nothing';
        for ($ours, $theirs) {
            s/"module": "[^"]*", "module_offset": "[^"]*"//;
            s/"function_offset": "[^"]*"(?:, "function_size": \d+)?//g;
        }
        $n++;
        $first_wrong = "$ours but $theirs" if $ours ne $theirs && !$wrong++;
    }

    cmp_ok($n, '>', 1000, "$what: all answers of its symbfile");
    is("$wrong $first_wrong", '0 ', '... the same of symbfile and file');
    return;
}

sub answers_of {
    my ($sym, @addrs) = @_;
    my $in = write_file("$dir/asked", join '', map { sprintf "%x\n", $_ } @addrs);
    my @answers = json_lines(scalar qx(python3 '$oracle' '$sym' - <'$in'));
    @answers == @addrs or die "the oracle answered " . @answers . "\n";
    return @answers;
}

# Each section with code: its name, beginning and end.
sub code_sections {
    my ($file) = @_;
    my ($base) = map { /^\s*LOAD\s+\S+\s+0x(\w+)/ ? hex $1 : () }
        qx(readelf -lW '$file' 2>&1);
    my @found = map {
        /\]\s+(\S+)\s+\S+\s+(\w+)\s+\w+\s+(\w+)\s+\w+\s+\w*X/
            ? [ $1, hex($2) - $base, hex($2) + hex($3) - $base ] : ()
    } qx(readelf -SW '$file');
    return ($base, @found);
}

# Nothing in the text names the PLT, and no symbol of known size continues after
# its end.
sub ends_are_right {
    my ($what, $file, $sym, $nm) = @_;
    my ($base, @sections) = code_sections($file);
    my @plt = map { ($_->[1], $_->[2] - 1) } grep { $_->[0] =~ /^\.plt/ }
        @sections;
    my %size = map { /^(\w+) (\w+) [tTwWi] / ? (hex($1) - $base, hex $2) : () }
        qx(nm $nm -S --defined-only '$file');
    my @starts = sort { $a <=> $b }
        map { /^(\w+) (?:\w+ )?[tTwWi] / ? hex($1) - $base : () }
        qx(nm $nm -S --defined-only '$file');
    my @ends = grep {
        my ($begin, $end) = ($_, $_ + $size{$_});
        # no other symbol begins in it or right after it, or continues there
        !grep { $_ > $begin && $_ <= $end
                    || $_ < $begin && $_ + ($size{$_} // 1) > $end } @starts;
    } sort { $a <=> $b } keys %size;

    cmp_ok(scalar(@ends), '>', 2, "$what: there are symbols with an end");
    my @last = answers_of($sym, map { $_ + $size{$_} - 1 } @ends);
    my @past = answers_of($sym, map { $_ + $size{$_} } @ends);
    is(join(' ', map { sprintf '%x', $ends[$_] }
                grep { !defined $last[$_]{function} } 0 .. $#ends), '',
       '... the last byte is named');
    my @bad = grep {
        defined $past[$_]{function}
            && $past[$_]{function_addr} == $last[$_]{function_addr}
    } 0 .. $#ends;
    is(join(' ', map { sprintf '%x %s', $ends[$_], $past[$_]{function} } @bad),
       '', '... the byte after it is not theirs');

    is(join(' ', map { $_->{function} // () } answers_of($sym, @plt)), '',
       '... and ' . @plt . ' bytes of the PLT have no name');
    return scalar @plt;
}

# --- programs ---

my @c = ('a.c', 'b.o', 'main.c');
my @cc = ('c.cc', 'a.o', 'b.o');
my $pic = '-shared -fPIC -fvisibility=default';

run_tool('as b.s -o b.o');
run_tool('gcc -O2 -g -c a.c -o a.o');
run_tool('gcc -O2 -g -fPIC -c a.c -o a.pic.o');

my @builds = (
    [ 'gcc -O0' => built('c0', 'gcc', '-O0 -g', @c) ],
    [ 'gcc -O1, fixed address' =>
          built('c1', 'gcc', '-O1 -g -gdwarf-4 -no-pie -fno-pie', 'a.c',
                'b.s', 'main.c') ],
    [ 'gcc -O2, hot and cold' =>
          built('c2', 'gcc', '-O2 -g -freorder-blocks-and-partition', @c) ],
    [ 'gcc -O3, link time' => built('c3', 'gcc', '-O3 -g -flto', @c) ],
    [ 'gcc, static' => built('static', 'gcc', '-O2 -g -static', @c), ],
    [ 'g++ -O2' => built('cc2', 'g++', '-O2 -g', @cc) ],
    [ 'g++, a section a function' =>
          built('sections', 'g++',
                '-Os -g -ffunction-sections -Wl,--gc-sections', @cc) ],
    [ 'a shared library' =>
          built('shared.so', 'g++', "-O2 -g $pic", 'c.cc', 'a.pic.o', 'b.o') ],
    [ 'clang -O2' => built('clang2', 'clang', '-O2 -g', @c) ],
    [ 'clang++ -O1' => built('clangcc', 'clang++', '-O1 -gdwarf-5', @cc) ],
    [ 'without DWARF' => built('nodebug', 'gcc', '-O2', @c) ],
);

sub made_of {
    my ($from, $name, $command) = @_;
    run_tool("cp $from $name && $command $name");
    return "$dir/$name";
}

push @builds,
    [ '.dynsym alone' => made_of('shared.so', 'dynsym.so', 'strip') ],
    [ '.symtab alone' => made_of('c2', 'symtab', 'strip -g') ],
    [ 'through dwz' => made_of('cc2', 'dwz', 'dwz') ],
    [ 'a debug file' => made_of('cc2', 'cc2.debug',
                                'objcopy --only-keep-debug cc2') ];

my $plt = 0;
for (@builds) {
    my ($what, $file) = @$_;
    my $sym = same_answers($what, $file);
    $plt += ends_are_right($what, $file, $sym,
                           $what eq '.dynsym alone' ? '-D' : '');
}
cmp_ok($plt, '>', 2 * 10, 'most had a PLT');

# --- fixtures ---

for my $file (map({"elf/$_"} 'crash', 'crash.debug', 'dynsyms_only',
                  'debuglink/elf_without_debuglink'),
              map({"macho/$_"} 'crash',
                  'crash.dSYM/Contents/Resources/DWARF/crash'))
{
    SKIP: { same_answers($file, fixtures($file)) }
}

# --- those of Mozilla's dump_syms end where the next one begins ---

# Names in a stripped program: a marker where a section of code begins that no
# symbol names.
my $id = 'B060AD20C6B47781552708AA192E77390';
my $mozilla = write_file("$dir/mozilla.sym", <<"END");
MODULE Linux x86_64 $id basic
PUBLIC 1000 0 _init
PUBLIC 1020 0 <.plt ELF section in basic>
PUBLIC 1030 0 <.plt.got ELF section in basic>
PUBLIC 1040 0 _start
FUNC 1125 26 0 inline_1(int)
PUBLIC 1344 0 _fini
END
my $t = SymLoader->new;
load($t, $mozilla);
my %want = (
    0xfff => undef, 0x1017 => '_init', 0x101f => '_init',
    0x1025 => '<.plt ELF section in basic>',
    0x103f => '<.plt.got ELF section in basic>', 0x1124 => '_start',
    0x114b => undef, 0x1343 => undef, 0x9000 => '_fini',
);
my @at = sort { $a <=> $b } keys %want;
my @got = json_lines($t->run('lookup', '--json', "basic/$id",
                             map { sprintf '%x', $_ } @at)->{out});
is_deeply({ map { $at[$_] => $got[$_]{function} } 0 .. $#at }, \%want,
          'section markers are names, as for Mozilla\'s server');
is($t->run('dump', "basic/$id")->{out}, read_file($mozilla),
   '... and are read back unchanged');

done_testing();
