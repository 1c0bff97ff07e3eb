package SymFleetLoad;

# Requests to all nodes of a fleet, for modules whose use follows Zipf's law, and
# judgements of their answers.
#
#     my $load = SymFleetLoad->new($fleet, per => 4, window => 16, budget_s => 8);
#     $load->add(60);                        more modules, the latest ones
#     my $did = $load->run(200, 100 => sub { an event after 100 requests });
#     { answers, wrong => [...], late => [...], incomplete, longest_s,
#       modules => different ones, converted, gets }
#
# Function 0 of module N is called fN_0, so an answer from another module is noticed.
# A request chooses among the modules of the last add(), and with the probability `old`
# among all earlier ones.

use strict;
use warnings;

use IO::Select;
use List::Util qw(max);
use Time::HiRes qw(time);

sub new {
    my ($class, $fleet, %o) = @_;
    return bless { fleet => $fleet, per => 4, window => 16, budget_s => 8, seed => 1, old => 0.25,
        modules => [], first => 0, %o }, $class;
}

sub add {
    my ($self, $n) = @_;
    my $all = $self->{modules};
    $self->{first} = @$all;
    for my $number ($self->{first} .. $self->{first} + $n - 1) {
        my $id = SymFolder::id(1 + $number);
        $self->{fleet}->upload("m$number.so", $id, prefix => "f${number}_");
        push @$all, [ "m$number.so", $id, "f${number}_0" ];
    }
    # sums of 1/rank, for the choice by bisection
    my $sum = 0;
    $self->{sums} = [ map { $sum += 1 / $_ } 1 .. $n ];
    return $self;
}

sub choose {
    my ($self) = @_;
    my ($sums, $first) = @$self{qw(sums first)};
    return $self->{modules}[ rand $first ] if $first && rand() < $self->{old};
    my ($low, $high, $at) = (0, $#$sums, rand $sums->[-1]);
    while ($low < $high) {
        my $middle = int(($low + $high) / 2);
        if ($sums->[$middle] < $at) { $low = $middle + 1 } else { $high = $middle }
    }
    return $self->{modules}[ $first + $low ];
}

sub begin {
    my ($self) = @_;
    my @up = grep { !$_->{is_avoided} } $self->{fleet}->up;
    my $node = $up[ rand @up ];
    my %chosen = map { my $m = $self->choose; $m->[0] => $m } 1 .. $self->{per};
    my @modules = @chosen{ sort keys %chosen };
    $self->{new}{ $_->[0] } = 1 for grep { !$self->{known}{ $_->[0] }++ } @modules;
    return { node => $node, modules => \@modules, at => time,
        socket => $node->begin(map { [ @$_[ 0, 1 ] ] } @modules) };
}

sub judge {
    my ($self, $did, $request) = @_;
    my ($node, $modules) = @$request{qw(node modules)};
    my $r = $node->finish($request->{socket});
    my $took = time - $request->{at};
    return if $node->{is_down};

    $did->{answers}++;
    $did->{longest_s} = max($did->{longest_s}, $took);
    push @{ $did->{late} }, sprintf '%s: %.1f s', $node->address, $took if $took > $self->{budget_s};
    my $job = $r->{json}{results}[0];
    if (!$job) {
        $did->{incomplete}++;
        push @{ $did->{wrong} }, 'status ' . ($r->{status} // 'none') if ($r->{status} // 0) != 503;
        return;
    }
    for my $i (0 .. $#$modules) {
        my ($name, $id, $function) = @{ $modules->[$i] };
        my $is = $job->{stacks}[0][$i]{function} // '';
        my $found = $job->{found_modules}{"$name/$id"};
        push @{ $did->{wrong} }, "$name: $is" if $found && $is ne $function;
        push @{ $did->{wrong} }, "$name: absent" if defined $found && !$found;
        $did->{incomplete}++ if !defined $found;
    }
    return;
}

sub run {
    my ($self, $n, %events) = @_;
    my $fleet = $self->{fleet};
    my $select = IO::Select->new;
    my %open;
    my $did = { answers => 0, wrong => [], late => [], incomplete => 0, longest_s => 0 };
    my ($converted, $gets) = ($fleet->converted, $fleet->file_gets);
    srand ++$self->{seed};
    $self->{new} = {};

    for (my $sent = 0; $sent < $n || %open;) {
        if ($sent < $n && keys %open < $self->{window}) {
            $events{$sent}->() if $events{$sent};
            my $request = $self->begin;
            $open{ $request->{socket} } = $request;
            $select->add($request->{socket});
            $sent++;
            next;
        }
        my @ready = $select->can_read(60) or die "no request is answered\n";
        for my $socket (@ready) {
            $select->remove($socket);
            $self->judge($did, delete $open{$socket});
        }
        $_->loader->drain for $fleet->up;
    }
    $did->{modules} = keys %{ $self->{new} };
    $did->{converted} = $fleet->converted - $converted;
    $did->{gets} = $fleet->file_gets - $gets;
    return $did;
}

1;
