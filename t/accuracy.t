#!/usr/bin/perl

# A crash must name the functions, calls and lines that llvm-symbolizer names.
# Where it does not there is a cause that bench/accuracy knows: what no rule of
# it explains is a bug.  Here with small files; `./dev accuracy` takes Debian's.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

use SymLoader qw(fixtures);

my $dir = tempdir(CLEANUP => 1);
my $loader = abs_path(($ENV{SYM_BUILD} // 'build') . '/symloader');

sub spurt {
    my ($name, $text) = @_;
    open my $fh, '>', "$dir/$name" or die "$name: $!\n";
    print $fh $text;
    close $fh or die;
    return "$dir/$name";
}

# What bench/accuracy/run says of a file.
sub compared {
    my ($file, @options) = @_;
    my $said = qx(bench/accuracy/run --json --loader $loader \\
                  --random 3000 --votes 600 --file $file @options 2>$dir/err);
    my $code = $? >> 8;
    my $r = eval { decode_json($said)->[0] };
    die "$file: $said", do { local (@ARGV, $/) = "$dir/err"; <> } if !$r;
    return { %$r, code => $code };
}

sub is_explained {
    my ($r, $name, $least, @classes) = @_;
    my %may = map { $_ => 1 } @classes;
    my @other = grep { !$may{$_} } sort keys %{ $r->{differences} };

    cmp_ok($r->{addresses}, '>=', $least, "$name: addresses");
    is_deeply(\@other, [], '... differences are those of known causes')
        or diag(encode_json($r->{samples}));
    is($r->{code}, 0, '... and no error');
}

# --- built here: what a symbol table knows better than DWARF ---

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
    cmp_ok($r->{asked}, '>', 0, '... eu-addr2line was asked too');
}

# --- a real one ---

SKIP: {
    my $debug = fixtures() . '/elf/crash.debug';
    skip('no fixtures', 1) unless -e $debug;

    my $r = compared($debug);
    is_explained($r, 'crash.debug', 3000, 'padding', 'qualified',
                 'file of the symbol', 'past its section');
    cmp_ok($r->{equal}, '>', 0.4 * $r->{addresses}, '... and many none');
}

# --- it would be seen if we were wrong ---

is(system("gcc -O2 -g $dir/a.c -x c - -Wl,--build-id -o $dir/a.out <<'END'
int labelled(int x) { return x; }
END"), 0, 'gcc');

for my $case (
    [ 'a line', 's/"line": (?=\d)/"line": 9/' ],
    [ 'a name', 's/"function": "split"/"function": "spilt"/' ],
    [ 'a call', 's/, "inlines": \[[^]]*\]//' ],
    [ 'a function', 's/.*"function": "main".*/{}/' ])
{
    my ($what, $edit) = @$case;
    spurt('edit', $edit);
    my $liar = spurt('liar', <<"    END" =~ s/^ +//gmr);
        #!/bin/sh
        test "\$1" = lookup || exec $loader "\$@"
        $loader "\$@" | perl -p $dir/edit
    END
    chmod 0755, $liar;

    my $r = compared("$dir/a.out", '--loader', $liar);
    cmp_ok($r->{differences}{'not explained'} // 0, '>', 0,
           "$what that is wrong has no cause");
    is($r->{code}, 1, '... and is an error');
}

done_testing();
