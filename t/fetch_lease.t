# The space that a download may use in its temporary file grows while it goes
# on.  A body that arrives faster than the loader answers waits for it, and is
# not downloaded twice.  One of unannounced length may use all room that there
# is: its lease is doubled, and the last step is the rest.  Only a body that
# outgrows the room is too large.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(module_line);
use Test::More;

my $t = SymFetch->new(serve => ['--jobs', 1, '--quota', '16m'])->start;
my $room = $t->loader->stats->{temp_room_bytes};
my $n = 0;

# A module whose file has about the given size, nearly all of it records that
# are valid in a symbol file and not needed here.
sub module {
    my ($bytes) = @_;
    my @module = ('m' . ++$n . '.so', SymFetch::id($n));
    my $line = 'STACK CFI 1004 .cfa: $rsp 16 + .ra: .cfa -8 + ^' . "\n";
    $t->fault->file(SymFetch::path(@module), module_line(@module)
        . "FUNC 1000 40 0 first\n" . $line x ($bytes / length $line));
    return @module;
}

# A body of the given size; returns 1 if it becomes a module.
sub comes {
    my ($bytes, @module) = @_;
    my $r = $t->ask([@module]);
    is($r->{status}, 200, "a body of $bytes bytes: answered");
    return $t->found($r, @module);
}

cmp_ok($room, '>', 1_200_000, 'the room for temporary files');
cmp_ok($room, '<', 2 << 20, '... is less than twice the largest of these');

for my $how (qw(chunked close)) {
    $t->fault->script('src', $how);
    for my $bytes (int($room * 0.2), int($room * 0.45), 1_080_000,
        $room - 1000)
    {
        my @module = module($bytes);
        is(comes($bytes, @module), 1, "... $how: found");
        is($t->gets(@module), 1, '... of one GET');
    }

    my @large = module($room + 100_000);
    is(comes($room + 100_000, @large), 0,
        "... $how, more than the room: not stored");
    my ($m) = SymLoader::json_lines(
        $t->loader->run('show', '--json', join '/', @large)->{out});
    like($m->{reason}, qr/larger than all room/, "... $m->{reason}");
}

is($t->loader->stats->{lease_bytes}, 0, 'all leases are returned');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

# --- a loader that answers slowly ---

my $source = 'internal; proxy_pass http://%%FAULT%%/as/src/;';
for my $buffering ('on', 'off') {
    $t = SymFetch->new(sources =>
        "location /src/ { $source proxy_buffering $buffering; }")->start;
    for my $how (qw(ok chunked)) {
        my @module = module(24 << 20);
        my $path = '/as/src/' . SymFetch::path(@module);
        my $gate = "$buffering$how";
        $t->fault->script('src', "gate/$gate/$how");
        my $socket = $t->begin([@module]);
        $t->fault->wait($path, count => 1);
        kill 'STOP', $t->loader->pid;
        $t->fault->open_gate($gate);
        select undef, undef, undef, 0.5;    # much of it arrives meanwhile
        is($t->fault->stats->{paths}{$path}{done}, 0,
            "buffering $buffering, $how: the body waits for the loader");
        kill 'CONT', $t->loader->pid;
        is($t->found($t->response($socket), @module), 1, '... and comes');
        is($t->gets(@module), 1, '... of one GET');
    }

    # small enough to fit nginx's buffers, and a loader that stays silent for
    # longer than a download may hold its slot
    my @module = module(1100 << 10);
    my $path = '/as/src/' . SymFetch::path(@module);
    $t->fault->script('src', "gate/late$buffering/ok", 'ok');
    my $socket = $t->begin([@module]);
    $t->fault->wait($path, count => 1);
    kill 'STOP', $t->loader->pid;
    $t->fault->open_gate("late$buffering");
    sleep(SymTest::is_slow() ? 12 : 5);
    kill 'CONT', $t->loader->pid;
    is($t->found($t->response($socket), @module), 1,
        "buffering $buffering: the loader answers late, and the module comes");
    is($t->gets(@module), 2, '... of a second GET');
    is($t->end, '', 'nothing is wrong');
}

done_testing();
