#!/usr/bin/perl

# A file of dwz may be requested as a module and as a companion of another module at
# the same time, at one path of one source.  A companion waits for no module, so
# each role has its own request at the source, and neither outcome spoils the other.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymDwz qw(answer);
use SymElf;
use SymFetch;
use SymLoader qw(read_file);

my $package = SymDwz->new(SymElf::folder());
my %id = map { $_ => $package->{$_}{id} } qw(one common);
my @addrs = $package->addresses('one');
my @want = $package->frames('one', @addrs);

my $t = SymFetch->new(serve => ['--jobs', 1], sources => <<'END' =~ s/COMMON/$id{common}/r)->start;
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/modules/; }
        location ~ ^/src/(?<rest>COMMON.*) { internal; proxy_pass http://%%FAULT%%/as/common/$rest; }
        location /held {
            symbolicate;
            symbolicate_admin on;
            symbolicate_budget 60s;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source held uri=/src/ layout=debuginfod;
        }
END
my $fault = $t->fault;
my $path = "/as/common/$id{common}/debuginfo";
my $url = 'http://' . $fault->address . "/as/common/$id{common}";
$fault->file("$id{one}/debuginfo", read_file($package->{one}{debug}));
$fault->file("$id{common}/debuginfo", read_file($package->{common}{debug}));

sub begin {
    my ($name, @at) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/held/v5', body => $t->json({ jobs => [{
        memoryMap => [[ $name, $id{$name} ]], stacks => [[map { [0, $_] } @at]] }] })));
    return $socket;
}

sub told {
    my ($name) = @_;
    return $t->request('GET', "/held/explain/$name/$id{$name}")->{json};
}

for my $first (qw(common one)) {
    my ($second) = grep { $_ ne $first } qw(common one);
    $fault->script('common', "gate/$first/ok");
    $fault->forget;

    my %socket = ($first => begin($first, @addrs));
    $fault->wait($path, count => 1);
    $socket{$second} = begin($second, @addrs);
    $fault->wait($path, count => 2);
    pass("$first first: its file is requested in both roles");
    $fault->open_gate($first);
    my %r = map { $_ => $t->response($socket{$_}) } qw(common one);
    is_deeply([ answer($r{one}, 0) ], \@want, '... the module is made with it');
    is(told('one')->{incomplete}, '', '... and complete');
    is($r{common}{status}, 200, '... and its own request is answered');
    is_deeply([ map {"$_->{outcome} $_->{url}"} @{ told('common')->{attempts} } ],
              [ "200 $url/debuginfo", "404 $url/executable" ], '... by the file, which has no code');
    is($fault->count($path), 2, '... with no further request');

    # the kept file is removed with the daemon
    $t->loader->run('rm', "one/$id{one}", "common/$id{common}");
    $t->loader_stop;
    $t->loader_start;
    $t->wait_for(sub { $t->request('GET', '/__heartbeat__')->{status} == 200 }, 'the daemon is back');
}

is($t->loader->stats->{lease_bytes}, 0, 'no lease is left');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

done_testing();
