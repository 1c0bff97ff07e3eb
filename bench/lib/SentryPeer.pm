package SentryPeer;

# A real Symbolicator to compare with, if there is one: the program in
# SYMBOLICATOR, or var/bench/peers/symbolicator.
#
#     my $peer = SentryPeer->start or print "no Symbolicator\n";
#     $peer->url, $peer->pid
#
# It listens on loopback, has only the sources of requests (by default), which
# may be on this machine, and sends no reports.

use strict;
use warnings;

use File::Temp qw(tempdir);
use IO::Socket::INET;
use JSON::PP qw(encode_json);
use POSIX ();
use Time::HiRes qw(sleep);

my $PATIENCE_S = 60;

sub program {
    my ($root) = __FILE__ =~ m{^(.*)/bench/lib/[^/]+\z};
    my ($found) = grep { -x } $ENV{SYMBOLICATOR} // (),
        ($root // '.') . '/var/bench/peers/symbolicator';
    return $found;
}

# %o: cores => "0" runs it only there; keep => FOLDER of its caches; sources =>
# [...] for requests without any.
sub start {
    my ($class, %o) = @_;
    my $program = program() // return;
    my $dir = $o{keep} // tempdir('symbolicator-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $port = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
        ->sockport;

    my $sources = encode_json($o{sources} // []);    # JSON is YAML, too
    open my $conf, '>', "$dir/conf.yml" or die "$dir: $!\n";
    print $conf <<"END";
bind: "127.0.0.1:$port"
cache_dir: "$dir/cache"
connect_to_reserved_ips: true
deny_list_enabled: false
sources: $sources
logging: { level: "error", format: "simplified" }
END
    close $conf or die "$dir: $!\n";

    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        delete @ENV{qw(SENTRY_DSN STATSD_SERVER HTTP_PROXY http_proxy)};
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$dir/log";
        open STDERR, '>&', \*STDOUT;
        my @on = defined $o{cores} ? ('taskset', '-c', $o{cores}) : ();
        exec @on, $program, '-c', "$dir/conf.yml", 'run' or POSIX::_exit(127);
    }
    my $self = bless { pid => $pid, port => $port, owner => $$, dir => $dir },
        $class;
    for (1 .. $PATIENCE_S * 100) {
        return $self
            if IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port");
        last if waitpid($pid, POSIX::WNOHANG()) == $pid;
        sleep 0.01;
    }
    delete $self->{pid} if waitpid($pid, POSIX::WNOHANG()) == -1;
    open my $log, '<', "$dir/log";
    die "$program does not start: ", $log ? <$log> : '', "\n";
}

sub pid { return $_[0]{pid} }
sub port { return $_[0]{port} }
sub url { return "http://127.0.0.1:$_[0]{port}" }

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} // return;
    local $?;
    kill 'KILL', $pid;    # it keeps nothing that is needed
    waitpid $pid, 0;
    return;
}

sub DESTROY {
    my ($self) = @_;
    $self->stop if $self->{owner} == $$;
    return;
}

1;
