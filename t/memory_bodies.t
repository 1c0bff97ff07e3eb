#!/usr/bin/perl

# Requests share the memory of a worker (symbolicate_memory): thirty bodies of
# 30 KB, each inflating to 30 MB, must not take gigabytes.  Requests that find
# no room are told to retry; one that needs more than its share gets an error.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use Test::More;

use SymMetrics qw(parse_page);
use SymTest;

my $MB = 1_000_000;
my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');
my $t = SymTest->new->load(SymTest::symbol_file(@module))->conf(locations => <<'CONF');
        location /symbolicate { symbolicate; }
        location /metrics     { symbolicate_metrics; }
        location /__          { symbolicate_health; }
CONF
$t->start;
my ($worker) = $t->workers;

sub rss {
    my ($kib) = SymTest::slurp("/proc/$worker/status") =~ /^$_[0]:\s+(\d+) kB/m;
    return $kib * 1024;
}

sub metric {
    my ($value) = parse_page($t->request('GET', '/metrics')->{body});
    return $value->{$_[0]};
}

sub begin_gzip {
    my ($packed) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/symbolicate/v5', body => $packed,
        headers => ['Content-Encoding' => 'gzip']));
    return $socket;
}

my $small = $t->json({ memoryMap => [[@module]], stacks => [[[0, 4096]]] });
is($t->post('/symbolicate/v5', $small)->{status}, 200, 'a small request');
my $before = rss('VmRSS');

my $text = '"' . 'x' x (30 * $MB) . '"';
gzip(\$text => \my $packed, -Level => 9) or die 'gzip';
my @sockets = map { begin_gzip($packed) } 1 .. 30;
my (%n, @wrong);
for my $socket (@sockets) {
    my $r = $t->response($socket);
    $n{$r->{status} // 'none'}++;
    push @wrong, $r if $r->{status} == 503 && ($r->{headers}{'retry-after'} // '') ne '5';
}
is_deeply([grep { !/^(?:400|503)$/ } keys %n], [],
    'read, and refused as invalid, or 503');
cmp_ok($n{400} // 0, '>', 0, '... some were read');
is_deeply(\@wrong, [], '... the others know when to retry');
cmp_ok(rss('VmHWM') - $before, '<', 256 * $MB, 'peak memory of the worker')
    if !SymTest::is_slow();
is(metric('memory_refusals_total{of=worker}'), $n{503} // 0, '... they are counted');
is(metric('memory_refusals_total{of=request}'), 0, 'none was too large by itself');
is($t->post('/symbolicate/v5', $small)->{status}, 200, 'a small request is answered');
$t->wait_for(sub { metric('memory_bytes') < $MB }, 'all memory was freed');
cmp_ok(metric('memory_max_bytes'), '>', 0, 'the limit is shown');

# a share
$t->conf(http => 'symbolicate_memory 40m request=20m;')->write_conf;
$t->reload;
($worker) = $t->workers;
my $r = $t->response(begin_gzip($packed));
is($r->{status}, 413, 'more than a share');
is($r->{json}{description}, 'the request needs more memory than one request may have', '... why');
is(metric('memory_refusals_total{of=request}'), 1, '... it is counted');
like($t->error_log, qr/needs more than its share of symbolicate_memory/, '... and in the log');
is(metric('memory_max_bytes'), 40 << 20, 'the limit is as configured');
is($t->post('/symbolicate/v5', $small)->{status}, 200, 'a small request is answered');
# logged when its connection ends, which is after its answer
ok($t->wait_for(sub { $t->access_log =~ /^status=too_large/m }, 'a line of the access log'),
    'the access log has an outcome for it');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
