# Demangled names: what c++filt, llvm-cxxfilt and rustfilt print.  Names of C++ and
# D are those of whole libraries.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IPC::Open2;
use SymFixtures qw(fixtures);
use SymLlvm qw(llvm_cxxfilt);
use SymLoader qw(root);
use Test::More;

binmode Test::More->builder->$_, ':utf8'
    for qw(output failure_output todo_output);

my $filt = root() . '/' . ($ENV{SYM_BUILD} || 'build') . '/t/filt';

# Output of a program for names, one a line.
sub through {
    my ($names, @command) = @_;
    my $pid = open2(my $out, my $in, @command)
        or BAIL_OUT("cannot run $command[0]");

    # all of these read all input before the pipe is full, or in a child
    if (!(my $writer = fork // BAIL_OUT("fork: $!"))) {
        close $out;
        print $in map { "$_\n" } @$names;
        close $in;
        require POSIX;
        POSIX::_exit(0);
    }
    close $in;
    chomp(my @lines = <$out>);
    waitpid $pid, 0;
    is($?, 0, "$command[0] works");
    1 while wait != -1;
    return @lines;
}

sub same_lines {
    my ($names, $got, $want, $what) = @_;
    my @wrong = grep { $got->[$_] ne $want->[$_] } 0 .. $#$names;

    is(@$got, @$names, "$what: as many lines");
    is(@wrong, 0, '... the same');
    diag("$names->[$_]\n  got  $got->[$_]\n  want $want->[$_]") for grep { defined } @wrong[0 .. 2];
}

# The exported names of a library that begin with a prefix, each once.
sub exports {
    my ($prefix, $library) = @_;
    my %seen = map { /^\w* *\w ($prefix\S+?)(?:\@.*)?$/ ? ($1 => 1) : () }
        split /\n/, `nm -D --defined-only $library`;

    return sort keys %seen;
}

# --- C++: all names of this compiler's library ---

my @cpp = exports('_Z', glob '/usr/lib/*/libstdc++.so.6');

cmp_ok(scalar @cpp, '>', 4000, 'names of libstdc++');

{
    # its verbose form spells out std::string, as no programmer writes it
    my @full = through(\@cpp, 'c++filt', '--no-verbose');

    same_lines(\@cpp, [through(\@cpp, $filt, 'return')], \@full,
               'with return types');

    # the dropped part was at the beginning
    my @params = through(\@cpp, $filt);
    my @cut = map { substr $full[$_], -length $params[$_] } 0 .. $#cpp;
    same_lines(\@cpp, \@params, \@cut, 'without return types');
    cmp_ok(scalar(grep { $params[$_] ne $full[$_] } 0 .. $#cpp), '>', 100,
           '... of which there are some');

    same_lines(\@cpp, [through(\@cpp, $filt, 'name')],
               [through(\@cpp, 'c++filt', '--no-verbose', '--no-params')],
               'without parameters');
}

# Suffixes of functions that gcc copies, in a real file: "f() [clone .isra.6]".
{
    my @clones = grep {/^_Z.*\./}
        map { (split)[2] // () } qx(nm '${\ fixtures('elf/crash.debug')}');

    cmp_ok(scalar(grep {/\.isra\./} @clones), '>', 3, 'copies of functions');
    same_lines(\@clones, [through(\@clones, $filt, 'return')],
               [through(\@clones, 'c++filt', '--no-verbose')], 'copies');
}

# LLVM's own spelling; t/bin has the version whose headers are compiled in.
{
    my @names = (@cpp, 'name of C', qw(
        _ZN5test21fITnDaLi1EEEvv _Z1gITk1CiEvv _ZN3FooIiEC1ITkNS_3BarEiEET_
        _Z1fIiEvT_Q1CIS0_E _Z2f1IiQ4TrueIT_EEvv _ZN1XF1fIiEEvT_
        _ZZ1fvENKUlTyTnT_TtTyTnT_ETpTyvE_clIiLi0E2CCJfEEEDav
        _ZN1A1fIXntsr12HasDecoratorIXT_ELm2048EE5valueEEEvv
        ___ZN3foo3barEv_block_invoke ___ZN3foo3barEv_block_invoke_2
        _Z1fv.isra.0 _ZZ4mainENKUlvE_clEv
    ));

    # libiberty may know names that LLVM leaves alone, of transactional memory
    # or _Float32x; it writes "A<B<int> >"
    my @want = through(\@names, llvm_cxxfilt());
    my @raw = grep { $want[$_] eq $names[$_] } 0 .. $#names;

    @want[@raw] = map { s/>\K (?=>)//gr }
        through([ @names[@raw] ], 'c++filt', '--no-verbose');
    cmp_ok(scalar @raw, '<', @names / 50, 'llvm-cxxfilt knows most names');
    same_lines(\@names, [through(\@names, $filt, 'return', 'tight')], \@want,
               'as llvm-cxxfilt');
}

# --- Rust: the examples of RFC 2603 and of rustc-demangle's own tests ---

my @rust = qw(
    _RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate
    _RNvC6_123foo3bar
    _RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y
    _RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_
    _RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_
    _RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std
    _RINvC4core3fooDG_INtC3std2FnTRL0_hEEp6OutputuEL_E
    _RMC0INtC8arrayvec8ArrayVechKj7b_E
    _RMCs4fqI2P2rA04_13const_genericINtB0_8UnsignedKhb_E
    _RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E
    _RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E
    _ZN3foo3bar17h05af221e174051e9E
    _ZN13_$LT$A$GT$..b17h0123456789abcdefE
    _ZN4core3fmt9Formatter9write_str17h0123456789abcdefE
    _ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdefE.llvm.1234
);

same_lines(\@rust, [through(\@rust, $filt)], [through(\@rust, 'rustfilt')],
           'Rust');

# --- D: all names of the library of Debian's compiler ---

my ($phobos) = glob '/usr/lib/*/libgphobos.so.*';
my @d = exports('_D', $phobos // die "libgphobos is not installed\n");

sub d_filt { return through($_[0], qw(c++filt -s dlang)) }

cmp_ok(scalar @d, '>', 10_000, "names of $phobos");

{
    my @want = d_filt(\@d);

    # binutils knows "scope return" (MNk), and not "return scope" (NkM)
    my @order = grep { $want[$_] eq $d[$_] && $d[$_] =~ /NkM/ } 0 .. $#d;
    my @swapped = map { s/NkM/MNk/gr } @d[@order];

    cmp_ok(scalar @order, '>', 100, '... some that binutils does not know');
    @want[@order] = map { s/scope return /return scope /gr } d_filt(\@swapped);

    my @long = grep { length $want[$_] > 4096 } 0 .. $#d;
    cmp_ok(scalar @long, '<', 100, '... few are too long when demangled');
    @want[@long] = @d[@long];

    # also the former "scope return"
    my @got = through(\@d, $filt);
    s/scope return /return scope / for @got[@order], @want[@order];
    same_lines(\@d, \@got, \@want, 'D');
    is_deeply([through(\@d, $filt, 'name')], [through(\@d, $filt)],
              'there is one style for D');
}

# A truncated name is left alone, or is another name.
{
    my @known = grep { !/NkM/ } @d;
    my @cut = map { my $name = $known[$_ * 200]; map { substr $name, 0, $_ } 3 .. length $name }
        0 .. $#known / 200;

    cmp_ok(scalar @cut, '>', 5000, 'truncated names');
    same_lines(\@cut, [through(\@cut, $filt)], [d_filt(\@cut)],
        'truncated names of D');
}

# Kinds that the library does not contain: each kind of type, value and special
# name.
{
    my @names = qw(
        _Dmain _D3foo3barFZv _D3foo12__ModuleInfoZ _D3foo3Bar7__ClassZ
        _D3foo3Bar11__InterfaceZ _D3foo3Bar6__vtblZ _D3foo3Bar6__initZ
        _D3foo3Bar6__ctorMFiZC3foo3Bar _D3foo3Bar6__dtorMFZv
        _D3foo3Bar10__postblitMFZv _D3foo3Bar11__invariantMxFZv
        _D3foo3Bar11_sharedCtorFZv _D3foo14__unittest_L42FZv
        _D3foo3barMxOFZv _D3foo3barMOxFZv _D3foo3barMOFZv _D3foo3barMNgFZv
        _D3foo3barFabcdefghijklmnopqrstuvwZv _D3foo3barFziZv _D3foo3barFzkZv
        _D3foo3barFzzZv _D3foo3barFxiyaOlNgmNhG4fNnZv
        _D3foo3barFAiG3iG33HiAaPiPFZvDFZvDxFZvDyOFZvZv
        _D3foo3barUiXv _D3foo3barWiYv _D3foo3barVYv _D3foo3barRZv
        _D3foo3barYZv _D3foo3barFNaNbNcNdNeNfNiNjNlNmZv _D3foo3barFNoZv
        _D3foo3barFB0B2iiZv _D3foo3barFIiIKiJiKiLiMiNkKiMNkKiZv
        _D3foo3barFE3foo1ES3foo1SC3foo1CT3foo1TZv _D3foo3barFDQjZv
        _D3foo__T3barTiVi3VbN1Vb1Vb0Va97Va0Va300Vu65Vw66Vl1VlN1Vm1Vk1Vh1Vt1ZQbnFZv
        _D3foo__T3barVde0X1P3Vde0NA8P1VfeNANVfeINFVfeNINFVqc0A8P1c0A9PN1ZQbnFZv
        _D3foo__T3barVAyaa7_616220090a0d0cVAyww1_0bVAyud1_ffVHiiA1i1i2Zv
        _D3foo__T3barVAiA3i1i2i3VS3foo1SS2i1A2i2i3VPiniVPinZQzFZv
        _D3foo__T3barVDFZvf_D3foo3bazFZvZQzFZv
        _D3foo__T3barS3foo3bazHTiS_D3foo3bazFZvX3abcZQzFZv
        _D3foo16__T3barS213abc1dZ3quxFZv _D3foo14__T3barS43abcZ3quxFZv
        _D3foo11__T3barTiZQbaFZv _D3foo12__T3barTiZQjFZv
        _D3foo4__S13barFZv _D3foo4__S14__S23barFZv _D3foo003barFZv
        _D3foo3bar3bazMxFZ3quxFNaZv _D3foo3barFZNgi _D3foo__U3barTiZQi6__initZ
    );

    cmp_ok(scalar(grep { $_ !~ /^_D/ } d_filt(\@names)), '>', @names / 2,
           'names of all kinds');
    same_lines(\@names, [through(\@names, $filt)], [d_filt(\@names)],
               'other names of D');
}

# In answers: for a file without DWARF the name determines the language.
{
    my $t = SymLoader->new;
    my @kept = split /\n/, $t->run({ no_store => 1 }, 'dump', '--no-demangle', $phobos)->{out};
    my @shown = split /\n/, $t->run({ no_store => 1 }, 'dump', $phobos)->{out};
    my @at = grep { $kept[$_] =~ / _D/ && $kept[$_] !~ /NkM/ } 0 .. $#kept;
    my @names = map { (split ' ', $kept[$_])[-1] } @at;
    my @want = d_filt(\@names);

    cmp_ok(scalar @names, '>', 5000, 'functions of D in a dump');
    is_deeply([@shown[@at]],
              [map { $kept[$at[$_]] =~ s/ \K_D\S+$/$want[$_]/r } 0 .. $#at], '... demangled');
}

# --- Apple: another underscore in front ---

{
    my @apple = map { "_$_" } @cpp;

    for my $style ([], ['return', 'tight']) {
        same_lines(\@cpp, [through(\@apple, $filt, @$style)],
                   [through(\@cpp, $filt, @$style)], 'as Mach-O has them');
    }
}

done_testing();
