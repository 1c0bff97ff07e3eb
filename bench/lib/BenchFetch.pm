package BenchFetch;

# Cost of modules that the store lacks: time from a miss to its answer, the rate
# of other requests meanwhile, modules recorded as absent, and that stored
# modules never reach the loader.
#
# Sources: s3rver, the S3 server of the tests (node.js), and an nginx that
# serves the same files at full speed.

use strict;
use warnings;

use Cwd ();
use File::Path qw(make_path remove_tree);
use IO::Select;
use IO::Socket::INET;
use List::Util qw(sum);
use POSIX ();
use Time::HiRes qw(time);

use Bench qw(command median pairs slurp spurt start_nginx stop_nginx worker_of
             start_daemon stop_daemon cpu_ns turns_of wrk wrk_start wrk_result
             post);
use BenchKit qw($data $loader $module $fixtures $rounds $seconds is_quick row
                note thousands generated modules store_of bodies answer_bytes
                stat_of);
use SymS3 ();

# Misses per second, in case_warm.
my $MISSES = 50;


# --- servers ---

# All generated files, over HTTP; on core 1, like everything except the worker.
sub file_server {
    return start_nginx(dir => "$data/source", core => 1,
                       server => "location / { root $data/sym; }");
}

# nginx over a store that fetches from $base, and its loader.
sub fetching {
    my ($store, $base, %o) = @_;
    my $daemon = start_daemon($loader, $store, $o{core});

    return (start_nginx(dir => "$data/nginx", store => $store,
        modules => [$module],
        http => "symbolicate_loader unix:$daemon->{socket};
                 symbolicate_source http uri=/_source/;",
        server => "location /_source/ { internal; proxy_pass $base/; }"),
        $daemon);
}

# An empty store, or a copy.
sub fresh_store {
    my ($name, $from) = @_;
    my $store = "$data/$name";

    remove_tree($store);
    command('cp', '-R', $from, $store) if defined $from;
    command($loader, 'init', '--store', $store, '--quota', '64g') if !defined $from;
    return $store;
}

# (name, id) from the layout of a symbol store.
sub module_of {
    my ($file) = @_;
    return $file =~ m{/([^/]+)/([^/]+)/[^/]+$};
}


# --- a miss ---

# 4.2 MB, the real file if it exists.
sub client_file {
    my ($real) = glob "$fixtures/symbols/crash-client/*/crash-client.sym";
    return defined $real ? Cwd::abs_path($real)
        : generated('client', 300, '--size', '4m');
}

sub case_miss {
    my $file = client_file();
    my ($name, $id) = module_of($file);
    my $key = "$name/$id/$name.sym";
    my $s3 = SymS3->new(directory => "$data/s3")->start;
    my $http = start_nginx(dir => "$data/source", core => 1, server =>
        'location / { root ' . ($file =~ s{/\Q$key\E$}{}r) . '; }');

    $s3->bucket('symbols', public => 1)->put('symbols', $key, $file);
    miss_rows($file, 's3rver', $s3->url('symbols'));
    miss_rows($file, 'nginx', $http->{url});
    stop_nginx($http);
    $s3->stop;
    remove_tree("$data/s3");
    return;
}

