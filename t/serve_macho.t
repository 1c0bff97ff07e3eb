#!/usr/bin/perl

# The daemon reads a file of several modules: for a requested module, the slice
# with its id is stored, at any position; a deposited file is stored completely,
# and reported module by module.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(json_lines);
use SymServe;

my $bundle = 'Example.framework.dSYM';
my $fat = need_fixtures("macho/$bundle/Contents/Resources/DWARF/Example");
my $dsym = need_fixtures('macho/crash.dSYM/Contents/Resources/DWARF/crash');
my @ids = map { tr/-//dr . '0' } qx(llvm-dwarfdump --uuid $fat) =~ /^UUID: (\S+)/mg;
my $t = SymServe->new->serve('--jobs', 1);
my $c = $t->client;
my $ticket = 0;

sub ingest {
    my ($key, $path) = @_;
    $c->ensure(++$ticket, $key, 1);
    $c->send(INGEST => ticket => $ticket, path => $path);
    return $c->recv;
}

sub packed {
    my ($name) = @_;
    my $path = $t->file("$name.tar.gz", '');

    system('tar', '-zcf', $path, '-C', fixtures('macho'), $name) == 0
        or die;
    return $path;
}

is(scalar(@ids), 2, 'two slices');

# --- requested modules ---

is(ingest("Second/$ids[1]", $fat)->{type}, 'READY', 'the second slice');
is_deeply([ $t->modules ], ["Second/$ids[1]"],
          '... alone, under the requested name');
is(ingest("First/$ids[0]", packed($bundle))->{type}, 'READY',
   'the first one, from a bundle in a tar.gz at a source');

my $none = '0' x 31 . '10';
my $m = ingest("None/$none", $fat);
is($m->{type}, 'NEGATIVE', 'no slice has the id');
is($m->{text}, "malformed: wrong module: its ids are $ids[0], $ids[1]; "
     . "requested was $none", '... the reason lists the existing ones');
is_deeply([ sort map {"$_->{name}/$_->{id}"}
            grep { $_->{state} eq 'ready' }
                json_lines($t->run('ls', '--json')->{out}) ],
          [ sort "First/$ids[0]", "Second/$ids[1]" ],
          '... nothing of it is stored');
$m = ingest("Thin/$none", $dsym);
like($m->{text}, qr/wrong module: its id is 67E9247C\w+, requested was $none/,
     'a thin file with another id');

# --- brought ---

my $r = $t->run('load', $fat, $dsym);
is($r->{code}, 0, 'load of a fat file');
like($r->{out}, qr/^\S+: Example\/$_: empty, /m, '... a slice') for @ids;
like($r->{out}, qr/^2 files, 3 modules stored, .*, 0 failed$/m,
     '... all are counted');

my $stats = $t->stats;
is($stats->{conversions_macho_ready}, 5, 'counted as what they are');
is($stats->{conversions_macho_malformed}, 2, '... the bad ones, too');
is($stats->{conversions_breakpad_malformed}, 0, '... and as nothing else');
is(ingest('text/' . '0' x 32 . '0', $0)->{type}, 'NEGATIVE', 'a text');
is($t->stats->{conversions_unknown_malformed}, 1, '... is not one of ours');

done_testing();
