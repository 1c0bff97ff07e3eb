package SymSentry;

# A real Symbolicator's answers, recorded in the fixtures.

use strict;
use warnings;
no warnings 'portable';

use Exporter 'import';
use JSON::PP qw(decode_json);
use SymFixtures qw(fixtures);
use SymLoader qw(json_lines read_file);
use Test::More;

our @EXPORT_OK = qw(recorded answers_as_recorded);

# The frames of a case, innermost call first: for each address [function, path,
# line], and none if Sentry had no answer.  $mode is the module's "rel:N", or
# undef for a case of absolute addresses; $base is subtracted from them.
sub recorded {
    my ($case, $mode, $base) = @_;
    my $text = read_file(fixtures("sentry/cases/$case.response.json"));
    my %known;
    for my $stack (@{ decode_json($text)->{stacktraces} }) {
        my %calls;
        for my $f (@{ $stack->{frames} }) {
            next if ($f->{addr_mode} // '') ne ($mode // '');
            my $calls = $calls{ $f->{original_index} } //=
                { addr => hex($f->{instruction_addr}) - $base, frames => [] };
            push @{ $calls->{frames} },
                [ $f->{function}, $f->{abs_path} // '', $f->{lineno} ]
                if $f->{status} eq 'symbolicated';
        }
        $known{ $_->{addr} } = $_->{frames} for values %calls;
    }
    return %known;
}

# Looks up all addresses of a case in the store.  Returns how many had a name.
sub answers_as_recorded {
    my ($t, $module, %known) = @_;
    my @addr = sort { $a <=> $b } keys %known;
    my @lines = json_lines($t->run('lookup', $module, '--json',
                                   map { sprintf '%x', $_ } @addr)->{out});
    my @bad;
    for my $i (0 .. $#addr) {
        my $frame = $lines[$i];
        my @got = map { [ $_->{function}, $_->{file} // '', $_->{line} // 0 ] }
            @{ $frame->{inlines} // [] },
            defined $frame->{function} ? $frame : ();
        my ($ours, $theirs) = map { join ' < ', map { "@$_" } @$_ }
            \@got, $known{ $addr[$i] };
        push @bad, sprintf "%x: %s, not %s\n", $addr[$i], $ours, $theirs
            if $ours ne $theirs;
    }
    is(scalar(@lines), scalar(@addr), "$module: all addresses are answered");
    is(scalar(@bad), 0, '... as Sentry does')
        or diag(@bad[0 .. ($#bad < 9 ? $#bad : 9)]);
    return scalar(grep { @$_ } values %known);
}

1;
