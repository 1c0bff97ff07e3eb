#!/usr/bin/perl

# Requests that a real Symbolicator answered (../shared/fixtures/sentry/cases)
# are sent to a real nginx with the sources that they name: the answers are the
# same, value by value and key by key, except for the order of keys.  Each
# intended difference is a row of docs/use/compat-sentry.md, and must be exactly
# that.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use SentryCases qw(differences frame_differences kind_of listed rest_of);
use SymFixtures qw(need_fixtures);

need_fixtures('sentry/cases');

my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

# minimal number of frames in a case, because an empty list would equal any
# other empty list
my %LEAST = (breakpad => 250, candidates => 200, dotnet => 8,
             'elf-adjust' => 100, 'elf-arm64' => 500, 'elf-random' => 440,
             'macho-random' => 270, 'pdb-x86' => 200, wasm => 120);

my @names = SentryCases::names();
cmp_ok(@names, '>=', 22, 'recorded cases');

my $listed = listed();
my %known = map { $_ => 1 } @names;
is_deeply([ grep { !$known{$_} } map { sort keys %$_ } @$listed{qw(kinds values)} ],
          [], 'every listed difference belongs to a recorded case');

# Candidates list the paths that were tried, and a request without that option
# tries fewer, so the case that has it begins with an empty store, as it was
# recorded.
for my $group ([ grep { $_ ne 'candidates' } @names ], ['candidates']) {
    my $t = SentryCases->new->start;
    compare($t, $_) for @$group;
    # the second time everything is in the store
    compare($t, $_, ' again') for @$group;
    is($t->end, '', 'a clean log');
}
done_testing();

sub compare {
    my ($t, $case, $when) = @_;
    my $theirs = $t->recorded($case);
    my $ours = $t->answer_of($t->request_of($case));
    my $title = $case . ($when // '');
    my (%kinds, %names, @unlisted);

    for my $found (frame_differences($ours, $theirs)) {
        my ($where, $mine, $other) = @$found;
        my $kind = kind_of($mine, $other);
        $kinds{$kind}++ if defined $kind;
        push @unlisted, $found
            if !defined $kind || grep { !is_listed_name(@$_) } names($mine, $other);
    }
    is_deeply(\%kinds, $listed->{kinds}{$case} // {},
              "$title: kinds of differences are those listed");

    my @wanted = @{ $listed->{values}{$case} // [] };
    for my $found (differences(map { rest_of($_) } $ours, $theirs)) {
        my ($where, $mine, $other) = map { $_ // 'absent' } @$found;
        my ($n) = grep {
            $wanted[$_]{where} eq $where && $wanted[$_]{ours} eq $mine
                && $wanted[$_]{theirs} eq $other
        } 0 .. $#wanted;
        defined $n ? splice(@wanted, $n, 1) : push @unlisted, $found;
    }
    is(@unlisted, 0, '... and everything else is as recorded')
        or diag(map { shown($_) } @unlisted[ 0 .. ($#unlisted < 9 ? $#unlisted : 9) ]);
    is(@wanted, 0, '... except for values that differ as listed')
        or diag(map { "$_->{where}\n" } @wanted);

    my $frames = 0;
    $frames += @{ $_->{frames} // [] }
        for @{ ref $ours->{body} ? $ours->{body}{stacktraces} // [] : [] };
    cmp_ok($frames, '>=', $LEAST{$case}, '... with its frames')
        if $LEAST{$case};
    return;
}

# Levels whose only difference is the demangled name: [symbol, theirs, ours].
sub names {
    my ($ours, $theirs) = @_;
    return map {
        my ($mine, $other) = ($ours->[$_], $theirs->[$_]);
        join(' ', map { $_->[0] } differences($mine, $other)) eq 'function'
            ? [ $mine->{symbol}, $other->{function}, $mine->{function} ] : ();
    } 0 .. ($#$ours < $#$theirs ? $#$ours : $#$theirs);
}

sub is_listed_name {
    my ($symbol, $theirs, $ours) = @_;
    my $row = $listed->{names}{$symbol} or return 0;
    return $row->{theirs} eq $theirs && $row->{ours} eq $ours;
}

sub shown {
    my ($found) = @_;
    my ($where, @both) = @$found;
    my ($mine, $other) = map { ref ? $JSON->encode($_) : $_ // 'absent' } @both;
    return "$where\n  here     $mine\n  recorded $other\n";
}
