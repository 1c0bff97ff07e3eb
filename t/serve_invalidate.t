#!/usr/bin/perl

# INVALIDATE: everything that the store knows is forgotten, ready or negative,
# and a download in flight at that moment is fetched again, because it may be
# the old file.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new->serve('--jobs', 1);
my ($c, $admin) = ($t->client, $t->client);

sub body {
    my ($name, $prefix, %o) = @_;
    return $t->file("$name.$prefix", sym_text($name, $ID, prefix => $prefix, %o));
}

# are_paths: there are only records of paths.
sub invalidate {
    my ($name, $flags, $what, $are_paths) = @_;
    $admin->send(INVALIDATE => ticket => 3, key => "$name/$ID");
    is_deeply($admin->recv,
              { type => 'DONE', ticket => 3, flags => $flags, scope => '',
                key => "$name/$ID", text => '',
                ($flags && !$are_paths ? (kind => 1 << 1) : ()) }, $what);
}

sub answers {
    my ($name, $function, $what) = @_;
    like($t->run('lookup', "$name/$ID", '1000')->{out}, qr/^$function$/m, $what);
}

# --- stored modules ---

invalidate('none.so', 0, 'nothing was known: nothing was removed');

is($c->ensure(1, "ready.so/$ID", 1)->{type}, 'FETCH', 'a module');
$c->send(INGEST => ticket => 1, path => body('ready.so', 'a'));
is($c->recv->{type}, 'READY', '... is ready');
invalidate('ready.so', 1, '... and is removed');
is($c->ensure(1, "ready.so/$ID", 1)->{type}, 'FETCH', '... and fetched again');
$c->send(INGEST => ticket => 1, path => body('ready.so', 'b'));
is($c->recv->{type}, 'READY', '... ready again');
answers('ready.so', 'b0', '... with the new file');

is($c->ensure(1, "absent.so/$ID", 1)->{type}, 'FETCH', 'one that is absent');
$c->send(NONE => ticket => 1, state => 2, text => 'no');
is($c->recv->{type}, 'NEGATIVE', '... known');
invalidate('absent.so', 1, '... and forgotten', 1);
is($c->ensure(1, "absent.so/$ID", 1)->{type}, 'FETCH', '... and fetched again');
$c->send(CANCEL => ticket => 1);

# --- while it is fetched ---

for my $answer ('INGEST', 'NONE') {
    my $name = lc("$answer.so");

    is($c->ensure(2, "$name/$ID", 1)->{type}, 'FETCH', "a fetch in flight");
    $admin->send(ENSURE => ticket => 9, key => "$name/$ID");
    invalidate($name, 0, '... is invalidated');
    $c->send($answer => ticket => 2,
             $answer eq 'NONE' ? (state => 2, text => 'no')
                               : (path => body($name, 'old')));
    is($c->recv->{type}, 'FETCH', "... its $answer is ignored: FETCH");
    $c->send(INGEST => ticket => 2, path => body($name, 'new'));
    is($_->recv->{type}, 'READY', '... the second is') for $c, $admin;
    answers($name, 'new0', '... and in the store');
}

# --- while it is converted: after a larger one, so that it has to wait ---

{
    my $other = $t->client;

    is($other->ensure(1, "large.so/$ID", 1)->{type}, 'FETCH', 'a large module');
    is($c->ensure(2, "late.so/$ID", 1)->{type}, 'FETCH', '... and a small one');
    $other->send(INGEST => ticket => 1,
                 path => body('large.so', 'l', functions => 200000));
    $other->sync;
    $c->send(INGEST => ticket => 2, path => body('late.so', 'old'));
    $c->sync;
    invalidate('late.so', 0,
        'the module that waits for its conversion is invalidated');
    is($other->recv->{type}, 'READY', 'the large one is ready');
    is($c->recv->{type}, 'FETCH', 'the small one is fetched again');
    is($t->run('lookup', "late.so/$ID", '1000')->{code}, 1, '... not in the store');
    $c->send(INGEST => ticket => 2, path => body('late.so', 'new'));
    is($c->recv->{type}, 'READY', '... then ready');
    answers('late.so', 'new0', '... with the new file');
}

# --- while it asks for a larger lease ---

{
    my $room = $t->stats->{temp_room_bytes};
    my $other = $t->client;

    # at once, or when there is room for it: the download continues meanwhile
    for my $more (2 << 20, $room - (1 << 20)) {
        my $name = "more$more.so";

        is($c->ensure(2, "$name/$ID", 1)->{type}, 'FETCH', 'a fetch in flight');
        is($other->ensure(1, "other.so/$ID", 1)->{type}, 'FETCH', '... and another');
        $other->send(MORE => ticket => 1, length => 3 << 20);
        is($other->recv->{length}, 3 << 20, '... that has some of the room');
        if ($more == 2 << 20) {
            invalidate($name, 0, '... is invalidated');
            $c->send(MORE => ticket => 2, length => $more);
        } else {
            $c->send(MORE => ticket => 2, length => $more);
            $c->sync;
            invalidate($name, 0, '... waits for room, and is invalidated');
        }
        $other->send(NONE => ticket => 1, state => 2, text => 'no');
        is($other->recv->{type}, 'NEGATIVE', '... the other ends');
        $admin->send(INVALIDATE => ticket => 3, key => "other.so/$ID");
        $admin->recv;
        is($c->recv->{length}, $more, '... gets the room');
        $c->send(INGEST => ticket => 2, path => body($name, 'old'));
        is($c->recv->{type}, 'FETCH', '... and its file is ignored');
        $c->send(INGEST => ticket => 2, path => body($name, 'new'));
        is($c->recv->{type}, 'READY', '... the second is');
        answers($name, 'new0', '... and in the store');
    }
}

# --- more than there is ---

{
    my $room = $t->stats->{temp_room_bytes};

    is($c->ensure(2, "all.so/$ID", 1)->{type}, 'FETCH', 'a fetch in flight');
    $c->send(MORE => ticket => 2, length => $room - 1);
    is($c->recv->{length}, $room - 1, '... has much');
    $c->send(MORE => ticket => 2, length => 2 * ($room - 1));
    is($c->recv->{length}, $room, '... asks for twice as much: it gets all');
    $c->send(MORE => ticket => 2, length => 2 * $room);
    my $m = $c->recv;
    is($m->{type}, 'NEGATIVE', '... once');
    like($m->{text}, qr/larger than all room/, '... why');
    invalidate('all.so', 1, '... forgotten', 1);

    is($c->ensure(2, "void.so/$ID", 1)->{type}, 'FETCH', 'a fetch in flight');
    invalidate('void.so', 0, '... is invalidated');
    $c->send(MORE => ticket => 2, length => $room + 1);
    $m = $c->recv;
    is("$m->{type} $m->{state}", 'NEGATIVE 3', '... and is too large: failed only');
    unlike($t->run('ls')->{out}, qr/void/, '... not in the store');
}

is($t->stats->{invalidations}, 12, 'counted');
is($t->stats->{lease_bytes}, 0, 'no lease is left');
is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
