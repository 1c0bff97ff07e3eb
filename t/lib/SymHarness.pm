package SymHarness;

# SymHarness - prove --harness SymHarness: the last lines count and name the
# skipped tests.  With SYM_NO_SKIP=1, a skip is a failure.

use strict;
use warnings;

use parent 'TAP::Harness';

sub runtests {
    my ($self, @tests) = @_;
    my %skipped;    # why => { file => checks; 0: the whole file }

    $self->callback(made_parser => sub {
        my ($parser, $job) = @_;
        my ($file) = $job->[0] =~ m{([^/]+)$};

        $parser->callback(plan => sub {
            $skipped{ $_[0]->explanation }{$file} = 0 if $_[0]->has_skip;
        });
        $parser->callback(test => sub {
            $skipped{ $_[0]->explanation }{$file}++ if $_[0]->has_skip;
        });
    });
    my $result = $self->SUPER::runtests(@tests);
    return $result if !%skipped;

    my ($files, $checks) = (0, 0);
    for my $why (sort keys %skipped) {
        my $of = $skipped{$why};
        $files += grep { !$_ } values %$of;
        $checks += $_ for values %$of;
        print "skipped, $why: ", join(', ', map { $of->{$_} ? "$_ ($of->{$_})" : $_ }
            sort keys %$of), "\n";
    }
    print "Skipped: $files files and $checks checks\n";
    if ($ENV{SYM_NO_SKIP}) {
        print "FAILED: no test may be skipped here (SYM_NO_SKIP)\n";
        exit 1;
    }
    return $result;
}

1;
