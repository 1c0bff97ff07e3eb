#!/usr/bin/perl

# What each source had for a module (options.dif_candidates), and the status of
# modules that were not found: as a real Symbolicator answered
# (../shared/fixtures/sentry/cases), with its sources in the configuration.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();

use SentryCases;
use SymTest ();

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;

# the source of a case, as the configuration has it
my %SOURCE = (
    candidates         => 'symbolicate_source theirs uri=/files/ layout=native;',
    'source-status-403' => 'symbolicate_source bad uri=/bad403/ layout=native;',
    'source-status-404' => 'symbolicate_source bad uri=/bad404/ layout=native;',
    'source-status-500' => 'symbolicate_source bad uri=/bad500/ layout=native;',
    'filetypes-filter'
        => 'symbolicate_source theirs uri=/files/ layout=native kinds=pe,elf_code;',
);

for my $case (sort keys %SOURCE) {
    my ($n) = $case =~ /(\d+)/;
    my $t = SentryCases->new(sentry => $SOURCE{$case}, $n ? (sources => <<"CONF") : ())->start;
        location /bad$n/ { internal; proxy_pass http://%%FILES%%/status/$n/; }
CONF

    my $asked = $JSON->decode($t->request_of($case));
    delete $asked->{sources};
    my $want = $t->recorded($case)->{body}{modules};

    for my $turn ('fetched', 'in the store') {
        my $answer = $t->answer_of($JSON->encode($asked));
        is($answer->{http_status}, 200, "$case, $turn");
        my $got = $answer->{body}{modules};
        for my $i (0 .. $#$want) {
            my $title = "$case, $turn, $want->[$i]{type}";
            is($got->[$i]{debug_status}, $want->[$i]{debug_status}, "$title: status");
            is_deeply(candidates($got->[$i]), candidates($want->[$i]), "$title: candidates");
        }
    }
    my $trouble = $t->end;
    is($trouble, '', "$case: nothing is wrong") if !$n || $n == 404;
}
done_testing();

# In their order; "local" is no name for a configured source.
sub candidates {
    my ($module) = @_;
    return [ map { +{ %$_, source => $_->{source} eq 'local' ? 'theirs' : $_->{source} } }
             @{ $module->{candidates} // [] } ];
}
