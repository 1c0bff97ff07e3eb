#!/usr/bin/perl

# A file may have two paths: one for requests with the type of the object, another for
# requests with a name and an id.  A poorer file of the module gets neither, because it
# would answer instead of the better one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);

use SymFixtures qw(fixtures);
use SymLoader qw(read_file write_file);
use SymS3;
use SymUpload;
use Test::More;

my $exe = 'hello-dwarf.exe';
my $better = fixtures("windows/$exe");
my $t = SymUpload->new(layout => 'slashsymbols')->start;
my $in = tempdir(CLEANUP => 1);
my $poorer = "$in/poorer";
write_file($poorer, read_file($better) =~ s/\.debug_/.xebug_/gr); # no DWARF

sub post {
    my ($t, $file) = @_;
    my $r = $t->curl($t->bearer('ci-secret'), '-T', $file, $t->url("/upload/$exe"));
    return [ $r->{status}, $r->{json}{files}[0]{state} ];
}

# --- a folder ---

is_deeply(post($t, $better), [ 201, 'stored' ], 'a file');
my @paths = map {"$t->{dir}/symbols/$_"} $t->files;
is(@paths, 2, '... has two paths') or diag "@paths";
for my $path (@paths) {
    unlink $path or die;
    is_deeply(post($t, $poorer), [ 200, 'kept' ], 'a poorer file, when one path is gone');
    ok(SymTest::slurp($path) eq SymTest::slurp($better), '... the better one is there again') or diag $path;
}
$t->forget('hello-dwarf.exe', '63CE751542000');
is_deeply(post($t, $poorer), [ 200, 'kept' ], 'the store has forgotten the module') or diag explain [ $t->files ];
unlink $paths[0] or die;
$t->forget('hello-dwarf.exe', '63CE751542000');
is_deeply(post($t, $poorer), [ 200, 'kept' ], '... and one path is gone');
ok(SymTest::slurp($_) eq SymTest::slurp($better), '... both have the better file') for @paths;

unlink @paths;
is_deeply(post($t, $poorer), [ 200, 'kept' ], 'all paths are gone');
ok(SymTest::slurp($_) eq SymTest::slurp($poorer), '... a poor file is better than none') for @paths;
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

# --- a bucket ---

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
$t = SymUpload->new(layout => 'slashsymbols', s3 => $s3)->start;
is_deeply(post($t, $better), [ 201, 'stored' ], 'a bucket: a file');
my @keys = map { s{^/symbols/}{}r } map { $_->{url} } grep { $_->{method} eq 'PUT' } $s3->log;
is(@keys, 2, '... has two keys') or diag "@keys";

sub object {
    my ($key) = @_;
    my $r = $s3->signed('symbols', $key);
    return $r->{status} == 200 ? $r->{body} : undef;
}

$s3->delete('symbols', $keys[1]);
is_deeply(post($t, $poorer), [ 200, 'kept' ], 'a poorer file, when the second key is gone');
is(object($keys[1]), undef, '... does not get it');
ok(object($keys[0]) eq SymTest::slurp($better), '... the better one is there');
is_deeply(post($t, $better), [ 200, 'same' ], 'the better file again');
ok(object($keys[1]) eq SymTest::slurp($better), '... gets its second key');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
$s3->stop;
done_testing();