sub miss_rows {
    my ($file, $what, $base) = @_;
    my ($name, $id) = module_of($file);
    my $path = "$name/$id/$name.sym";
    my ($body) = bodies('miss-50', 1, 1, 50, $file);
    my $store = fresh_store('store-miss');
    my $beside = fresh_store('store-beside');
    my ($nginx, $daemon) = fetching($store, $base);
    my $copy = "$data/copy.sym";

    my $forget = sub {
        my ($of) = @_;
        command($loader, 'rm', '--store', $of, "$name/$id");
    };
    my $by_curl = sub {
        command('curl', '-sS', '--fail', '-o', $copy, "$base/$path");
    };
    answer_bytes($nginx, $body, 50);
    command($loader, 'load', '--store', $beside, '--quiet', $file);

    my ($miss, $load, $given, $ready) = pairs($rounds * 5,
        timed(sub { $forget->($store) },
              sub { post($nginx, '/symbolicate/v5', $body) }),
        timed(sub { $forget->($beside) }, sub {
            $by_curl->();
            command($loader, 'load', '--store', $beside, '--quiet', $copy);
        }),
        timed(sub { $forget->($store) }, sub {
            $by_curl->();
            command($loader, 'load', '--store', $store, '--quiet', $copy);
        }),
        timed(sub {}, sub { post($nginx, '/symbolicate/v5', $body) }));
    my $ratio = $miss->{ms} / $load->{ms};

    row(sprintf('miss, %.1f MB from %s, to the answer', (-s $file) / 1e6, $what),
        sprintf('%.1f ms', $miss->{ms}),
        sprintf('curl + symloader load %.1f ms', $load->{ms}),
        sprintf('%.2f', $ratio), '<= 1.3', $ratio <= 1.3);
    note(sprintf('Miss from %s: curl and `symloader load` through the same '
                 . 'daemon %.1f ms; the same request when the module is stored '
                 . '%.1f ms, most of it the start of curl.', $what,
                 $given->{ms}, $ready->{ms}));
    stop_nginx($nginx);
    stop_daemon($daemon);
    unlink $copy;
    return;
}

# One run for pairs(): prepares, then measures.
sub timed {
    my ($prepare, $run) = @_;
    return sub {
        $prepare->();
        my $started = time;
        $run->();
        return { ms => 1000 * (time - $started) };
    };
}


# --- the rate of other requests, while modules are fetched ---

# Small modules that were never requested.
sub small_modules {
    my ($n) = @_;
    return map { generated("small$_", 1000 + $_, '--style', 'cpp',
                           '--functions', 20) } 1 .. $n;
}

# Real clients are on other machines, so wrk has priority on core 1 in both
# runs, and loader, converters and source get the rest.
sub case_warm {
    my @files = modules('plain');
    my @bodies = bodies('plain-1000', 16, 20, 50, @files);
    my $time = $seconds + 1;    # misses begin earlier, and end later
    my @fresh = small_modules($rounds * $MISSES * $time);
    my $http = file_server();
    my $store = fresh_store('store-warm', store_of('store-plain', @files));
    my ($nginx, $daemon) = fetching($store, $http->{url}, core => 1);
    my %o = (connections => 16, seconds => $seconds, first => 1);

    answer_bytes($nginx, $bodies[0], 1000);

    my ($idle, $busy) = pairs($rounds,
        sub { wrk($nginx, '/symbolicate/v5', \%o, @bodies) },
        sub {
            my $asker = ask_steadily($nginx,
                                     splice(@fresh, 0, $MISSES * $time));
            my $r = wrk($nginx, '/symbolicate/v5', \%o, @bodies);
            return { %$r, %{ asked($asker) } };
        });
    my $ratio = $busy->{rate} / $idle->{rate};

    row("v5, 1,000 frames: requests/s, $MISSES misses/s meanwhile",
        thousands($busy->{rate}), 'without ' . thousands($idle->{rate}),
        sprintf('%.2f', $ratio), '>= 0.8',
        $ratio >= 0.8 && $busy->{answered} >= 0.9 * $MISSES);
    row('  worker CPU a request, misses counted in',
        sprintf('%.1f us', $busy->{cpu_us}),
        sprintf('without %.1f us', $idle->{cpu_us}),
        sprintf('%.2f', $idle->{cpu_us} / $busy->{cpu_us}));
    note(sprintf('Misses: %.0f a second were answered, in %.0f ms (median; '
        . 'longest %.0f ms), next to 16 connections of 1,000 frames on the same '
        . 'worker.  Loader, converters, source, the requesting client and wrk '
        . 'share core 1, where wrk has priority%s.  The worker was busy '
        . '%.0f %% of the time (without misses %.0f %%): far below 100 %%, '
        . 'the rate is that of wrk, or of a machine with other work to '
        . 'do.',
        $busy->{answered}, $busy->{median_ms}, $busy->{longest_ms},
        $> == 0 ? '' : ' (not here: only root may do that)',
        100 * $busy->{busy}, 100 * $idle->{busy}));
    stop_nginx($nginx);
    stop_daemon($daemon);
    stop_nginx($http);
    remove_tree($store);
    return;
}

