package SymChaos;

# A chaos test: nginx with several workers, the loader, a source and clients
# that misbehave, and events that affect them all; every answer is judged.
#
#     SymChaos->run(
#         plan => { mix => {...}, events => {...} },    chaos/main.py, DEFAULTS
#         workers => 3,
#         quota => '16m',
#         server => 'directives of the server',
#         at_least => { true => 100, 'status 503' => 1 });
#
# The rest of such a test is in t/lib/chaos/main.py; this module starts, kills
# and measures nginx and the loader.  After the chaos, memory, descriptors,
# queues, readers' slots and temporary files must be as before it.
#
#     SYM_SEED=N       the same events and requests again; printed by each run
#     SYM_CHAOS_S=N    seconds that a test takes, in rounds; default 12
#
# A test of many rounds (./dev soak) also checks that memory does not grow.

use strict;
use warnings;

use parent 'SymFetch';

use File::Basename qw(basename);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use SymServer;

my $JSON = JSON::PP->new->canonical->utf8;
my $SECONDS = 12;
my $ROUND = 12;

# Growth of a process without a leak: pages that malloc() keeps, caches that are
# not full yet.
my $MEMORY = 24 << 20;
my $GROWTH = 4 << 20;    # from one half of a long run to the other

# Gives main.py's source the methods of a SymFetch source.
package SymChaos::Source {
    sub address { return "127.0.0.1:$_[0]{port}" }
    sub folder { return $_[0]{folder} }
    sub trouble { return $_[0]{server}->said }
}

