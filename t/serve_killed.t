#!/usr/bin/perl

# A daemon can be killed at any moment: modules that it reported as ready are
# there and complete, no other is there in part, and the next daemon starts at
# once. 200 ingests; 50 where everything is slow.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::HiRes ();

use SymLoader qw(sym_text json_lines);
use SymServe;
use SymTest;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $ingests = SymTest::is_slow() ? 50 : 200;
my $t = SymServe->new;
my %functions = (small => 30, large => 20000);
my %file = map {
    my $size = $_;
    $size => $t->file($size, sym_text('any', $ID, inlines => 1,
                                      functions => $functions{$size}))
} keys %functions;

srand($ENV{SYM_SEED} // 1);

my ($done, $round, $number) = (0, 0, 0);
my %ready;    # name => number of its functions

while ($done < $ingests) {
    $round++;
    $t->serve('--jobs', 2);

    my @c = map { $t->client } 1 .. 2;
    my %name;
    # 5 a round; the last two are in progress when it dies, after a random part
    # of the time that a large one takes.
    for my $i (1 .. 5) {
        my $c = $c[ $i % 2 ];
        my $size = $i == 2 || $i >= 4 ? 'large' : 'small';
        my $name = 'm' . ++$number . '.so';

        $done++;
        $c->ensure($i, "$name/$ID", 1)->{type} eq 'FETCH' or die 'no FETCH';
        $c->send(INGEST => ticket => $i, path => $file{$size});
        $name{$i} = [ $name, $functions{$size} ];
        next if $i >= 4;
        my $m = $c->recv;
        $m->{type} eq 'READY' or die "$m->{type}: $m->{text}";
        $ready{$name} = $functions{$size};
    }

    # Reports until its death count: the connection outlives the daemon.
    Time::HiRes::usleep(int(rand(60_000)));
    kill('KILL', $t->pid);
    for my $c (@c) {
        while ((my $m = $c->recv)->{type} ne 'END') {
            next if $m->{type} ne 'READY';
            my ($name, $n) = @{ $name{ $m->{ticket} } };
            $ready{$name} = $n;
        }
        $c->close;
    }
    is($t->wait_end->{signal}, 9, "killed, round $round");
    ok(-S $t->socket_path, '... its socket file is left');
    is($t->verify, 'sound', '... the store is sound');

    my %there = map { $_->{name} => $_ }
        json_lines($t->run('ls', '--json')->{out});
    is_deeply([ grep { !$there{$_} } sort keys %ready ], [],
              '... modules reported as ready are there');
}

# All stored modules are complete, also those that were finished but not
# reported.
my @wrong;
for my $name (map { (split m{/})[0] } $t->modules) {
    my ($m) = json_lines($t->run('show', '--json', "$name/$ID")->{out});
    push @wrong, $name
        if $m->{state} ne 'ready'
        || !grep { $m->{functions} == $_ } $ready{$name} // values %functions;
}
is_deeply(\@wrong, [], 'every module is complete');

$t->serve;
my $c = $t->client;
my ($any) = sort keys %ready;
$c->send(ENSURE => ticket => 1, key => "$any/$ID");
is($c->recv->{type}, 'READY', 'the next daemon knows them');
is($t->stop->{code}, 0, '... and ends cleanly');
is($t->verify, 'sound', 'the store is sound');
is(scalar(grep { !/^(?:loader\.sock|data\.mdb|lock\.mdb|clock|writer\.lock)$/ }
              map { s{.*/}{}r } glob($t->store . '/*')),
   0, 'nothing else is in the store');

done_testing();
