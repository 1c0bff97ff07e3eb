# Workers and the daemon may be killed at any time: each client gets its answer
# or a 503 and never waits for ever, and an unfinished module is stored
# completely or not at all.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader;
use Test::More;

my $t = SymFetch->new(workers => 2)->start;
my $fault = $t->fault;
my $n = 0;

sub module {
    my (%o) = @_;
    my @module = ('m' . ++$n . '.so', SymFetch::id($n));
    $t->upload(@module, %o);
    return @module;
}

# Inodes of TCP connections to a port, from this end's table (proc(5)).
sub connections {
    my ($side, $port) = @_;
    my $hex = sprintf '%04X', $port;
    my @inodes;
    for my $line (split /\n/, SymTest::slurp('/proc/net/tcp')) {
        my @f = split ' ', $line;
        next if ($f[3] // '') ne '01';
        push @inodes, $f[9] if $f[$side eq 'local' ? 1 : 2] =~ /:$hex\z/;
    }
    return map { $_ => 1 } @inodes;
}

# How many of these a process has.
sub holds {
    my ($pid, %inodes) = @_;
    return scalar grep { (readlink($_) // '') =~ /^socket:\[(\d+)\]/
        && $inodes{$1} } glob "/proc/$pid/fd/*";
}

# Requests for a module that wait in both workers; returns the worker that
# fetches.
sub crowd {
    my (@module) = @_;
    my @sockets;
    my $both = $t->wait_for(sub {
        push @sockets, $t->begin([@module]);
        my %clients = connections('local', $t->port);
        2 == grep { holds($_, %clients) } $t->workers;
    }, 'both workers have clients');
    $fault->wait('/as/src/' . SymFetch::path(@module), count => 1);
    my %up = connections('remote', $fault->port);
    my ($elected) = grep { holds($_, %up) } $t->workers;
    return ($elected, @sockets);
}

# --- the worker that fetches ---

$fault->script('src', 'gate/g/ok');
my @module = module();
my ($elected, @sockets) = crowd(@module);
ok($elected, 'one worker fetches');
kill 'KILL', $elected;
$fault->wait('/as/src/' . SymFetch::path(@module), count => 2);
pass('it is killed: another one fetches');
$fault->open_gate('g');
my %seen;
$seen{$_->{status} // 'none'}++ for map { $t->response($_) } @sockets;
ok($seen{200}, 'clients of the other are answered');
is(join(' ', grep { !/^(?:200|none)$/ } keys %seen), '', '... none by an error');
$t->wait_for(sub { $t->workers == 2 }, 'there is a new worker');
is($t->found($t->ask([@module]), @module), 1,
    'and all of them have the module');

# --- the daemon, while requests wait ---

$fault->close_gate('g');
@module = module();
($elected, @sockets) = crowd(@module);
$t->loader_stop('KILL');
my @r = map { $t->response($_) } @sockets;
is(scalar(grep { ($_->{status} // 0) == 503 } @r), @sockets,
    'the daemon is killed: 503 for all waiting clients');
like($t->reasons($r[0])->{join '/', @module}, qr/loader is not running/,
    '... with the reason');
like($r[0]{headers}{'retry-after'}, qr/^\d+$/, '... and Retry-After');
$fault->open_gate('g');

my $r = $t->ask([@module]);
is($r->{status}, 503, 'still away: 503');
is($t->found($t->ask(['m1.so', SymFetch::id(1)]), 'm1.so', SymFetch::id(1)), 1,
    '... stored modules are answered');
$t->loader_start;
sub heals {
    my ($what, @wanted) = @_;
    my $answer;
    $t->wait_for(sub {
        $answer = $t->ask([@wanted]);
        $answer->{status} == 200;
    }, $what);
    is($t->found($answer, @wanted), 1, $what);
    return;
}
heals('back: found without a reload', @module);

# --- the daemon, while it converts ---

@module = module(functions => 300_000, lines => 1);
$t->loader->stats;    # clients are connected by then
my $socket = $t->begin([@module]);
ok($t->loader->wait_stat(conversions_running => 1), 'it is being converted');
$t->loader_stop('KILL');
$r = $t->response($socket);
ok(($r->{status} // 0) == 503 || $t->found($r, @module),
    'killed while it converts: 503, or the answer');
$t->loader_start;
is($t->loader->verify, 'sound', 'the store is sound');
heals('back: converted', @module);

# --- its socket ---

@module = module();
heals('a worker is connected to the new daemon', @module);
unlink $t->loader->socket_path;
@module = module();
heals('the socket is removed: connected workers stay connected', @module);
my %old = map { $_ => 1 } $t->workers;
$t->reload;
$t->wait_for(sub { !grep { $old{$_} } $t->workers }, 'old workers are gone');
@module = module();
is($t->ask([@module])->{status}, 503, 'new workers cannot connect: 503');
is($t->loader_stop->{code}, 0, 'the daemon exits without error');
$t->loader_start;
heals('a new daemon: found without a reload', @module);

# --- workers, while they read ---

my $pid = fork;
if (!$pid) {
    $t->ask([@module]) while 1;
}
my $answers = () = $t->access_log =~ /\n/g;
for (1 .. 5) {
    $t->wait_for(sub { (() = $t->access_log =~ /\n/g) > $answers + 20 },
        'requests are answered');
    kill 'KILL', $t->workers;
    $t->wait_for(sub { $t->workers == 2 }, 'new workers');
    $answers = () = $t->access_log =~ /\n/g;
}
kill 'KILL', $pid;
waitpid $pid, 0;
is($t->found($t->ask([@module]), @module), 1, 'killed while reading: answered');
is($t->loader->verify, 'sound', 'the store is sound');

$t->allow(qr/worker process \d+ exited on signal 9/);
is($t->end, '', 'nothing is wrong');

done_testing();
