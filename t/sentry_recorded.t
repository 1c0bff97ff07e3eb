#!/usr/bin/perl

# Requests that a real Symbolicator answered (../shared/fixtures/sentry/cases),
# sent to a real nginx with the sources that they name: the answers are the
# same, value by value and key by key, but for the order of keys.  What differs
# on purpose is a row of docs/use/compat-sentry.md, and differs exactly so.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SentryCases qw(differences listed_differences);

# how many frames a case must have at least: a list that has become empty
# compares as well as any other
my %LEAST = (breakpad => 250, candidates => 200, dotnet => 8,
             'elf-adjust' => 100, 'elf-arm64' => 500, 'elf-random' => 440,
             'macho-random' => 270, 'pdb-x86' => 200, wasm => 120);

# cases whose part of the API is not there yet
my %LATER = map { $_ => 1 } qw(
    bad-hex bad-json bad-shape breakpad candidates dotnet elf-adjust elf-arm64
    elf-no-adjust elf-random filetypes-filter macho-random pdb-x86
    pe-arm64-exports pe-mingw-dwarf source-context source-status-403
    source-status-404 source-status-500 wasm);

my @names = SentryCases::names();
cmp_ok(@names, '>=', 22, 'recorded cases');

my %listed;
push @{ $listed{ $_->{case} } }, $_ for listed_differences();
my %known = map { $_ => 1 } @names;
is_deeply([ grep { !$known{$_} } sort keys %listed ], [],
          'every listed difference belongs to a recorded case');

my $t = SentryCases->new->start;
compare($_) for @names;
# the second time all of it is in the store
compare($_, ' again') for @names;
is($t->end, '', 'a clean log');
done_testing();

sub compare {
    my ($case, $when) = @_;
    local our $TODO = $LATER{$case} ? 'its part of the API' : undef;
    my $theirs = $t->recorded($case);
    my $ours = $t->answer_of($t->request_of($case));
    my $title = $case . ($when // '');
    my @wanted = @{ $listed{$case} // [] };
    my @found = differences($ours, $theirs);
    my @unlisted;

    for my $found (@found) {
        my ($where, $mine, $other) = map { $_ // 'absent' } @$found;
        $where =~ s/^body\.?(?=.)//;
        my ($n) = grep {
            $wanted[$_]{where} eq $where && $wanted[$_]{ours} eq $mine
                && $wanted[$_]{theirs} eq $other
        } 0 .. $#wanted;
        defined $n ? splice(@wanted, $n, 1)
                   : push @unlisted, "$where\n  here     $mine\n"
                                     . "  recorded $other\n";
    }
    is(@unlisted, 0, "$title: as recorded, or as listed")
        or diag(@unlisted[ 0 .. ($#unlisted < 9 ? $#unlisted : 9) ]);
    is(@wanted, 0, '... and all that is listed does differ so')
        or diag(map { "$_->{where}\n" } @wanted);

    my $frames = 0;
    $frames += @{ $_->{frames} // [] }
        for @{ ref $ours->{body} ? $ours->{body}{stacktraces} // [] : [] };
    cmp_ok($frames, '>=', $LEAST{$case}, '... with its frames')
        if $LEAST{$case};
    return;
}
