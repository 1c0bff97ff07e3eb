#!/usr/bin/perl

# The files that each source had for a module (options.dif_candidates), and the
# status of modules that were not found: as a real Symbolicator answered
# (../shared/fixtures/sentry/cases), with its sources in the configuration.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();

use SentryCases;
use SymFixtures qw(need_fixtures);
use SymTest ();

need_fixtures('sentry/cases');

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;

# the source of a case, in the configuration's form
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
# Symbolicator also looks for sources in debug files of ELF and in PDBs: a
# source with paths for these lists files, even if it has none for a bundle.
# This is its answer.
{
    my $t = SentryCases->new->start;
    my $answer = $t->answer_of($JSON->encode({ options => { dif_candidates => \1 },
        modules => [
            { type => 'pe', code_file => 'hello-dwarf.exe', code_id => '63ce751542000',
              image_addr => '0x10000', image_size => 270336 },
            { type => 'elf', debug_file => 'ld-2.13.so', image_addr => '0x381d8000',
              debug_id => 'c32ad7e2-35ea-6112-e02a-5b9d6219c485', image_size => 131072 } ],
        stacktraces => [ { frames => [ { instruction_addr => '0x11000' },
                                       { instruction_addr => '0x381d9000' } ] } ] }));
    my @places = map { [ map { $_->{location} =~ s{.*/symbols/}{}r } @{ $_->{candidates} } ] }
        @{ $answer->{body}{modules} };
    my $ld = 'ld-2.13.so/C32AD7E235EA6112E02A5B9D6219C4850/ld-2.13.s';

    is_deeply($places[0], [ '63/ce751542000.debug',
        map {"hello-dwarf.exe/63CE751542000/hello-dwarf.ex$_"} qw(_ e) ],
            'paths of a PE file');
    is_deeply($places[1], [ 'C32A/D7E2/35EA/6112/E02A/5B9D6219C485', "${ld}_", "${ld}o", "${ld}o.sym" ],
        'paths of an ELF file without a code id');
    is($t->end, '', 'nothing is wrong');
}
done_testing();

# In their order; "local" is not a valid name of a configured source.
sub candidates {
    my ($module) = @_;
    return [ map { +{ %$_, source => $_->{source} eq 'local' ? 'theirs' : $_->{source} } }
             @{ $module->{candidates} // [] } ];
}
