#!/usr/bin/perl

# Eight real nodes send as many requests as the simulator of bench/fleet counts for the
# same lookups: GETs and PUTs of the bucket, GETs of peers and of the source.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;

my $LOOKUPS = 240;
# so few in a second that none waits for another; nothing expires
my %option = (modules => 120, lookups => $LOOKUPS, rate => 0.001, absent => 0.1, 'absent-s' => 1e6, builds => 0,
    'fleet-days' => 0, 'node-days' => 1e6, list => 0);

my $fleet = SymFleet->new(nodes => 8, peers => 1, files => 1, how => 'symbolicate_negative_ttl absent=1h;');
my @nodes = $fleet->nodes;

my $program = SymTest::build_dir() . '/bench/fleet/fleet';
my @options = map { ("--$_", $option{$_}) } sort keys %option;
my @said = qx($program --trace @options --servers @{[ map { $_->address } @nodes ]});
is($?, 0, 'the simulator runs');
my @lookups = map { /^lookup (\d+) (\S+) (\S+) (\S+)$/ ? [ $nodes[$1], $2, $3, $4 eq 'yes' ] : () } @said;
my %simulated = map { /^(\w+)\s+(\S+)$/ ? ($1 => $2) : () } @said;
is(scalar @lookups, 1.25 * $LOOKUPS, '... and prints its lookups');

my %there = map { $_->[3] ? ($_->[1] => $_->[2]) : () } @lookups;
$fleet->upload($_, $there{$_}, prefix => "$_.") for keys %there;

# Requests of all kinds until now.
sub counts {
    my @s3 = grep { $_->{url} =~ m{^/shared/} } $fleet->s3->log;
    my @peers = grep { m{code=200 uri=/peer/artifact} } map { split /\n/, $_->access_log } @nodes;
    return (bucket_gets => scalar(grep { $_->{method} eq 'GET' } @s3),
        bucket_puts => scalar(grep { $_->{method} eq 'PUT' } @s3),
        peer_gets => scalar @peers, source_gets => scalar(() = $fleet->{files}->access_log =~ /uri=.*\.sym$/mg),
        conversions => $fleet->converted);
}

# Lookups of different modules at the same time, until they are published.
my (%made, $wrong);

sub look_up {
    my @open = map { [ @$_, $_->[0]->begin([ @$_[ 1, 2 ] ]) ] } @_;
    for (@open) {
        my ($node, $name, undef, $is_there, $request) = @$_;
        my $function = $node->function($node->finish($request));
        $wrong .= "$name: $function\n" if $function ne ($is_there ? "$name.0" : 'false');
        $made{$name} = 1 if $is_there;
    }
    $fleet->published(scalar keys %made);
    return;
}

my (%before, %now, @wave, %in);
for my $i (0 .. $#lookups) {
    my $name = $lookups[$i][1];
    if ($in{$name} || $i == $LOOKUPS / 4) {
        look_up(splice @wave);
        %in = ();
    }
    %before = counts() if $i == $LOOKUPS / 4;
    push @wave, $lookups[$i];
    $in{$name} = 1;
}
look_up(@wave);
%now = counts();

is($wrong, undef, 'all answers are right');
is($now{$_} - $before{$_}, $simulated{$_}, "as many $_ as simulated") for sort keys %now;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
