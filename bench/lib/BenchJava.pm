package BenchJava;

# A large mapping of ProGuard and R8, compared with the cache writer of Sentry's crate
# (bench/peers/proguard), which only makes the bytes: ours stores them, too.

use strict;
use warnings;

use File::Path qw(remove_tree);
use IO::Uncompress::Gunzip qw(gunzip);

use Bench qw(command pairs spurt);
use BenchDwarf;
use BenchKit qw($data $fixtures $rounds is_quick row note thousands mb stat_of
                watch slurp_through seconds_text peer);

my @MAPPINGS = qw(gson lang3-dex gson-proguard);

# These mappings in turn, each time with other names, up to a size.
sub make_mapping {
    my ($file, $size) = @_;
    my @texts = map { gunzip("$fixtures/recorded/jvm/$_.txt.gz" => \my $text); $text } @MAPPINGS;
    my $all = '';

    for (my $i = 0; length $all < $size; $i++) {
        my $text = $texts[$i % @texts];
        $text =~ s/^(\S.*) -> (\S+):$/r$i.$1 -> r$i.$2:/mg;
        $all .= $text =~ /\n\z/ ? $text : "$text\n";
    }

    spurt($file, $all);
    return;
}

sub case_jvm {
    my ($file, $store) = ("$data/mapping.txt", "$data/store-jvm");

    if (!-d "$fixtures/recorded/jvm") {
        note("No fixtures at $fixtures: mappings were not measured.");
        return;
    }

    my $peer = peer('peer-proguard', 'proguard') // return;
    make_mapping($file, is_quick() ? 2e6 : 50e6);
    slurp_through($file);
    my ($ours, $theirs) = pairs($rounds,
        sub { BenchDwarf::load($store, 1, $file) }, sub { watch($peer, 'write', $file) });
    my ($made) = command($peer, 'write', $file) =~ / (\d+)$/;
    my $bytes = stat_of($store)->{live_bytes};
    my ($time, $memory) = map { $ours->{$_} / $theirs->{$_} } qw(cpu rss);

    row('mapping of ' . mb(-s $file) . ' to store, CPU time', seconds_text($ours->{cpu}),
        'proguard ' . seconds_text($theirs->{cpu}), sprintf('%.2f', $time), '<= 0.50', $time <= 0.5);
    row('  peak memory, all processes', mb($ours->{rss}), 'proguard ' . mb($theirs->{rss}),
        sprintf('%.2f', $memory), '<= 0.50', $memory <= 0.5);
    row('  bytes', thousands($bytes), 'proguard ' . thousands($made), sprintf('%.2f', $bytes / $made), '');
    remove_tree($store);
    return;
}

1;
