#!/usr/bin/perl

# A commit costs as much as the conversion of a small file, so `load` commits
# modules together that finish within milliseconds.  Users must not notice:
# whatever is reported is on disk, files are reported in order, and the better
# one of two files of a module wins even if neither is committed yet.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX qw(mkfifo);
use Test::More;

use SymLoader qw(read_file sym_text);

my $FILES = 200;

sub id { return sprintf '%032X0', $_[0] }

# LMDB numbers its transactions; the newer of its two meta pages has the last.
sub commits {
    my ($t) = @_;
    my $data = read_file($t->store . '/data.mdb');
    my ($first, $second) = map { unpack 'Q', substr($data, $_ + 144, 8) } 0, 4096;
    return $first > $second ? $first : $second;
}

# --- many small files ---

{
    my $t = SymLoader->new;
    $t->file(sprintf('tree/f%03d.sym', $_), sym_text("f$_", id($_))) for 1 .. $FILES;
    $t->run('init');
    my $before = commits($t);
    my $r = $t->run('load', '--jobs', 1, "$t->{dir}/tree");

    is($r->{code}, 0, "$FILES files are loaded");
    is_deeply([ $r->{out} =~ m{^\S+/f(\d+)\.sym: }mg ],
        [ map { sprintf '%03d', $_ } 1 .. $FILES ],
            '... and reported in order');
    cmp_ok(commits($t) - $before, '<', $FILES, '... in fewer commits');
    is(scalar($t->modules), $FILES, '... all of them');
    is($t->verify, 'sound', '... soundly');
}

# --- large ones have their own ---

{
    my $t = SymLoader->new;
    my @files = map {
        $t->file("f$_.sym", sym_text("f$_", id($_), functions => 20000, lines => 1))
    } 1 .. 4;
    $t->run('init');
    my $before = commits($t);
    is($t->run('load', '--jobs', 4, @files)->{code}, 0, 'large files are loaded');
    cmp_ok(commits($t) - $before, '>=', @files, '... with a commit each');
}

# --- reported modules are stored, while others are in progress ---

{
    my $t = SymLoader->new;
    my @files = map { $t->file("f$_.sym", sym_text("f$_", id($_))) } 1 .. 5;
    my $bad = $t->file('bad.sym', "MODULE\n");
    my $p = $t->start('load', '--jobs', 1, @files, $bad, '/dev/stdin');

    like(scalar(readline($p->{out})), qr/f$_\.sym: /,
        "file $_ is reported") for 1 .. 5;
    is(scalar($t->modules), 5, '... and in the store');
    close($p->{in});
    $t->wait($p);
}

# --- ... also while the next file is a pipe without a writer ---

{
    my $t = SymLoader->new;
    my $file = $t->file('f1.sym', sym_text('f1', id(1)));
    mkfifo("$t->{dir}/pipe", 0600) or die "mkfifo: $!";
    my $p = $t->start('load', '--jobs', 1, $file, "$t->{dir}/pipe");

    like(scalar(readline($p->{out})), qr/f1\.sym: /,
        'a file before a pipe is reported');
    is(scalar($t->modules), 1, '... and in the store');
    open(my $pipe, '>', "$t->{dir}/pipe") or die "pipe: $!";
    print {$pipe} sym_text('f2', id(2));
    close($pipe);
    is($t->wait($p)->{code}, 0, '... then the pipe is read');
    is(scalar($t->modules), 2, '... and stored');
}

# --- few descriptors ---

{
    my $t = SymLoader->new;
    $t->file("tree/f$_.sym", sym_text("f$_", id($_))) for 1 .. 100;
    $t->limit('-n 40');
    my $r = $t->run('load', '--jobs', 1, "$t->{dir}/tree");

    is($r->{code}, 0, '100 files with 40 descriptors');
    is(scalar($t->modules), 100, '... are loaded');
}

# --- one module twice ---

for my $better (0, 1) {
    my $t = SymLoader->new;
    my @texts = map { sym_text('same', id(1), lines => $_ == $better) } 0, 1;
    my $r = $t->run('load', '--jobs', 1, map { $t->file("$_.sym", $texts[$_]) } 0, 1);

    is($r->{code}, 0, 'two files of one module');
    $better == 0
        ? like($r->{out}, qr/^\S+1\.sym: .*not stored: the store has better/m,
            '... the better one stays')
        : unlike($r->{out}, qr/not stored/, '... the better one comes later');
    my $shown = $t->run('show', 'same/' . id(1))->{out};
    like($shown, qr/lines/, '... and is the one in the store');
}

done_testing();
