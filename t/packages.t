#!/usr/bin/perl

# `symloader load` takes packages of distributions apart: Debian's, RPM's,
# Alpine's and Arch's, however they are compressed.  Each debug file in them is
# loaded with its ids, and with the supplementary file of dwz that is in the same
# package; other files are counted.  Names and lines must be those that LLVM
# reads from the files before they were packed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymDwz;
use SymElf qw(output run_ok);
use SymLoader qw(json_lines read_file write_file);
use SymPackage;
use SymServe;

my $dwz = SymDwz->new(SymElf::folder());
my @names = qw(one two);
my $ids = { map { $_ => $dwz->{$_}{id} } @names };

sub debug_path { return 'usr/lib/debug/.build-id/' . $_[0] =~ s{^..\K}{/}r . '.debug' }

my %tree = (
    (map { debug_path($ids->{$_}) => read_file($dwz->{$_}{debug}) } @names),
    'usr/lib/debug/.dwz/common.debug' => read_file($dwz->{common}{debug}),
    'usr/lib/debug/one.debug' => \('.build-id/' . $ids->{one} =~ s{^..\K}{/}r . '.debug'),
    'usr/share/doc/thing/copyright' => "nobody\n",
    'usr/share/doc/thing/long-' . 'x' x 120 => '',
);
my $package = SymPackage->new(SymElf::folder() . '/packages', \%tree);

# As SymDwz::frames.
sub frames {
    my ($t, $id, @addr) = @_;
    return map {
        my $f = $_;
        [ map {"$_->{function} $_->{file}:$_->{line}"} @{ $f->{inlines} // [] }, $f ]
    } json_lines($t->run('lookup', '--json', $id, map { sprintf '0x%x', $_ } @addr)->{out});
}

sub shown { return (json_lines($_[0]->run('show', '--json', $_[1])->{out}))[0] }

sub check {
    my ($t, $what) = @_;
    for my $name (@names) {
        my @addr = $dwz->addresses($name);
        my @want = $dwz->frames($name, @addr);
        is_deeply([ frames($t, $ids->{$name}, @addr) ], \@want,
            "$what, $name: names and lines of " . @addr . ' addresses are those of LLVM');
    }
    return;
}

for my $kind (SymPackage->kinds) {
    my $t = SymLoader->new;
    my $file = $package->make(@$kind);
    my $what = "@$kind";
    my $r = $t->run('load', $file);

    is($r->{code}, 0, "$what: loads") or diag explain $r;
    my $others = $kind->[0] eq 'arch' ? 5 : $kind->[0] eq 'apk' ? 4 : 2;
    like($r->{out}, qr/^1 file, 2 modules stored, [^,]*, $others of other kinds, 0 failed$/m,
        '... counts what is in it');
    like($r->{out}, qr{^\Q$file\E/\Q${\debug_path($ids->{one})}\E: .*: lines and inlines}m,
        '... names each file');
    is($r->{err}, '', '... without a warning');
    check($t, $what);
    is_deeply([ sort map { shown($t, $_)->{code_id} } $t->modules ], [ sort values %$ids ],
        '... the build ids are those that readelf prints');
    like($t->run('show', '--json', $ids->{one})->{out}, qr/\Q$file\E/, '... its source is the package');
}

# --- a folder of packages, and a daemon that has the store ---

my $deb = $package->make('deb', 'xz');
my $folder = SymElf::folder() . '/folder';
mkdir $folder or die;
run_ok('cp', $deb, "$folder/a.ddeb");
write_file("$folder/a.txt", 'text');
write_file("$folder/android.apk", "PK\3\4");

my $t = SymLoader->new;
my $r = $t->run('load', $folder);
is($r->{code}, 0, 'a folder with packages') or diag explain $r;
like($r->{out}, qr/1 file, 2 modules stored/, '... only packages of known kinds are opened');
check($t, 'a folder');

# A daemon converts the files, and asks for the supplementary file.
my $served = SymServe->new->serve('--jobs', 2);
$r = $served->run('load', $deb, $package->make('rpm', 'w9.zstdio'));
is($r->{code}, 0, 'with a daemon: loads') or diag explain $r;
like($r->{out}, qr/^2 files, [24] modules stored, [^,]*(?:, 2 not needed)?, 4 of other kinds, 0 failed$/m,
    '... counts the same');
check($served, 'with a daemon');
is($served->stop->{code}, 0, '... a clean end');

# --- packages of other tools ---

# ar's own headers, with a slash after each name
my $ar = SymElf::folder() . '/ar';
mkdir $ar or die;
run_ok('sh', '-c', 'cd "$1" && ar x "$2" && ar rc gnu.deb debian-binary control.tar.xz data.tar.xz',
    'sh', $ar, $deb);
$t = SymLoader->new;
is($t->run('load', "$ar/gnu.deb")->{code}, 0, 'a deb by ar(1)');
check($t, 'a deb by ar');

done_testing();
