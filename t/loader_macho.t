#!/usr/bin/perl

# Mach-O files are loaded as linkers and dsymutil write them: each slice of a
# fat file is a module of its own, by its UUID.  Functions, inlined calls and
# lines are those of LLVM's symbolizer; atos lines follow atos's rule: only
# statements, and the first of several at an address.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(need_fixtures);
use SymLlvm qw(llvm_frames loader_frames frame_differences);
use SymLoader qw(read_file);
use SymMacho qw(fat);

my $t = SymLoader->new;
my $zips = 0;
my $macho = need_fixtures('macho');
my $dwarf = 'Contents/Resources/DWARF';
my $crash = "$macho/crash";
my $dsym = "$macho/crash.dSYM/$dwarf/crash";
my $fat = "$macho/Example.framework.dSYM/$dwarf/Example";
my $base = 0x100000000;    # llvm-objdump --private-headers: __TEXT

# NAME/ID of the slices, as LLVM reads their UUIDs.
sub modules_of {
    my ($path) = @_;
    my ($name) = $path =~ m{([^/]+)$};
    return map { tr/-//dr } map {"$name/${_}0"}
        qx(llvm-dwarfdump --uuid $path) =~ /^UUID: (\S+)/mg;
}

# [address, file, line] of the rows that atos would show, by address; the file
# is undef in gaps between code.
sub statements {
    my ($path) = @_;
    my (%rows, %dirs, @names);
    # all units of our file were compiled in one folder
    my ($folder) = qx(llvm-dwarfdump --debug-info $path)
        =~ /DW_AT_comp_dir\s+\("(.*)"\)/;
    for (split /\n/, qx(llvm-dwarfdump --debug-line $path)) {
        if (/^debug_line\[/) {
            (%dirs, @names) = ();
        } elsif (/^include_directories\[\s*(\d+)\] = "(.*)"/) {
            my ($n, $dir) = ($1, $2);
            $dirs{$n} = $dir =~ m{^/} ? $dir : "$folder/$dir";
        } elsif (/^\s+name: "(.*)"/) {
            push @names, $1;
        } elsif (/^\s+dir_index: (\d+)/) {
            $names[-1] = ($dirs{$1} // $folder) . "/$names[-1]";
        } elsif (/^0x(\w{16})\s+(\d+)\s+\d+\s+(\d+) (.*)/) {
            my ($addr, $line, $file, $flags) = (hex $1, $2, $3, $4);
            if ($flags =~ /end_sequence/) {
                $rows{$addr} //= [ $addr, undef, 0 ];
            } elsif ($flags =~ /is_stmt/ && !defined $rows{$addr}[1]) {
                $rows{$addr} = [ $addr, $names[ $file - 1 ], $line ];
            }
        }
    }
    return map { $rows{$_} } sort { $a <=> $b } keys %rows;
}

# The row of each address, these being in order.
sub rows_at {
    my ($rows, @addr) = @_;
    my ($i, @at) = (0);
    for my $addr (@addr) {
        $i++ while $i < @$rows && $rows->[$i][0] <= $addr;
        push @at, $rows->[ $i - 1 ];
    }
    return @at;
}

# --- a dSYM: all of DWARF ---

my ($module) = modules_of($dsym);
my $r = $t->run('load', $dsym);
is($r->{code}, 0, 'a debug companion: loaded');
like($r->{out}, qr/^\S+: \Q$module\E: lines and inlines/m,
     '... under its file\'s name and its UUID');

{
    my @starts = sort { $a <=> $b }
        map { /^(\w+) [Tt] (?!__mh)/ ? hex $1 : () } qx(llvm-nm $dsym);
    my %seen;
    my @addr = sort { $a <=> $b } grep { !$seen{$_}++ }
        map { my $start = $_; map { $start + 5 * $_ } 0 .. 7 } @starts;
    my @theirs = llvm_frames($t, $dsym, '', @addr);
    my @ours = loader_frames($t, $module, map { $_ - $base } @addr);
    my @rows = statements($dsym);
    my @row = rows_at(\@rows, @addr);
    my @known = grep { $theirs[$_][0][2] != 0 } 0 .. $#addr;
    my @shown = split /\n/, $t->run({ no_store => 1 }, 'atos', '-o', $dsym,
        '-fullPath', '--inline', 'line', map { sprintf '0x%x', $_ } @addr)
        ->{out};
    my $others = grep { $theirs[$_][0][2] != $row[$_][2] } @known;

    my @bad = frame_differences([ @ours[@known] ], [ @theirs[@known] ]);
    cmp_ok(scalar(@known), '>', 1000, '... addresses that LLVM knows');
    is(scalar(@bad), 0, '... functions, calls and lines are right')
        or diag(join "\n", @bad[0 .. ($#bad < 9 ? $#bad : 9)]);

    cmp_ok($others, '>', 100, '... some of which have another line in atos');
    is(scalar(@shown), scalar(@addr), '... one for each');
    @bad = grep { $shown[$_] !~ /\(\Q$row[$_][1]\E:$row[$_][2]\)$/ } @known;
    is(scalar(@bad), 0, '... by its rule')
        or diag(map {"$shown[$_], not $row[$_][1]:$row[$_][2]\n"}
                    @bad[0 .. ($#bad < 9 ? $#bad : 9)]);
}

# After a function's last instruction is the return address of a call that never
# returns: DWARF ends before it, the symbol does not.
{
    my @starts = map { /^(\w+) [Tt] (?!__mh)/ ? hex $1 : () }
        qx(llvm-nm --numeric-sort $dsym);
    my @behind = map { $_ - 1 } @starts[ 1 .. $#starts ];
    my @theirs = llvm_frames($t, $dsym, '', @behind);
    my @holes = grep { $theirs[$_][0][0] ne '??' && !$theirs[$_][0][2] }
        0 .. $#behind;
    my @ours = loader_frames($t, $module, map { $_ - $base } @behind[@holes]);
    cmp_ok(scalar(@holes), '>', 100, '... holes between functions');
    is(scalar(grep { $ours[$_][0][0] ne $theirs[ $holes[$_] ][0][0] }
              0 .. $#holes), 0, '... have the names that LLVM gives them');

    my $at = $behind[ $holes[0] ];
    my ($from) = grep { $_ <= $at } reverse @starts;
    like($t->run({ no_store => 1 }, 'atos', '-o', $dsym, sprintf('0x%x', $at))
             ->{out}, qr/ \(in crash\) \+ @{[ $at - $from ]}\n\z/,
         '... counted from the symbol\'s beginning');

    my $copy = SymLoader->new;
    my $sym = $copy->file(
        'crash.sym', $t->run('dump', $module, '--no-demangle')->{out});
    is($copy->run('load', $sym)->{code}, 0, '... dumped and loaded');
    is_deeply([ loader_frames($copy, $module,
                              map { $_ - $base } @behind[@holes]) ],
              \@ours, '... they are named as well');
}

# --- the symbol table fills gaps, and is all that a stripped binary has ---

my ($hole) = grep { !/ (?:__mh|_main$)/ && / [Tt] / }
    split /\n/, qx(llvm-nm $crash);
$t = SymLoader->new;
like($t->run('load', $crash)->{out}, qr/: publics,/,
     'the binary, without DWARF: its symbols');
{
    my ($addr, $name) = $hole =~ /^(\w+) \w _(.*)/;
    my ($frames) = loader_frames($t, $module, hex($addr) - $base + 1);
    is($frames->[0][0], $name, '... without the underscore of C');
}
$t->run('load', $dsym);
like($t->run('load', $crash)->{out}, qr/not stored/,
     '... which do not replace those of a dSYM');

# The linker still records the starts of functions whose names were stripped.
{
    $t = SymLoader->new;
    my $stripped = $t->dir . '/crash';
    system('llvm-strip', '-x', '-o', $stripped, $crash) == 0 or die;
    my @names = map { /^(\w+) [Tt] (?!__mh)/ ? hex $1 : () }
        qx(llvm-nm $stripped);
    my %is_named = map { $_ => 1 } @names;
    my @nameless = grep { !$is_named{$_} } map { /^(\w{16})$/ ? hex $1 : () }
        qx(llvm-objdump --macho --function-starts $stripped);
    cmp_ok(scalar(@nameless), '>', 10, 'functions without a name');
    is($t->run('load', $stripped)->{code}, 0, '... in a stripped binary');
    is(scalar(grep { defined $_->[0][0] }
               loader_frames($t, $module, map { $_ - $base + 1 } @nameless)),
       0, '... do not get their neighbour\'s name');
    is(scalar(grep { !defined $_->[0][0] }
               loader_frames($t, $module, map { $_ - $base } @names)),
       0, '... and the others have theirs');
}

# --- fat files ---

my @slices = modules_of($fat);
is(scalar(@slices), 2, 'a fat file of two');
$t = SymLoader->new;
$r = $t->run('load', $fat);
is($r->{code}, 0, '... loaded');
like($r->{out}, qr/^1 file, 2 modules stored/m, '... two modules of one file');
is_deeply([ sort $t->modules ], [ sort @slices ],
          '... each slice under its own UUID');

# Two slices with code in them; the first of three is not a slice.
my $real = read_file($dsym);
my $constants = substr read_file($fat), unpack 'x16 N', read_file($fat);
$t = SymLoader->new;
my $lipo = $t->file('crash', fat(
    [ 0x0100000c, 0, substr($real, 0, 4) . "\xff" x 60 ],
    [ 0x01000007, 3, $real ], [ 7, 3, $constants ]));
$r = $t->run('load', $lipo);
is($r->{code}, 1, 'a fat file with a bad slice: an error');
like($r->{err}, qr/^symloader: \S+: malformed: .*\n\z/, '... one, with a reason');
is_deeply([ sort $t->modules ],
          [ sort $module, $slices[0] =~ s/Example/crash/r ],
          '... the others are stored');
my ($start) = qx(llvm-nm $dsym) =~ /^(\w+) T _main$/m;
my ($frames) = loader_frames($t, $module, hex($start) - $base);
is($frames->[-1][0], 'main', '... and answer');

# one pass over a pipe is enough
$t = SymLoader->new;
$r = $t->run({ stdin => read_file($fat) }, 'load', '/dev/stdin');
is($r->{code}, 0, 'a fat file through a pipe');
is(scalar($t->modules), 2, '... completely');

# --- a bundle in a zip or a tar, as it is uploaded ---

my %archiver = (zip => 'zip -q', tar => 'tar -cf', 'tar.gz' => 'tar -zcf',
                'tar.zst' => 'tar --zstd -cf', 'tar.xz' => 'tar -Jcf');

# names and contents, in this order
sub archive_of {
    my ($end, @files) = @_;
    my $dir = $t->dir . '/zip' . ++$zips;
    my @names;
    while (my ($name, $bytes) = splice @files, 0, 2) {
        $t->file("zip$zips/$name", $bytes);
        push @names, $name;
    }
    my $path = $t->dir . "/upload-$zips.$end";
    system("cd $dir && $archiver{$end} $path @names") == 0 or die;
    return $path;
}

my $bundle = "crash.dSYM/$dwarf";
my @bundle = ("__MACOSX/crash.dSYM/$dwarf/._crash", "\0\5\x16\7",
              './._crash.dSYM', "\0\5\x16\7",
              './crash.dSYM/Contents/Info.plist', '<plist/>',
              "$bundle/a-text", 'no Mach-O', "$bundle/crash", $real,
              "$bundle/z-text", 'no Mach-O');

for my $end (sort keys %archiver) {
    $t = SymLoader->new;
    $r = $t->run('load', archive_of($end, @bundle));
    is($r->{code}, 0, "$end of a dSYM bundle: loaded") or diag($r->{err});
    is_deeply([ $t->modules ], [$module],
              '... under the name of the file in it');

    $t = SymLoader->new;
    $r = $t->run('load', archive_of($end,
        "Example.framework.dSYM/$dwarf/Example", read_file($fat)));
    is($r->{code}, 0, "$end of a bundle for two processors");
    is(scalar($t->modules), 2, '... both of them');

    for my $case (
        [ 'a bundle with two files', [ @bundle, "$bundle/second", $real ],
          qr/it contains more than one file/ ],
        [ 'a bundle and a file', [ @bundle, 'a.sym', 'MODULE' ],
          qr/it contains more than one file/ ],
        [ 'a bundle without its file', [ @bundle[ 0 .. 7 ] ],
          qr/there is no file in it/ ])
    {
        my ($what, $files, $why) = @$case;
        $t = SymLoader->new;
        $r = $t->run('load', archive_of($end, @$files));
        is($r->{code}, 1, "$end of $what: an error");
        like($r->{err}, $why, '... with its reason');
        is_deeply([ $t->modules ], [], '... nothing is stored');
    }
}

# --- invalid files ---

for my $case (
    [ 'truncated in its load commands', substr(read_file($dsym), 0, 100),
      qr/truncated|malformed/ ],
    [ 'an object file', do { my $s = read_file($dsym);
                             substr $s, 12, 4, pack 'V', 1; $s },
      qr/unsupported/ ],
    [ 'a fat file without slices', pack('NN', 0xcafebabe, 0), qr/malformed/ ])
{
    my ($what, $bytes, $why) = @$case;

    $t = SymLoader->new;
    $r = $t->run('load', $t->file('bad', $bytes));
    is($r->{code}, 1, "$what: an error");
    like($r->{err}, $why, '... with its reason');
    is_deeply([ $t->modules ], [], '... nothing is stored');
}

done_testing();
