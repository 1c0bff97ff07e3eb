package BenchFleet;

# Fleets of 10 to 1,000 nodes that share a bucket, simulated by bench/fleet: what
# they convert and pay, with and without peers, and how soon a new node is warm.

use strict;
use warnings;

use BenchKit qw(is_quick row note thousands);

# Simulates one fleet for each list of flags, at the same time.
sub simulate {
    my ($nodes, @variants) = @_;
    my @size = is_quick() ? ('--lookups', 400_000, '--modules', 100_000, '--builds', 2e6) : ();
    my @running = map {
        open my $fh, '-|', 'build/bench/fleet/fleet', '--nodes', $nodes, @size, @$_
            or die "bench: fleet: $!\n";
        $fh;
    } @variants;

    return map {
        my $fh = $_;
        my $said = do { local $/; <$fh> };
        close $fh or die "bench: fleet failed\n";
        +{ $said =~ /^(\w+)\s+(\S+)$/mg };
    } @running;
}

sub dollars { return '$' . thousands($_[0]) }

# A row of two simulations; their ratio.
sub compare {
    my ($title, $ours, $what, $theirs, $text) = @_;
    row("  $title", $text->($ours), "$what " . $text->($theirs),
        $theirs ? sprintf('%.2f', $ours / $theirs) : '');
    return;
}

sub case_fleet {
    for my $nodes (10, 100, 1000) {
        my ($both, $bucket, $peers) = simulate($nodes, [], ['--no-peers'], ['--no-bucket']);
        my $per_second = sub { return sprintf '%.4g/s', $_[0] };
        my $once = sub { return sprintf '%.3f', $_[0] };
        my $minutes = sub { return sprintf '%.0f min', $_[0] / 60 };

        row(thousands($nodes) . ' nodes, simulated: conversions a module',
            $once->($both->{conversions_a_module}),
            'without peers ' . $once->($bucket->{conversions_a_module}),
            sprintf('%.2f', $both->{conversions_a_module} / $bucket->{conversions_a_module}),
            '<= 1.02', $both->{conversions_a_module} <= 1.02);
        compare('conversions a day', $both->{conversions_a_day}, 'without a bucket',
            $peers->{conversions_a_day}, \&thousands);
        compare('GETs of the bucket', $both->{bucket_gets_a_second}, 'without peers',
            $bucket->{bucket_gets_a_second}, $per_second);
        compare('PUTs', $both->{bucket_puts_a_second}, 'without peers',
            $bucket->{bucket_puts_a_second}, $per_second);
        row('  read from the bucket', sprintf('%.3g GB/s', $both->{bucket_bytes_a_second} / 1e9),
            sprintf('kept %.3g TB', $both->{object_bytes} / 1e12));
        compare('cost a month', $both->{dollars}, 'without peers', $bucket->{dollars}, \&dollars);
        compare('until a new node is warm', $both->{warm_s}, 'without the list',
            $both->{warm_s_without_list}, $minutes);
        note(sprintf '%s nodes, simulated for %.0f s: %.0f %% of the lookups of existing modules are hits of the '
            . "node's store; a month costs \$%.0f for GETs, \$%.0f for PUTs, \$%.0f for the objects. A new node "
            . 'has the list in %.0f s; in its first five minutes %.0f %% are hits, without the list %.0f %%.',
            thousands($nodes), $both->{seconds}, 100 * $both->{hit_share}, @$both{qw(dollars_gets dollars_puts
            dollars_storage)}, $both->{ready_s}, 100 * $both->{first_hits}, 100 * $both->{first_hits_without_list});
    }
    return;
}

1;
