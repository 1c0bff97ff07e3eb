#!/usr/bin/perl

# `symloader load` reads trees and files as operators have them: symbol-store
# trees, gzip, pipes, several files of one module.  The contents of the store
# must not depend on which conversion finishes first, and better symbols must
# not be replaced by worse ones.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use Test::More;

use SymFixtures qw(fixture_modules fixtures);
use SymLoader qw(read_file sym_text module_line json_lines write_file);

my $ID = '00112233445566778899AABBCCDDEEFF1';

sub gz {
    my ($text) = @_;
    gzip(\$text => \my $packed) or die;
    return $packed;
}

sub function_at {
    my ($t, $module, $addr) = @_;
    my $r = $t->run('lookup', $module, $addr);
    return $r->{code} == 0 ? (split /\n/, $r->{out})[0] : "exit $r->{code}";
}

sub quality { return (json_lines($_[0]->run('show', '--json', $_[1])->{out}))[0]{quality} }

# --- a complete tree ---

{
    my $t = SymLoader->new;
    my %fixtures = fixture_modules();
    my $files = map { @$_ } values %fixtures;
    my $bytes = 0;
    $bytes += -s for map { @$_ } values %fixtures;
    my $size = quotemeta sprintf '%.1f MiB', $bytes / (1 << 20);
    my $r = $t->run('load', fixtures('symbols'));

    is($r->{code}, 0, 'the tree of real symbols loads');
    my %warning = map { ("symloader: $_: warning: truncated: its last line has no newline" => 1) }
        grep { read_file($_) !~ /\n\z/ } map { @$_ } values %fixtures;
    my $warned = sub { return [ sort split /\n/, $_[0] ] };
    is_deeply($warned->($r->{err}), [ sort keys %warning ],
              '... with a warning about files without a last newline');
    like($r->{out}, qr/^$files files?, \d+ modules? stored, $size in \d+\.\d\d s \(\d+\.\d MB\/s\).*, 0 failed$/m,
         '... the summary counts files, modules, bytes, time, rate, failures');
    is(scalar(() = $r->{out} =~ m{/symbols/.*\.sym: }g), $files,
       '... and every file has its line');
    is_deeply([ $t->modules ], [ sort keys %fixtures ],
              'the store has each module, sorted');
    is($t->verify, 'sound', 'the store is sound');

    $r = $t->run('load', '--quiet', fixtures('symbols'));
    is($r->{code} . $r->{out}, '0', 'quiet says nothing');
    is_deeply($warned->($r->{err}), [ sort keys %warning ], '... but warnings');
    is_deeply([ $t->modules ], [ sort keys %fixtures ],
              'loading again changes nothing');
}

# --- any depth, any argument, other files ignored, links ---

{
    my $t = SymLoader->new;
    my $tree = $t->dir . '/tree';

    $t->file("tree/deep/er/a/$ID/a.sym", sym_text('a', $ID));
    $t->file("tree/b/$ID/b.sym.gz", gz(sym_text('b', $ID)));
    $t->file("tree/c/$ID/c.txt", sym_text('c', $ID));
    $t->file("tree/README", "not symbols\n");
    $t->file('elsewhere/d.sym', sym_text('d', $ID));
    symlink('../elsewhere/d.sym', "$tree/d.sym") or die;
    symlink('.', "$tree/loop") or die;
    $t->file('named.txt', sym_text('e', $ID));

    my $r = $t->run('load', $tree, $t->dir . '/named.txt');
    is($r->{code}, 0, 'a deep tree, gzip, links and a file of any name');
    is_deeply([ $t->modules ], [ map { "$_/$ID" } qw(a b d e) ],
              '... files in .sym or .sym.gz, and those given by name');
    is($r->{err}, '', '... no error about the rest, no endless loop');

    symlink($tree, $t->dir . '/link') or die;
    $r = $t->run('load', $t->dir . '/link');
    like($r->{out}, qr/^3 files/m,
        'a link to a folder, given by name, is the folder');

    $r = $t->run('load', $t->dir . '/elsewhere/none', $t->dir . '/named.txt');
    is($r->{code}, 1, 'an argument that does not exist');
    like($r->{err}, qr/none: .*No such file/, '... is named');
    like($r->{out}, qr/^2 files, 1 module stored, .*, 1 failed$/m,
         '... and the other is loaded');

    mkdir $t->dir . '/empty' or die;
    $r = $t->run('load', $t->dir . '/empty');
    is($r->{code}, 1, 'a folder without symbols');
    like($r->{err}, qr/nothing to load/, '... is said');
}