sub run {
    my ($class, %o) = @_;
    local $SymServer::PATIENCE = 600;
    local $SymTest::PATIENCE = SymTest::is_slow() ? 240 : 120;

    my $seed = $ENV{SYM_SEED} // int rand 1e9;
    note("SYM_SEED=$seed");
    my $total = $ENV{SYM_CHAOS_S} || $SECONDS;
    my $folder = tempdir('symchaos-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my %plan = (seed => "$seed", folder => $folder, total_s => $total,
        seconds => $total < $ROUND ? $total : $ROUND,
        can_evict => $o{evicts} ? JSON::PP::true : JSON::PP::false,
        slack_s => SymTest::is_slow() ? 20 : 6, %{$o{plan}});

    my $chaos = SymServer->start('chaos', SymTools::path('python3'),
        SymTest::root() . '/t/lib/chaos/main.py', $JSON->encode(\%plan));
    my $source = bless { server => $chaos, folder => $folder,
        %{$chaos->line} }, 'SymChaos::Source';
    my $self = $class->new(workers => $o{workers} // 3, connections => 1024,
        fault => $source, rounds => []);
    # caches that fill up soon: growth after that is a leak
    $self->conf(server => $self->server_conf($o{server} // ''),
        http => 'symbolicate_answer_cache 1m; symbolicate_demangle_cache 1m;',
        locations => $self->locations);
    $self->symloader('init', '--quota', $o{quota} // '64m');
    $self->start;

    my $end = $self->obey($chaos);
    is_deeply($end->{wrong_of}, {}, "every answer was right (SYM_SEED=$seed)");
    diag($JSON->pretty->encode($_)) for @{$end->{wrong}};
    note($JSON->encode($end->{$_})) for qw(counts done);
    note("longest wait for what is stored: $end->{longest_wait_s} s");
    for my $event (sort keys %{$plan{events}}) {
        cmp_ok($end->{done}{$event} // 0, '>', 0, "event: $event");
    }
    my %least = (True => 50, frames => 200, names => 50, %{$o{at_least} // {}});
    for my $what (sort keys %least) {
        cmp_ok($end->{counts}{$what} // 0, '>=', $least{$what},
            "answers, $what");
    }
    cmp_ok($end->{counts}{'map full'} // 0, '<=', 3 + @{$self->{rounds}},
        'workers rarely hold all free pages');
    my $used = $self->{rounds}[-1]{used};
    cmp_ok($used->{$_} // 0, '>', 0, "the source: $_")
        for @{$o{source} // []};
    cmp_ok($self->{evicted}, '>=', $o{evicts}, 'modules were evicted')
        if $o{evicts};
    $self->is_flat;

    is($self->loader->verify, 'sound', 'the store is sound');
    $self->allow(qr/worker process \d+ exited on signal 9/);
    $self->allow($_) for @{$o{allow} // []};
    is($self->end, '', 'nothing is wrong');
    $self->keep_logs if !Test::More->builder->is_passing;
    done_testing();
    return;
}

sub keep_logs {
    my ($self) = @_;
    my $to = SymTest::root() . '/var/chaos/' . basename($0, '.t');
    remove_tree($to);
    make_path($to);
    copy($_, $to) for glob("$self->{dir}/logs/*"),
        glob($self->loader->dir . '/run.*.err');
    diag("logs are in $to");
    return;
}

# Possible faults of a source, equally frequent.
sub hostile {
    return map { $_ => 1 } qw(ok chunked close gzip gzipbare long drip gone
        removed forbidden empty nothing request redirect garbage page bent
        cutgzip other error busy hangup reset nohttp blackhole cut short
        chunkcut stall);
}

sub server_conf {
    my ($self, $more) = @_;
    return <<"CONF" . $more;
        symbolicate_loader unix:%%LOADER%%;
        symbolicate_source chaos uri=/chaos/;
        symbolicate_negative_ttl absent=2s malformed=2s failed=1s;
        symbolicate_budget 8s;
        client_body_buffer_size 256k;
CONF
}

sub locations {
    return <<'CONF';
        location /symbolicate { symbolicate; }
        location /partial {
            symbolicate;
            symbolicate_on_failure partial;
        }
        location /admin {
            symbolicate;
            symbolicate_admin on;
        }
        location /__ { symbolicate_health; }
        location /chaos/ {
            internal;
            proxy_pass http://%%FAULT%%;
            proxy_connect_timeout 2s;
            proxy_read_timeout 2s;
        }
CONF
}

# Carries out the orders of main.py until the end; returns the last one.
sub obey {
    my ($self, $chaos) = @_;

    print { $chaos->{to} } $JSON->encode({ nginx => $self->port }), "\n";
    while (1) {
        my $order = $chaos->line;
        return $order if $order->{do} eq 'end';
        my $how = $self->can("do_$order->{do}")
            or die "no such order: $order->{do}";
        my $answer = $how->($self, $order) // {};
        print { $chaos->{to} } $JSON->encode($answer), "\n";
    }
}

# --- events for nginx and the loader ---

sub do_kill_worker {
    my ($self, $order) = @_;
    my @workers = sort { $a <=> $b } $self->workers;
    # one may be about to exit by itself
    kill 'KILL', $workers[$order->{which} * @workers] if @workers;
    return;
}

sub do_kill_loader {
    my ($self, $order) = @_;
    my $r = $self->loader_stop($order->{signal});
    is($r->{code}, 0, 'the loader exits when told to')
        if $order->{signal} eq 'TERM';
    sleep $order->{down_s};
    $self->loader_start;
    return;
}

sub loader_start {
    my ($self, @args) = @_;
    delete $self->{loader}{control};    # it was connected to the other loader
    return $self->SUPER::loader_start(@args);
}

sub do_reload {
    my ($self, $order) = @_;
    $self->signal('HUP') for 2 .. $order->{times};
    $self->reload;
    return;
}

sub do_load {
    my ($self, $order) = @_;
    $self->symloader('load', '--quiet', $order->{file});
    return;
}

sub do_rm {
    my ($self, $order) = @_;
    my $r = $self->loader->run('rm', $order->{key});
    # 1: there was nothing to remove
    return { ok => ($r->{code} // 9) <= 1 ? JSON::PP::true : JSON::PP::false };
}

# --- measuring ---

sub do_begun {
    my ($self) = @_;
    $self->wait_until_idle;
    $self->{before} = $self->measure;
    return;
}

sub do_calm {
    my ($self, $order) = @_;
    my $before = $self->{before};

    push @{$self->{rounds}}, $order;
    note("round $order->{round}: all was well after $order->{calm_s} s; "
        . 'the source: ' . $JSON->encode($order->{used}));
    $self->wait_until_idle;

    my $now;
    $self->wait_for(sub {
        $now = $self->measure;
        return !grep { $now->{descriptors}{$_} > $before->{descriptors}{$_} }
            keys %{$before->{descriptors}};
    }, 'no descriptor is left open')
        or diag($JSON->encode([$before, $now]));
    $order->{memory} = $now->{memory};
    note('memory: ' . $JSON->encode($now->{memory}));
    return if !$order->{is_last};

    $self->{evicted} = $now->{evicted};
    is_deeply([$self->temp_files], [], 'no temporary file is left');
    is($now->{deleted}, 0, '... nor one without a name');
    is($now->{reading}, 0, 'no reader pins pages of the store');
    # a worker keeps a slot for each long request that it may have open
    cmp_ok($now->{readers}, '<=', 1 + 16 * $self->{workers},
        q{no more readers' slots than there may be});
    return if SymTest::is_slow();    # converters have their own memory
    my %limit = map { $_ => $before->{peak}{$_} + $MEMORY } qw(worker loader);
    for my $pid (keys %{$now->{memory}}) {
        my $what = $pid == $self->loader->pid ? 'loader' : 'worker';
        cmp_ok($now->{memory}{$pid}, '<', $limit{$what},
            "memory of a $what, as before");
    }
    return;
}

# Nothing is in progress any more, and all processes that exit have exited.
sub wait_until_idle {
    my ($self) = @_;
    $self->wait_for(sub { $self->workers == $self->{workers} },
        'as many workers as before');
    my $stats;
    $self->wait_for(sub {
        $stats = $self->loader->stats;
        return !grep { $stats->{$_} } qw(flights waiting fetches_running
            lease_bytes conversions_running);
    }, 'nothing is in progress') or diag($JSON->encode($stats));
    $self->wait_for(sub {
        $self->loader->stats->{clients} <= $self->{workers} + 1;
    }, 'a connection a worker');
    return;
}

sub measure {
    my ($self) = @_;
    my $ours = quotemeta $self->dir;
    my (%memory, %peak, %most, $deleted);
    my %process = map { $_ => 'worker' } $self->workers;
    $process{$self->loader->pid} = 'loader';

    $deleted = 0;
    for my $pid (keys %process) {
        my ($kb) = SymTest::slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+)/m;
        my @open = map { readlink($_) // () } glob "/proc/$pid/fd/*";
        my $what = $process{$pid};
        $memory{$pid} = ($kb // 0) * 1024;
        $peak{$what} = $memory{$pid} if $memory{$pid} > ($peak{$what} // 0);
        # not every worker need have connected to the loader yet
        my $n = @open - ($what eq 'loader'
            ? $self->loader->stats->{clients} : 0);
        $most{$what} = $n if $n > ($most{$what} // 0);
        $deleted += grep {m{^$ours/.*\(deleted\)}} @open;
    }
    my $stat = $JSON->decode($self->symloader('stat', '--json'));
    return { memory => \%memory, peak => \%peak, descriptors => \%most,
        deleted => $deleted, map { $_ => $stat->{$_} // 'unknown' }
            qw(readers reading evicted) };
}

# Processes that lived through many rounds must not need more memory in the
# second half of them than in the first.
sub is_flat {
    my ($self) = @_;
    my @rounds = @{$self->{rounds}};
    shift @rounds;    # caches fill
    return if @rounds < 6 || SymTest::is_slow();

    my $half = int(@rounds / 2);
    for my $pid (sort keys %{$rounds[-1]{memory}}) {
        next if grep { !exists $_->{memory}{$pid} } @rounds;
        my ($first, $second) = map { most($pid, @$_) }
            [@rounds[0 .. $half - 1]], [@rounds[$half .. $#rounds]];
        cmp_ok($second, '<=', $first + $GROWTH,
            "memory of process $pid does not grow");
    }
    return;
}

sub most {
    my ($pid, @rounds) = @_;
    my ($most) = sort { $b <=> $a } map { $_->{memory}{$pid} } @rounds;
    return $most;
}

1;