# A process on core 1 that requests these modules, this many per second, whether
# or not earlier ones are answered.
sub ask_steadily {
    my ($nginx, @files) = @_;

    pipe my $from, my $to or die "bench: pipe: $!\n";
    my $pid = fork // die "bench: fork: $!\n";
    if ($pid == 0) {
        $SIG{TERM} = 'DEFAULT';
        my $ok = eval {
            command('taskset', '-cp', 1, $$);
            my $r = ask_all($nginx, @files);
            print {$to} join ' ', %$r;
            close $to;
            1;
        };
        print STDERR $@ if !$ok;
        POSIX::_exit($ok ? 0 : 1);
    }
    close $to;
    return { pid => $pid, from => $from };
}

sub asked {
    my ($asker) = @_;
    my $said = do { local $/; readline $asker->{from} };

    waitpid $asker->{pid}, 0;
    die "bench: a miss failed\n" if $?;
    return { split ' ', $said };
}

sub ask_all {
    my ($nginx, @files) = @_;
    my $select = IO::Select->new;
    my (%begun, %said, @ms);
    my $start = time;
    my $sent = 0;

    while ($sent < @files || %begun) {
        my $wait = $sent < @files ? $start + $sent / $MISSES - time : 60;

        if ($wait <= 0) {
            my $s = ask($nginx->{port}, $files[$sent++]);
            $select->add($s);
            $begun{$s} = time;
            next;
        }

        my @ready = $select->can_read($wait);
        die "bench: misses are not answered\n" if !@ready && $sent == @files;
        for my $s (@ready) {
            next if sysread $s, $said{$s}, 65536, length($said{$s} // '');
            $select->remove($s);
            push @ms, 1000 * (time - delete $begun{$s});
            # found_modules: {"small1/...": true}
            die "bench: a miss was answered: $said{$s}\n"
                if delete($said{$s}) !~ /^HTTP\S+ 200 .*": true\}/s;
        }
    }

    @ms = sort { $a <=> $b } @ms;
    return { answered => @ms / (time - $start), median_ms => median(@ms),
             longest_ms => $ms[-1] };
}

sub ask {
    my ($port, $file) = @_;
    my ($name, $id) = module_of($file);
    my $body = qq({"memoryMap":[["$name","$id"]],"stacks":[[[0,4096]]]});
    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
        or die "bench: cannot connect: $!\n";

    syswrite $s, "POST /symbolicate/v5 HTTP/1.1\r\nHost: bench\r\n"
        . "Connection: close\r\nContent-Length: " . length($body)
        . "\r\n\r\n$body";
    return $s;
}


# --- modules recorded as absent ---

# A body of one stack, with $frames frames over the modules.
sub body_of {
    my ($path, $frames, @modules) = @_;
    my $map = join ',', map { qq(["$_->[0]","$_->[1]"]) } @modules;
    my $stack = join ',', map { sprintf '[%d,%d]', $_ % @modules,
                                4096 + 16 * $_ } 0 .. $frames - 1;

    make_path("$data/bodies");
    spurt($path, qq({"jobs":[{"memoryMap":[$map],"stacks":[[$stack]]}]}));
    return $path;
}

sub absent_modules {
    my ($from, $n) = @_;
    return map { ["absent$_.so", sprintf '%032X0', 0x9000_0000 + $_] }
        $from .. $from + $n - 1;
}

sub case_absent {
    my @files = modules('plain');
    my $many = is_quick() ? 400 : 10_000;
    my @known = bodies('plain-20x20', 64, 1, 20, @files);
    my $http = file_server();
    my $store = fresh_store('store-absent', store_of('store-plain', @files));
    my ($nginx, $daemon) = fetching($store, $http->{url});
    my %o = (connections => 16, seconds => $seconds);
    my (@absent, $n);

    for (my $i = 0; $i < $many; $i += 20) {
        push @absent, body_of("$data/bodies/absent." . $n++ . '.json', 20,
                              absent_modules($i, 20));
    }
    answer_bytes($nginx, $known[0], 20);
    post($nginx, '/symbolicate/v5', $_) for @absent;    # now they are recorded
    my $held = stat_of($store)->{absent};
    die "bench: $held of $many modules are recorded as absent\n"
        if $held != $many;

    my ($ours, $again, $warm) = pairs($rounds,
        sub { wrk($nginx, '/symbolicate/v5', \%o, @absent) },
        sub { wrk($nginx, '/symbolicate/v5', \%o, $absent[0]) },
        sub { wrk($nginx, '/symbolicate/v5', \%o, @known) });

    for ([ 'all of them in turn', $ours ], [ 'the same again', $again ]) {
        my ($which, $run) = @$_;
        my $ratio = $run->{rate} / $warm->{rate};

        row('20 of ' . thousands($many) . " absent modules, $which: requests/s",
            thousands($run->{rate}),
            '20 present ones ' . thousands($warm->{rate}),
            sprintf('%.2f', $ratio), '>= 0.7', $ratio >= 0.7);
        row('  worker CPU a request', sprintf('%.1f us', $run->{cpu_us}),
            sprintf('present %.1f us', $warm->{cpu_us}),
            sprintf('%.2f', $warm->{cpu_us} / $run->{cpu_us}));
    }
    stop_nginx($nginx);
    stop_daemon($daemon);
    stop_nginx($http);
    remove_tree($store);
    return;
}


# --- stored modules ---

sub case_ensure {
    my @files = modules('plain');
    my @bodies = bodies('plain-50', 64, 1, 50, @files[0 .. 4]);
    my $http = file_server();
    my $store = fresh_store('store-ensure');
    my ($nginx, $daemon) = fetching($store, $http->{url});
    my %o = (connections => 16, seconds => $seconds);

    # through the loader, so that the worker is connected to it
    answer_bytes($nginx, $bodies[0], 50);
    my $before = turns_of($daemon->{pid});
    my $r = wrk($nginx, '/symbolicate/v5', \%o, @bodies);
    my $turns = turns_of($daemon->{pid}) - $before;

    row('loader woken by requests for ready modules', $turns,
        thousands($r->{requests}) . ' requests', '', '0', $turns == 0);
    stop_nginx($nginx);
    stop_daemon($daemon);
    stop_nginx($http);
    remove_tree($store);
    return;
}


# --- many at once ---

sub case_many {
    my $http = file_server();
    my ($absent, $small) = is_quick() ? (100, 20) : (500, 100);
    my @small = map { [module_of($_)] } small_modules($small);

    many_row("a request with $absent absent modules", $http,
             sub { absent_modules(100_000 * $_[0], $absent) });
    many_row("a request with $small small modules to be fetched", $http,
             sub { @small });
    stop_nginx($http);
    return;
}

# Time to the answer of the first request; and again, when all modules are
# stored.
sub many_row {
    my ($title, $http, $modules) = @_;
    my @runs;

    for my $round (1 .. $rounds) {
        my $store = fresh_store('store-many');
        my ($nginx, $daemon) = fetching($store, $http->{url});
        my @asked = $modules->($round);
        my $body = body_of("$data/bodies/many.json", scalar @asked, @asked);
        my $ask = timed(sub {}, sub { post($nginx, '/symbolicate/v5', $body) });
        my @cpu = map { cpu_ns($_) } $daemon->{pid}, worker_of($nginx);

        my $first = $ask->();
        my @used = map { cpu_ns($_) } $daemon->{pid}, worker_of($nginx);
        push @runs, { first => $first->{ms}, again => $ask->()->{ms},
                      loader => ($used[0] - $cpu[0]) / 1e6,
                      worker => ($used[1] - $cpu[1]) / 1e6 };
        stop_nginx($nginx);
        stop_daemon($daemon);
        remove_tree($store);
    }

    my %ms = map { my $k = $_; $k => median(map { $_->{$k} } @runs) }
        keys %{ $runs[0] };
    row($title, sprintf('%.0f ms', $ms{first}),
        sprintf('again %.1f ms', $ms{again}));
    note(sprintf('%s: %.1f ms of CPU time in the loader (without converters), '
                 . '%.1f ms in the worker.', ucfirst $title, $ms{loader},
                 $ms{worker}));
    return;
}

1;
