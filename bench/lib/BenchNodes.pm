package BenchNodes;

# Eight nodes, each nginx and a loader, before one bucket: how often a module is
# converted, and its file fetched, while requests of all nodes choose modules by Zipf's
# law, and while nodes join, die or are cut off, and the bucket fails.
#
# SYM_FLEET_MODULES=N: number of modules in the first row (default 20,000); the others
# have a twentieth of it.

use strict;
use warnings;

use BenchKit qw(is_quick row note thousands);
use SymFleet ();
use SymFleetLoad ();

my $NODES = 8;
my $PER = 4;          # modules of a request
my $BUDGET_S = 15;
my $MOST = 1.02;

sub case_nodes {
    my $most = $ENV{SYM_FLEET_MODULES} // (is_quick() ? 1000 : 20_000);
    my $modules = int($most / 20);
    my $fleet = SymFleet->new(nodes => $NODES, up => $NODES - 1, peers => 1, files => 1,
        relayed => 1, timeout => '4s', bucket_timeout => '1s',
        how => "symbolicate_budget ${BUDGET_S}s;");
    my @nodes = $fleet->nodes;
    my $load = SymFleetLoad->new($fleet, per => $PER, budget_s => $BUDGET_S + 1);
    my $old = $load->{old};
    my $half = int($modules / 2);

    note("Fleet: $NODES nodes with one worker and a loader each, on the cores of one machine; "
         . thousands($most) . ' new modules in the first row, ' . thousands($modules)
         . " in the others, $PER in a request.");

    phase($load, $most, 'nothing happens');
    phase($load, $modules, 'a node joins', $half => sub { $fleet->join_node($nodes[-1]) });
    # without the bucket, it has to convert those old ones for which it is asked now
    $load->{old} = 0;
    bucket($fleet, $load, $modules, 'answers 503', [qw(GET PUT)], code => 'SlowDown');
    bucket($fleet, $load, $modules, 'sends nonsense', ['GET'], body => 'nonsense');
    bucket($fleet, $load, $modules, 'does not answer', [qw(GET PUT)], stall => 1);
    phase($load, $modules, 'a node does not reach the bucket', 0 => sub { $fleet->cut_bucket($nodes[0]) });
    $fleet->heal;
    # what was made without the bucket comes to it now
    $load->{old} = $old;
    phase($load, $modules, 'a node is cut off from the others', 0 => sub { $fleet->cut($nodes[1]) });
    $fleet->heal;
    phase($load, $modules, 'a node dies', $half => sub { $fleet->kill_node($nodes[2]) });

    $_->allow(qr/./) for @nodes;
    print $fleet->end;
    return;
}

sub bucket {
    my ($fleet, $load, $modules, $what, $methods, @fault) = @_;
    $fleet->s3->fault(method => $_, url => '^/shared/', times => -1, @fault) for @$methods;
    phase($load, $modules, "the bucket $what");
    $fleet->s3->no_faults;
    return;
}

# As many requests as there are modules.
sub phase {
    my ($load, $modules, $what, %events) = @_;
    my $did = $load->add($modules)->run($modules, %events);
    my ($converted, $gets) = map { $_ / $did->{modules} } @$did{qw(converted gets)};
    my $is_right = !@{ $did->{wrong} } && !@{ $did->{late} };

    row("fleet of $NODES, $what: conversions of a module", sprintf('%.3f', $converted),
        sprintf('GETs of its file %.3f', $gets), '', "<= $MOST",
        $converted <= $MOST && $gets <= $MOST && $is_right);
    note(sprintf('Fleet, %s: %s requests, %s modules, %d wrong answers, %d after their budget, '
                 . '%d modules pending, longest answer %.1f s.', $what, thousands($did->{answers}),
                 thousands($did->{modules}), scalar @{ $did->{wrong} }, scalar @{ $did->{late} },
                 $did->{incomplete}, $did->{longest_s}));
    return;
}

1;
