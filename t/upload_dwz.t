#!/usr/bin/perl

# dwz's supplementary file has the names of other debug files, and a build id of its
# own.  An upload places it there, alone or in a package.  Debug files that are uploaded
# later, or fetched again, have their names from it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use JSON::PP ();

use SymDwz qw(answer);
use SymElf;
use SymLoader qw(read_file write_file);
use SymPackage;
use SymS3;
use SymUpload;

my $dwz = SymDwz->new(SymElf::folder());
my $id = $dwz->{common}{id};
my $path = $id =~ s{^..\K}{/}r . '/debuginfo';
my $package = SymPackage->new(SymElf::folder() . '/packages', {
    (map { 'usr/lib/debug/.build-id/' . $dwz->{$_}{id} =~ s{^..\K}{/}r . '.debug' => read_file($dwz->{$_}{debug}) }
        qw(one two)),
    'usr/lib/debug/.dwz/common.debug' => read_file($dwz->{common}{debug}) })->make(deb => 'xz');

sub put {
    my ($t, $file) = @_;
    my $r = $t->curl($t->bearer('ci-secret'), '-T', $file, $t->url('/upload/' . $file =~ s{.*/}{}r));
    return [ $r->{status}, map { $_->{state} } @{ $r->{json}{files} } ];
}

sub names_are_right {
    my ($t, $name, $why) = @_;
    my @addr = $dwz->addresses($name);
    my $v5 = $t->post_json('/symbolicate/v5', { jobs => [ { memoryMap => [ [ $name, uc $dwz->{$name}{id} ] ],
        stacks => [ [ map { [ 0, $_ ] } @addr ] ] } ] });
    is_deeply([ answer($v5, 0) ], [ $dwz->frames($name, @addr) ], $why) or diag $v5->{body};
    return;
}

my $t = SymUpload->new(layout => 'unified')->start;
my $r = $t->curl($t->bearer('ci-secret'), '-T', $dwz->{common}{debug}, $t->url('/upload/common.debug'));
is_deeply([ $r->{status}, $r->{json}{files}[0]{state}, $r->{json}{files}[0]{path} ], [ 201, 'stored', $path ],
    'a supplementary file is stored at its build id') or diag $r->{body};
is_deeply([ map { [ $_->{code_id}, @{ $_->{kinds} } ] } @{ $r->{json}{files}[0]{modules} } ], [ [$id] ],
    '... which the answer has');
ok(read_file("$t->{dir}/symbols/$path") eq read_file($dwz->{common}{debug}), '... with its bytes');
is_deeply(put($t, $dwz->{common}{debug}), [ 200, 'same' ], '... once');
is_deeply(put($t, $dwz->{one}{debug}), [ 201, 'stored' ], 'a debug file that needs it');
names_are_right($t, 'one', '... has its names');
is($t->forget('one', uc $dwz->{one}{id})->{json}{removed}, JSON::PP::true, '... is forgotten');
names_are_right($t, 'one', '... also when it is fetched again');

# --- other relocatable files ---

write_file("$t->{dir}/o.c", "int main(void) { return 0; }\n");
SymElf::run_ok('gcc', '-g', '-c', '-o', "$t->{dir}/o.o", "$t->{dir}/o.c");
is_deeply(put($t, "$t->{dir}/o.o"), [ 400, 'refused' ], 'an object file is refused');
is($t->loader->run('load', '--quiet', $dwz->{common}{debug})->{code} != 0, 1, 'nothing in it can be loaded by hand');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

# --- a package, into a folder and into a bucket ---

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
for ([], [ s3 => $s3 ]) {
    my ($target) = (@$_, 'folder');
    $t = SymUpload->new(layout => 'unified', @$_)->start;
    $r = $t->curl($t->bearer('ci-secret'), '--data-binary', "\@$package", $t->url('/upload/'));
    is($r->{status}, 201, "$target: a package");
    is_deeply([ map { $_->{state} } @{ $r->{json}{files} } ], [ ('stored') x 3 ], '... is complete') or diag $r->{body};
    is($t->curl($t->bearer('ci-secret'), '--data-binary', "\@$package", $t->url('/upload/'))->{status}, 200, '... again');
    is($t->forget($_, uc $dwz->{$_}{id})->{json}{removed}, JSON::PP::true, "... $_ is forgotten") for qw(one two);
    names_are_right($t, $_, "... $_ has its names when it is fetched again") for qw(one two);
    is($t->end, '', '... nothing is wrong');
}
# --- one after the other, into an empty bucket ---

$s3->stop;
$s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
$t = SymUpload->new(layout => 'unified', s3 => $s3)->start;
is_deeply(put($t, $dwz->{common}{debug}), [ 201, 'stored' ], 'a bucket: the supplementary file');
is_deeply(put($t, $dwz->{$_}{debug}), [ 201, 'stored' ], "... later $_, which needs it") for qw(one two);
names_are_right($t, $_, "... $_ has its names") for qw(one two);
is($t->end, '', '... nothing is wrong');
$s3->stop;
done_testing();
