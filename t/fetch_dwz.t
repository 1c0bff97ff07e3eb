#!/usr/bin/perl

# Debug files of Debian and Fedora have a supplementary file (dwz), which
# sources have under its own build id.  A fetched module is made with it, from a
# real debuginfod server, and its frames are LLVM's for the file before dwz.
# The next module of the package reuses it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP qw(decode_json);
use Test::More;

use SymDebuginfod;
use SymDwz qw(answer);
use SymElf;

my $dir = SymElf::folder();
mkdir "$dir/files";
my $package = SymDwz->new("$dir/files");
for my $name (qw(one two)) {    # the server must not serve the original file
    SymElf::run_ok('strip', $package->{$name}{whole}, '-o',
                   "$dir/files/$name.exe");
    rename($package->{$name}{whole}, "$dir/$name.whole") or die;
    $package->{$name}{whole} = "$dir/$name.whole";
}

my $server = SymDebuginfod->new("$dir/files")->start($package->{two}{id});
$server->wait_for($package->{one}{id});
my $t = $server->nginx;

sub check {
    my ($name) = @_;
    my $module = $package->{$name};
    my @addrs = $package->addresses($name);
    my @want = $package->frames($name, @addrs);
    my $r = $t->post_json('/symbolicate/v5', { jobs => [{
        memoryMap => [[ $name, $module->{id} ]],
        stacks => [[map { [0, $_] } @addrs]] }] });

    is($t->found($r, $name, $module->{id}), 1, "$name: found");
    cmp_ok(scalar(grep { @$_ > 1 } @want), '>', 3, '... with inlined calls');
    is_deeply([ answer($r, 0) ], \@want,
        '... as LLVM answers for the original');

    my $told = decode_json($t->request('GET',
        "/admin/explain/$name/$module->{id}")->{body});
    is($told->{incomplete}, '', '... and nothing is missing');
    return map { $_->{url} =~ s{.*/buildid/}{}r } @{ $told->{attempts} };
}

my @urls = check('one');
is_deeply(\@urls, [ "$package->{one}{id}/debuginfo" ], 'explain shows its file');
is_deeply([ check('two') ], ["$package->{two}{id}/debuginfo"],
          'the next module: only its own file');

my $stats = $t->loader->stats;
is($stats->{supplement_fetches}, 1, 'fetched once');
is($stats->{supplement_bytes}, -s $package->{common}{debug}, '... and kept');
is($stats->{fetches_running}, 0, 'nothing runs');

is($t->loader->verify, 'sound', 'the store is sound');
$server->stop;
is($t->end, '', 'nothing is wrong');

done_testing();
