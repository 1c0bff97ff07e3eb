#!/usr/bin/perl

# Names in PDBs: functions have the arguments that their types tell, public symbols
# are demangled at the lookup.  Where the types are in other PDBs (type servers) a
# function is shown by its name alone, and the module counts as incomplete: indexes
# into other types would give wrong arguments.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use JSON::PP;
use SymLoader qw(fixtures json_lines read_file write_file);
use SymTest;
use Test::More;

my $dir = tempdir(CLEANUP => 1);
my $windows = fixtures() . '/windows';
my $t = SymTest->new->conf(locations => <<'CONF');
        location /symbolicate { symbolicate; }
        location /raw/        { symbolicate; symbolicate_demangle off; }
CONF
my $sym = read_file("$windows/crash.sym");
my ($id) = $sym =~ /^MODULE windows x86 (\w+) crash\.pdb\r?$/m or die 'no MODULE';

# A public symbol of C++ that no module describes is rare: one of C, "_terminate",
# becomes one.
my $pdb = read_file("$windows/crash.pdb");
my $changed = $pdb =~ s/_terminate\0/?f\@\@YAXXZ\0\0/gr;
write_file("$dir/crash.pdb", $changed);
$t->load("$dir/crash.pdb");
$t->start;

# [address, function] by a worker
sub answered {
    my ($path, @at) = @_;
    my $r = $t->post_json($path, { stacks => [[map { [0, $_] } @at]],
        memoryMap => [[ 'crash.pdb', $id ]] });
    return map { $_->{function} } @{$r->{json}{results}[0]{stacks}[0]};
}

sub looked_up {
    my ($what, @at) = @_;
    return map { $_->{function} }
        json_lines($t->symloader('lookup', '--json', $what, map { sprintf '%x', $_ } @at));
}

# --- public symbols: dump_syms writes them without arguments ---

my %public = $sym =~ /^PUBLIC (?:m )?([0-9a-f]+) \w+ (\S+)\r?$/mg;
my @at = sort { $a <=> $b } map {hex} keys %public;
my @want = map { $public{ sprintf '%x', $_ } } @at;
my @names = answered('/symbolicate/v5', @at);

cmp_ok(scalar @at, '>', 20, 'public symbols');
is_deeply([ map { s/^f\(void\)$/terminate/r } @names ], \@want, 'by their names');
is_deeply([ looked_up("crash.pdb/$id", @at) ], \@names, '... by symloader, too');

my ($terminate) = grep { $public{ sprintf '%x', $_ } eq 'terminate' } @at;
is_deeply([ answered('/symbolicate/v5', $terminate) ], ['f(void)'], 'of C++');
is_deeply([ answered('/raw/symbolicate/v5', $terminate) ], ['?f@@YAXXZ'],
          '... as the linker has it with symbolicate_demangle off');
is($t->stop->log_trouble, '', 'the log is clean');

# --- types in other PDBs ---

# Where the DBI stream (number 3) lies; LLVM: docs/PDB/MsfFile.rst.
sub place_of_dbi {
    my ($pdb) = @_;
    my ($page, undef, undef, $bytes, undef, $map) = unpack 'V6', substr $pdb, 32, 24;
    my $pages_of = sub { int(($_[0] + $page - 1) / $page) };
    my $directory = join '', map { substr $pdb, $_ * $page, $page }
        unpack 'V' . $pages_of->($bytes), substr $pdb, $map * $page;
    my ($n, @rest) = unpack 'V*', $directory;
    my @sizes = map { $_ == 0xffffffff ? 0 : $_ } @rest[0 .. $n - 1];
    my $at = $n;
    $at += $pages_of->($sizes[$_]) for 0 .. 2;
    return $rest[$at] * $page;
}

{
    my $loader = SymLoader->new;
    my $dbi = place_of_dbi($pdb);
    my ($servers, undef, undef, $edit) = unpack 'V4', substr $pdb, $dbi + 40, 16;

    # four bytes of the part behind it become the map of type servers
    is($servers, 0, 'a PDB with its own types');
    cmp_ok($edit, '>', 4, '... and something behind them');
    substr($pdb, $dbi + 40, 4) = pack 'V', 4;
    substr($pdb, $dbi + 52, 4) = pack 'V', $edit - 4;
    write_file("$dir/crash.pdb", $pdb);
    my $r = $loader->run('load', "$dir/crash.pdb");
    like("$r->{out}$r->{err}", qr/types are in other PDBs/, 'one without says so');

    my %function = $sym =~ /^FUNC ([0-9a-f]+) \w+ \w+ (\S.*?)\r?$/mg;
    my @at = sort { $a <=> $b } map {hex} keys %function;
    my @names = map { $_->{function} } json_lines(
        $loader->run('lookup', '--json', "crash.pdb/$id", map { sprintf '%x', $_ } @at)->{out});
    # a name of C loses an underscore, as those of the linker do
    my @wrong = grep { $function{ sprintf '%x', $at[$_] } !~ /^_?\Q$names[$_]\E/ } 0 .. $#at;
    cmp_ok(scalar @at, '>', 50, 'functions');
    is_deeply([ map { "$names[$_] for $function{ sprintf '%x', $at[$_] }" } @wrong ], [],
              '... are shown by their names alone');
    is(scalar(grep {/\(/} @names), 0, '... all of them');
}

done_testing();
