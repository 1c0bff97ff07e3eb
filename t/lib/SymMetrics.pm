package SymMetrics;

# Reads pages of symbolicate_metrics with Prometheus's own parser.
#
#     my ($value, $type) = parse_page($text);
#     $value->{'modules_total{outcome=found}'}     labels in order of their names
#     $type->{symbolicate_modules}                 'counter'

use strict;
use warnings;

use Exporter qw(import);
use IPC::Open2;
use JSON::PP qw(decode_json);
use SymTest;
use Test::More;

our @EXPORT_OK = qw(parse_page);

sub parse_page {
    my ($text) = @_;
    # Debian's own: the parser is one of its packages
    my $pid = open2(my $out, my $in, 'python3',
        SymTest::root() . '/t/lib/prometheus.py');
    print $in $text;
    close $in;
    my $json = do { local $/; readline $out };
    waitpid $pid, 0;
    BAIL_OUT("Prometheus cannot read this:\n$text") if $? != 0;

    my $page = decode_json($json);
    my %value;
    for my $sample (@{$page->{samples}}) {
        my ($name, $labels, $value) = @$sample;
        $name =~ s/^symbolicate_// or fail("the name $name");
        my $key = $name . join ',', map {"{$_=$labels->{$_}}"}
            sort keys %$labels;
        fail("$key comes twice") if exists $value{$key};
        $value{$key} = $value;
    }
    return \%value, $page->{types};
}

1;
