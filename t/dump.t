#!/usr/bin/perl

# symloader dump: a dump_syms for everything that the loader reads.  The output
# must mean the same as the input: symbol files of other tools keep everything
# that matters, and the text made from a debug file gives the answers that LLVM
# gives for the file itself.  Expected answers are from t/lib/sym_oracle.py and
# t/lib/SymText.pm, which only read text and share no code with ours, and from
# llvm-symbolizer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLlvm;
use SymLoader qw(json_lines read_file);
use SymMacho qw(fat);
use SymTest;
use SymText qw(sym_normal);

my $oracle = "python3 '$FindBin::Bin/lib/sym_oracle.py'";
my $t = SymLoader->new;
my @where = (SymTest::is_slow() ? () : '--all-boundaries', '--random', 2000);

sub lines_of { return split /\n/, $_[0] }

sub first_difference {
    my ($x, $y) = @_;
    for my $i (0 .. ($#$x > $#$y ? $#$x : $#$y)) {
        my ($a, $b) = map { $_->[$i] // '(nothing)' } $x, $y;
        return "line $i: $a, but $b" if $a ne $b;
    }
    return '';
}

sub answers {
    my ($file, @args) = @_;
    my @lines = qx($oracle '$file' @args);
    $? == 0 or die "the oracle failed on $file\n";
    return @lines;
}

# --- text comes back ---

for my $file (sort glob(fixtures('symbols') . '/*/*/*.sym')) {
    my ($module) = $file =~ m{([^/]+/[^/]+)/[^/]+$};
    my ($name) = $file =~ m{([^/]+)$};

    is($t->run('load', '--force', $file)->{code}, 0, "$name loads");
    my $r = $t->run('dump', $module);
    is("$r->{code}$r->{err}", '0', '... and is dumped');
    is(first_difference([ sym_normal(read_file($file)) ],
                        [ sym_normal($r->{out}) ]),
       '', '... the same in its normal form');

    my $dumped = $t->file("dumped.sym", $r->{out});
    my @want = answers($file, @where);
    my $addrs = $t->file('addresses', join '',
                         map { sprintf "%x\n", /"addr": (\d+)/ } @want);
    is(first_difference(\@want, [ answers($dumped, '-', "<$addrs") ]), '',
       '... and answers ' . @want . ' addresses so');

    # from the file itself, without a store; and dumped once more
    is($t->run({ no_store => 1 }, 'dump', $_)->{out} =~ s/^STACK .*\n//gmr, $r->{out},
       '... the same out of ' . s{.*/}{}r) for $file, $dumped;
}

# A path is written so that it is read back as it was shown, although joining it
# again would change it.
{
    my $file = $t->file('paths.sym', <<'END');
MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 paths
FILE 0 src\a\..\main.c
FILE 1 /a//b/./x.c
FILE 2 /a//..//x.c
FILE 3 src\main.c
FUNC 0 10 0 f
0 4 1 0
4 4 1 1
8 4 1 2
c 4 1 3
END
    my $first = $t->run({ no_store => 1 }, 'dump', $file)->{out};
    my $again = $t->run({ no_store => 1 }, 'dump',
                        $t->file('paths2.sym', $first))->{out};

    is_deeply([ $first =~ /^FILE \d (.*)$/mg ],
              [ 'src\.\main.c', '/a//b/x.c', '/a/x.c', 'src/main.c' ],
              'a path that would be read differently has a "." before its name');
    is($again, $first, '... and is read as it was shown');
    like($t->run({ no_store => 1 }, 'dump', '--format=text', $file)->{out},
         qr/ src\\main\.c:1$/m, '... which is this one');
}

# --- a debug file gives LLVM's answers ---

my $debug = fixtures('elf/crash.debug');
my $base = 0x400000;    # readelf -l crash: the first LOAD
my $r = $t->run({ no_store => 1 }, 'dump', '--no-demangle', $debug);
is("$r->{code}$r->{err}", '0', 'a debug file is dumped');
is_deeply([ (lines_of($r->{out}))[0, 1] ],
          [ 'MODULE Linux x86_64 C0BCC3F19827FE653058404B2831D9E60 crash',
            'INFO CODE_ID F1C3BCC0279865FE3058404B2831D9E64135386C' ],
          '... with the ids of its build id');
my $text = $t->file('crash.sym', $r->{out});

my @functions = map { /^([0-9a-f]+) [Tt] / ? hex($1) - $base : () }
    qx(nm $debug);
my @addrs = map { ($_, $_ + 1, $_ + 7) } @functions;
cmp_ok(scalar(@addrs), '>', 300, '... there are addresses to look up');
my $asked = $t->file('addresses', join '', map { sprintf "%x\n", $_ } @addrs);
my @ours = map { json_lines($_) } answers($text, '-', "<$asked");
my $llvm = $t->file('llvm', join '',
                    map { sprintf "0x%x\n", $_ + $base } @addrs);
my $tool = SymLlvm::symbolizer();
my @theirs = split /\n\n/, qx($tool --obj=$debug --no-demangle --inlines \\
    --functions=linkage <$llvm);

my ($known, @bad) = 0;
for my $i (0 .. $#addrs) {
    my @l = lines_of($theirs[$i]);
    next if $l[0] eq '??';
    $known++;
    my @want = map {
        my ($path, $line) = $l[ 2 * $_ + 1 ] =~ /^(.*):(\d+):\d+$/;
        # readers of .sym files remove a/../ from paths (docs/use/compat.md)
        1 while $path =~ s{/[^/.][^/]*/\.\./}{/};
        # from the symbol table LLVM knows a file, but no line in it
        "$l[2 * $_] " . ($line ? "$path:$line" : '');
    } 0 .. @l / 2 - 1;
    my @got = map {
        my $place = $_->{line} ? "$_->{file}:$_->{line}" : '';
        "$_->{function} $place";
    } @{ $ours[$i]{inlines} // [] }, $ours[$i];
    # without a linkage name LLVM writes f where we write space::f
    my $same = @got == @want
        && !grep { $got[$_] !~ /(?:^|::)\Q$want[$_]\E$/ } 0 .. $#want;
    push @bad, sprintf '%x: %s, but LLVM %s', $addrs[$i], "@got", "@want"
        if !$same;
}
cmp_ok($known, '>', 300, '... LLVM knows them');
is(scalar(@bad), 0, '... the text answers as LLVM does')
    or diag(join "\n", @bad[0 .. ($#bad < 9 ? $#bad : 9)]);

# names: dump_syms demangles, and so do we unless told otherwise
my ($mangled) = $r->{out} =~ /^FUNC \w+ \w+ 0 (_ZN\w+)$/m;
my $plain = qx(c++filt '$mangled');
chomp $plain;
$r = $t->run({ no_store => 1 }, 'dump', $debug);
like($r->{out}, qr/^FUNC \w+ \w+ 0 \Q$plain\E$/m, '... names are demangled');
unlike($r->{out}, qr/ \Q$mangled\E$/m, '... not both ways');

# --- fat files and bundles ---

sub head_of {
    my $r = $t->run({ no_store => 1 }, 'dump', @_);
    return ($r->{out} =~ /^(MODULE .*)/)[0] // '', $r->{err};
}

SKIP: {
    my $bundle = fixtures('macho/Example.framework.dSYM');
    my ($dwarf) = glob "$bundle/Contents/Resources/DWARF/*";
    my %uuid = reverse qx(llvm-dwarfdump --uuid $dwarf) =~ /UUID: (\S+) \((\w+)\)/g;
    is(join(' ', sort keys %uuid), 'arm64 x86_64', 'LLVM finds two architectures');
    for my $arch (sort keys %uuid) {
        my $want = "MODULE mac $arch $uuid{$arch} Example" =~ s/-//gr =~ s/ (?=Ex)/0 /r;
        is_deeply([ head_of('-a', $arch, $_) ], [ $want, '' ], "... $arch of $_")
            for $dwarf, $bundle, "$bundle/";
    }
    my $one = fixtures('macho/crash.dSYM');
    my ($thin) = glob "$one/Contents/Resources/DWARF/*";
    is_deeply([ head_of($one) ], [ head_of('--arch', 'x86_64', $thin) ],
              'a bundle with a thin file');

    # only the requested file is converted: the other one cannot be
    my $good = read_file($thin);
    my $cannot = substr($good, 0, 4) . "\xff" x 60;
    my %cpu = (x86_64 => 0x01000007, arm64 => 0x0100000c, ppc => 18);
    sub fat_file {
        return $t->file('fat', fat(map { [ $cpu{$_->[0]}, 0, $_->[1] ] } @_));
    }
    my @slices = ([ ppc => $cannot ], [ x86_64 => $good ], [ arm64 => $cannot ]);
    is_deeply([ head_of('-a', 'x86_64', fat_file(@slices)) ],
              [ (head_of($thin))[0] =~ s/crash$/fat/r, '' ],
              'the other slices of a fat file are not read');
    chomp(my $here = qx(uname -m));
    $here =~ s/aarch64/arm64/;
    is((head_of(fat_file([ ppc => $cannot ], [ $here => $good ])))[1], '',
       'by default: that of this machine') if $cpu{$here};
    is((head_of(fat_file([ ppc => $good ], [ ppc => $cannot ])))[1], '',
       '... or the first');

    $r = $t->run({ no_store => 1 }, 'dump', '-a', 'armv7', $bundle);
    is($r->{code}, 1, 'an architecture that it does not contain');
    like($r->{err}, qr/Example: .*no architecture armv7 in it, but x86_64, arm64$/m,
         '... the existing ones are listed');
    is($t->run({ no_store => 1 }, 'dump', '-a', '', $bundle)->{code}, 2, 'no word');
}

# --- JSON and text ---

my $inline = (glob(fixtures('symbols') . '/linux_inline/*/*.new.sym'))[0];
my ($head, $main) = json_lines(
    $t->run({ no_store => 1 }, 'dump', '--format=json', $inline)->{out});
is_deeply($head,
          { type => 'module', name => 'linux_inline', os => 'Linux',
            id => 'BBA6FA10B8AAB33D00000000000000000', arch => 'x86_64',
            code_id => '10FAA6BBAAB83DB3', quality => 'lines and inlines' },
          'json: the module');
is_deeply([ @$main{qw(type address size function)} ],
          [ 'function', '0x15b30', 0x6cf, 'main' ], '... a function');
is_deeply($main->{inlines}[1],
          { function => 'bar()', inlined_into => 0, call_file => 'b.cpp',
            call_line => 39,
            ranges => [ { address => '0x15b72', size => 0x684 } ] },
          '... a call in a call');
is_deeply($main->{lines}[5],
          { address => '0x15b72', size => 0x11, file => 'linux_inline.cpp',
            line => 31, inline => 1 }, '... a line in it');

is(join("\n", (lines_of($t->run({ no_store => 1 }, 'dump', '--format=text',
                                $inline)->{out}))[7 .. 10]),
   "00015b30 6cf main\n  00015b30 15 linux_inline.cpp:41\n"
       . "  foo() called at a.cpp:42\n    00015b45 11 linux_inline.cpp:36",
   'text: lines, indented by call');

# --- names that would break a line ---

my $id = '0' x 31 . 'A0';
my $odd = $t->file('odd.sym', "MODULE Linux x86_64 $id odd name\n"
    . "FILE 0 /a\tb\e[31m.c\nINLINE_ORIGIN 0 x\x{c2}\x{85}y\n"
    . "FUNC 10 10 0 f\0g\x{e2}\x{80}\x{a8}h \x{c3}\x{a9}\n"
    . "INLINE 0 3 0 0 10 4\nINLINE 0 3 0 9 14 4\n10 10 7 0\nPUBLIC 40 0 \e\n");
$r = $t->run({ no_store => 1 }, 'dump', $odd);
is($r->{out}, "MODULE Linux x86_64 $id odd name\nFILE 0 /a?b?[31m.c\n"
    . "INLINE_ORIGIN 0 x?y\nINLINE_ORIGIN 1 <name omitted>\n"
    . "FUNC 10 10 0 f?g?h \x{c3}\x{a9}\n"
    . "INLINE 0 3 0 0 10 4\nINLINE 0 3 0 1 14 4\n"
    . "10 4 7 0\n14 4 7 0\n18 8 7 0\nPUBLIC 40 0 ?\n",
   'control characters and line separators become ?');

# --- destinations ---

my $cut = read_file($inline) =~ /\n\z/ ? ''
    : "symloader: $inline: warning: truncated: its last line has no newline\n";
my $out = $t->dir . '/out.sym';
$r = $t->run({ no_store => 1 }, 'dump', $inline, '-o', $out);
is("$r->{code}$r->{out}$r->{err}", "0$cut", 'into a file');
is(read_file($out), $t->run({ no_store => 1 }, 'dump', $inline)->{out},
   '... the same');
is((stat $out)[2] & 0777, 0666 & ~umask, '... with ordinary permissions');

my $bad = $t->file('bad.sym', "MODULE Linux x86_64 $id bad\nFUNC 1 x\n");
$r = $t->run({ no_store => 1 }, 'dump', $bad, '-o', $out);
is($r->{code}, 1, 'a file that cannot be read');
like($r->{err}, qr/bad\.sym: malformed: .*line 2/, '... says why');
like(read_file($out), qr/^FUNC 15b30 /m, '... the old output is untouched');

# a full disk: files of the command are limited to 6,000 times 512 bytes
my $large = (glob(fixtures('symbols') . '/crash-client/*/*.sym'))[0];
my $store = $t->store;
my $said = qx(ulimit -f 6000; '$t->{program}' dump \\
    --store '$store' crash-client/509C0610949836F7B70BD88BCF03E5400 \\
    -o '$out' 2>&1; echo "code \$?");
like($said, qr/cannot write .*\ncode 5\n\z/s, 'no room for the output');
like(read_file($out), qr/^FUNC 15b30 /m, '... the old output is untouched');
is_deeply([ glob("$out.*") ], [], '... and no file is left next to it');

open my $full, '>', '/dev/full' or die;
$r = $t->run({ no_store => 1, out_fd => fileno $full }, 'dump', $large);
is($r->{code}, 5, 'standard output that is full');
$r = $t->run({ no_store => 1 }, 'dump', $inline, '-o', '/dev/null');
is("$r->{code}$r->{err}", "0$cut", 'a device is written to directly');
ok(-c '/dev/null', '... and remains a device');

# --- missing files and modules ---

is($t->run('dump', "none/$id")->{code}, 1, 'a module that is not stored');
$r = $t->run({ no_store => 1 }, 'dump', "none/$id");
is($r->{code}, 2, 'a module without a store');
like($r->{err}, qr/--store PATH/, '... and the error says what to do');
$r = $t->run({ no_store => 1 }, 'dump', '/no/such/file');
is($r->{code}, 2, 'neither a file nor a module');
is($t->run('dump', '--format=xml', $inline)->{code}, 2, 'no such format');
is($t->run({ store => $t->dir . '/nowhere' }, 'dump', "none/$id")->{code}, 3,
   'no store at the path');

# --- a damaged store ---

my $data = $t->store . '/data.mdb';
my $whole = read_file($data);
my $at = index($whole, 'SYMCACHE');
cmp_ok($at, '>', 0, 'a symcache in the store');
my $broken = $whole;
for (my $i = $at + 5000; $i < length $broken; $i += 20000) {
    substr($broken, $i, 1) ^= "\x01";
}
$t->file('store/data.mdb', $broken);
$r = $t->run('dump', 'crash-client/509C0610949836F7B70BD88BCF03E5400', '-o',
             $out);
is($r->{code}, 3, 'a damaged store');
like($r->{err}, qr/damaged/, '... is reported');
like(read_file($out), qr/^FUNC 15b30 /m, '... the old output is untouched');

done_testing();
