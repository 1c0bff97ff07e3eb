# A store of version 2, in which every record was a symcache.  During an upgrade
# workers and loader are of different versions, in either order: a new worker
# answers out of the old store; the new loader upgrades it and says so in one
# line, and then the new worker goes on, and a reader of version 2 does, too, with what was stored and with what is fetched from then
# on.  Nothing is fetched again.

use strict;
use warnings;

use FindBin;
use IPC::Open2 qw(open2);
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text write_file);
use Test::More;

my $t = SymFetch->new->start;
my @fetched = ('fetched.so', SymFetch::id(1));
my @loaded = ('loaded.so', SymFetch::id(2));
my @absent = ('absent.so', SymFetch::id(3));

sub states {
    return join ' ', map {"$_->{name}:$_->{kind}:$_->{state}"}
        SymLoader::json_lines($t->loader->run('ls', '--json')->{out});
}

$t->fault->script('src', ('ok') x 10);
$t->upload(@fetched);
is($t->found($t->ask(\@fetched), @fetched), 1, 'fetched');
is($t->found($t->ask(\@absent), @absent), 0, 'absent');
my $file = write_file($t->dir . '/loaded.sym', sym_text(@loaded));
is($t->loader->run('load', $file)->{code}, 0, 'loaded');
my $all = states();
is($all, 'loaded.so:symcache:ready absent.so:symcache:absent '
       . 'fetched.so:symcache:ready', 'all are symcaches');

# --- new workers, while the loader is still to be restarted ---

is($t->loader_stop->{code}, 0, 'the daemon ends');
my $old = SymTest::build_dir() . "/t/store_old";
is(system($old, $t->store), 0, 'a store of version 2');
my %before = map { $_ => 1 } $t->workers;
$t->reload;
$t->wait_for(sub { !grep { $before{$_} } $t->workers }, 'the old workers are gone');
is($t->found($t->ask(\@fetched), @fetched), 1, 'a new worker answers out of it');
is($t->found($t->ask(\@loaded), @loaded), 1, '... what was loaded, too');
is(states(), $all, 'ls reads it');

# --- a worker of version 2 that has the store open ---

my ($answers, $in);

sub old_reader {
    my $started = open2($answers, $in, 'timeout', 120, $old, $t->store, 'read');
    is(scalar readline $answers, "open\n", 'a reader of version 2 opens it');
    return $started;
}

sub old_finds {
    my ($scope, $name, $id) = @_;

    print {$in} "$scope/$name/$id\n";
    return readline($answers) =~ s/\n//r;
}

my $pid = old_reader();
is(old_finds('fault', @fetched), 'ready', '... and finds what was fetched');
is(old_finds('', @loaded), 'ready', '... and loaded');

# --- the new loader ---

my $n = $t->fault->count;
$t->loader_start;
like($t->loader_log, qr/upgraded from an older version/, 'the daemon upgrades it');
is(states(), $all, 'nothing is lost');
is($t->found($t->ask(\@fetched), @fetched), 1, 'the same worker goes on');
is($t->found($t->ask(\@loaded), @loaded), 1, '... with what was loaded');
is($t->found($t->ask(\@absent), @absent), 0, '... and what is absent');
is($t->fault->count, $n, 'nothing is fetched again');
is($t->loader->verify, 'sound', 'the store is sound');

is(old_finds('fault', @fetched), 'ready', 'the old reader goes on');
is(old_finds('', @loaded), 'ready', '... with what was loaded');
is(old_finds('fault', @absent), 'negative', '... and what is absent');
my @later = ('later.so', SymFetch::id(4));
is(old_finds('fault', @later), 'not there', 'a module that is not stored');
$t->upload(@later);
$t->wait_for(sub { ($t->found($t->ask(\@later), @later) // 0) == 1 },
    '... is fetched by the new loader');
is(old_finds('fault', @later), 'ready', '... and the old reader finds it');
close $in or die "close: $!";
waitpid $pid, 0;
is($?, 0, 'the old reader ends');

$pid = old_reader();
is(old_finds('fault', @later), 'ready', 'one that opens the store now reads it, too');
close $in or die "close: $!";
waitpid $pid, 0;
is($?, 0, 'it ends');

is($t->loader_stop->{code}, 0, 'the daemon ends');
$t->loader_start;
unlike($t->loader_log, qr/upgraded/, 'the next start has nothing to say');

$t->allow(qr/symbol loader|loader/);
is($t->end, '', 'nothing is wrong');

done_testing();
