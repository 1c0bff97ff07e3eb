package SymRelay;

# A process that passes connections on, and can cut them: a network that is divided.
#
#     my $relay = SymRelay->new(a => 8001, b => 8002);    names and ports on 127.0.0.1
#     $relay->address('a')       connections to it get to port 8001
#     $relay->cut('127.0.0.9', 'a')      those from this address get no answer any more
#     $relay->heal
#
# A connection that was cut is closed when the network heals.

use strict;
use warnings;

use IO::Handle;
use IO::Select;
use IO::Socket::INET;
use POSIX ();

sub new {
    my ($class, %ports) = @_;
    my %listens = map {
        $_ => IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1024) || die "relay: $!"
    } keys %ports;
    pipe my $orders, my $say or die "pipe: $!";
    pipe my $hear, my $answers or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        $_->autoflush(1) for $answers;
        close $say;
        eval { run($orders, $answers, \%ports, \%listens) };
        print {*STDERR} "relay: $@" if $@;
        POSIX::_exit(0);
    }
    close $_ for $orders, $answers;
    $say->autoflush(1);
    return bless { pid => $pid, say => $say, hear => $hear, listens => \%listens }, $class;
}

sub address {
    my ($self, $name) = @_;
    return '127.0.0.1:' . $self->{listens}{$name}->sockport;
}

sub tell {
    my ($self, $order) = @_;
    print { $self->{say} } "$order\n";
    readline $self->{hear} // die 'the relay is gone';
    return $self;
}

sub cut { my ($self, $from, $to) = @_; return $self->tell("cut $from $to") }
sub heal { return $_[0]->tell('heal') }

# --- the process ---

sub run {
    my ($orders, $answers, $ports, $listens) = @_;
    my $select = IO::Select->new($orders, values %$listens);
    my %name = map { $listens->{$_} => $_ } keys %$listens;
    my (%cut, %other, %way, @held);

    my $close = sub {
        for my $s ($_[0], delete $other{ $_[0] }) {
            next if !$s;
            $select->remove($s);
            delete $other{$s};
            delete $way{$s};
            close $s;
        }
    };
    my $order = sub {
        my $line = readline $orders // POSIX::_exit(0);
        if ($line =~ /^cut (\S+) (\S+)/) {
            $cut{"$1 $2"} = 1;
            my @now = grep { $cut{ $way{$_} } } map { $other{$_} } keys %other;
            $select->remove(@now);
            push @held, @now;
        } else {
            %cut = ();
            $close->($_) for grep { defined fileno $_ } splice @held;
        }
        print {$answers} "done\n";
    };
    my $accept = sub {
        my $from = $_[0]->accept or return;
        my $name = $name{ $_[0] };
        my $way = $from->peerhost . " $name";
        if ($cut{$way}) {
            $way{$from} = $way;
            push @held, $from;
            return;
        }
        my $to = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $ports->{$name});
        if (!$to) {
            close $from;
            return;
        }
        @other{ $from, $to } = ($to, $from);
        @way{ $from, $to } = ($way, $way);
        $select->add($from, $to);
    };

    while (1) {
        for my $s ($select->can_read) {
            if ($s == $orders) {
                $order->();
            } elsif ($name{$s}) {
                $accept->($s);
            } elsif (my $to = $other{$s}) {
                my $n = sysread $s, my $bytes, 65536;
                if (!$n) {
                    $close->($s);
                } else {
                    local $SIG{PIPE} = 'IGNORE';
                    syswrite $to, $bytes or $close->($s);
                }
            }
        }
    }
    return;
}

sub DESTROY {
    my ($self) = @_;
    local $?;
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
    return;
}

1;
