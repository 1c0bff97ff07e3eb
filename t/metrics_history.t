# An operator who opens the page after an incident wants to know what happened
# in the last hour: the server remembers it, for all workers, across reloads,
# without Prometheus.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

use List::Util qw(sum);

my $t = SymTest->new(workers => 2)->load(SymTest::root() . '/samples');
$t->conf(locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location /metrics     { symbolicate_metrics; }
CONF

# Totals, once the given number of requests is counted.
sub totals {
    my ($requests) = @_;
    my ($r, %total);
    $t->wait_for(sub {
        $r = $t->request('GET', '/metrics?history');
        %total = map { ref $r->{json}{$_} ? ($_ => sum @{$r->{json}{$_}}) : () }
            keys %{ $r->{json} };
        return $total{requests} >= $requests;
    }, "$requests requests are counted");
    is($r->{status}, 200, 'the history is there');
    is($r->{headers}{'content-type'}, 'application/json', '... as JSON');
    is($r->{json}{interval_s}, 30, '... in half minutes');
    my %lengths = map { ref $_ ? (scalar @$_ => 1) : () } values %{ $r->{json} };
    is(scalar keys %lengths, 1, '... as many for each count');
    return \%total;
}

is_deeply(totals(0), { map { $_ => 0 } qw(requests errors frames misses fetches) },
          'a server that has just started');

my %known = (memoryMap => [['linux_inline', 'BBA6FA10B8AAB33D00000000000000000']],
             stacks => [[[0, 88967], [0, 88967]]]);
my %absent = (memoryMap => [['none', 'BBA6FA10B8AAB33D00000000000000000']],
              stacks => [[[0, 1]]]);
$t->post_json('/symbolicate/v5', $_) for \%known, \%known, \%absent;
$t->request('POST', '/symbolicate/v5', body => '{');
my %want = (requests => 4, errors => 1, frames => 5, misses => 1, fetches => 0);
is_deeply(totals(4), \%want, 'all workers are counted');

$t->reload;
is_deeply(totals(4), \%want, 'a reload forgets nothing');
is($t->request('HEAD', '/metrics?history')->{status}, 200, 'HEAD');
like($t->request('GET', '/metrics?other')->{body}, qr/^symbolicate_frames_total 5$/m,
     'any other argument: the page for Prometheus');

is($t->stop->log_trouble, '', 'a clean log');
done_testing();
