#!/usr/bin/perl

# symloader dump of a PDB, compared with the text that Breakpad's dump_syms made
# from it on Windows (fixtures): at every boundary of functions and lines both
# name the same function, file and line.  That text has no inlined calls; for a
# line in one it has the line of the call, which our dump has for the function
# around it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(need_fixtures);
use SymLoader qw(json_lines read_file);

my $oracle = "python3 '$FindBin::Bin/lib/sym_oracle.py'";
my $windows = need_fixtures('windows');

# Line number of code that a debugger must not step into; dump_syms takes it for
# a real line.
my $NEVER_STEP_INTO = 0xf00f00;

# Names without arguments, which that dump_syms has only for some functions, and
# without the decoration of C and C++.
sub bare {
    my ($name) = @_;
    $name =~ s/^(?:public|private|protected): //;
    $name =~ s/^static (?:\w+ )?//;
    1 while $name =~ s/\([^()]*\)(?: const)?//;
    return $name =~ s/^_+//r =~ s/ //gr;
}

my $t = SymLoader->new;

for my $case ([ 'crash.pdb', 'crash.sym', 2000 ],
              [ 'CrashWithException.pdb', 'CrashWithException.pdb.sym', 900 ])
{
    my ($pdb, $sym, $least) = @$case;
    my $r = $t->run({ no_store => 1 }, 'dump', "$windows/$pdb");
    is("$r->{code}$r->{err}", '0', "$pdb is dumped");
    like($r->{out}, qr/^INLINE /m, '... with its inlined calls');

    my @want = json_lines(scalar qx($oracle '$windows/$sym' --all-boundaries));
    my $dumped = $t->file('dumped.sym', $r->{out});
    my $addrs = $t->file('addresses', join '',
                         map { sprintf "%x\n", $_->{addr} } @want);
    my @have = json_lines(scalar qx($oracle '$dumped' - <'$addrs'));

    cmp_ok(scalar @want, '>', $least, '... this many addresses are compared');
    is(@have, @want, '... and answered');

    my ($folded, @differ) = (0);
    for my $i (0 .. $#want) {
        my ($ours, $theirs) = map { $_ // {} } $have[$i], $want[$i];
        my @names = map { bare($_->{function} // '') } $ours, $theirs;
        my @places = map { lc($_->{file} // '') . ':' . ($_->{line} // 0) }
            $ours, $theirs;

        # equal functions that the linker has folded: both names and files are
        # right
        if ($names[0] ne '' && $names[1] ne ''
            && $ours->{function_addr} == $theirs->{function_addr}
            && ($names[0] ne $names[1]
                || ($ours->{file} // '') ne ($theirs->{file} // '')))
        {
            $folded++;
        }
        elsif ($names[0] ne $names[1]
               || ($places[0] ne $places[1]
                   && ($theirs->{line} // 0) != $NEVER_STEP_INTO))
        {
            push @differ, sprintf "at %x: %s %s, but %s %s", $theirs->{addr},
                map { ($_->{function} // '', $places[ $_ == $theirs ]) }
                    $ours, $theirs;
        }
    }
    is(@differ, 0, '... alike') or diag(join "\n", grep { defined }
                                        @differ[ 0 .. 9 ]);
    cmp_ok($folded, '<', 0.02 * @want, '... except for a few folded functions');
}

done_testing();
