#!/usr/bin/perl

# Errors of tools that treat dSYM files like ELF's: each peculiarity of atos, in
# a file made for it.  Lines and names follow from atos's rule; LLVM's tools
# verify the contents of the files.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(json_lines);
use SymMacho qw(macho dwarf UUID);

my $t;
my $path;

# A new store with the file in it.
sub load {
    my (%o) = @_;
    $t = SymLoader->new;
    $path = $t->file('App', macho(%o));
    my $r = $t->run('load', $path);
    is($r->{code}, 0, '... loaded') or diag($r->{err});
    return $r;
}

# "function file:line" at each offset from __TEXT; "?" for unknown parts.
sub at {
    return [ map {
        ($_->{function} // '?')
            . (defined $_->{file} ? " $_->{file}:" . ($_->{line} // 0) : '')
    } json_lines($t->run('lookup', 'App/' . UUID . '0', '--json',
                         '--no-demangle',
                         map { sprintf '%x', $_ } @_)->{out}) ];
}

# The same from `symloader atos`.
sub atos_at {
    my $r = $t->run({ no_store => 1 }, 'atos', '-o', $path, '-offset',
                    '-fullPath', map { sprintf '0x%x', $_ } @_);
    return [ map { /^(\S+) \(in App\) \((.*)\)$/ ? "$1 $2" : $_ }
             split /\n/, $r->{out} ];
}

# LLVM's reading, so that the test's file is verified independently.
sub dump_of { return scalar qx(llvm-dwarfdump @_ $path 2>&1) }

sub sections {
    return (sections => { dwarf(@_) });
}

# --- addresses are relative to __TEXT, at any address ---

for ([ 64, 0x100000000 ], [ 64, 0 ], [ 32, 0x4000 ], [ 64, 0x1c0de0000 ]) {
    my ($bits, $base) = @$_;
    note(sprintf '__TEXT at 0x%x, %d bits', $base, $bits);
    load(bits => $bits, base => $base,
         text => [ $base + 0x100, $base + 0x200 ],
         symbols => [ [ '_only', $base + 0x180 ] ],
         sections(size => $bits / 8,
                  functions => [ [ 'run', $base + 0x100, $base + 0x140 ] ],
                  rows => [ [ $base + 0x100, 7, 's' ],
                            [ $base + 0x140, 7, 'e' ] ]));
    like(dump_of('--debug-info'), qr/DW_AT_name\s+\("run"\)/, 'the file');
    is_deeply(at(0x100, 0x13f, 0x180, 0),
              [ 'run /src/main.m:7', 'run /src/main.m:7', 'only', '?' ],
              '... addresses from __TEXT on');
}

# --- atos: only statements begin a line (the example of the specification) ---

my $base = 0x100000000;
load(text => [ $base + 0x2fc8e8, $base + 0x2fc940 ],
     sections(functions => [ [ 'f', $base + 0x2fc8e8, $base + 0x2fc940 ] ],
              rows => [ map { [ $base + $_->[0], @$_[ 1, 2 ] ] }
                        [ 0x2fc8e8, 46, 's' ], [ 0x2fc908, 48, 's' ],
                        [ 0x2fc920, 0, '' ], [ 0x2fc928, 48, '' ],
                        [ 0x2fc934, 49, 's' ], [ 0x2fc938, 50, 's' ],
                        [ 0x2fc940, 50, 'e' ] ]));
like(dump_of('--debug-line'), qr/^0x00000001002fc920\s+0\s.*0\s*$/m,
     'rows that are not statements');
my @asked = (0x2fc8e8, 0x2fc907, 0x2fc908, 0x2fc920, 0x2fc928, 0x2fc933,
             0x2fc934, 0x2fc938);
is_deeply(atos_at(@asked),
          [ map {"f /src/main.m:$_"} 46, 46, 48, 48, 48, 48, 49, 50 ],
          '... belong to the one before, with atos');
is_deeply(at(@asked),
          [ map {"f /src/main.m:$_"} 46, 46, 48, 0, 48, 48, 49, 50 ],
          '... and count by themselves elsewhere');

# --- before the first statement ---

load(text => [ $base + 0x100, $base + 0x200 ],
     sections(functions => [ [ 'f', $base + 0x100, $base + 0x110 ],
                             [ 'g', $base + 0x180, $base + 0x190 ] ],
              rows => [ [ $base + 0x100, 5, '' ], [ $base + 0x108, 6, 's' ],
                        [ $base + 0x110, 6, 'e' ], [ $base + 0x180, 0, '' ],
                        [ $base + 0x188, 9, 's' ],
                        [ $base + 0x190, 9, 'e' ] ]));
is_deeply($_->(0x100, 0x108), [ 'f /src/main.m:5', 'f /src/main.m:6' ],
          'rows before the first statement have their own line')
    for \&at, \&atos_at;
is_deeply($_->(0x188), ['g /src/main.m:9'], 'of another sequence, too')
    for \&at, \&atos_at;
like(at(0x180)->[0], qr/^g(?! .*:[1-9])/, '... none, where it is 0');

# --- several rows at one address: in atos the first counts, elsewhere the last
# ---

load(text => [ $base + 0x100, $base + 0x200 ],
     sections(files => [ 'a.m', 'b.m' ],
              functions => [ [ 'f', $base + 0x100, $base + 0x120 ] ],
              rows => [ [ $base + 0x100, 10, 's', 1 ],
                        [ $base + 0x100, 20, 's', 2 ],
                        [ $base + 0x110, 30, 's', 2 ],
                        [ $base + 0x120, 30, 'e' ] ]));
is(() = dump_of('--debug-line') =~ /^0x0000000100000100 /mg, 2,
   'two rows of one address');
is_deeply(atos_at(0x100, 0x10f, 0x110),
          [ 'f /src/a.m:10', 'f /src/a.m:10', 'f /src/b.m:30' ],
          '... the first one');
is_deeply(at(0x100, 0x10f, 0x110),
          [ 'f /src/b.m:20', 'f /src/b.m:20', 'f /src/b.m:30' ],
          '... the last one');

# --- functions without rows ---

load(text => [ $base + 0x100, $base + 0x200 ],
     sections(functions => [ [ 'f', $base + 0x100, $base + 0x110 ],
                             [ '_OUTLINED_FUNCTION_0', $base + 0x110,
                               $base + 0x11c ] ],
              rows => [ [ $base + 0x100, 3, 's' ],
                        [ $base + 0x108, 12, 's' ],
                        [ $base + 0x110, 12, 'e' ] ]));
is_deeply(atos_at(0x10c, 0x110, 0x11b, 0x11c),
          [ 'f /src/main.m:12',
            ('_OUTLINED_FUNCTION_0 /src/main.m:12') x 2, '0x11c (in App)' ],
          'outlined code has its name, and in atos the position where rows end');
is_deeply(at(0x10c, 0x110, 0x11b, 0x11c),
          [ 'f /src/main.m:12', ('_OUTLINED_FUNCTION_0') x 2, '?' ],
          '... elsewhere none');

# --- .debug_aranges is not used ---

{
    my %dwarf = dwarf(functions => [ [ 'f', $base + 0x100, $base + 0x110 ] ],
                      rows => [ [ $base + 0x100, 3, 's' ],
                                [ $base + 0x110, 3, 'e' ] ]);
    # of an entry, of nothing, of the wrong addresses
    for my $offset (0xb, 0x7fffffff, 0) {
        my $set = pack 'v V C2 x4 Q<4', 2, $offset, 8, 0, $base + 0x900, 0x10,
            0, 0;
        load(text => [ $base + 0x100, $base + 0x200 ],
             sections => { %dwarf,
                 '__debug_aranges' => pack('V', length $set) . $set });
        like(dump_of('--debug-aranges'),
             qr/cu_offset = 0x${\sprintf '%08x', $offset}/, 'aranges astray');
        is_deeply(at(0x100, 0x900), [ 'f /src/main.m:3', '?' ],
                  '... mislead nobody');
    }
}

# --- symbols ---

load(text => [ $base + 0x100, $base + 0x200 ], symbols => [
    [ '_first', $base + 0x100 ],
    [ '_stab', $base + 0x108, 0x24 ],             # N_FUN
    [ '/src/other.o', $base + 0x10c, 0x66, 0 ],   # N_OSO
    [ '_below', $base - 0x10 ],                   # of __TEXT
    [ '_zero', 0 ],
    [ '_absolute', $base + 0x110, 0x03, 0 ],      # N_ABS
    [ '_common', $base + 0x118, 0x01, 0 ],
    [ '__Z3foov', $base + 0x120 ],
    [ '-[App run:]', $base + 0x140 ],
    [ '__two', $base + 0x160 ],
    [ '_$s4main3runyyF', $base + 0x180 ],
]);
is(() = qx(llvm-nm $path 2>&1) =~ /^\w{16} /mg, 9, 'a symbol table');
is_deeply(at(0x100, 0x108, 0x10c, 0x110, 0x118, 0x11f), [ ('first') x 6 ],
          "debugger's, absolute and common symbols name nothing");
is_deeply(at(0, 0xff), [ '?', '?' ], 'nor do those below __TEXT');
my $dump = $t->run('lookup', 'App/' . UUID . '0', '--json', 'fffffff0');
unlike($dump->{out}, qr/below|zero/, '... which do not overflow');
is_deeply(at(0x120, 0x140, 0x160, 0x180, 0x1ff),
          [ '_Z3foov', '-[App run:]', '_two', ('$s4main3runyyF') x 2 ],
          'one underscore is removed, from C names only');

done_testing();
