#!/usr/bin/perl

# A Windows symbol server is a tree of folders NAME/ID, some of which have
# cabinets or pointers instead of the file, next to texts that only Microsoft's
# tools read.  It is loaded from disk as it is; a pointer can only lead to a
# file of the same tree, whatever it contains.

use strict;
use warnings;

use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX qw(mkfifo);
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(read_file sym_text write_file);
use SymServe;

my $ID = '3249D99D0C4049318610F4E4FB0B69361';    # of crash.sym
my $LINUX = 'C0BCC3F19827FE653058404B2831D9E60'; # eu-readelf -n
my $sym = sym_text('crash.pdb', $ID, lines => 1, functions => 3000)
    =~ s/Linux x86_64/windows x86/r;
my $debug = read_file(fixtures('elf/crash.debug'));

sub cab {
    my ($t, $name, $bytes) = @_;
    $t->file("in/$name", $bytes);
    system('gcab', '-c', '-z', '-n', $t->dir . '/out.cab', $t->dir . "/in/$name") == 0
        or die "gcab: $?";
    return read_file($t->dir . '/out.cab');
}

# The texts that Microsoft's symstore.exe writes.
sub admin {
    my ($t, $tree) = @_;
    for my $n (1, 2) {
        $t->file("$tree/000Admin/000000000$n",
                 qq("crash.pdb\\$ID","C:\\build\\$n\\crash.pdb"\r\n));
    }
    $t->file("$tree/000Admin/lastid.txt", '0000000002');
    $t->file("$tree/pingme.txt", "\r\n");
    $t->file("$tree/index2.txt", '');
    return;
}

sub summary { return $_[0]{out} =~ /^(\d+ files?, .*)$/m ? $1 : $_[0]{out} }

# --- as on the disk: folders of two letters, packed files ---

for my $server (0, 1) {
    my $t = $server ? SymServe->new->serve('--jobs', 1) : SymLoader->new;
    my $who = $server ? 'by the daemon: ' : '';

    admin($t, 'tree');
    $t->file("tree/cr/crash.pdb/$ID/crash.pd_", cab($t, 'crash.pdb', $sym));
    $t->file("tree/cr/crash.pdb/$ID/refs.ptr", "0000000001,file,C:\\crash.pdb\r\n");
    $t->file("tree/ot/Other.pdb/$ID/other.PDB",
             cab($t, 'other.pdb', $sym =~ s/crash\.pdb/Other.pdb/r));
    $t->file("tree/in.so/$LINUX/file.ptr", "PATH:..\\..\\pool\\0001\r\n");
    $t->file("tree/same.so/$LINUX/file.ptr", "PATH:..\\..\\pool\\same.so");
    $t->file("tree/pool/$_", $debug) for '0001', 'same.so';
    $t->file("tree/away.pdb/$ID/file.ptr", 'PATH:\\\\builds\\17\\away.pdb');
    $t->file("tree/told.pdb/$ID/file.ptr", 'MSG: it was not kept');
    $t->file("tree/cabinets/data.ca_", cab($t, 'data', 'x'));

    my $r = $t->run('load', $t->dir . '/tree');
    is($r->{code}, 0, "${who}a tree is loaded") or diag($r->{err});
    is_deeply([ $t->modules ],
              [ sort "Other.pdb/$ID", "crash.pdb/$ID",
                "same.so/$LINUX" ],
              '... packed files and targets of pointers');
    like(summary($r), qr/^7 files, [3-5] modules stored, .*, 2 without symbols, 7 of other kinds, 0 failed$/,
         '... the rest is counted');
    like($r->{out}, qr{away\.pdb/$ID/file\.ptr: passed over: it points to another machine},
         '... a pointer to another machine');
    like($r->{out}, qr{told\.pdb/$ID/file\.ptr: passed over: it has a message},
         '... one that only contains a message');
    is($r->{err}, '', '... no warning');
    unlike($r->{out}, qr{same\.so/$LINUX/file\.ptr}, '... nothing twice');
}

# --- pointers that lie ---

my $t = SymLoader->new;
my $dir = $t->dir;
$t->file('secret/0001', $debug);
$t->file('tree-2/0001', $debug);
$t->file('tree/pool/text', "no symbols\n");
symlink "$dir/secret/0001", "$dir/tree/pool/link" or die;
mkfifo("$dir/tree/pool/fifo", oct 600) or die;

my @lies = (
    ['../../../secret/0001', qr/points out of the tree/],
    ["$dir/secret/0001", qr/points out of the tree/],
    ['..\\..\\pool\\link', qr/points out of the tree/],
    ["$dir/tree-2/0001", qr/points out of the tree/],
    ['../../..', qr/points out of the tree/],
    ['../../../tree', qr/points out of the tree/],
    ['..', qr/is not a file/],
    ['../../pool/fifo', qr/is not a file/],
    ['../../pool/none', qr/does not exist/],
    ['x' x 5000, qr/it is too long/],
    ['x' x 3000, qr/does not exist/],
    ["../../pool/text\0", qr/it is not a pointer/],
    ["/proc/self/mem", qr/points out of the tree/],
);
for my $i (0 .. $#lies) {
    $t->file("tree/m$i.pdb/$ID/file.ptr", "PATH:$lies[$i][0]\r\n");
}
my $r = $t->run('load', "$dir/tree");
is($r->{code}, 0, 'false pointers');
for my $i (0 .. $#lies) {
    like($r->{out}, qr{/m$i\.pdb/$ID/file\.ptr: passed over: .*$lies[$i][1]},
         '... ' . substr $lies[$i][0] =~ s/[^ -~]/?/gr, 0, 40);
}
is_deeply([ $t->modules ], [], '... lead to nothing');

# the target of a pointer is read like any other file
$t->file("tree-3/a.pdb/$ID/file.ptr", 'PATH:..\\..\\text');
$t->file('tree-3/text', "no symbols\n");
$r = $t->run('load', "$dir/tree-3");
is($r->{code}, 1, 'a pointer to an unreadable file');
like($r->{err}, qr{/a\.pdb/$ID/file\.ptr: malformed: },
    '... is a failure, as the file itself is');

# --- ids ---

$t = SymLoader->new;
my $other = $ID =~ s/^3249/4249/r;
$t->file("tree/crash.pdb/$other/crash.pd_", cab($t, 'crash.pdb', $sym));
$r = $t->run('load', $t->dir . '/tree');
is($r->{code}, 0, 'the folder has another id');
like($r->{err}, qr{warning: the folders differ from .*; stored as crash\.pdb/$ID$}m,
     '... that is reported, and the id of the file counts');

# --- cabinets that are broken ---

my $cab = cab($t, 'crash.pdb', $sym);
for my $bad (['cut', substr($cab, 0, length($cab) / 2), qr/truncated: /],
             ['turned', do { my $c = $cab; substr($c, 3000, 1) ^= "\x10"; $c }, qr/malformed: /],
             ['only a header', substr($cab, 0, 40), qr/truncated: /])
{
    my ($what, $bytes, $error) = @$bad;
    my $u = SymLoader->new;
    $u->file("tree/crash.pdb/$ID/crash.pd_", $bytes);
    $r = $u->run('load', $u->dir . '/tree');
    is($r->{code}, 1, "a cabinet that is $what");
    like($r->{err}, qr{crash\.pd_: $error}, '... fails for that reason');
    is_deeply([ $u->modules ], [], '... nothing is stored');
}

done_testing();