# --- gzip: by its first bytes, several members, damage ---

{
    my $t = SymLoader->new;
    my $text = sym_text('z', $ID, functions => 20000, lines => 1);
    my $packed = gz($text);
    my $half = int(length($text) / 2);
    my %source_bytes;

    for my $case ([ 'named.sym', $packed ],
                  [ 'two-members.sym.gz',
                    gz(substr($text, 0, $half)) . gz(substr($text, $half)) ],
                  [ 'padded.sym.gz', $packed . "\0" x 512 ],
                  [ 'not-packed.sym.gz', $text ]) {
        my ($name, $bytes) = @$case;
        my $r = $t->run('load', $t->file($name, $bytes));
        my ($shown) = json_lines($t->run('show', '--json', "z/$ID")->{out});

        is($r->{code}, 0, "gzip: $name");
        is($shown->{file_bytes}, length($text), '... all of it was read');
        is($shown->{functions}, 20000, '... with all functions');
    }

    my $r = $t->run('load', $t->file('cut.sym.gz', substr($packed, 0, -100)));
    is($r->{code}, 1, 'a cut gzip file fails');
    like($r->{err}, qr/cut\.sym\.gz: truncated: .*\(gzip stream, byte \d+\)/,
         '... with the reason and the byte');
    my ($byte) = $r->{err} =~ /byte (\d+)/;
    is($byte, length($packed) - 100, '... where the file ends');

    my $damaged = $packed;
    substr($damaged, length($packed) / 2, 40) = "\xff" x 40;
    $r = $t->run('load', $t->file('damaged.sym.gz', $damaged));
    is($r->{code}, 1, 'a damaged gzip file fails');
    like($r->{err}, qr/damaged\.sym\.gz: malformed: /, '... is malformed');
}

# --- a pipe ---

{
    my $t = SymLoader->new;
    my $text = sym_text('piped', $ID, functions => 10000, lines => 1);
    my $p = $t->start('load', '/dev/stdin');

    print { $p->{in} } $text;
    close($p->{in});
    my $out = join '', readline($p->{out});
    is($t->wait($p)->{code}, 0, 'symbols come through a pipe');
    is(function_at($t, "piped/$ID", '1000'), 'f0', '... and are there');

    $p = $t->start('load', '/dev/stdin');
    for my $byte (split //, substr(gz($text), 0, 20)) {
        syswrite($p->{in}, $byte);
    }
    print { $p->{in} } substr(gz($text), 20);
    close($p->{in});
    $out = join '', readline($p->{out});
    is($t->wait($p)->{code}, 0, 'gzip through a pipe, its magic in pieces');
}

# --- the path of a file, and its MODULE record ---

{
    my $t = SymLoader->new;
    my $other = 'FFEEDDCCBBAA99887766554433221100A';

    $t->file("tree/right/$ID/right.sym", sym_text('right', $ID));
    $t->file("tree/name/$ID/x.sym", sym_text('other-name', $ID));
    $t->file("tree/id/$other/id.sym", sym_text('id', $ID));
    $t->file("tree/lower/\L$ID/lower.sym", sym_text('lower', $ID));
    $t->file("tree/flat/flat.sym", sym_text('flat', $ID));
    $t->file("tree/noname/$ID/noname.sym",
             "MODULE Linux x86_64 $ID\nPUBLIC 1000 0 f0\n");
    $t->file("tree/path/$ID/path.sym", sym_text('/usr/lib/path', $ID));
    $t->file("tree/lost/$other/lost.sym",
             "MODULE Linux x86_64 $ID\nPUBLIC 1000 0 f0\n");

    my $r = $t->run('load', $t->dir . '/tree');
    is($r->{code}, 1, 'the file without a module name fails');
    like($r->{err}, qr{/lost\.sym: malformed: invalid name in the MODULE line},
         '... and only that');
    like($r->{err}, qr{name/$ID/x\.sym: warning: .*stored as other-name/$ID$}m,
         'a folder with another name gives a warning');
    like($r->{err}, qr{id/$other/id\.sym: warning: .*stored as id/$ID$}m,
         'a folder with another id gives a warning');
    is(scalar(() = $r->{err} =~ /warning/g), 2,
       'no other warning: case, and trees of another layout, are fine');
    is_deeply([ $t->modules ],
              [ map { "$_/$ID" } qw(flat id lower noname other-name path right) ],
              'the MODULE line names the module, else the folder');
}

