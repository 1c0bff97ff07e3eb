package BenchWorkers;

# What workers of one nginx cost each other: the CPU time of two workers for a
# request, compared with that of two servers of one worker each, which share no
# memory and no store.  Both have the same clients on the same cores.  Clients
# take their time from the workers' cores, so on a machine of two cores the rate
# of requests cannot show how it grows with workers.  CPU time can: if workers
# wait for each other's cache lines or locks, it grows.

use strict;
use warnings;

use List::Util qw(min sum);

use Bench qw(command pairs start_nginx stop_nginx workers_of cpu_ns wrk_start wrk_result);
use BenchKit qw($data $module $rounds $seconds made modules store_of bodies answer_bytes row note);

# Each server has clients on each core.
sub run {
    my ($servers, @bodies) = @_;
    my @workers = map { workers_of($_) } @$servers;
    my @before = map { cpu_ns($_) } @workers;
    my @clients = map {
        my $core = $_;
        map {
            wrk_start("$_->{url}/symbolicate/v5", { core => $core, seconds => $seconds,
                connections => 32 / @$servers }, @bodies)
        } @$servers;
    } 0, 1;
    my $requests = sum(map { wrk_result($_)->{requests} } @clients);
    my @took = map { cpu_ns($workers[$_]) - $before[$_] } 0 .. $#workers;

    return { cpu_us => sum(@took) / 1000 / $requests, rate => $requests / $seconds,
             least => min(@took) / sum(@took) };
}

sub case_workers {
    my @stores = (store_of('store', modules('plain'), modules('inlined')));
    push @stores, made("$data/store-2", sub { command('cp', '-r', $stores[0], $_[0]) }, $stores[0]);

    my $both = start_nginx(dir => "$data/nginx-both", store => $stores[0], modules => [$module], workers => 2);
    my @apart = map {
        start_nginx(dir => "$data/nginx-$_", store => $stores[$_], modules => [$module], core => $_)
    } 0, 1;

    for ([ 2, 1, 2, 2 ], [ 50, 1, 50, 5 ], [ 1000, 20, 50, 20 ]) {
        my ($frames, $stacks, $each, $n) = @$_;
        my @bodies = bodies("plain-$frames", $frames < 1000 ? 64 : 16, $stacks, $each,
            (modules('plain'))[0 .. $n - 1]);
        for my $nginx ($both, @apart) {
            answer_bytes($nginx, $_, $frames) for @bodies;
        }

        my ($two, $one) = pairs($rounds, sub { run([$both], @bodies) }, sub { run(\@apart, @bodies) });
        my $ratio = $one->{cpu_us} / $two->{cpu_us};
        row("v5, $frames frames: CPU a request, 2 workers", sprintf('%.1f us', $two->{cpu_us}),
            sprintf('2 servers of one %.1f us', $one->{cpu_us}), sprintf('%.2f', $ratio), '>= 0.9', $ratio >= 0.9);
        note(sprintf 'v5, %d frames, 2 workers: %.0f requests/s, 2 servers of one worker %.0f; the worker that did less '
            . 'had %.0f %% of their CPU time (%.0f %%).', $frames, $two->{rate}, $one->{rate}, 100 * $two->{least},
            100 * $one->{least});
    }
    stop_nginx($_) for $both, @apart;
    return;
}

1;
