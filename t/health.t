# A load balancer removes a server when /__heartbeat__ is not 200, so the page
# must check the store and not only that nginx runs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $t = SymTest->new->start;

my $r = $t->request('GET', '/__lbheartbeat__');
is($r->{status}, 200, 'lbheartbeat without a store');
is($r->{body}, '', 'lbheartbeat: empty');
is($r->{headers}{'content-type'}, 'application/json; charset=utf-8',
    'lbheartbeat: type');

$r = $t->request('GET', '/__heartbeat__');
is($r->{status}, 503, 'heartbeat without a store');
is_deeply($r->{json}, {
    title => '503 Service Unavailable',
    description => 'the symbol store does not exist yet',
}, 'heartbeat: the reason, and no path');
like($r->{headers}{'retry-after'}, qr/^\d+$/, 'heartbeat: Retry-After');

$t->load(SymTest::symbol_file('overflow',
    'B0E1FC01EF48E39CAF5C881D2DF0C3840'));
$r = $t->request('GET', '/__heartbeat__');
is($r->{status}, 200, 'heartbeat once the store is there');
is($r->{body}, '', 'heartbeat: empty');
is($r->{headers}{'content-type'}, 'application/json; charset=utf-8',
    'heartbeat: type');

$r = $t->request('GET', '/__version__');
is($r->{status}, 200, 'version');
is($r->{headers}{'content-type'}, 'application/json', 'version: type');
like($r->{json}{version}, qr/^\d+\.\d+\.\d+$/, 'version: a number');
my $root = SymTest::root();
my $commit = SymTools::has('git')
    ? `git -C '$root' rev-parse HEAD 2>/dev/null` : '';
chomp $commit;
if ($commit) {
    like($r->{json}{commit}, qr/^[0-9a-f]{40}$/, 'version: a commit');
} else {
    is($r->{json}{commit}, undef, 'version: no commit is known');
}

for my $page ('/__heartbeat__', '/__lbheartbeat__', '/__version__') {
    for my $method (qw(POST HEAD DELETE)) {
        $r = $t->request($method, $page);
        is($r->{status}, 405, "$method $page");
        is($r->{headers}{allow}, 'GET, OPTIONS', "$method $page: Allow");
    }
    $r = $t->request('OPTIONS', $page);
    is($r->{status}, 200, "OPTIONS $page");
    is($r->{headers}{allow}, 'GET', "OPTIONS $page: Allow");
}

$r = $t->request('GET', '/__nothing__');
is($r->{status}, 404, 'a page that does not exist');
is($r->{body}, '{"title": "404 Not Found"}',
    'a page that does not exist: body');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
