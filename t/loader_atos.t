#!/usr/bin/perl

# Scripts run atos through a pipe and parse its lines with regular expressions:
# one line for each address, in order, answered at once, and an unknown address
# is returned unchanged.  Lines are those of the specification's article, and
# what llvm-symbolizer finds in real files.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLlvm;
use SymLoader qw(json_lines read_file);
use SymMacho qw(macho dwarf);

my $t = SymLoader->new;
my %alone = (no_store => 1);

sub atos {
    my $o = ref $_[0] ? shift : {};
    return $t->run({ %alone, %$o }, 'atos', @_);
}

sub lines { return [ split /\n/, atos(@_)->{out} ] }

# --- the article's examples ---

my $id = '2556F1515A403847BE6CE2C1B5BE4DF80';
my $sym = $t->file('AwemeDylib', <<"SYM");
MODULE mac arm64 $id AwemeDylib
FILE 0 /Users/a/SSZipArchive.m
FILE 1 /Users/a/NSGeometry.h
FILE 2 /Users/a/view.m
INLINE_ORIGIN 0 NSMakeRect
FUNC 300500 200 0 +[SSZipArchive _dateWithMSDOSFormat:]
300500 7c 960 0
30057c 18 965 0
300594 16c 966 0
FUNC 400000 100 0 -[SKTGraphic drawHandlesInView:]
INLINE 0 42 2 0 400010 20
400000 10 40 2
400010 20 110 1
400030 d0 43 2
PUBLIC 56c1dc 0 ff_stream_add_bitstream_filter
SYM
my $zip = '+[SSZipArchive _dateWithMSDOSFormat:] (in AwemeDylib)';
my $ff = 'ff_stream_add_bitstream_filter (in AwemeDylib) + 2';

my $r = atos('-o', $sym, '-arch', 'arm64', '-l', '0x10005d000',
             '0x000000010035d580');
is($r->{out}, "$zip (SSZipArchive.m:965)\n", 'DWARF: the file and the line');
is($r->{code}, 0, '... 0');
is(atos('-o', $sym, '-arch', 'arm64', '-l', '0x0', '0x56C1DE')->{out}, "$ff\n",
   'the symbol table: the offset');

is_deeply(lines('-o', $sym, qw(0x30057b 0x30057c 0x300593 0x300594)),
          [ map {"$zip (SSZipArchive.m:$_)"} 960, 965, 965, 966 ],
          'all of the line, and no byte more');
is_deeply(lines('-fullPath', '-o', $sym, '3147136'),
          ["$zip (/Users/a/SSZipArchive.m:965)"], '-fullPath, and decimal');

# --- address of the image ---

for ([ '-l', '10005d000' ], [ '-l', '0X10005D000' ], [ '-s', '10005d000' ]) {
    is_deeply(lines('-o', $sym, @$_, '0x10035d580'),
              ["$zip (SSZipArchive.m:965)"], "@$_");
}
is_deeply(lines('-o', $sym, '-offset', '0x300580'),
          ["$zip (SSZipArchive.m:965)"], '-offset');
is_deeply(lines('-o', $sym, '-l', '10005d000', '0x10005cfff', '0x1', '0x7'),
          [ map {"$_ (in AwemeDylib)"} '0x10005cfff', '0x1', '0x7' ],
          'before the image: no overflow');
# __TEXT at any address: inputs are addresses as linked
for my $base (0x4000, 0x100000000) {
    my $app = $t->file(sprintf('%x/App', $base), macho(
        base => $base, text => [ $base + 0x100, $base + 0x200 ],
        symbols => [ [ '_only', $base + 0x180 ], [ '_low', $base - 0x100 ] ],
        sections => { dwarf(functions => [ [ 'run', $base + 0x100,
                                             $base + 0x140 ] ],
                            rows => [ [ $base + 0x100, 7, 's' ],
                                      [ $base + 0x120, 0, '' ],
                                      [ $base + 0x140, 7, 'e' ] ]) }));
    my @want = ('run (in App) (main.m:7)', 'run (in App) (main.m:7)',
                'only (in App) + 8');
    my @at = (0x100, 0x13f, 0x188);

    note(sprintf '__TEXT at 0x%x', $base);
    is_deeply(lines('-o', $app, map { sprintf '0x%x', $base + $_ } @at), \@want,
              'as built');
    is_deeply(lines('-o', $app, '-s', '0x5000',
                    map { sprintf '0x%x', $base + 0x5000 + $_ } @at), \@want,
              'with a slide');
    is_deeply(lines('-o', $app, '-l', '0x7f000000',
                    map { sprintf '0x%x', 0x7f000000 + $_ } @at), \@want,
              'with a load address');
    is_deeply(lines('-o', $app, '-offset', @at), \@want, 'offsets');
    is_deeply(lines('-o', $app, sprintf('0x%x', $base - 0x100), '0x0'),
              [ map { sprintf '0x%x (in App)', $_ } $base - 0x100, 0 ],
              'symbols below __TEXT, and addresses, name nothing');
}

