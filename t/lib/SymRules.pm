package SymRules;

# The unwind rules of a file, as `symloader dump --kind=cfi` writes them.

use strict;
use warnings;

use Exporter 'import';
use Test::More;

our @EXPORT_OK = qw(rules_of rule_at);

# [start, end, { name => rule }] by address.
sub rules_of {
    my ($t, $file, $warning) = @_;
    my $r = $t->run({ no_store => 1 }, 'dump', '--kind=cfi', $file);
    my $said = $r->{err} =~ s/.*warning: //r;
    chomp $said;
    is("$r->{code}$said", '0' . ($warning // ''), "$file is dumped");

    my @rows;
    for my $line (split /\n/, $r->{out}) {
        my ($start, $size, $rules) = $line =~ /^(\w+) (\w+) (.*)/ or next;
        my %rule = $rules =~ /(\S+): (.*?)(?= \S+: |$)/g;
        push @rows, [hex $start, hex($start) + hex $size, \%rule];
    }
    return \@rows;
}

sub rule_at {
    my ($rows, $address) = @_;
    my ($low, $high) = (0, scalar @$rows);
    while ($low < $high) {
        my $middle = int(($low + $high) / 2);
        if ($rows->[$middle][0] <= $address) { $low = $middle + 1 }
        else { $high = $middle }
    }
    my $row = $low > 0 ? $rows->[$low - 1] : undef;
    return $row && $address < $row->[1] ? $row->[2] : undef;
}

1;
