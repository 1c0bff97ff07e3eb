# Names of debug files are stored as the linker knows them and shown as they
# were written: by the worker and by symloader, like llvm-symbolizer,
# llvm-cxxfilt and rustfilt.  Names in .sym files are already demangled, and
# unchanged.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(info output run_ok);
use SymLlvm qw(llvm_cxxfilt);
use SymLoader qw(write_file);
use SymTest;
use Test::More;

my $dir = tempdir(CLEANUP => 1);

my $t = SymTest->new->conf(locations => <<'CONF');
        location /symbolicate { symbolicate; }
        location /raw/        { symbolicate; symbolicate_demangle off; }
        location /atos        { symbolicate atos; }
        location /raw/atos    { symbolicate atos; symbolicate_demangle off; }
        location /__          { symbolicate_health; }
CONF

# --- the programs ---

sub built {
    my ($name, $source, $text, @command) = @_;
    my $file = write_file("$dir/$source", $text);

    # ids are derived from the build id, which not all compilers write by
    # default
    run_ok(@command, '-Wl,--build-id', '-o', "$dir/$name", $file);
    $t->load("$dir/$name");
    my %info = info("$dir/$name");
    return { path => "$dir/$name", module => [$name, $info{'debug-id'}],
             base => hex $info{base} };
}

sub functions {
    my ($file, $only) = @_;
    return grep { $_->[1] =~ $only }
        map { /^([0-9a-f]+) [TtWw] (\S.*)/
            ? [ hex($1) - $file->{base}, $2 ] : () }
        split /\n/, output('nm', '--defined-only', $file->{path});
}

my $cpp = built('names', 'names.cc', <<'END', 'g++', '-std=c++17', '-g', '-O1');
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
#define OWN __attribute__((noinline))
namespace {
struct Hidden {
    int v;
    explicit Hidden(int x) : v(x) {}
    OWN ~Hidden() { asm volatile("" : : "r"(v)); }
    OWN Hidden operator+(const Hidden &o) const { return Hidden(v + o.v); }
    OWN bool operator<(const Hidden &o) const { return v < o.v; }
    OWN operator int() const { return v; }
};
template <typename T, typename... Rest> OWN int sum(T t, Rest... rest)
{
    if constexpr (sizeof...(rest) == 0)
        return int(t);
    else
        return int(t) + sum(rest...);
}
}
template <typename K> struct Box {
    std::map<K, std::vector<Box<K>>> inside;
    OWN Box &operator[](K k) { return inside[k][0]; }
    template <int N> OWN K get(K (*f)(K)) { return f(K(N)); }
};
OWN static int twice(int x) { return 2 * x; }
static inline int leaf(const std::string &s) { return int(s.size()) * 3; }
extern "C" OWN int c_entry(int n, char **v)
{
    Box<int> b;
    auto add = [&](int x) OWN { return x + n; };
    std::vector<int> all{3, 1, n};
    std::sort(all.begin(), all.end(), [](int x, int y) { return x > y; });
    std::function<int(int)> f = add;
    Hidden h = Hidden(n) + Hidden(2);
    return add(1) + sum(1, 2.0, 'c', h) + b.get<7>(twice) + leaf(v[0])
        + f(4) + (h < Hidden(3)) + all[0] + (n > 9 ? b[3].get<1>(twice) : 0);
}
int main(int n, char **v) { return c_entry(n, v); }
OWN int in_two_files(Box<int> &b)
{
    asm volatile("nop" : : "r"(&b));
#line 1 "second.inc"
    asm volatile("nop" : : "r"(&b));
    return 7;
}
END

# Names of Rust as its compiler writes them (RFC 2603 has the first three),
# mixed with those of an Apple compiler and others.
my @names = (
    '_RNvCs1234_7mycrate3foo', '_RNvMs_C7mycrateINtB4_3FooppE3new',
    '_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_',
    '_RINvNtC3std3mem8align_ofjdE', '_RNvC6_123foo3bar',
    '_ZN4core3fmt9Formatter3pad17h0123456789abcdefE',
    '_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$'
        . '4drop17hfedcba9876543210E',
    '__ZN1A1bEv', '_Z1fIiEvT_', '_Z1fv$0123456789abcdef0123456789ABCDEF',
    '-[A b:]', '+[NSString(More) of:]', 'plain', '_start2', '_Z', '_Z9short',
);
my $rust = built('rust.so', 'rust.s',
    join('', ".text\n", map { <<"END" } @names), 'gcc', '-shared', '-nostdlib');
.globl "$_"
.type "$_", \@function
"$_": nop
.size "$_", .-"$_"
END

# --- their output ---

