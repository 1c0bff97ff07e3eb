package SymCompanions;

# SymCompanions - debug information in several files, for the tests of
# `symloader load`: without a daemon and with one.
#
#     companion_cases(SymLoader->new);
#
# Everything is built in the folder of the test.

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Copy qw(copy move);
use File::Path qw(make_path remove_tree);
use Test::More;

use SymLlvm qw(llvm_frames loader_frames frame_differences);
use SymLoader qw(json_lines read_file write_file);

our @EXPORT_OK = qw(companion_cases run);

my ($t, $dir, $a, $b, $types);

sub write_sources {
    write_file($a, <<'END');
namespace space {
struct thing { int v; int twice(int x); };
static inline __attribute__((always_inline)) int square(int x)
{
    int y = x * x;
    return y > 9 ? y + __builtin_popcount(x) : y;
}
int thing::twice(int x) { return square(x) + square(v) * 2; }
}
extern int other(int);
extern "C" __attribute__((cold, noinline)) int never(int x) { return x + 1; }
int main(int argc, char **argv)
{
    space::thing t{argc};
    return argc > 100 ? never(argc) : t.twice(argc) + other(argc);
}
END
    write_file($b, <<'END');
static inline __attribute__((always_inline)) int cube(int x)
{
    return x * x * x - x;
}
__attribute__((noinline)) int other(int x)
{
    int s = 0;
    for (int i = 0; i < x; i++)
        s += cube(i);
    return s;
}
END
    # all parts of names: templates, nested and local classes, constructors,
    # operators, virtual and inherited members
    write_file($types, <<'END');
namespace space {
namespace {
struct hidden { int v; int get() { return v * 3 + __builtin_popcount(v); } };
}
template <typename T, int N> struct box {
    T values[N];
    explicit box(T first) { for (T &v : values) v = first++; }
    T operator()(int i) const { return values[i % N] * (i + 1); }
    struct part { T low; __attribute__((noinline)) T sum(T x); };
};
template <typename T, int N> T box<T, N>::part::sum(T x)
{
    return low * x + __builtin_popcount(x);
}
struct base { virtual int work(int x) { return x * x + x / 3; } virtual ~base(); };
base::~base() {}
struct derived : base { int work(int x) override; };
int derived::work(int x) { return base::work(x) + hidden{x}.get(); }
}
extern int other(int);
int main(int argc, char **argv)
{
    struct local { int n; int twice() { return other(n) * 2 + n / 3; } };
    space::box<int, 5> box(argc);
    space::box<long, 3>::part part{argc};
    space::derived d;
    auto lambda = [&](int x) { return box(x) + d.work(x); };
    return lambda(argc) + local{argc}.twice() + (int) part.sum(argc);
}
END
    return;
}

sub run {
    my (@command) = @_;
    my $folder = ref $command[0] ? ${ shift @command } : $dir;
    my $out = qx(cd $folder && @command 2>&1);
    die "@command: $out" if $?;
    return;
}

# All addresses in the functions of a file, from its image base.
sub addresses {
    my ($file) = @_;
    my @addr;
    for (qx(nm -S $file)) {
        my ($at, $size, $name) = /^([0-9a-f]+) ([0-9a-f]+) [Tt] (.*)/ or next;
        push @addr, grep { $_ % 3 == 0 } hex($at) .. hex($at) + hex($size) - 1
            if $name !~ /^_(?:start|init|fini|dl_)|\.cold/; # docs/formats/dwarf.md, 5
    }
    return @addr;
}

