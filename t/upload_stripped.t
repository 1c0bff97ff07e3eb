#!/usr/bin/perl

# Programs without symbols are uploaded for debuggers and unwinders: they are placed and
# served, though requests have no names from them.  One with symbols is better.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(run_ok);
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file write_file);
use SymS3;
use SymTest;
use SymUpload;

my $dir = SymElf::folder();
write_file("$dir/c.c", "int twice(int a) { return 2 * a; } int main(int n, char **v) { (void) v; return twice(n); }\n");
run_ok('gcc', '-g', '-Wl,--build-id=sha1', '-o', "$dir/whole", "$dir/c.c");
run_ok('objcopy', '--only-keep-debug', "$dir/whole", "$dir/debug");
run_ok('objcopy', '--strip-debug', "$dir/whole", "$dir/named");
run_ok('objcopy', '--strip-all', "$dir/whole", "$dir/bare");
my ($id) = qx(readelf -n '$dir/whole') =~ /Build ID: (\w+)/ or die 'no build id';
my $path = $id =~ s{^..\K}{/}r . '/executable';

sub put {
    my ($t, $file) = @_;
    my $r = $t->curl($t->bearer('ci-secret'), '-T', $file, $t->url('/upload/program'));
    my ($f) = @{ $r->{json}{files} // [] };
    return [ $r->{status}, $f->{state}, $f->{path}, map { @{ $_->{kinds} } } @{ $f->{modules} } ];
}

sub is_served {
    my ($t, $file, $why) = @_;
    my $r = $t->request('GET', "/files/buildid/$id/executable");
    is($r->{status}, 200, $why);
    ok($r->{body} eq read_file($file), '... its bytes');
    return;
}

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
for ([], [ s3 => $s3 ]) {
    my ($target) = (@$_, 'folder');
    my $t = SymUpload->new(layout => 'unified', downloads => 1, @$_)->start;
    my $r = $t->request('GET', "/files/buildid/$id/executable");
    is($r->{status}, 404, "$target: nothing yet");
    is_deeply(put($t, "$dir/bare"), [ 201, 'stored', $path ], 'a stripped program is stored') or diag $r->{body};
    is_served($t, "$dir/bare", '... is served at once');
    is_deeply(put($t, "$dir/bare"), [ 200, 'same', $path ], '... is there');
    is_deeply(put($t, "$dir/named"), [ 201, 'stored', $path, 'symcache' ], 'one with symbols replaces it');
    is_served($t, "$dir/named", '... is served');
    is_deeply(put($t, "$dir/bare"), [ 200, 'kept', $path ], '... and stays');
    is_served($t, "$dir/named", '... with its bytes');
    is_deeply(put($t, "$dir/debug"), [ 201, 'stored', $path =~ s{[^/]+$}{debuginfo}r, 'symcache' ], 'the debug file');
    is($t->loader->verify, 'sound', 'the store is sound');
    is($t->end, '', 'nothing is wrong');
}
$s3->stop;

# --- Windows ---

my $windows = need_fixtures('windows');
my $t = SymUpload->new(layout => 'unified', downloads => 1)->start;
run_ok('sh', '-c', "cd '$windows' && gcab -czn '$dir/crash.ex_' crash.exe");
for ("$windows/crash.exe", "$dir/crash.ex_") {
    my $got = put($t, $_);
    is_deeply([ @$got[ 0, 1 ] ], [ 201, 'stored' ], 'a program whose PDB has the symbols') or diag explain($got);
}
is($t->end, '', 'nothing is wrong');
done_testing();
