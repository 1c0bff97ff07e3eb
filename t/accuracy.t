#!/usr/bin/perl

# A crash must name the functions, calls and lines that llvm-symbolizer names.
# Every difference must have a cause that bench/accuracy knows; one that no rule
# explains is a bug.  This test uses small files; `./dev accuracy` takes
# Debian's.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

use SymFixtures qw(fixtures have_fixtures);
use SymLoader;
use SymMacho qw(macho fat dwarf);

my $dir = tempdir(CLEANUP => 1);
my $loader = abs_path(($ENV{SYM_BUILD} // 'build') . '/symloader');

sub spurt {
    my ($name, $text) = @_;
    open my $fh, '>', "$dir/$name" or die "$name: $!\n";
    print $fh $text;
    close $fh or die;
    return "$dir/$name";
}

# The report of bench/accuracy/run about the modules of a file.
sub all_compared {
    my ($file, @options) = @_;
    my $said = qx(bench/accuracy/run --json --loader $loader \\
                  --random 3000 --votes 600 --file $file @options 2>$dir/err);
    my $code = $? >> 8;
    my $r = eval { decode_json($said) };
    die "$file: $said", do { local (@ARGV, $/) = "$dir/err"; <> } if !$r;
    return map { { %$_, code => $code } } @$r;
}

sub compared {
    my ($file, @options) = @_;
    my ($r, @more) = all_compared($file, @options);
    is(scalar(@more), 0, "one module in $file");
    return $r;
}

sub is_explained {
    my ($r, $name, $least, @classes) = @_;
    my %may = map { $_ => 1 } @classes;
    my @other = grep { !$may{$_} } sort keys %{ $r->{differences} };

    cmp_ok($r->{addresses}, '>=', $least, "$name: addresses");
    is_deeply(\@other, [], '... all differences have known causes')
        or diag(encode_json($r->{samples}));
    is($r->{code}, 0, '... and no error');
}

# --- built here: cases in which a symbol table knows more than DWARF ---

spurt('a.c', <<'END');
#include <stdlib.h>
static inline int square(int x) { return x > 9 ? x * abs(x) : x; }
__attribute__((noinline)) int own(int a) { return square(a) + square(a + 1); }
int known_as(int) __attribute__((alias("own")));
__attribute__((cold, noinline)) static void never(int x) { exit(x); }
__attribute__((noinline)) int split(int *p)
{
    if (__builtin_expect(*p == 77, 0)) {
        never(*p);
    }
    return *p + own(*p);
}
int labelled(int);
int main(int argc, char **argv)
{
    (void) argv;
    return split(&argc) + labelled(argc) + known_as(argc);
}
END

# lines, without functions, with padding between them
spurt('b.S', <<'END');
    .text
    .globl labelled
    .type labelled, @function
labelled:
    mov %edi, %eax
    ret
    .size labelled, .-labelled
    .balign 32
    .type second, @function
second:
    xor %eax, %eax
    ret
    .size second, .-second
    .section .note.GNU-stack,"",@progbits
END

for my $how ('-O2 -gdwarf-5', '-O2 -gdwarf-4', '-O0 -gdwarf-5',
             '-O2 -flto -gdwarf-5')
{
    is(system("gcc $how $dir/a.c $dir/b.S -Wl,--build-id -o $dir/a.out"), 0,
       "gcc $how");
    my $r = compared("$dir/a.out");
    is_explained($r, $how, 100, 'padding', 'file of the symbol', 'version',
                 'past its section');
    is($r->{functions} + ($r->{differences}{'past its section'} // 0),
       $r->{addresses}, '... functions and calls are equal');
    cmp_ok($r->{asked}, '>', 0, '... eu-addr2line was run, too');
}

# --- Mach-O: the line table's own lines, and `symloader atos` by atos's rule,
# which the specification's example shows ---

my $base = 0x100000000;
my $app = macho(
    text => [ $base + 0x100, $base + 0x200 ],
    symbols => [ [ '_f', $base + 0x100 ], [ '_g', $base + 0x180 ] ],
    sections => { # LLVM finds the unit by it
        __debug_aranges => pack('V v V C2 x4 Q<4', 44, 2, 0, 8, 0,
                                $base + 0x100, 0x40, 0, 0),
        dwarf(
        functions => [ [ 'f', $base + 0x100, $base + 0x140 ] ],
        rows => [ map { [ $base + $_->[0], @$_[ 1, 2 ] ] }
                  [ 0x100, 46, 's' ], [ 0x108, 48, 's' ], [ 0x110, 0, '' ],
                  [ 0x118, 48, '' ], [ 0x120, 49, 's' ], [ 0x120, 50, 's' ],
                  [ 0x130, 51, 's' ], [ 0x140, 51, 'e' ] ]) });
my $small = macho(uuid => 'F' x 32, text => [ $base + 0x100, $base + 0x110 ],
                  symbols => [ [ '_h', $base + 0x100 ] ]);
my $mine = spurt('App', fat([ 0x0100000c, 0, $app ], [ 0x0100000c, 2, $small ]));

{
    my ($r, $other) = all_compared($mine);
    is_explained($r, 'Mach-O', 0x100);
    is($r->{equal}, $r->{addresses}, '... all is equal');
    # line 0 of eight bytes, and the second line of sixteen
    is($r->{atos}, 24, '... lines that atos shows differently');
    is($r->{functions}, $r->{addresses}, '... functions and calls are equal');
    is($r->{asked}, 0, '... eu-addr2line was not run');
    is_explained($other, 'the other slice', 0x10);
}

# --- real ones ---

SKIP: {
    my $debug = fixtures('elf/crash.debug');

    my $r = compared($debug);
    is_explained($r, 'crash.debug', 3000, 'padding', 'qualified',
                 'file of the symbol', 'past its section');
    cmp_ok($r->{equal}, '>', 0.4 * $r->{addresses}, '... and many without one')
        if have_fixtures();

    my $dwarf = 'Contents/Resources/DWARF';
    for ([ "crash.dSYM/$dwarf/crash", 3000, 1 ],
         [ 'crash', 3000, 1 ],
         [ "Example.framework.dSYM/$dwarf/Example", 40, 0, 'data' ])
    {
        my ($name, $least, $equal, @classes) = @$_;
        for my $r (all_compared(fixtures("macho/$name"))) {
            is_explained($r, $r->{name}, $least, @classes);
            cmp_ok($r->{functions}, '>=', $equal * $r->{addresses},
                   '... functions and calls are equal');
        }
    }
}

# --- wrong answers are detected ---

is(system("gcc -O2 -g $dir/a.c -x c - -Wl,--build-id -o $dir/a.out <<'END'
int labelled(int x) { return x; }
END"), 0, 'gcc');

for my $case (
    [ 'a line', 's/"line": (?=\d)/"line": 9/' ],
    [ 'a name', 's/"function": "split"/"function": "spilt"/' ],
    [ 'a call', 's/, "inlines": \[[^]]*\]//' ],
    [ 'a function', 's/.*"function": "main".*/{}/' ],
    [ 'atos\'s line for LLVM\'s', 's/"line": 50/"line": 49/', $mine ],
    [ 'LLVM\'s line for atos\'s', 's/main.m:49\)/main.m:50)/', $mine, 'atos' ],
    [ 'an atos line', 's/main.m:49\)/main.m:48)/', $mine, 'atos' ])
{
    my ($what, $edit, $file, $command) = @$case;
    $command //= 'lookup';
    spurt('edit', $edit);
    my $liar = spurt('liar', <<"    END" =~ s/^ +//gmr);
        #!/bin/sh
        test "\$1" = $command || exec $loader "\$@"
        $loader "\$@" | perl -p $dir/edit
    END
    chmod 0755, $liar;

    my ($r) = all_compared($file // "$dir/a.out", '--loader', $liar);
    cmp_ok($r->{differences}{'not explained'} // 0, '>', 0,
           "a wrong $what has no cause");
    is($r->{code}, 1, '... and is an error');
}

# --- help ---

{
    # on a machine where nothing can be installed or built
    mkdir "$dir/bin" or die;
    for my $tool (qw(dirname python3)) {
        symlink SymTools::path($tool), "$dir/bin/$tool" or die "$tool: $!";
    }
    local @ENV{qw(PATH JOBS)} = ("$dir/bin", 1);
    like(qx(./dev accuracy --help 2>&1), qr/^usage: .*--random/s,
         'help is printed, whatever is installed');
}

done_testing();
