package SymText;

# SymText - one spelling for .sym texts that mean the same.
#
#     my @records = sym_normal($text);
#
# The normal form of docs/use/dump.md, made from the text alone and without
# sharing code with the C program: files and inlined names by name instead of
# number; functions by address; of line records only the start (they reach to
# the next one), without those that repeat the one before; adjacent ranges of a
# call merged; no "m", no size of parameters, no STACK, no record of size 0, no
# PUBLIC inside a FUNC, and only the first of several at an address; no "." in
# paths; the INLINE records of 2021, whose calls are in their caller's file, in
# today's form.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(sym_normal);

sub _normal_lines {
    my ($f) = @_;
    my (@out, $before);

    for my $line (sort { $a->[0] <=> $b->[0] } @{ $f->{lines} }) {
        my $place = "$line->[3]:$line->[2]";
        push @out, sprintf '%x %s', $line->[0], $place
            if !defined $before || $place ne $before;
        $before = $place;
    }
    return @out;
}

sub _normal_inlines {
    my ($f) = @_;
    my %calls;

    for my $i (@{ $f->{inlines} }) {
        my ($what, @ranges) = @$i;
        push @{ $calls{$what} }, @ranges;
    }

    return map {
        my @ranges;
        for my $r (sort { $a->[0] <=> $b->[0] } @{ $calls{$_} }) {
            if (@ranges && $ranges[-1][1] == $r->[0]) {
                $ranges[-1][1] = $r->[1];
            } else {
                push @ranges, [@$r];
            }
        }
        join ' ', $_, map { sprintf '%x-%x', @$_ } @ranges;
    } sort keys %calls;
}

sub sym_normal {
    my ($text) = @_;
    my (@head, %file, %origin, %home, @functions, %public, @stack);

    for (split /\r?\n/, $text) {
        if (/^MODULE /) {
            push @head, $_;
        } elsif (/^INFO CODE_ID (\S+)(.*)/) {
            push @head, "CODE_ID \U$1\E$2";
        } elsif (/^FILE (\d+) (.*)/) {
            my ($number, $path) = ($1, $2);
            $file{$number} = $path =~ s{/(?:\./)+}{/}gr;
        } elsif (/^INLINE_ORIGIN (\d+) (\d+) (.*)/) {
            ($origin{$1}, $home{$1}) = ($3, $2);
        } elsif (/^INLINE_ORIGIN (\d+) (.*)/) {
            $origin{$1} = $2;
        } elsif (/^FUNC (?:m )?(\w+) (\w+) \w+ ?(.*)/) {
            push @functions, { addr => hex $1, size => hex $2, name => $3,
                               lines => [], inlines => [] };
        } elsif (/^PUBLIC (?:m )?(\w+) \w+ ?(.*)/) {
            $public{ hex $1 } //= $2;
        } elsif (/^INLINE (\d+) (\d+) (.*)/) {
            my ($depth, $line, @rest) = ($1, $2, split / +/, $3);
            # form of 2021: no call file, so the count is odd
            my $file = @rest % 2 == 0 ? shift @rest
                : $depth ? $home{ $stack[$depth - 1] } : 0;
            $stack[$depth] = my $origin = shift @rest;
            my @ranges;
            while (my ($addr, $size) = map { hex } splice @rest, 0, 2) {
                push @ranges, [ $addr, $addr + $size ];
            }
            push @{ $functions[-1]{inlines} },
                [ "$depth $origin{$origin} $file{$file}:$line", @ranges ];
        } elsif (/^([0-9a-f]+) ([0-9a-f]+) (-?\d+) (\d+)$/) {
            push @{ $functions[-1]{lines} },
                [ hex $1, hex $2, $3, $file{$4} // '' ]
                if hex $2;
        } elsif (/^STACK /) {
            last;
        }
    }

    my @cover = sort { $a->[0] <=> $b->[0] }
        map { [ $_->{addr}, $_->{addr} + $_->{size} ] } @functions;
    my ($end, $next) = (0, 0);
    my @public;
    for my $addr (sort { $a <=> $b } keys %public) {
        while ($next < @cover && $cover[$next][0] <= $addr) {
            $end = $cover[$next][1] if $cover[$next][1] > $end;
            $next++;
        }
        push @public, sprintf 'PUBLIC %x %s', $addr, $public{$addr}
            if $addr >= $end;
    }

    return @head, @public, map {
        (sprintf('FUNC %x %x %s', @$_{qw(addr size name)}),
         _normal_inlines($_), _normal_lines($_))
    } sort { $a->{addr} <=> $b->{addr} } @functions;
}

1;
