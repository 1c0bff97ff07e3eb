# Demangled names: what c++filt, llvm-cxxfilt and rustfilt print.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IPC::Open2;
use SymLlvm qw(llvm_cxxfilt);
use SymLoader qw(fixtures root);
use Test::More;

binmode Test::More->builder->$_, ':utf8'
    for qw(output failure_output todo_output);

my $filt = root() . '/' . ($ENV{SYM_BUILD} || 'build') . '/t/filt';

# What a program makes of names, a line each.
sub through {
    my ($names, @command) = @_;
    my $pid = open2(my $out, my $in, @command)
        or BAIL_OUT("cannot run $command[0]");

    # all of these read to the end before the pipe is full, or in a child
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

# --- C++: all that the library of this compiler has ---

my ($library) = glob '/usr/lib/*/libstdc++.so.6';
my %seen;
my @cpp = sort grep { /^_Z/ && !$seen{$_}++ }
    map { /^\w* *\w (\S+?)(?:\@.*)?$/ ? $1 : () }
    split /\n/, `nm -D --defined-only $library`;

cmp_ok(scalar @cpp, '>', 4000, 'names of libstdc++');

{
    # a verbose one spells out std::string, as no one writes it
    my @full = through(\@cpp, 'c++filt', '--no-verbose');

    same_lines(\@cpp, [through(\@cpp, $filt, 'return')], \@full,
               'with return types');

    # what is dropped stood in front
    my @params = through(\@cpp, $filt);
    my @cut = map { substr $full[$_], -length $params[$_] } 0 .. $#cpp;
    same_lines(\@cpp, \@params, \@cut, 'without return types');
    cmp_ok(scalar(grep { $params[$_] ne $full[$_] } 0 .. $#cpp), '>', 100,
           '... of which there are some');

    same_lines(\@cpp, [through(\@cpp, $filt, 'name')],
               [through(\@cpp, 'c++filt', '--no-verbose', '--no-params')],
               'without parameters');
}

# What gcc makes copies of, in a real file: "f() [clone .isra.6]".
{
    my @clones = grep {/^_Z.*\./}
        map { (split)[2] // () } `nm '${\ fixtures()}/elf/crash.debug'`;

    cmp_ok(scalar(grep {/\.isra\./} @clones), '>', 3, 'copies of functions');
    same_lines(\@clones, [through(\@clones, $filt, 'return')],
               [through(\@clones, 'c++filt', '--no-verbose')], 'copies');
}

# LLVM's own spelling, as the one whose headers are compiled in has it.
{
    my @names = (@cpp, 'name of C', qw(
        _ZN5test21fITnDaLi1EEEvv _Z1gITk1CiEvv _ZN3FooIiEC1ITkNS_3BarEiEET_
        _Z1fIiEvT_Q1CIS0_E _Z2f1IiQ4TrueIT_EEvv _ZN1XF1fIiEEvT_
        _ZZ1fvENKUlTyTnT_TtTyTnT_ETpTyvE_clIiLi0E2CCJfEEEDav
        _ZN1A1fIXntsr12HasDecoratorIXT_ELm2048EE5valueEEEvv
        ___ZN3foo3barEv_block_invoke ___ZN3foo3barEv_block_invoke_2
        _Z1fv.isra.0 _ZZ4mainENKUlvE_clEv
    ));

    # what LLVM leaves as it is, of transactional memory or _Float32x, libiberty
    # may know; it writes "A<B<int> >"
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

# --- Apple: one underscore more ---

{
    my @apple = map { "_$_" } @cpp;

    for my $style ([], ['return', 'tight']) {
        same_lines(\@cpp, [through(\@apple, $filt, @$style)],
                   [through(\@cpp, $filt, @$style)], 'as Mach-O has them');
    }
}

done_testing();
