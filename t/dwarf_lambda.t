#!/usr/bin/perl

# g++ gives its lambdas no linkage name, so the function of an inlined lambda
# must be derived from the entries around it.  If the compiler gives a linkage
# name, that name is used, as by llvm-symbolizer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cwd qw(abs_path);
use Test::More;

use SymElf qw(output run_ok);
use SymLlvm;
use SymLoader qw(write_file);

my $build = $ENV{SYM_BUILD} // 'build';
my $loader = abs_path("$build/symloader");
my $dir = SymElf::folder();

# One call a line, so that the line identifies the call.
my $source = <<'CODE';
#define INLINED __attribute__((always_inline))
#define APART __attribute__((noinline))
#define WEAK __attribute__((weak)) // both units have it
extern volatile int sink;
namespace ns {
struct thing { int value; APART int method(int n); };
WEAK APART int thing::method(int n)
{
    return [this, n](int k) INLINED { sink += k; return value + n + k; }(n);
}
WEAK APART int in_namespace(int n)
{
    return [n](auto k) INLINED { sink += (int) k; return n * (int) k; }(2.5);
}
}
namespace {
APART int hidden(int n)
{
    return [n](int k) INLINED { sink += k; return n - k; }(sink);
}
}
template <class T> APART int instance(T x)
{
    return [x](int k) INLINED { sink += k; return (int) x + k; }(sink);
}
static APART int nested(int n)
{
    return [n](int k) INLINED {
        return [k, n](int j) INLINED {
            sink += j; return j + k + n; }(k) + 1;
    }(n);
}
static APART int named(int n)
{
    struct local { int a; INLINED int run(int k) { sink += k; return a * k; } };
    return local{n}.run(3);
}
static APART int unnamed(int n)
{
    struct { int a; INLINED int run(int k) { sink += k; return a - k; } } s{n};
    return s.run(3);
}
static inline INLINED int around(int n)
{
    return [n](int k) INLINED { sink += k; return n ^ k; }(n + 1);
}
struct whole {
    INLINED static int step(int n) { sink += n; return n; }
};
APART int ENTRY(int n)
{
    ns::thing t{n};
    return t.method(n) + ns::in_namespace(n) + hidden(n) + instance(n)
           + nested(n) + named(n) + unnamed(n) + around(n) + whole::step(n);
}
CODE
write_file("$dir/lambda.cc", $source);
write_file("$dir/main.cc", <<'CODE');
volatile int sink;
int first(int), second(int);
int main(int argc, char **) { return first(argc) + second(argc); }
CODE

# Names of inlined functions without a linkage name, from the source.
my @unlinked = (
    '(anonymous namespace)::hidden::(anonymous struct)::operator()',
    'around',
    'around::(anonymous struct)::operator()',
    'named::local::run',
    'nested::(anonymous struct)::operator()',
    'nested::(anonymous struct)::operator()::(anonymous struct)::operator()',
    'ns::in_namespace::(anonymous struct)::operator()<double>',
    'ns::thing::method::(anonymous struct)::operator()',
    'unnamed::(anonymous struct)::run',
);

sub inlined {
    my ($file) = @_;
    my %names = map { /^INLINE_ORIGIN \d+ (.*)/ ? ($1 => 1) : () }
        split /\n/, output($loader, 'dump', '--no-demangle', $file);
    return sort keys %names;
}

# The inlined linkage names that llvm-symbolizer finds at the same places.
sub linked {
    my ($file) = @_;
    my @places = map { /^INLINE \S+ \S+ \S+ \S+ (\S+)/ ? "0x$1" : () }
        split /\n/, output($loader, 'dump', $file);
    my %names;

    for my $frames (split /\n\n/, output(SymLlvm::symbolizer(),
            '--no-demangle', '--inlines', "--obj=$file", @places))
    {
        my @names = grep { !/:\d+$/ } split /\n/, $frames;
        pop @names; # the function around them
        $names{$_} = 1 for grep { /^_Z/ } @names;
    }
    return sort keys %names;
}

sub build_program {
    my ($program, @how) = @_;
    my @objects;

    for my $entry (qw(first second)) {
        push @objects, "$entry-$$.o";
        run_ok('sh', '-c', 'cd "$0" && exec "$@"', $dir, @how,
            "-DENTRY=$entry", '-c', 'lambda.cc', '-o', $objects[-1]);
    }
    run_ok('sh', '-c', 'cd "$0" && exec "$@"', $dir, @how, 'main.cc',
        @objects, '-o', $program, '-Wl,--build-id');
    return "$dir/$program";
}


for my $version (4, 5) {
    for my $split ([], ['-gsplit-dwarf']) {
        my @how = ('-g', "-gdwarf-$version", '-O2', '-std=c++14', @$split);
        my $file = build_program("g$version@$split", 'g++', @how);
        my @all = inlined($file);

        is_deeply([grep { !/^_Z/ } @all], \@unlinked, "g++ @how");
        is_deeply([grep { /^_Z/ } @all], ['_ZN5whole4stepEi',
                  '_ZZ8instanceIiEiT_ENKUliE_clEi'],
                      '... linkage names are used');

        $file = build_program("c$version@$split", 'clang++', @how);
        @all = inlined($file);
        is_deeply(\@all, [linked($file)], "clang++ @how: as in LLVM");
        cmp_ok(scalar(grep { /ENK.*cl/ } @all), '>=', 6, '... of lambdas');
    }

    # dwz moves shared declarations of units to a partial unit, and those of two
    # programs to a separate file
    my $whole = "$dir/g$version", my $small = "$dir/small$version";
    run_ok('dwz', $whole, '-o', $small);
    like(output('llvm-dwarfdump', $small), qr/DW_TAG_partial_unit/,
         "DWARF $version: dwz made partial units");
    is_deeply([inlined($small)], [inlined($whole)], '... the same names');

    run_ok('cp', $whole, "$dir/$_$version") for qw(one two);
    run_ok('dwz', '-m', "$dir/common$version", "$dir/one$version",
        "$dir/two$version");
    like(output('llvm-dwarfdump', "$dir/common$version"),
         qr/DW_AT_name\s+\("method"\)/,
             '... with shared parts in a separate file');
    is_deeply([inlined("$dir/one$version")], [inlined($whole)],
         '... the same names');
}

done_testing();