# --- several files of one module ---

{
    my %kind = (publics => "PUBLIC 1000 0 poor\n", functions => undef);
    my $poor = module_line('m', $ID) . "PUBLIC 1000 0 poor\n";
    my $plain = sym_text('m', $ID, prefix => 'plain');
    my $lines = sym_text('m', $ID, prefix => 'lines', lines => 1);
    my $inlines = sym_text('m', $ID, prefix => 'inlines', inlines => 1);
    my @ladder = ([ 'publics', $poor ], [ 'functions', $plain ],
                  [ 'lines', $lines ], [ 'lines and inlines', $inlines ]);

    my $t = SymLoader->new;
    for my $step (@ladder) {
        my $r = $t->run('load', $t->file('m.sym', $step->[1]));
        is($r->{code}, 0, "$step->[0] replace poorer symbols");
        is(quality($t, "m/$ID"), $step->[0], '... and are shown by show');
    }
    for my $step (reverse @ladder[0 .. 2]) {
        my $r = $t->run('load', $t->file('m.sym', $step->[1]));
        is($r->{code}, 0, "$step->[0] after better ones is no failure");
        like($r->{out}, qr/not stored: the store has better symbols/,
             '... and is reported');
        is(quality($t, "m/$ID"), 'lines and inlines', '... the better stay');
    }
    my $r = $t->run('load', '--force', $t->file('m.sym', $poor));
    is(quality($t, "m/$ID"), 'publics', '--force lets the poorer win');

    # Equal quality: the later one wins, even if it is converted much faster.
    my $slow = sym_text('m', $ID, prefix => 'early', lines => 1,
                        functions => 60000);
    my $quick = sym_text('m', $ID, prefix => 'late', lines => 1);
    for my $jobs (1, 2, 4) {
        my $u = SymLoader->new;
        my @files = ($u->file('1.sym', $slow), $u->file('2.sym', $quick));
        $r = $u->run('load', '--jobs', $jobs, @files);
        is($r->{code}, 0, "two files of a module, $jobs jobs");
        is(function_at($u, "m/$ID", '1000'), 'late0', '... the later wins');

        $r = $u->run('load', '--jobs', $jobs, reverse @files);
        is(function_at($u, "m/$ID", '1000'), 'early0',
           '... also the other way round');
        is($u->verify, 'sound', '... the store is sound');
    }

    # The better one wins at any position, and force lets the last win.
    for my $jobs (1, 3) {
        my $u = SymLoader->new;
        my @files = ($u->file('1.sym', $inlines), $u->file('2.sym', $slow),
                     $u->file('3.sym', $poor));
        $u->run('load', '--jobs', $jobs, @files);
        is(function_at($u, "m/$ID", '1000'), 'inlines_inlined',
           "the best of three wins, $jobs jobs");
        $u->run('load', '--force', '--jobs', $jobs, @files);
        is(function_at($u, "m/$ID", '1000'), 'poor', '... by force the last');
    }
}

# --- both forms of INLINE records, as real tools write them ---

{
    my ($dir) = glob(fixtures('symbols') . '/linux_inline/*');
    my %out;

    for my $form ('old', 'new') {
        my $t = SymLoader->new;
        my $r = $t->run('load', "$dir/linux_inline.$form.sym");
        is($r->{code}, 0, "INLINE records, $form form");
        $out{$form} = $t->run(
            'lookup', 'linux_inline/BBA6FA10B8AAB33D00000000000000000',
            map { sprintf '%x', 0x15b30 + $_ } 0 .. 0x6ce)->{out};
        like($out{$form}, qr/^func\(\)$/m, '... have inlined calls');
    }
}

done_testing();