# --- inlined calls ---

my $rect = 'NSMakeRect (in AwemeDylib) (NSGeometry.h:110)';
my $draw = '-[SKTGraphic drawHandlesInView:] (in AwemeDylib)';
my @in = ('-o', $sym, '0x400010');

is_deeply(lines(@in), ["$draw (view.m:42)"], 'the call, in its function');
is(atos('-i', @in, '0x300580')->{out},
   "$rect\n$draw (view.m:42)\n\n$zip (SSZipArchive.m:965)\n\n",
   '-i: the innermost first, then an empty line');
is(atos('-inlineFrames', @in)->{out}, "$rect\n$draw (view.m:42)\n\n",
   '-inlineFrames');
is(atos('-i', '-d', ' <- ', @in)->{out}, "$rect <- $draw (view.m:42)\n",
   '-d: in one line');
is_deeply(lines('--inline', 'decl', @in),
          ['NSMakeRect (in AwemeDylib) (view.m:42)'], '--inline decl');
is_deeply(lines('--inline', 'line', @in), ["$draw (NSGeometry.h:110)"],
          '--inline line, as the example of the man page');

is_deeply([ json_lines(atos('--json', '-i', @in, '0x56c1de')->{out}) ], [
    { address => '0x400010', offset => '0x400010', status => 'dwarf',
      text => "$rect\n$draw (view.m:42)",
      frames => [ { function => 'NSMakeRect', file => 'NSGeometry.h',
                    line => 110 },
                  { function => '-[SKTGraphic drawHandlesInView:]',
                    file => 'view.m', line => 42 } ] },
    { address => '0x56c1de', offset => '0x56c1de', status => 'symbol_table',
      text => $ff,
      frames => [ { function => 'ff_stream_add_bitstream_filter',
                    function_offset => '0x2' } ] },
], '--json: the keys of the HTTP interface');

# --- addresses of a file, and of standard input ---

my $list = $t->file('list', "0x300580 0x56c1de\n\n\tmain 0xzz\n- 0x10");
my @want = ("$zip (SSZipArchive.m:965)", $ff, 'main', '0xzz', '-',
            '0x10 (in AwemeDylib)');
is_deeply(lines('-o', $sym, '-f', $list), \@want,
          '-f: one line for each word, other words unchanged');
is_deeply(lines({ stdin => read_file($list) }, '-o', $sym), \@want,
          'standard input: the same');
is_deeply(lines('-o', $sym, 'main', '0x300580'),
          [ 'main', "$zip (SSZipArchive.m:965)" ], 'the command line, too');

my $p = $t->start(\%alone, 'atos', '-o', $sym);
for (1 .. 3) {
    print { $p->{in} } "0x300580\n";
    is(readline $p->{out}, "$zip (SSZipArchive.m:965)\n", 'answered at once');
}
close $p->{in};
is(readline $p->{out}, undef, '... and nothing else');
is($t->wait($p)->{code}, 0, '... 0');

# --- real files ---

# llvm-symbolizer's answers as lines of atos.
sub llvm {
    my ($file, $arch, $name, @addresses) = @_;
    open my $pipe, '-|', SymLlvm::symbolizer(), "--obj=$file",
        "--default-arch=$arch", '--output-style=LLVM', '--inlines', @addresses
        or BAIL_OUT("llvm-symbolizer: $!");
    my @groups = map { [ split /\n/ ] } split /\n\n/,
        do { local $/; readline $pipe };
    close $pipe or BAIL_OUT('llvm-symbolizer failed');
    return map {
        my @lines = @$_;
        join "\n", map {
            my ($function, $place) = splice @lines, 0, 2;
            my ($path, $line) = $place =~ /^(.*):(\d+):\d+$/;
            my ($base) = $path =~ m{([^/]+)$};
            "$function (in $name) ($base:$line)";
        } 1 .. @lines / 2;
    } @groups;
}

