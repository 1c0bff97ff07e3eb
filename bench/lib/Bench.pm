package Bench;

# Tools of bench/run: an nginx with one worker on core 0, wrk on core 1, the
# loader's daemon, runs in turns, medians, and the memory of a process.

use strict;
use warnings;
no warnings qw(exec);

use Cwd ();
use Exporter 'import';
use IO::Socket::INET;
use List::Util qw(sum);
use POSIX ();
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(command median pairs slurp spurt start_nginx stop_nginx
                    restart_nginx worker_of workers_of start_daemon stop_daemon cpu_ns
                    turns_of private_kb wrk wrk_start wrk_result post);

my %running;    # pids that must not outlive this process

END {
    my $status = $?;
    # nginx's master stops its worker only when it is asked to end
    kill 'TERM', keys %running;
    waitpid $_, 0 for keys %running;
    $? = $status;
}

$SIG{INT} = $SIG{TERM} = sub { exit 130 };


sub slurp {
    my ($file) = @_;
    open my $fh, '<', $file or die "bench: $file: $!\n";
    local $/;
    return scalar <$fh>;
}

sub spurt {
    my ($file, $text) = @_;
    open my $fh, '>', $file or die "bench: $file: $!\n";
    print $fh $text;
    close $fh or die "bench: $file: $!\n";
    return;
}

# Runs a command, returns its standard output; dies if it fails.
sub command {
    my (@command) = @_;
    open my $fh, '-|', @command or die "bench: $command[0]: $!\n";
    my $said = do { local $/; <$fh> };
    close $fh or die "bench: failed: @command\n";
    return $said // '';
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    my $n = @sorted;
    return ($sorted[($n - 1) / 2] + $sorted[$n / 2]) / 2;
}

# Runs the subs in turn, A B A B, so that a slow phase of the machine affects
# all. Each returns a hash of numbers; returns a list of hashes of medians.
sub pairs {
    my ($rounds, @subs) = @_;
    my @all = map { [] } @subs;

    for (1 .. $rounds) {
        push @{ $all[$_] }, $subs[$_]->() for 0 .. $#subs;
    }

    return map {
        my $runs = $_;
        +{ map { my $k = $_; $k => median(map { $_->{$k} } @$runs) }
               keys %{ $runs->[0] } };
    } @all;
}


# --- nginx ---

sub free_port {
    my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1',
                                  LocalPort => 0)
        or die "bench: no free port: $!\n";
    return $s->sockport;
}

# start_nginx(dir => ..., store => ..., modules => [...]): a server of symbols.
# core: of its worker, default 0; workers: their number, each on a core and with a
# queue of connections of its own; http, server: more directives; without a store
# only these are served.
sub start_nginx {
    my (%o) = @_;
    my $dir = $o{dir};
    my $port = $o{port} // free_port();
    my $user = $> == 0 ? 'user root;' : '';
    my $load = join "\n", map { "load_module $_;" } @{ $o{modules} // [] };
    my $workers = $o{workers} // 1;
    my $affinity = $o{core} ? '10' : $o{workers} ? 'auto' : '01';
    my $queue = $o{workers} ? ' reuseport' : '';
    my ($http, $server) = ($o{http} // '', $o{server} // '');

    $server .= 'location = /floor { floor; }'
        if grep { /floor/ } @{ $o{modules} // [] };
    if (defined $o{store}) {
        $http .= "symbolicate_store $o{store};";
        $server .= 'location = /symbolicate/v5 { symbolicate; }
                    location = /symbolicate/bulk {
                        symbolicate;
                        client_max_body_size 0;
                    }
                    location = /__heartbeat__ { symbolicate_health; }';
    }

    mkdir $_ for $dir, "$dir/tmp";
    unlink "$dir/error.log";
    spurt("$dir/nginx.conf", <<"END");
$user
$load
worker_processes $workers;
worker_cpu_affinity $affinity;
pid $dir/nginx.pid;
error_log $dir/error.log warn;
events { worker_connections 4096; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_max_body_size 64m;
    client_body_buffer_size 8m;
    client_body_temp_path $dir/tmp/body;
    proxy_temp_path $dir/tmp/proxy;
    fastcgi_temp_path $dir/tmp/fastcgi;
    uwsgi_temp_path $dir/tmp/uwsgi;
    scgi_temp_path $dir/tmp/scgi;
    $http
    server {
        listen 127.0.0.1:$port$queue;
        location = /200 { return 200; }
        $server
    }
}
END

    my $self = { dir => $dir, port => $port, url => "http://127.0.0.1:$port",
                 workers => $workers };
    launch($self);
    wait_until_open($self);
    return $self;
}

sub launch {
    my ($self) = @_;
    my $pid = fork // die "bench: fork: $!\n";

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        exec 'nginx', '-p', $self->{dir}, '-c', "$self->{dir}/nginx.conf",
            '-e', "$self->{dir}/error.log", '-g', 'daemon off;';
        POSIX::_exit(127);
    }

    $running{$pid} = 1;
    $self->{pid} = $pid;
    return;
}

sub wait_until_open {
    my ($self) = @_;

    for (1 .. 5000) {
        my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                      PeerPort => $self->{port});
        return if $s;
        if (waitpid($self->{pid}, POSIX::WNOHANG()) != 0) {
            delete $running{ $self->{pid} };
            die "bench: nginx did not start: ", slurp("$self->{dir}/error.log");
        }
        sleep 0.001;
    }
    die "bench: nginx does not answer\n";
}

sub stop_nginx {
    my ($self) = @_;
    kill 'QUIT', $self->{pid};
    waitpid $self->{pid}, 0;
    delete $running{ $self->{pid} };

    my $log = slurp("$self->{dir}/error.log");
    die "bench: nginx has logged trouble:\n$log" if $log =~ /\[(alert|emerg|crit)\]/;
    return;
}

# Stops it, runs $between, starts it; returns the seconds from the start of the
# process to the answer of $request.
sub restart_nginx {
    my ($self, $between, $request) = @_;

    stop_nginx($self);
    $between->();

    my $started = time;
    launch($self);
    wait_until_open($self);
    my $answer = $request->();
    return { seconds => time - $started, answer => $answer };
}

# The kernel accepts connections before there is a worker.
sub workers_of {
    my ($self) = @_;

    for (1 .. 1000) {
        my @workers = split ' ',
            slurp("/proc/$self->{pid}/task/$self->{pid}/children");
        return @workers if @workers == $self->{workers};
        sleep 0.005;
    }
    die "bench: nginx has no worker\n";
}

sub worker_of { return (workers_of($_[0]))[0] }


# --- the loader's daemon ---

# `symloader serve` over a store; core: it and its converters run only there.
sub start_daemon {
    my ($loader, $store, $core, @options) = @_;
    my @pin = defined $core ? ('taskset', '-c', $core) : ();
    my $socket = "$store/loader.sock";
    my $pid = fork // die "bench: fork: $!\n";

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDERR, '>', "$store.log";
        exec @pin, $loader, 'serve', '--store', $store, @options;
        POSIX::_exit(127);
    }
    $running{$pid} = 1;

    for (1 .. 5000) {
        return { pid => $pid, socket => $socket } if -S $socket;
        last if waitpid($pid, POSIX::WNOHANG()) != 0;
        sleep 0.001;
    }
    delete $running{$pid};
    die "bench: the loader did not start: ", slurp("$store.log");
}

