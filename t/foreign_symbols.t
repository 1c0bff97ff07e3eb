#!/usr/bin/perl

# A label in assembler has no size, so it covers everything up to the next
# symbol, including functions whose own symbols were stripped.  Each of these
# keeps the name that DWARF has for it, and `symloader dump` writes them all.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(output run_ok);
use SymLoader qw(write_file json_lines);

my $t = SymLoader->new;
my $dir = SymElf::folder();

write_file("$dir/a.c", <<'CODE');
int printf(const char *, ...);
__asm__(".text\n.globl label\nlabel:\n nop\n nop\n ret\n");
static __attribute__((noinline)) int first(int x)
{
    return x * 3 + printf("%d", x);
}
static __attribute__((noinline)) int second(int x)
{
    return x * 5 + printf("%x", x);
}
int main(int argc, char **argv)
{
    (void) argv;
    return first(argc) + second(argc);
}
CODE
run_ok('gcc', '-O1', '-g', '-fno-toplevel-reorder', '-Wl,--build-id',
       '-o', "$dir/whole", "$dir/a.c");
run_ok('objcopy', '--strip-symbol=first', '--strip-symbol=second',
       "$dir/whole", "$dir/a.out");

# at the addresses in the original file
my %at = map { /^([0-9a-f]+) (?:[0-9a-f]+ )?[Tt] (\S+)$/ ? ($2 => hex $1) : () }
    split /\n/, output('nm', '-S', "$dir/whole");
cmp_ok($at{label}, '<', $at{first}, 'the label comes first');

my $r = $t->run('dump', "$dir/a.out");
is($r->{code}, 0, 'dump') or diag($r->{err});
my %name = map { /^FUNC (\S+) \S+ \S+ (.*)/ ? (hex $1 => $2) : () }
    split /\n/, $r->{out};
is($name{ $at{$_} }, $_, "... with $_") for qw(first second main);

$r = $t->run('load', "$dir/a.out");
is($r->{code}, 0, 'load') or diag($r->{err});
my ($module) = $r->{out} =~ /: (a\.out\/[0-9A-F]+):/;
my @names = qw(label label first first second second main);
my @asked = (@at{qw(label)}, $at{first} - 1, $at{first}, $at{second} - 1,
             $at{second}, $at{main} - 1, $at{main});
$r = $t->run('lookup', $module, '--json', map { sprintf '%x', $_ } @asked);
is_deeply([ map { $_->{function} } json_lines($r->{out}) ], \@names,
          'lookup: each by its own name');

is($t->run('verify')->{code}, 0, 'the store is sound');

done_testing();
