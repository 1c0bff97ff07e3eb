#!/usr/bin/perl

# A request may learn about each module only from its answer about the previous
# one, as a stack walk does.  Each module that arrives starts another round, in
# another snapshot; but results of earlier rounds are kept, and no module is
# looked up twice.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymExample qw(build_examples);
use SymFetch;

my $HOPS = 20;

my $build = build_examples();
my $t = SymFetch->new(workers => 1, how => '', sources => <<'CONF');
        location /x/ {
            symbolicate trail;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source plain uri=/plain/;
        }
        location /plain/ { internal; proxy_pass http://%%FAULT%%/as/plain/; }
CONF
$t->loader_start;
{
    local $ENV{SYM_BUILD} = $build;
    $t->SymTest::start;
}

# The function of a module has the name of the next one.  $there: how many of
# them the source has.
sub chain {
    my ($letter, $number, $there) = @_;
    my @names = map {"$letter$_"} 1 .. $HOPS;
    my @ids = map { SymFetch::id($number + $_) } 1 .. $HOPS;
    for my $i (0 .. $there - 1) {
        my $next = $i + 1 < $HOPS ? "$names[$i + 1] $ids[$i + 1]" : 'main';
        $t->fault->file("$names[$i]/$ids[$i]/$names[$i].sym",
            "MODULE Linux x86_64 $ids[$i] $names[$i]\nFUNC 1000 10 0 $next\n");
    }
    return { names => \@names, ids => \@ids };
}

sub ask {
    my ($chain) = @_;
    my $r = $t->request('POST', '/x/trail', body => "$chain->{names}[0] $chain->{ids}[0] 1004",
        headers => ['Content-Type' => 'text/plain']);
    is($r->{status}, 200, 'answered');
    return $r->{json};
}

sub gets {
    my ($chain) = @_;
    return map {
        my ($name, $id) = ($chain->{names}[$_], $chain->{ids}[$_]);
        $t->fault->count("/as/plain/$name/$id/$name.sym");
    } 0 .. $HOPS - 1;
}

my $all = chain('a', 100, $HOPS);
my $said = ask($all);
is_deeply($said->{modules}, $all->{names}, 'each module leads to the next');
is($said->{lookups}, $HOPS, 'each is looked up once');
is($said->{rounds}, $HOPS, '... though each begins another snapshot');
ok($said->{is_whole}, 'the state of the request survives all rounds');
is_deeply([gets($all)], [(1) x $HOPS], 'one GET each');

$said = ask($all);
is_deeply([@$said{qw(modules lookups rounds)}], [$all->{names}, $HOPS, 1],
    'what is in the store needs no further snapshot');

my $some = chain('b', 200, 7);
$said = ask($some);
is_deeply([@$said{qw(modules lookups)}], [[@{ $some->{names} }[0 .. 6]], 7],
    'the walk ends before a module that no source has');
ok($said->{is_whole}, '... with all state');
is_deeply([gets($some)], [(1) x 8, (0) x 12],
    '... and nothing after it is requested');

is($t->end, '', 'nothing is wrong');
done_testing();
