#!/usr/bin/perl

# Names in PDBs: functions have the arguments of their types, public symbols are
# demangled at the lookup.  If the types of its unit are in another PDB (a type
# server), a function is shown by its name alone, and the module counts as
# incomplete: indexes into other types would give wrong arguments.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use JSON::PP;
use SymFixtures qw(need_fixtures);
use SymLoader qw(json_lines read_file write_file);
use SymTest;
use Test::More;

my $dir = tempdir(CLEANUP => 1);
my $windows = need_fixtures('windows');
my $t = SymTest->new->conf(locations => <<'CONF');
        location /symbolicate { symbolicate; }
        location /raw/        { symbolicate; symbolicate_demangle off; }
CONF
my $sym = read_file("$windows/crash.sym");
my ($id) = $sym =~ /^MODULE windows x86 (\w+) crash\.pdb\r?$/m or die 'no MODULE';

# A public C++ symbol that no module describes is rare, so a C symbol,
# "_terminate", is renamed into one.
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
          '... mangled with symbolicate_demangle off');
is($t->stop->log_trouble, '', 'the log is clean');

# --- types in other PDBs ---

# Size of pages and the pages of the DBI stream (number 3); LLVM: docs/PDB/MsfFile.rst.
sub pages_of_dbi {
    my ($page, undef, undef, $bytes, undef, $map) = unpack 'V6', substr $pdb, 32, 24;
    my $pages_of = sub { int(($_[0] + $page - 1) / $page) };
    my $directory = join '', map { substr $pdb, $_ * $page, $page }
        unpack 'V' . $pages_of->($bytes), substr $pdb, $map * $page;
    my ($n, @rest) = unpack 'V*', $directory;
    my @sizes = map { $_ == 0xffffffff ? 0 : $_ } @rest[0 .. $n - 1];
    my $at = $n;
    $at += $pages_of->($sizes[$_]) for 0 .. 2;
    return ($page, @rest[$at .. $at + $pages_of->($sizes[3]) - 1]);
}

my %function = $sym =~ /^FUNC ([0-9a-f]+) \w+ \w+ (\S.*?)\r?$/mg;
my @functions = sort { $a <=> $b } map {hex} keys %function;
my ($page, @pages) = pages_of_dbi();

# Gives the PDB a map of type servers, and sets server $server for its units.
# Returns the output of loading it, and the names of all functions.
sub with_servers {
    my ($server) = @_;
    my ($loader, $changed) = (SymLoader->new, $pdb);
    my $dbi = join '', map { substr $pdb, $_ * $page, $page } @pages;
    my ($end, $servers, $edit) = (unpack 'V8', substr $dbi, 24, 32)[0, 4, 7];

    # four bytes of the part after it become the map
    die 'no room' if $servers != 0 || $edit <= 4;
    substr($dbi, 40, 4) = pack 'V', 4;
    substr($dbi, 52, 4) = pack 'V', $edit - 4;

    # LLVM: docs/PDB/DbiStream.rst, "Module Info Substream"; microsoft-pdb: iTSM
    for (my $at = 64; $at < 64 + $end; $at += -$at % 4) {
        substr($dbi, $at + 33, 1) = chr $server;
        $at += 64;
        $at += 1 + length $_ for unpack 'Z* Z*', substr $dbi, $at;
    }

    substr($changed, $pages[$_] * $page, $page) = substr $dbi, $_ * $page, $page
        for 0 .. $#pages;
    write_file("$dir/crash.pdb", $changed);
    my $r = $loader->run('load', "$dir/crash.pdb");
    return ("$r->{out}$r->{err}", map { $_->{function} } json_lines(
        $loader->run('lookup', '--json', "crash.pdb/$id",
                     map { sprintf '%x', $_ } @functions)->{out}));
}

my ($said, @own) = with_servers(0); # the PDB itself
unlike($said, qr/types/, 'a map of type servers that no unit uses');
cmp_ok(scalar(grep {/\(/} @own), '>', 50, '... functions have arguments');

($said, my @bare) = with_servers(1);
like($said, qr/types of its modules are in other PDBs/, 'used servers are named');
# a C name loses an underscore, like the linker's names
my @wrong = grep { $function{ sprintf '%x', $functions[$_] } !~ /^_?\Q$bare[$_]\E/ } 0 .. $#bare;
is(scalar @bare, scalar @functions, '... all functions');
is_deeply([ map { "$bare[$_] for $function{ sprintf '%x', $functions[$_] }" } @wrong ], [],
          '... are shown by their names alone');
is(scalar(grep {/\(/} @bare), 0, '... without arguments');

done_testing();