# [inlined calls, innermost first, function] of each address, from lines that
# alternate between a name and its position.
sub names_of {
    return map { my @line = split /\n/;
        [ @line[grep { $_ % 2 == 0 } 0 .. $#line] ] } split /\n\n/, $_[0];
}

sub text_of {
    my ($file, $option, @addrs) = @_;
    my $tool = SymLlvm::symbolizer();
    my $in = write_file("$dir/addresses", join '',
        map { sprintf "0x%x\n", $_ + $file->{base} } @addrs);

    # lines without their columns
    return map { s/:(\d+):\d+$/:$1/r } split /\n/, output('/bin/sh', '-c',
        qq(exec $tool --obj="\$0" $option <"\$1"), $file->{path}, $in);
}

sub symbolizer { return names_of(join "\n", text_of(@_)) }

sub lookup {
    my ($file, $format, @addrs) = @_;
    my $text = $t->symloader('lookup', @$format, join('/', @{$file->{module}}),
        map { sprintf '%x', $_ } @addrs);

    return names_of($text) if !grep { $_ eq '--json' } @$format;
    return map { frame_names(JSON::PP::decode_json($_)) } split /\n/, $text;
}

sub frame_names {
    my ($frame) = @_;
    return [ map { $_->{function} // '??' }
        @{$frame->{inlines} // []}, $frame ];
}

sub answered {
    my ($file, $path, @addrs) = @_;
    my $r = $t->post_json($path, { stacks => [[map { [0, $_] } @addrs]],
        memoryMap => [$file->{module}] });
    return $path =~ /v4/
        ? map { [ /^(.*) \(in \S+\)$/s ] } @{$r->{json}{symbolicatedStacks}[0]}
        : map { frame_names($_) } @{$r->{json}{results}[0]{stacks}[0]};
}

sub lines_of {
    my ($file, $path, @addrs) = @_;
    my ($name, $id) = @{$file->{module}};
    my $r = $t->post_json($path, { image => $name, uuid => $id,
        offset => JSON::PP::true, inline => 'all', addresses => \@addrs });
    return map { [ map { $_->{function} } @{$_->{frames}} ] }
        @{$r->{json}{results}};
}

sub same_names {
    my ($got, $want, $what) = @_;
    my @bad;

    for my $i (0 .. $#$want) {
        for my $k (0 .. $#{$want->[$i]}) {
            my ($g, $w) = ($got->[$i][$k] // '', $want->[$i][$k]);
            # without a linkage name LLVM omits the scope
            push @bad, "$g\n  want $w"
                if $g ne $w && ($w =~ /\)$/ || $g !~ /^\w.*::\Q$w\E$/);
        }
        push @bad, "other calls: @{$got->[$i]}\n  want @{$want->[$i]}"
            if @{$got->[$i]} != @{$want->[$i]};
    }
    is(scalar(@$got), scalar(@$want), "$what: all answered");
    is(join("\n", @bad[0 .. ($#bad < 4 ? $#bad : 4)]), '', '... the same');
}

$t->start;

# each function's beginning, and addresses at which others are inlined
my @addrs = map { my $at = $_->[0]; map { $at + $_ } 0, 9, 23 }
    functions($cpp, qr/^_Z|^c_entry|^main/);
my @shown = symbolizer($cpp, '', @addrs);
my @raw = symbolizer($cpp, '--no-demangle', @addrs);
my $all = join "\n", map {@$_} @shown;

for my $want ('operator\+', 'operator int', '\(anonymous namespace\)::',
    '\'lambda\'\(int\)', '~Hidden\(\)', 'int Box<int>::get<7>\(')
{
    like($all, qr/$want/, "the program has $want");
}
cmp_ok(scalar(grep { @$_ > 1 } @shown), '>', 5, 'and inlined calls');

same_names([ lookup($cpp, [], @addrs) ], \@shown, 'lookup');
same_names([ lookup($cpp, ['--json'], @addrs) ], \@shown, 'lookup --json');
same_names([ lookup($cpp, ['--no-demangle'], @addrs) ], \@raw,
           'lookup --no-demangle');
same_names([ lookup($cpp, ['--no-demangle', '--json'], @addrs) ], \@raw,
           'lookup --no-demangle --json');

# a name is stored with the file of its first use: one is used with two
my ($start) = map { $_->[0] } functions($cpp, qr/^_Z12in_two_files/);
for my $option ([], ['--no-demangle']) {
    my @places = map { $start + $_ } 0 .. 7;
    my @want = text_of($cpp, "@$option", @places);
    my @got = split /\n/, $t->symloader('lookup', @$option,
        join('/', @{$cpp->{module}}), map { sprintf '%x', $_ } @places);

    is_deeply(\@got, \@want, "two files of one name: lookup @$option");
    is(scalar(grep {/second\.inc:[1-9]/} @want) > 0
           && scalar(grep {/names\.cc:[1-9]/} @want) > 0, 1, '... both met');
}

# the third time from the answer cache; neither may get the other's entry
for my $time (1 .. 3) {
    same_names([ answered($cpp, '/symbolicate/v5', @addrs) ], \@shown,
               "v5, time $time");
    same_names([ answered($cpp, '/raw/symbolicate/v5', @addrs) ], \@raw,
               "v5 with symbolicate_demangle off, time $time");
    same_names([ lines_of($cpp, '/atos', @addrs) ], \@shown,
               "atos, time $time");
    same_names([ lines_of($cpp, '/raw/atos', @addrs) ], \@raw,
               "atos with symbolicate_demangle off, time $time");
}
same_names([ answered($cpp, '/symbolicate/v4', @addrs) ],
           [ map { [$_->[-1]] } @shown ], 'v4');
same_names([ answered($cpp, '/raw/symbolicate/v4', @addrs) ],
           [ map { [$_->[-1]] } @raw ], 'v4 with symbolicate_demangle off');

# --- Rust, Apple, and names that are not mangled ---

my @rust = functions($rust, qr/./);
is(scalar(@rust), scalar(@names), 'names of the other file');

# rustfilt does not know C++, llvm-cxxfilt no additions of Apple's
my $plain = join '', map { s/^_(?=_Z)//r =~ s/\$[0-9a-fA-F]{32}$//r . "\n" }
    map { $_->[1] } @rust;
my $in = write_file("$dir/plain", $plain);
my @filtered = split /\n/, output('/bin/sh', '-c',
    "rustfilt <'$in' | ${\llvm_cxxfilt()}");
is((grep { $filtered[$_] ne $rust[$_][1] } 0 .. $#rust), 10,
   'of which ten are mangled');
same_names([ answered($rust, '/symbolicate/v5', map { $_->[0] } @rust) ],
           [ map { [$_] } @filtered ], 'v5');
same_names([ lookup($rust, [], map { $_->[0] } @rust) ],
           [ map { [$_] } @filtered ], 'lookup');
same_names([ answered($rust, '/raw/symbolicate/v5', map { $_->[0] } @rust) ],
           [ map { [$_->[1]] } @rust ], 'raw');

# --- a .sym file ---

my @sym = ('shown.so', 'ABCDEF0123456789ABCDEF01234567890');
write_file("$dir/shown.sym", "MODULE Linux x86_64 $sym[1] $sym[0]\n"
    . "FILE 0 a.c\nINLINE_ORIGIN 0 _Z1fv\nFUNC 10 10 0 _Z1gv\n"
    . "INLINE 0 3 0 0 10 8\n10 8 5 0\n18 8 6 0\n");
$t->load("$dir/shown.sym");
my $sym = { module => \@sym };
my $want = [ [ '_Z1fv', '_Z1gv' ] ];
same_names([ answered($sym, '/symbolicate/v5', 0x12) ], $want, 'a .sym file');
same_names([ lookup($sym, [], 0x12) ], $want, '... by symloader');

# Names of Microsoft's compilers as clang's MicrosoftMangle.cpp writes them, and
# as Sentry's symbolic 13.9.0 shows them: by atos, which treats names of .sym
# files as mangled.
my @msvc = (
    [ '?f@ns@@YAHH@Z', 'ns::f(int)' ],
    [ '??0A@ns@@QEAA@PEBD@Z', 'ns::A::A(char const*)' ],
    [ '?f@?$A@V?$B@H@@@@QEBAXP6AHPEAX0@Z@Z',
      'A<B<int> >::f(int (*)(void*, void*)) const' ],
    [ '??__Ex@@YAXXZ', "x::`dynamic initializer'(void)" ],
    map { [ $_, $_ ] } '??@0123456789abcdef0123456789abcdef@', '?what', '@fast@8',
);
my @windows = ('windows.pdb', '0123456789ABCDEF0123456789ABCDEF1');
write_file("$dir/windows.sym", "MODULE windows x86_64 $windows[1] $windows[0]\n"
    . join '', map { sprintf "FUNC %x 10 0 %s\n", 0x1000 + 16 * $_, $msvc[$_][0] } 0 .. $#msvc);
$t->load("$dir/windows.sym");
my $windows = { module => \@windows };
my @places = map { 0x1000 + 16 * $_ } 0 .. $#msvc;
is_deeply([ lines_of($windows, '/atos', @places) ], [ map { [ $_->[1] ] } @msvc ],
          "Microsoft's names by atos");
is_deeply([ lines_of($windows, '/raw/atos', @places) ], [ map { [ $_->[0] ] } @msvc ],
          '... with symbolicate_demangle off');
is_deeply([ answered($windows, '/symbolicate/v5', @places) ], [ map { [ $_->[0] ] } @msvc ],
          '... and by v5 as in the file');

is($t->stop->log_trouble, '', 'the log is clean');

# --- the demanglers are not visible from outside ---

my $build = SymTest::build_dir();
my $module = output('nm', '-D', '--defined-only',
    "$build/ngx_http_symbolicate_module.so");
like($module, qr/ ngx_modules$/m, 'nginx finds its module');
for my $file ("$build/ngx_http_symbolicate_module.so", "$build/symloader") {
    unlike(output('nm', '-D', $file),
           qr/\ (?:\w*demangle\w*|d_\w+|xmalloc\w*|concat|hex_init|_Z\w+|
                 __cxa_pure_virtual)$/mx,
           "$file: none of their names is exported or imported");
    like(output('nm', $file), qr/ [Tt] cplus_demangle_v3_components$/m,
         '... which it has');
}

done_testing();
