package SymServe;

# SymServe - runs `symloader serve` for the tests of t/serve_*.t, and talks to
# it.  Inherits SymLoader (run(), file(), verify(), modules(), ...).
#
#     my $t = SymServe->new->serve('--jobs', 1);    listening when this returns
#     my $c = $t->client;
#     $c->send(ENSURE => ticket => 1, key => "libfoo.so/$ID");
#     my $m = $c->recv;                             { type => 'FETCH', ... }
#     $t->stop;                                     { code, signal, err }
#
# t/lib/sym_link.py speaks the protocol, in one helper process for each test.

use strict;
use warnings;

use parent 'SymLoader';

use IO::Handle;
use IPC::Open2 qw(open2);
use JSON::PP ();
use POSIX ();

sub socket_path {
    my ($t) = @_;
    return $t->{socket} // $t->store . '/loader.sock';
}

# Starts the daemon and waits for the line that says it listens.  A leading
# hash: as for SymLoader::run().
sub serve {
    my $t = shift;
    my $o = ref $_[0] ? shift : {};

    pipe(my $read, my $write) or die "pipe: $!";
    $t->{daemon} = $t->_spawn({ %$o, err_fd => fileno($write) }, 'serve', @_);
    close($write);
    $t->{log} = $read;
    $t->{said} = '';
    delete $t->{control};
    defined $t->wait_log(qr/serve: listening on /)
        or die "the daemon did not start: $t->{said}\n";
    return $t;
}

sub pid { return $_[0]{daemon}{pid} }

# Reads the daemon's log up to a line that matches; undef: it ended before.
sub wait_log {
    my ($t, $want) = @_;
    my $fh = $t->{log};

    local $SIG{ALRM} = sub { die "no such line in the log: $want\n$t->{said}" };
    alarm(120);
    while (defined(my $line = readline($fh))) {
        $t->{said} .= $line;
        if ($line =~ $want) {
            alarm(0);
            return $line;
        }
    }
    alarm(0);
    return undef;
}

# Reads what is in the log, so that the daemon can write on.
sub drain {
    my ($t) = @_;
    $t->{log}->blocking(0);
    while (defined(my $line = readline $t->{log})) {
        $t->{said} .= $line;
    }
    $t->{log}->blocking(1);
    return $t;
}