sub stop_daemon {
    my ($daemon) = @_;
    kill 'TERM', $daemon->{pid};
    waitpid $daemon->{pid}, 0;
    delete $running{ $daemon->{pid} };
    die "bench: the loader failed\n" if $?;
    return;
}


# --- figures of a process ---

# CPU time so far, in nanoseconds.
sub cpu_ns {
    my ($pid) = @_;
    return (split ' ', slurp("/proc/$pid/schedstat"))[0];
}

# How many times it was scheduled: a process that sleeps throughout has 0 more.
sub turns_of {
    my ($pid) = @_;
    return (split ' ', slurp("/proc/$pid/schedstat"))[2];
}

# Private memory in KiB, without and with the private pages of the store's
# mapping: these are page cache, counted as private while one process maps them.
sub private_kb {
    my ($pid, $store) = @_;
    my %kb = (own => 0, store => 0);
    my $where = 'own';

    for my $line (split /\n/, slurp("/proc/$pid/smaps")) {
        if ($line =~ /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)/) {
            $where = index($1, "$store/") == 0 ? 'store' : 'own';
        }
        elsif ($line =~ /^Private_(?:Clean|Dirty):\s+(\d+) kB/) {
            $kb{$where} += $1;
        }
    }
    return \%kb;
}


# --- wrk ---

# Starts wrk on core 1, or on another (core); idle: only with idle time of the
# core; first: before all others there, which only root may request.
sub wrk_start {
    my ($url, $o, @bodies) = @_;
    my @command = ('taskset', '-c', $o->{core} // 1, 'wrk', '-t1', "-c$o->{connections}",
                   "-d$o->{seconds}s", '--timeout', '60s', '-s',
                   'bench/wrk/post.lua', $url, '--', @bodies);
    unshift @command, 'chrt', '-i', '0' if $o->{idle};
    unshift @command, 'chrt', '-r', '1' if $o->{first} && $> == 0;

    pipe my $from, my $to or die "bench: pipe: $!\n";
    my $pid = fork // die "bench: fork: $!\n";
    if ($pid == 0) {
        open STDOUT, '>&', $to;
        exec @command;
        POSIX::_exit(127);
    }
    close $to;
    $running{$pid} = 1;
    return { pid => $pid, from => $from };
}

sub wrk_result {
    my ($wrk) = @_;
    my $said = do { local $/; readline $wrk->{from} };
    waitpid $wrk->{pid}, 0;
    delete $running{ $wrk->{pid} };

    my ($line) = $said =~ /^wrk-result (.*)/m
        or die "bench: wrk failed:\n$said";
    my %r = $line =~ /(\w+)=([0-9.]+)/g;
    die "bench: $r{errors} of $r{requests} requests failed\n" if $r{errors};
    die "bench: wrk got no answer\n" unless $r{requests};

    $r{rate} = $r{requests} / $r{seconds};
    return \%r;
}

# One run; adds the CPU time of all workers per request.
sub wrk {
    my ($nginx, $path, $o, @bodies) = @_;
    my @workers = workers_of($nginx);
    my $before = sum(map { cpu_ns($_) } @workers);
    my $r = wrk_result(wrk_start("$nginx->{url}$path", $o, @bodies));

    $r->{cpu_us} = (sum(map { cpu_ns($_) } @workers) - $before) / 1000
        / $r->{requests};
    $r->{busy} = $r->{cpu_us} * $r->{rate} / 1e6;
    return $r;
}

# Posts one body; returns the text of the answer, dies unless it is 200.
sub post {
    my ($nginx, $path, $file) = @_;
    return command('curl', '-sS', '--fail', '-H', 'Expect:', '--data-binary',
                   "\@$file", "$nginx->{url}$path");
}

1;
