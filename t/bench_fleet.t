#!/usr/bin/perl

# The simulator of bench/fleet: it chooses peers as nginx does, and its counts are
# those that probability theory predicts for fleets without surprises.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymTest;

my $program = SymTest::build_dir() . '/bench/fleet/fleet';

# --- the peer of a text ---

# Nothing listens at these addresses, so nginx tries a second one, and says which.
my @servers = map {"127.0.0.$_:9"} 2 .. 8;
my $t = SymTest->new;
$t->conf(
    http => 'upstream fleet { hash $uri consistent; '
        . join(' ', map {"server $_ max_fails=0;"} @servers) . ' }',
    locations => <<'CONF')->start;
        location /_peers/ {
            proxy_next_upstream error;
            proxy_next_upstream_tries 2;
            proxy_pass http://fleet;
            add_header X-Tried $upstream_addr always;
        }
CONF

# The servers of texts, out of these servers.
sub ring {
    my ($servers, @texts) = @_;
    my $file = $t->dir . '/texts';
    open my $out, '>', $file or die "$file: $!";
    print $out map {"$_\n"} @texts;
    close $out or die "$file: $!";
    return map { chomp; $_ } qx($program --ring @$servers <$file);
}

my @texts = map {"/_peers/builds/$_"} 1 .. 300;
my @tried = map { [ split /, /, $t->request('GET', $_)->{headers}{'x-tried'} ] } @texts;
is_deeply([ ring(\@servers, @texts) ], [ map { $_->[0] } @tried ], 'the peer that nginx chooses');
is(scalar(keys %{ { map { $_->[0] => 1 } @tried } }), scalar @servers, '... each is chosen');

my @next;
for my $gone (@servers) {
    my @of = grep { $tried[$_][0] eq $gone } 0 .. $#texts;
    my @left = grep { $_ ne $gone } @servers;
    push @next, grep { $_->[0] ne $_->[1] }
        map { [ $_->[0], $tried[ $_->[1] ][1] ] }
        map { my $found = $_; [ $found, shift @of ] } ring(\@left, @texts[@of]);
}
is_deeply(\@next, [], '... and the next one, if that is gone');
$t->allow(qr/connect\(\) failed/);
is($t->stop->log_trouble, '', 'nothing unusual in the log');

# --- counts ---

sub simulate {
    my (%o) = @_;
    my @flags = map {"--$_"} grep { /^no-/ } keys %o;
    my @options = map { ("--$_", $o{$_}) } grep { !/^no-/ } sort keys %o;
    my $said = qx($program @flags @options);
    is($?, 0, "fleet @flags @options");
    return { $said =~ /^(\w+)\s+(\S+)$/mg };
}

sub is_near {
    my ($is, $want, $what) = @_;
    cmp_ok(abs($is - $want), '<=', 0.03 * $want, "... $what: $is, expected " . sprintf '%.0f', $want);
    return;
}

my ($MODULES, $LOOKUPS, $NODES) = (20_000, 40_000, 4);
my %new = (modules => $MODULES, lookups => $LOOKUPS, nodes => $NODES, zipf => 1, absent => 0, builds => 0,
    'fleet-days' => 0, 'node-days' => 1e6, rate => 0.01, list => 0);

# Different modules among lookups by Zipf's law.
my $sum = 0;
$sum += 1 / $_ for 1 .. $MODULES;
sub different { my ($n) = @_; my $d = 0; $d += 1 - exp(-$n / $_ / $sum) for 1 .. $MODULES; return $d }

# A quarter more lookups come before those that count.
my $fleet = different(1.25 * $LOOKUPS) - different(0.25 * $LOOKUPS);
my $each = $NODES * (different(1.25 * $LOOKUPS / $NODES) - different(0.25 * $LOOKUPS / $NODES));

my $r = simulate(%new);
is_near($r->{conversions}, $fleet, 'with all, a module is converted once');
is($r->{conversions_a_module}, 1, '... by one node');
is($r->{bucket_puts}, $r->{conversions}, '... which publishes it');

$r = simulate(%new, 'no-peers' => 1);
is_near($r->{conversions}, $fleet, 'without peers, and few requests: the same');
is_near($r->{lookups} - $r->{hits}, $each, 'a node fetches a module once');
is($r->{bucket_gets}, $r->{lookups} - $r->{hits}, '... first from the bucket');

$r = simulate(%new, 'no-bucket' => 1);
is_near($r->{conversions}, $fleet, 'without a bucket: the same');
is($r->{bucket_gets} + $r->{bucket_puts}, 0, '... without requests to it');

$r = simulate(%new, 'no-bucket' => 1, 'no-peers' => 1);
is_near($r->{conversions}, $each, 'with neither, each node converts');

# Many requests at once for few modules, while they are converted.
my %rush = (%new, modules => 10, lookups => 4000, rate => 1000, builds => 2e6, zipf => 0);
is(simulate(%rush)->{conversions_a_module}, 1, 'with peers, one node converts a module');
cmp_ok(simulate(%rush, 'no-peers' => 1)->{conversions}, '>', 1.5 * simulate(%rush)->{conversions},
    'without, several do so at a time');

# Equally popular modules that do not all fit: the share of hits is the part that
# fits.  Modules have 81 % of a quota of 10g (docs/use/operations.md), and an
# eviction frees a 64th; bytes of 20,000 modules: 20,000 * 1,070,252.
$r = simulate(%new, zipf => 0, nodes => 1, lookups => 200_000, quota => 10 * 2**30);
is_near(1000 * $r->{hit_share}, 1000 * 0.81 * (1 - 1 / 128) * 10 * 2**30 / ($MODULES * 1_070_252),
    'hits of a full store, in a thousand');

# Absent modules: the node asks again after the time of symbolicate_negative_ttl.
$r = simulate(%new, absent => 1, nodes => 1, modules => 10, zipf => 0, rate => 100, lookups => 200_000,
    'absent-s' => 100);
is_near($r->{source_gets}, 10 * $r->{seconds} / 100, 'an absent module is asked for every 100 s');

done_testing();
