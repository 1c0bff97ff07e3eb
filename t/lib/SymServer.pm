package SymServer;

# Starts, controls and stops a helper program that serves something.
#
#     my $p = SymServer->start($what, @command);
#     my $line = $p->line;        its next line of JSON, decoded
#     $p->ask({ ... });           a line of JSON to it, a line of JSON back
#     $p->stop;
#
# The program must exit when its standard input ends.  Only the test holds the
# other end, so however the test dies, the program exits.  For a program that
# does not read its standard input:
#
#     my $port = SymServer::free_port();
#     my $p = SymServer->start_deaf($what, @command, $port)->wait_port($port);

use strict;
use warnings;

use IO::Handle;
use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use POSIX ();
use Time::HiRes qw(time);

use SymTest;

our $PATIENCE = 60;    # seconds, then a test fails

my $JSON = JSON::PP->new->canonical->utf8;

sub start {
    my ($class, $what, @command) = @_;
    # no name, so a killed test leaves nothing behind
    open my $said, '+>>', undef or die "temporary file: $!";
    pipe(my $from, my $out) or die "pipe: $!";
    pipe(my $in, my $to) or die "pipe: $!";

    my $pid = fork // die "fork: $!";
    if (!$pid) {
        # the test prints TAP: nothing of this may go to its output
        open STDIN, '<&', $in;
        open STDOUT, '>&', $out;
        open STDERR, '>&', $said;
        exec @command or POSIX::_exit(127);
    }
    $to->autoflush(1);
    return bless {
        what => $what, pid => $pid, owner => $$, from => $from, to => $to,
        said => $said, rest => '',
    }, $class;
}

# Runs it under a shell that kills it.
sub start_deaf {
    my ($class, $what, @command) = @_;
    return $class->start($what, '/bin/sh', '-c',
        '"$0" "$@" & trap "kill $!" EXIT; read -r _', @command);
}

# No other process gets the port: it stays bound.  A server can still bind it
# with SO_REUSEADDR, because nothing listens on it.
my @bound;

sub free_port {
    push @bound, IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'tcp',
        ReuseAddr => 1) // die "no port: $!";
    return $bound[-1]->sockport;
}

# Waits until it accepts connections there.
sub wait_port {
    my ($self, $port) = @_;
    SymTest->wait_for(sub { IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") },
        "$self->{what} listens") or die "$self->{what}: " . $self->said;
    return $self;
}

sub pid { return $_[0]{pid} }

# Its next line; dies, with its output, if there is none in time.
sub line {
    my ($self) = @_;
    my $end = time + $PATIENCE;

    while ($self->{rest} !~ /\n/) {
        my $left = $end - time;
        if ($left <= 0 || !IO::Select->new($self->{from})->can_read($left)) {
            die "$self->{what}: no answer in $PATIENCE s\n" . $self->said;
        }
        if (!sysread $self->{from}, $self->{rest}, 65536, length $self->{rest}) {
            $self->stop;
            die "$self->{what} has ended\n" . $self->said;
        }
    }
    $self->{rest} =~ s/^(.*)\n//;
    return $JSON->decode($1);
}

sub ask {
    my ($self, $question) = @_;
    local $SIG{PIPE} = 'IGNORE';
    print { $self->{to} } $JSON->encode($question), "\n";
    return $self->line;
}

sub said {
    my ($self) = @_;
    seek $self->{said}, 0, 0;
    local $/;
    return readline($self->{said}) // '';
}

# Stops it, gently by default; returns its wait status.
sub stop {
    my ($self, $signal) = @_;
    my $pid = delete $self->{pid} // return;

    kill $signal, $pid if $signal;
    close $self->{to};
    my $status = SymTest::reap($pid, 10);
    return $status if defined $status;
    kill 'KILL', $pid;
    waitpid $pid, 0;
    return $?;
}

sub DESTROY {
    my ($self) = @_;
    return if $self->{owner} != $$;
    local ($?, $@, $!);
    $self->stop;
}

1;