# [address, file's line] of all rows that are statements, as LLVM lists them.
sub rows {
    my ($file, $arch) = @_;
    return map { /^(0x\w+) +(\d+) .*is_stmt(?!.*end_sequence)/ && $2 != 0
                 ? [ $1, $2 ] : () }
        qx(llvm-dwarfdump --arch=$arch --debug-line '$file');
}

SKIP: {
    my $macho = fixtures('macho');
    my $dwarf = 'Contents/Resources/DWARF';

    for (['crash.dSYM', 'crash', 'x86_64']) {
        my ($bundle, $name, $arch) = @$_;
        my $file = "$macho/$bundle/$dwarf/$name";
        my @rows = rows($file, $arch);
        my %of;
        push @{ $of{ $_->[0] } }, $_->[1] for @rows;

        # addresses with a single row are unambiguous
        my @at = grep { @{ $of{$_} } == 1 } sort keys %of;
        my @got = split /\n\n/, atos('-i', '-arch', $arch, '-o', "$macho/$bundle",
                                     @at)->{out};
        my @expected = llvm($file, $arch, $name, @at);
        # extern "C" in a namespace: our name includes the namespace
        s/^google_breakpad::(?=catch_exception_raise )//mg for @got;
        my @differ = grep { ($got[$_] // '') ne $expected[$_] } 0 .. $#at;

        cmp_ok(scalar @at, '>', 1000, "$bundle: rows");
        is(@got, @at, '... an answer for each');
        is(@differ, 0, '... as in llvm-symbolizer')
            or diag(map {"$at[$_]:\n$got[$_]\n$expected[$_]\n"} @differ);

        # of several rows, atos takes the first, LLVM the last
        @at = grep { @{ $of{$_} } > 1 && $of{$_}[0] != $of{$_}[-1] } sort keys %of;
        my @lines = map { /:(\d+)\)$/ }
            @{ lines('--inline', 'line', '-o', "$macho/$bundle", @at) };
        cmp_ok(scalar @at, '>', 10, '... addresses with several rows');
        is_deeply(\@lines, [ map { $of{$_}[0] } @at ], '... the first one counts');
    }

    # the table of a binary: names and addresses as in nm
    my @symbols = map { [ split ' ', $_, 3 ] } grep {/ [tT] _/}
        qx(llvm-nm --defined-only -C '$macho/crash');
    my %count;
    $count{ $_->[0] }++ for @symbols;
    @symbols = grep { $count{ $_->[0] } == 1 && $_->[0] gt '0000000100000fff' }
        @symbols;
    my @got = split /\n/, atos('-o', "$macho/crash",
                               map {"0x$_->[0]"} @symbols)->{out};
    is_deeply([ map { s/ \(in crash\) \+ 0$//r } @got ],
              [ map { chomp(my $s = $_->[2]); $s =~ s/^_(?!_Z)//r } @symbols ],
              'a binary without DWARF: all names of its table');

    # --- fat files ---

    my $fat = "$macho/Example.framework.dSYM";
    for (qw(x86_64 arm64)) {
        $r = atos('-arch', $_, '-o', $fat, '-offset', '0x4000');
        is($r->{out}, "0x4000 (in Example)\n", "-arch $_: the slice is there");
    }
    $r = atos('-arch', 'armv7', '-o', $fat, '0x4000');
    is($r->{code}, 1, 'a slice that does not exist');
    like($r->{err}, qr/Example: .*no architecture armv7 in it, but x86_64, arm64$/m,
         '... says so');
    for ([ "$macho/crash.dSYM", 'x86_64' ], [ $sym, 'arm64' ]) {
        $r = atos('-arch', 'i386', '-o', $_->[0], '0x4000');
        is($r->{code}, 1, 'a thin file of another one');
        like($r->{err}, qr/no architecture i386 in it, but $_->[1]$/m, '... says so');
    }
}

# --- the store ---

is($t->run('load', $sym)->{code}, 0, 'loaded');
SKIP: {
    my $dsym = fixtures('macho/crash.dSYM/Contents/Resources/DWARF/crash');
    is($t->run('load', $dsym)->{code}, 0, 'a dSYM, too');
    my ($uuid) = qx(llvm-dwarfdump --uuid $dsym) =~ /UUID: (\S+)/;
    my ($main) = qx(llvm-nm $dsym) =~ /^(\w+) T _main$/m;
    for ("crash/$uuid", "Renamed/$uuid", lc "Renamed/${uuid}0" =~ tr/-//dr) {
        my ($name) = m{(.*)/};
        like(atos('--store', $t->store, '-o', $_, "0x$main")->{out},
             qr/^main \(in $name\) \(\w+\.\w+:\d+\)$/, "$_: by its UUID");
    }
}
is($t->run('atos', '-o', "AwemeDylib/$id", '0x300580', '0x56c1de')->{out},
   "$zip (SSZipArchive.m:965)\n$ff\n", 'a module of the store');
is($t->run({ stdin => "0x300580\n" }, 'atos', '-o', "AwemeDylib/$id")->{out},
   "$zip (SSZipArchive.m:965)\n", '... from standard input');
$r = $t->run('atos', '-o', 'gone/' . '0' x 33, '0x1');
is($r->{code}, 1, 'a module that is not stored');
like($r->{err}, qr/not in the store/, '... says so');

# --- unreadable files ---

for ([ [ '-o', '/nonexistent' ], qr/No such file/ ],
     [ [ '-o', $t->dir ], qr/the folder is not a dSYM bundle/ ],
     [ [ '-o', $t->file('junk', "\0junk") ], qr/junk/ ],
     [ [ '-o', $t->file('cut', substr read_file($sym), 0, 9) ], qr/cut/ ],
     [ [ '-o', $t->file('invalid', "invalid\n") ], qr/invalid/ ]) {
    $r = atos(@{ $_->[0] }, '0x1');
    is($r->{code}, 1, "@{$_->[0]}: 1");
    like($r->{err}, $_->[1], '... and why');
    is($r->{out}, '', '... and nothing else');
}

# Damage is remembered for the following lines.
{
    my $damaged = SymLoader->new;
    my @name = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');
    my $m = join '/', @name;
    my $addresses = join '', map { sprintf "0x%x\n", 739 * $_ } 1 .. 4000;

    $damaged->run('load', fixtures("symbols/$m/crash-client.sym"));

    # words in the middle of the pages of some extents; the first of these is
    # last in the file
    my $data = $damaged->store . '/data.mdb';
    my $bytes = read_file($data);
    my $first = rindex $bytes, 'SYMC';
    for my $page (4 .. 150) {
        substr($bytes, $first - $page * 4096 + 2000, 8) = "\xff" x 8
            if $first > ($page + 4) * 4096;
    }
    open my $out, '>:raw', $data or die "$data: $!";
    print $out $bytes;
    close $out or die "$data: $!";

    my @at = ('atos', '-o', $m, '-offset');
    $r = $damaged->run({ stdin => $addresses }, @at);
    is($r->{code}, 3, 'damaged symbols: 3');
    my ($bad) = $r->{err} =~ /damaged: symbols of (0x[0-9a-f]+)/;
    ok($bad, '... the address is named') or diag($r->{err});
    is(scalar(() = $r->{out} =~ /\n/g), 4000, '... and all have an answer');

    my $p = $damaged->start(@at);
    print { $p->{in} } "$bad\n";
    is(scalar(readline $p->{out}), "$bad (in crash-client)\n",
       'over a pipe: the address is unknown');
    print { $p->{in} } "0xffffffffff\n";
    is(scalar(readline $p->{out}), "0xffffffffff (in crash-client)\n",
       '... nor here');
    close $p->{in};
    is($damaged->wait($p)->{code}, 3, '... and the first still counts');
}

for ([], [ '-o' ], [ '-o', $sym, '-x' ], [ '-o', $sym, '-l', '1', '-s', '1' ],
     [ '-o', $sym, '-l', 'x' ], [ '-o', $sym, '-offset', '-l', '1' ],
     [ '-o', $sym, '--inline', 'some' ], [ '-p', '1' ],
     [ '-o', $sym, '-textExecAddress', '0x1' ],
     [ '-o', $sym, '-f', $list, '0x1' ]) {
    $r = atos(@$_);
    is($r->{code}, 2, "wrong: @$_");
    like($r->{err}, qr/^symloader: /, '... says why');
}

done_testing();