# Stops the daemon: { code, signal, err } with its whole log.
sub stop {
    my ($t, $signal) = @_;

    kill($signal // 'TERM', $t->pid);
    return $t->wait_end;
}

sub wait_end {
    my ($t) = @_;

    $t->wait_log(qr/(?!)/);
    my $r = $t->SymLoader::wait(delete $t->{daemon});
    $r->{err} = $t->{said};
    Test::More::fail("no sanitizer report: $r->{err}")
        if !$t->{faults} && $r->{err} =~ /Sanitizer|runtime error:/;
    return $r;
}

# --- clients ---

sub _ask {
    my ($t, $line) = @_;

    if (!$t->{helper}) {
        $t->{helper} = open2($t->{from}, $t->{to},
            SymTools::path('python3'),
            SymLoader::root() . '/t/lib/sym_link.py', $t->socket_path);
        $t->{to}->autoflush(1);
    }
    print { $t->{to} } "$line\n";
    my $answer = readline($t->{from});
    defined $answer or die "the protocol's helper died at: $line\n";
    return JSON::PP->new->decode($answer);
}

# A connection; of another version: $o{version}, 0 sends no HELLO.
sub client {
    my ($t, %o) = @_;
    my $name = 'c' . ++$t->{n_clients};
    my $hello = $t->_ask("new $name " . ($o{version} // 19));

    return bless { t => $t, name => $name, hello => $hello },
        'SymServe::Client';
}

# { name => number } of STAT, over a connection that stays open.
sub stats {
    my ($t) = @_;
    my $c = $t->{control} //= $t->client;

    $c->send(STAT => ticket => 1);
    my %stats = map { split / / } split /\n/, $c->recv->{text};
    return \%stats;
}

# Waits until `name` of STAT has a value: for changes without a message.
sub wait_stat {
    my ($t, $name, $want) = @_;
    my $end = time + 120;

    while (time < $end) {
        return 1 if $t->stats->{$name} == $want;
        select(undef, undef, undef, 0.005);
    }
    return 0;
}

# Its converters, by pid, including ended ones that it has not noticed yet. They
# enter their sandbox on their own: the process name is the first step.
sub converters {
    my ($t) = @_;
    my $list = SymLoader::read_file('/proc/' . $t->pid . '/task/' . $t->pid . '/children');

    return grep {
        (eval { SymLoader::read_file("/proc/$_/stat") } // '') =~ /\(symconverter\)/
    } split ' ', $list;
}

# Waits until there are this many, none of them in @not; returns them.
sub wait_converters {
    my ($t, $n, @not) = @_;
    my %not = map { $_ => 1 } @not;
    my $end = time + 120;
    my @pids;

    while (time < $end) {
        @pids = $t->converters;
        return @pids if @pids == $n && !grep { $not{$_} } @pids;
        select(undef, undef, undef, 0.01);
    }
    die "not $n converters: @pids\n";
}

# Pids when nothing is converted: only one idle converter comes and goes.
sub descriptors {
    my ($t) = @_;
    my ($n, $same) = (-1, 0);

    for (1 .. 2) {    # the system's list may omit some while others exit
        $t->wait_converters(1);
        $t->stats;    # it has handled all earlier messages
    }

    # until it is stable: one that starts or exits has more for a moment
    while ($same < 3) {
        my $now = () = glob('/proc/' . $t->pid . '/fd/*');
        $same = $now == $n ? $same + 1 : 0;
        $n = $now;
        select(undef, undef, undef, 0.05);
    }
    return $n;
}

# Waits until there are as many again: the daemon keeps the descriptor of an
# ended converter until it notices the end.
sub settled_descriptors {
    my ($t, $expected) = @_;
    my $end = time + 30;
    my $n;

    while (($n = $t->descriptors) != $expected && time < $end) {
        select(undef, undef, undef, 0.05);
    }
    return $n;
}

sub DESTROY {
    my ($t) = @_;
    local ($?, $!);

    if ($t->{helper}) {
        close($t->{to});
        waitpid($t->{helper}, 0);
    }
    $t->SUPER::DESTROY;
}

package SymServe::Client;

use strict;
use warnings;

sub hello { return $_[0]{hello} }

# send(TYPE => field => value, ...); path => FILE also passes its descriptor.
sub send {
    my ($c, $type, %fields) = @_;
    my $m = { type => $type, %fields };

    for my $field (qw(ticket version flags state offset length)) {
        $m->{$field} += 0 if exists $m->{$field};
    }
    return $c->{t}->_ask("send $c->{name} " . JSON::PP->new->encode($m));
}

sub raw {
    my ($c, $bytes, @paths) = @_;
    return $c->{t}->_ask(join ' ', 'raw', $c->{name}, unpack('H*', $bytes),
                         @paths);
}

sub recv {
    my ($c, $seconds) = @_;
    return $c->{t}->_ask("recv $c->{name} " . ($seconds // 60));
}

# The next message, as "TYPE TICKET".
sub next {
    my ($c) = @_;
    my $m = $c->recv;
    return "$m->{type} " . ($m->{ticket} // '');
}

# Returns when the daemon has handled everything sent before.
sub sync {
    my ($c) = @_;

    $c->send(STAT => ticket => 4294967295);
    my $m = $c->recv;
    $m->{type} eq 'STATS' or die "STATS expected, not $m->{type}: " . ($m->{text} // '') . "\n";
    return $c;
}

# Requests a module and waits until the daemon has the request; takes the FETCH,
# if $is_first.
sub ensure {
    my ($c, $ticket, $key, $is_first) = @_;

    $c->send(ENSURE => ticket => $ticket, key => $key);
    return $is_first ? $c->recv : $c->sync;
}

sub close {
    my ($c) = @_;
    return $c->{t}->_ask("close $c->{name}");
}

1;
