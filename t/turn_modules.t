#!/usr/bin/perl

# A request for many modules at many sources is processed over many turns of the
# event loop: 32,768 pairs used to block a worker for half a second, and took
# 120 MB.  Other requests are answered meanwhile.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use Test::More;

use SymGiven;

my ($MODULES, $SOURCES) = SymTest::is_slow() ? (64, 16) : (512, 64);

# a busy machine takes minutes
local $SymTest::PATIENCE = 600;
my $t = SymGiven->new(more => 'symbolicate_request_timeout 10m;',
    sources => 'location /metrics { symbolicate_metrics; }')->start;
my ($worker) = $t->workers;

sub rss {
    my ($kib) = SymTest::slurp("/proc/$worker/status") =~ /^$_[0]:\s+(\d+) kB/m;
    return $kib * 1024;
}

my @sources = map { $t->source("/s$_", id => "s$_") } 1 .. $SOURCES;
my $body = $t->body(\@sources, map { ["m$_.pdb", $_] } 1 .. $MODULES);
gzip(\$body => \my $packed, -Level => 9) or die 'gzip';
my $before = rss('VmRSS');
my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/symbolicate', body => $packed,
    headers => ['Content-Type' => 'application/json', 'Content-Encoding' => 'gzip']));
my $r = $t->response($socket);
is($r->{status}, 200, 'answered');
is($r->{json}{status}, 'completed', '... at its end');
is(scalar @{$r->{json}{modules} // []}, $MODULES, '... every module');
cmp_ok(rss('VmHWM') - $before, '<', 120_000_000, 'peak memory of the worker')
    if !SymTest::is_slow();

my $page = $t->request('GET', '/metrics')->{body};
my %le = $page =~ /^symbolicate_turn_seconds_bucket\{le="([^"]+)"\} (\d+)$/mg;
is($le{'0.1'}, $le{'+Inf'}, 'no turn was longer than 100 ms') if !SymTest::is_slow();
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
