#!/usr/bin/perl

# A full disk, with a real small file system for the folder: what was acknowledged is
# there and answers, all else is refused as a failure that may be tried again, and
# nothing of it is visible.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(sym_text write_file);
use SymTools;
use SymUpload;
use Test::More;

# The file system is visible only to this process and its children.
if (!$ENV{SYM_FULL_DISK}) {
    my @apart = ($> == 0 ? () : qw(--user --map-root-user), '--mount', '--propagation', 'private');
    plan(skip_all => 'no right to mount')
        if system('unshare ' . join(' ', @apart) . ' mount -t tmpfs tmpfs /mnt 2>/dev/null') != 0;
    $ENV{SYM_FULL_DISK} = 1;
    exec SymTools::path('unshare'), @apart, $^X, $0 or die "unshare: $!\n";
}

my $t = SymUpload->new(tokens => { ci => { secret => 's', rest => 'at_once=20' } });
my $dir = $t->{dir};
my $folder = "$dir/symbols";
mkdir $folder;
system('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', $folder) == 0 or die 'mount';
$t->start;

my $n = 0;
my %text;
my $padding = join '', map { sprintf "PUBLIC %x 0 padding_%d\n", 0x10000 + 16 * $_, $_ } 1 .. 30_000;

sub make {
    my $name = 'm' . ++$n;
    $text{$name} = sym_text($name, SymFolder::id($n), prefix => $name) . $padding;
    write_file("$dir/$name.sym", $text{$name});
    return $name;
}

sub put {
    my ($name) = @_;
    return $t->curl($t->bearer('s'), '-T', "$dir/$name.sym", $t->url("/upload/$name/x/$name.sym"));
}

sub placed { my ($name) = @_; return "$folder/$name/" . SymFolder::id($name =~ s/m//r) . "/$name.sym" }

sub answers {
    my ($name) = @_;
    return ($t->function($t->ask([ $name, SymFolder::id($name =~ s/m//r) ])) // '') =~ /^$name/;
}

# --- files until the disk is full ---

my (@stored, $last);
for (1 .. 20) {
    $last = make();
    my $r = put($last);
    if ($r->{status} == 201) {
        push @stored, $last;
        next;
    }
    is_deeply([ $r->{status}, $r->{json}{files}[0]{state} ], [ 503, 'failed' ], 'the disk is full') or diag $r->{body};
    like($r->{json}{files}[0]{reason}, qr/No space left on device/, '... the answer says so');
    last;
}
cmp_ok(scalar(@stored), '>=', 2, scalar(@stored) . ' files were acknowledged');
cmp_ok(scalar(@stored), '<', 20, '... not all');
for my $name (@stored) {
    is(SymTest::slurp(placed($name)), $text{$name}, "$name is whole");
    ok(answers($name), '... and answers');
}
ok(!-e placed($last), 'the other one is not there');

# A zip is unpacked into the folder: that fails as a whole.
my @packed = map { make() } 1 .. 3;
system('zip', '-q', '-j', "$dir/a.zip", map {"$dir/$_.sym"} @packed) == 0 or die 'zip';
my $r = $t->curl($t->bearer('s'), '--data-binary', "\@$dir/a.zip", $t->url('/upload/'));
is($r->{status}, 503, 'a zip that does not fit') or diag $r->{body};
is_deeply([ $t->files ], [ sort map { substr placed($_), 1 + length $folder } @stored ], '... leaves nothing');

# --- space again ---

unlink placed($stored[0]) or die;
is(put($last)->{status}, 201, 'with free space the next try stores it');
is(SymTest::slurp(placed($last)), $text{$last}, '... it is whole');
ok(answers($last), '... and answers');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
system 'umount', '-l', $folder;
done_testing();
