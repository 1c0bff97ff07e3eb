#!/usr/bin/perl

# curl uploads packages of distributions.  Each debug file in them is stored, and
# has its names from the supplementary file of dwz in the same package, wherever
# it is; the answer counts the other files.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymDwz qw(answer);
use SymElf;
use SymLoader qw(read_file write_file);
use SymPackage;
use SymUpload;

my $dwz = SymDwz->new(SymElf::folder());
my @names = qw(one two);
my %id = map { $_ => $dwz->{$_}{id} } @names;
my %path = map { $_ => 'usr/lib/debug/.build-id/' . $id{$_} =~ s{^..\K}{/}r . '.debug' } @names;
my $package = SymPackage->new(SymElf::folder() . '/packages', {
    (map { $path{$_} => read_file($dwz->{$_}{debug}) } @names),
    'usr/lib/debug/.dwz/common.debug' => read_file($dwz->{common}{debug}),
    'usr/share/doc/thing/copyright' => "nobody\n",
});

for my $kind ([deb => 'xz'], [rpm => 'w9.zstdio'], [apk => 'gzip'], [arch => 'zstd']) {
    my $t = SymUpload->new(layout => 'unified')->start;
    my $file = $package->make(@$kind);
    my $r = $t->curl($t->bearer('ci-secret'), '--data-binary', "\@$file", $t->url('/upload/'));

    is($r->{status}, 201, "$kind->[0]: stored") or diag $r->{body};
    my %files = map { $_->{file} => $_ } @{ $r->{json}{files} };
    is_deeply([ map { $files{$_}{state} // 'missing' } @path{@names} ], [qw(stored stored)],
        '... both debug files') or diag $r->{body};
    is_deeply([ map { $files{$_}{modules}[0]{code_id} // 'none' } @path{@names} ], [ @id{@names} ],
        '... with the build ids that readelf prints');
    my %skipped = (apk => 3, arch => 4);
    is_deeply([ map { $_->{skipped} } @{ $r->{json}{archives} } ], [ $skipped{ $kind->[0] } // 1 ],
        '... others are counted') or diag $r->{body};

    for my $name (@names) {
        my @addr = $dwz->addresses($name);
        my $v5 = $t->post_json('/symbolicate/v5', { jobs => [{ memoryMap => [[ $name, uc $id{$name} ]],
            stacks => [[ map { [ 0, $_ ] } @addr ]] }] });
        is_deeply([ answer($v5, 0) ], [ $dwz->frames($name, @addr) ],
            "... $name: names and lines are LLVM's") or diag $v5->{body};
    }

    is_deeply([ grep {/\.symloader/} $t->files ], [], '... no temporary file is left');
    is($t->end, '', '... nothing is wrong');
}

done_testing();