# Loads $file into a new store; its answers must be those of LLVM for $whole.
sub answers {
    my ($what, $file, $whole) = @_;
    my ($name) = $file =~ m{([^/]+?)(?:\.debug)?$};
    my $r = $t->run('load', '--force', $file);
    my ($module) = $r->{out} =~ m{: (\Q$name\E/\S+): lines and inlines};

    is($r->{code}, 0, "$what: loaded") or diag($r->{err});
    is($r->{err}, '', '... without a warning');
    ok($module, '... lines and inlines') or return;

    my @addr = addresses($whole);
    my @theirs = llvm_frames($t, $whole, '', @addr);
    my @ours = loader_frames($t, $module, @addr);
    # the form of llvm_frames() has no file without a line
    for my $level (map { @$_ } @ours) {
        $level->[1] = '??' if $level->[2] == 0;
    }
    my @bad = frame_differences(\@ours, \@theirs);
    cmp_ok(scalar(grep { @$_ > 1 } @theirs), '>', 3, '... with inlined calls');
    my @square = grep {/square/} map { map { $_->[0] // '' } @$_ } @ours;
    is_deeply([ grep { !/^(?:space::square|_ZN5space\S+)$/ } @square ], [],
        '... in their namespace');
    is(scalar(@bad), 0, '... as LLVM answers for the original')
        or diag(join "\n", @bad[0 .. ($#bad < 4 ? $#bad : 4)]);
    return;
}

sub warns {
    my ($what, $file, $why) = @_;
    my $r = $t->run('load', '--force', $file);
    like($r->{err}, qr/warning: .*$why/, $what);
    return $r;
}

sub build_id {
    my ($file) = @_;
    my ($id) = qx(readelf -n $file) =~ /Build ID: ([0-9a-f]+)/;
    return $id;
}

# The build id of a supplementary file: in DWARF 5 at the end of .debug_sup
# (7.3.6).
sub sup_id {
    my ($file) = @_;
    my $id = build_id($file);

    return $id if $id;
    run("objcopy -O binary --only-section=.debug_sup $file sup");
    return unpack('H*', substr(read_file("$dir/sup"), -20));
}

# the CRC-32 of gzip is the same
sub crc {
    my ($text) = @_;
    open(my $fh, '>:raw', "$dir/crc") or die;
    print $fh $text;
    close($fh);
    my $packed = qx(gzip -c $dir/crc);
    return sprintf '%08x', unpack('V', substr($packed, -8, 4));
}

sub debug_links {
    run('g++', '-g', '-O2', '-o whole', $a, $b);
    run('objcopy --only-keep-debug whole lean.debug');
    run('strip --strip-debug -o lean whole');
    run('objcopy --add-gnu-debuglink=lean.debug lean');

    answers('.gnu_debuglink, beside', "$dir/lean", "$dir/whole");
    make_path("$dir/.debug");
    move("$dir/lean.debug", "$dir/.debug/lean.debug");
    answers('.gnu_debuglink, in .debug', "$dir/lean", "$dir/whole");

    my $id = build_id("$dir/whole");
    my $by_id = sprintf('%s/.build-id/%s/%s.debug', $dir, $id =~ /^(..)(.*)/);
    make_path($by_id =~ m{(.*)/});
    move("$dir/.debug/lean.debug", $by_id);
    answers('by build id', "$dir/lean", "$dir/whole");
    my $debug = read_file($by_id);
    remove_tree("$dir/.build-id", "$dir/.debug");

    write_file("$dir/lean.debug", "$debug\0");
    my ($is, $wanted) = (crc("$debug\0"), crc($debug));
    my $r = warns('another CRC: both are reported', "$dir/lean", "$is, not $wanted");
    like($r->{out}, qr/: publics,/, '... and the symbols are loaded');

    run('g++', '-g', '-O1', '-o strange', $a, $b);
    run('objcopy --only-keep-debug strange lean.debug');
    my $strange = build_id("$dir/strange");
    warns('another build: both ids are reported', "$dir/lean", "$strange, not $id");
    unlink("$dir/lean.debug");
    $r = $t->run('load', '--force', "$dir/lean");
    is($r->{code} . $r->{err}, '0', 'no debug file: loaded, no warning');
    return;
}

sub supplements {
    for my $version (4, 5) {
        my $dz = "$dir/dwz$version";

        my $dwz = $version == 5 ? 'dwz -5' : 'dwz';

        make_path($dz);
        run(\$dz, 'g++', "-gdwarf-$version -O2 -o one", $a, $b);
        run(\$dz, 'g++', "-gdwarf-$version -O1 -o two", $a, $b);
        run(\$dz, 'cp one plain; cp two plain2');
        run(\$dz, $dwz, '-m common one two');
        answers("dwz, DWARF $version", "$dz/one", "$dz/plain");

        make_path("$dz/.dwz");
        move("$dz/common", "$dz/.dwz/common");
        answers('... in .dwz', "$dz/one", "$dz/plain");

        # an absolute name from another machine
        make_path("$dz/tree/.dwz/arch", "$dz/tree/bin");
        run(\$dz, 'cp plain one; cp plain2 two;',
            $dwz, "-m $dz/tree/.dwz/arch/c -M /usr/lib/nowhere/.dwz/arch/c one two");
        move("$dz/one", "$dz/tree/bin/one");
        answers('... by its name below .dwz', "$dz/tree/bin/one", "$dz/plain");

        # not found through a link or a path that leads out
        move("$dz/tree/.dwz/arch/c", "$dz/c");
        symlink("$dz/c", "$dz/tree/.dwz/arch/c") or die;
        my $r = warns('... not through a link that leads out', "$dz/tree/bin/one",
                   'names are missing.*nowhere/.dwz/arch/c');
        like($r->{out}, qr/one\/\S+: lines/, '... but the rest is loaded');
        my ($module) = $r->{out} =~ m{: (one/\S+): };
        my ($main) = qx(nm $dz/plain) =~ /^([0-9a-f]+) T never$/m;
        my ($frame) = loader_frames($t, $module, hex($main));
        is($frame->[-1][0], 'never', '... named by the symbol table');
        # once stored it still reports that, and is replaced by a complete one
        my $shown = sub {
            return (json_lines($t->run('show', '--json', $module)->{out}))[0]
                ->{incomplete};
        };
        like($shown->(), qr/nowhere\/.dwz\/arch\/c /, '... which show reports');
        move("$dz/c", "$dz/tree/.dwz/c");
        is($t->run('load', "$dz/tree/bin/one")->{err}, '', '... until the file is there');
        is($shown->(), '', '... then show does not');
        move("$dz/tree/.dwz/c", "$dz/c");
        like($t->run('load', "$dz/tree/bin/one")->{out}, qr/not stored: the store has better/,
             '... and the complete one is kept');
        is($shown->(), '', '... as show says');
        $t->run('load', '--force', "$dz/tree/bin/one");
        isnt($shown->(), '', '... except by force');

        my $found = grep { grep { defined $_->[0]
                                  && $_->[0] !~ /^(?:\w|::|\.cold)*$/ } @$_ }
            loader_frames($t, $module, addresses("$dz/plain"));
        is($found, 0, '... and by nothing else');

        # of another build
        run(\$dz, 'cp plain one; cp plain2 two; cp plain2 three;',
            'g++', "-gdwarf-$version -O0 -o four", $a, $b, ';',
            "$dwz -m other three four && $dwz -m common one two");
        my $real = sup_id("$dz/common");
        my $other = sup_id("$dz/other");
        unlink("$dz/.dwz/common");
        move("$dz/other", "$dz/common");
        warns('... another supplementary file: both ids are reported', "$dz/one",
              "$other, not $real");
    }
    return;
}

sub splits {
    for my $how ('gcc -gdwarf-4', 'gcc -gdwarf-5', 'clang -gdwarf-4',
                 'clang -gdwarf-5')
    {
        my ($cc, $version) = $how =~ /^(\w+) -gdwarf-(\d)/;
        my $cpp = $cc eq 'gcc' ? 'g++' : 'clang++';
        my $s = "$dir/$cc$version";

        make_path("$s/obj");
        run(\$s, $cpp, "-gdwarf-$version -gsplit-dwarf -O2 -c", $a,
            '-o obj/a.o &&', $cpp, "-gdwarf-$version -gsplit-dwarf -O2 -c",
            $cc eq 'gcc' ? '-gz' : (), $b, # LLVM's packer reads no compressed ones
            '-o obj/b.o &&', $cpp, 'obj/a.o obj/b.o -o exe');
        answers("$how, .dwo", "$s/exe", "$s/exe");

        if ($how ne 'gcc -gdwarf-5') { # no packer reads these
            run(\$s, $cc eq 'gcc' ? 'dwp' : 'llvm-dwp', '-e exe -o exe.dwp');
            rename("$s/obj", "$s/gone") or die;
            answers("$how, .dwp", "$s/exe", "$s/exe");
            run(\$s, 'objcopy --only-keep-debug exe exe.debug');
            answers('... of a separate debug file', "$s/exe.debug", "$s/exe");
            unlink("$s/exe.dwp");
            rename("$s/gone", "$s/obj") or die;
        }

        # gcc's ids do not distinguish builds of the same source
        copy("$s/obj/a.dwo", "$s/obj/b.dwo");
        my $r = warns("$how: a .dwo of another unit", "$s/exe",
                   '1 of 2 split units have lines only');
        like($r->{out}, qr/lines and inlines/, '... the other unit is loaded');
        unlink("$s/obj/a.dwo");
        $r = warns("... none", "$s/exe", '2 of 2 split units');
        like($r->{out}, qr/exe\/\S+: \w+/, '... lines and symbols are loaded');
    }

    # a name that leads out of the folder
    my $out = "$dir/out";
    make_path("$out/bin", "$out/obj");
    run(\"$out/bin", 'g++', '-g -gsplit-dwarf -O2 -c', $b, '-o ../obj/b.o &&',
        'g++ -g -O2 -c', $a, '-o ../obj/a.o && g++ ../obj/a.o ../obj/b.o -o exe');
    warns('.. leads out: not opened', "$out/bin/exe", '1 of 1 split units');
    mkdir("$out/.dwz") or die;
    answers('... but where the folder above is a root', "$out/bin/exe",
            "$out/bin/exe");
    return;
}

# Types in their own units (.debug_types, .debug_tu_index) change no answer:
# declarations of methods, with their names, stay in the unit that has the code.
sub type_units {
    for my $how ('gcc -gdwarf-4', 'gcc -gdwarf-5', 'clang -gdwarf-4',
                 'clang -gdwarf-5')
    {
        my ($cc, $options) = split / /, $how;
        my $cpp = $cc eq 'gcc' ? 'g++' : 'clang++';
        my $s = "$dir/types$cc$options";

        make_path($s);
        $options .= ' -gsplit-dwarf -fdebug-types-section -O2';
        run(\$s, $cpp, $options, '-c', $types, '-o a.o &&', $cpp, $options, '-c',
            $b, '-o b.o &&', $cpp, 'a.o b.o -o exe');
        answers("$how, types, .dwo", "$s/exe", "$s/exe");
        next if $how eq 'gcc -gdwarf-5'; # no packer reads these

        run(\$s, $cc eq 'gcc' ? 'dwp' : 'llvm-dwp', '-e exe -o exe.dwp');
        like(scalar(qx(llvm-dwarfdump --debug-tu-index $s/exe.dwp)),
             qr/0x[0-9a-f]{16}/, 'there are types in the package');
        unlink("$s/a.dwo", "$s/b.dwo");
        answers("$how, types, .dwp", "$s/exe", "$s/exe");
    }
    return;
}

sub companion_cases {
    ($t) = @_;
    $dir = abs_path($t->dir);
    ($a, $b, $types) = map {"$dir/src/$_.cc"} qw(a b types);
    write_sources();
    debug_links();
    supplements();
    splits();
    type_units();
    return;
}

1;
