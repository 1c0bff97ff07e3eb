#!/usr/bin/perl

# PDBs are loaded as Microsoft's linker writes them.  Functions and lines are
# those of dump_syms (the .sym files next to them), and addresses are answered
# as Sentry's server answered them (the recorded case).

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP;
use Test::More;

use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(json_lines read_file);

my $t = SymLoader->new;
my $windows = need_fixtures('windows');
my $cases = fixtures('sentry/cases');

# Readers differ in spaces, in "const" of an argument itself, and whether C
# functions have arguments.
sub is_same_name {
    my ($theirs, $ours) = map { s/\bconst\b|\s+//gr } @_;
    $ours =~ s/\(.*// if $theirs !~ /\(/;
    return $theirs eq $ours;
}

# Contents of a .sym file: functions by address, lines by address.  For
# functions that the linker folded ("m") each reader chooses another; line
# 0xf00f00 marks code where a debugger never stops.
sub read_sym {
    my ($text) = @_;
    my (%file, %function, %line, $is_folded);
    for (split /\r?\n/, $text) {
        if (/^FILE (\d+) (.*)/) {
            $file{$1} = $2;
        } elsif (/^FUNC (m )?([0-9a-f]+) ([0-9a-f]+) \w+ (.*)/) {
            $is_folded = $1;
            $function{ hex $2 } = [ hex $3, $4, $is_folded ];
        } elsif (/^([0-9a-f]+) ([0-9a-f]+) (\d+) (\d+)$/ && !$is_folded && $3 != 0xf00f00) {
            $line{ hex $1 } = [ $file{$4}, $3 ];
        }
    }
    return (\%function, \%line);
}

# Frames by address, innermost first.
sub frames {
    my ($module, @addresses) = @_;
    my $r = $t->run({ stdin => join '', map { sprintf "0x%x\n", $_ } @addresses },
                    'lookup', '--json', $module, '-');
    is($r->{err}, '', "lookup in $module");
    return map { [ @{ $_->{inlines} // [] }, $_ ] } json_lines($r->{out});
}

my %modules = (
    'crash.pdb' => [ 'crash.sym', 'x86' ],
    'CrashWithException.pdb' => [ 'CrashWithException.pdb.sym', 'x86_64' ],
);

for my $pdb (sort keys %modules) {
    my ($sym, $arch) = @{ $modules{$pdb} };
    my $text = read_file("$windows/$sym");
    my ($id) = $text =~ /^MODULE windows $arch (\w+) \Q$pdb\E\r?$/m
        or die "no MODULE record in $sym";

    my $r = $t->run('load', "$windows/$pdb");
    is($r->{code}, 0, "$pdb: loaded");
    like($r->{out}, qr{^\S+: \Q$pdb/$id\E: lines and inlines}m,
         '... by the id that dump_syms found');
    like($t->run('show', "$pdb/$id")->{out}, qr/^arch +\Q$arch\E$/m,
         '... and the processor');

    my ($functions, $lines) = read_sym($text);
    my ($ours) = read_sym($t->run('dump', "$pdb/$id")->{out});
    my @missing = grep { !$ours->{$_} || $ours->{$_}[0] != $functions->{$_}[0] }
        keys %$functions;
    cmp_ok(scalar keys %$functions, '>', 50, 'functions to compare');
    is_deeply([ map { sprintf '%x %s', $_, $functions->{$_}[1] } @missing ], [],
              '... all begin and end as in dump_syms');

    my @at = sort { $a <=> $b } keys %$lines;
    my @frames = frames("$pdb/$id", @at);
    my @wrong = grep {
        my $f = $frames[$_][-1];
        ($f->{file} // '') ne $lines->{ $at[$_] }[0]
            || ($f->{line} // 0) != $lines->{ $at[$_] }[1];
    } 0 .. $#at;
    cmp_ok(scalar @at, '>', 200, 'lines to compare');
    is_deeply([ map { sprintf '%x', $at[$_] } @wrong ], [],
              '... every one is as in dump_syms');
}

# --- the source server ---

{
    my $r = $t->run('load', '--force', "$windows/crash_with_srcsrv.pdb");
    is($r->{code}, 0, 'a PDB with a source server');
    my ($module) = $r->{out} =~ /^\S+: (\S+):/m;
    like($t->run('show', $module)->{out}, qr/^source_server +Perforce$/m,
         '... which show names');
    $t->run('load', '--force', "$windows/crash.pdb");
    like($t->run('show', $module =~ s/_with_srcsrv//r)->{out},
         qr/^source_server +-$/m, '... and one without');
}

# --- the recorded case ---

{
    my $answer = decode_json(read_file("$cases/pdb-x86.response.json"));
    my ($module) = @{ $answer->{modules} };
    my $base = hex $module->{image_addr};
    my $id = uc($module->{debug_id} =~ tr/-//dr);
    my @recorded = map { @{ $_->{frames} } } @{ $answer->{stacktraces} };
    # found frames have the address that was looked up; others have that of the
    # request, which is one higher unless they are the first
    my @frames = frames("crash.pdb/$id", map {
        hex($_->{instruction_addr}) - $base
            - ($_->{status} ne 'symbolicated' && $_->{original_index} != 0)
    } @recorded);
    my ($functions) = read_sym(read_file("$windows/crash.sym"));
    my (@wrong, $known);
    for my $i (0 .. $#recorded) {
        my ($theirs, $ours) = ($recorded[$i], $frames[$i][-1]);
        my $is_known = $theirs->{status} eq 'symbolicated';
        my $f = $is_known && $functions->{ hex($theirs->{sym_addr}) - $base };
        next if $f && $f->[2];
        $known += $is_known;
        next if !$is_known && !defined $ours->{function};
        next if $is_known
            && is_same_name($theirs->{function}, $ours->{function} // '')
            && ($theirs->{abs_path} // '') eq ($ours->{file} // '')
            && $theirs->{lineno} == ($ours->{line} // 0);
        push @wrong, $theirs->{instruction_addr};
    }
    cmp_ok($known, '>', 100, 'recorded frames');
    is_deeply(\@wrong, [], '... have the recorded function, file and line');
}

done_testing();
