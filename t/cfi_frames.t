#!/usr/bin/perl

# Unwind rules of executables: at the start of every row that readelf makes of
# .eh_frame, the dump has the same CFA, return address and saved registers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(output);
use SymLoader;
use SymRules qw(rules_of rule_at);
use Test::More;

my $t = SymLoader->new;

# "rsp+8" or "c-16" of readelf as our rule; undef: not compared.
sub ours {
    my ($text) = @_;
    return $2 ? "\$$1 $2 +" : "\$$1" if $text =~ /^(r\w+)\+(\d+)$/;
    return $1 == 0 ? '.cfa ^' : ".cfa @{[$1 + 0]} + ^" if $text =~ /^c([-+]\d+)$/;
    return ".cfa $1 +" if $text =~ /^v([-+]\d+)$/;
    return "\$$text" if $text =~ /^r\w+$/;
    return;
}

sub image_base {
    my ($file) = @_;
    my ($first) = output('readelf', '-lW', $file) =~ /^\s*LOAD\s+\w+\s+0x(\w+)/m;
    return hex($first) & ~0xfff;
}

sub compare {
    my ($file) = @_;
    my ($rows, $base) = (rules_of($t, $file), image_base($file));
    my ($n, $different, @names, $end) = (0, 0);

    open my $in, '-|', "readelf --debug-dump=frames-interp '$file' 2>/dev/null"
        or die "readelf: $!\n";
    while (my $line = <$in>) {
        if ($line =~ /^\w+ \w+ \w+ (CIE|FDE)/) {
            $end = $line =~ /pc=\w+\.\.(\w+)/ ? hex $1 : 0;
            next;
        }
        if ($line =~ /^\s+LOC\s+CFA\s+(.*?)\s*$/) {
            @names = split ' ', $1;
            next;
        }
        my ($at, $cfa, $rest) = $line =~ /^(\w{16}) (\S+)\s+(.*)/ or next;
        # a CIE has no addresses; a row may begin at the end of its function
        next if !$end || hex $at >= $end;

        my $rule = rule_at($rows, hex($at) - $base) // {};
        my @want = split ' ', $rest =~ s/\w+ \((\w+)\)/$1/gr;    # "r1 (rdx)"
        my $wrong = defined ours($cfa)
            ? ($rule->{'.cfa'} // '') ne ours($cfa)
            : !defined $rule->{'.cfa'};
        for my $i (0 .. $#want) {
            my $name = $names[$i] eq 'ra' ? '.ra' : "\$$names[$i]";
            next if $want[$i] =~ /exp$/ && defined $rule->{$name};
            my $expected = $want[$i] eq 'u' && $name eq '.ra' ? '.undef'
                : ours($want[$i]);
            $wrong ||= ($rule->{$name} // 'none') ne ($expected // 'none');
        }
        $n++;
        next if !$wrong;
        diag("$file: $line", explain $rule) if $different++ < 3;
    }
    close $in;

    is($different, 0, "... and all $n rows are readelf's");
    cmp_ok($n, '>', 1000, '... which are many');
    return;
}

my ($libc) = glob '/lib/*-linux-gnu/libc.so.6';
my ($crypto) = glob '/usr/lib/*-linux-gnu/libcrypto.so.3';
compare($_) for '/usr/sbin/nginx', '/usr/bin/perl', '/bin/bash', $libc, $crypto;

done_testing();
