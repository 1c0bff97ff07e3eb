#!/usr/bin/perl

# One event, DELETE or upload reaches all nodes of a fleet: the node that gets it
# notifies the others.  A node that stalls or is down does not delay them, and is
# notified when it answers again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::HiRes qw(time);

use SymFleet;
use SymLoader qw(sym_text write_file);

# Seconds within which all nodes have to answer from a new file.  It takes some
# milliseconds; this machine may be busy.
my $SOON = 10;

# Seconds after which a worker that is exiting gives up a node.
my $GIVEN_UP = 5;

for my $peers (0, 1) {
    my $how = $peers ? 'nodes that ask each other' : 'nodes with a bucket only';
    my $fleet = SymFleet->new(nodes => 4, tell => 1, peers => $peers, timeout => '2s');
    my @nodes = $fleet->nodes;
    my $s3 = $fleet->s3;
    my $n = 0;

    my $event = sub {
        my ($key) = @_;
        return qq({"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "b"}, "object": {"key": "$key"}}}]});
    };

    # A module that all nodes have.
    my $known = sub {
        my ($name) = @_;
        my $id = SymFolder::id(++$n);
        $fleet->upload($name, $id, prefix => 'old');
        is(scalar(grep { $_->function($_->ask([ $name, $id ])) eq 'old0' } @nodes), 4, "$name: all nodes have it");
        $fleet->published(1);
        return $id;
    };

    my $are_new = sub {
        my ($name, $id, @of) = @_;
        my $began = time;
        my $all = SymTest->wait_for(sub { !grep { $_->function($_->ask([ $name, $id ])) ne 'new0' } @of },
            'the new file answers');
        my $took = time - $began;
        ok($all && $took < $SOON, sprintf '... all nodes answer from the new file after %.3f s', $took);
        return;
    };

    my $told = sub { return map { my $log = $_->access_log; scalar(() = $log =~ m{uri=/peer/(?:events|cache)}g) } @nodes };

    my $notified = sub { my ($node, $how) = @_; return $fleet->metric($node, qq(notified_total{outcome="$how"})) };

    # --- an event ---

    my $id = $known->('a.so');
    $fleet->upload('a.so', $id, prefix => 'new');
    is($nodes[0]->post('/admin/events', $event->('nightly/' . SymFolder::path('a.so', $id)))->{status}, 200,
        "$how: an event");
    $are_new->('a.so', $id, @nodes);
    is_deeply([ $told->() ], [ 1, 1, 1, 1 ], '... each node was told once');
    ok(SymTest->wait_for(sub { $notified->($nodes[0], 'done') == 4 }, 'the counter'), '... which is counted');

    # --- DELETE ---

    $id = $known->('b.so');
    $fleet->upload('b.so', $id, prefix => 'new');
    is($nodes[1]->forget('b.so', $id)->{status}, 200, 'DELETE');
    $are_new->('b.so', $id, @nodes);

    # --- an upload ---

    $id = $known->('c.so');
    my $file = write_file("$nodes[2]{dir}/c.sym", sym_text('c.so', $id, prefix => 'new', lines => 1));
    my $key = 'symbols/' . SymFolder::path('c.so', $id) . '.symart';
    is($s3->signed('shared', $key)->{status}, 200, 'an artifact in the bucket');
    my $url = 'http://' . $nodes[2]->address . '/upload/' . SymFolder::path('c.so', $id);
    my $status = `curl -s -o /dev/null -w '%{http_code}' -T $file '$url'`;
    is($status, 201, 'the file is replaced by an upload');
    $are_new->('c.so', $id, @nodes);
    is($nodes[0]->forget('c.so', $id)->{status}, 200, '... later, when a node has forgotten the module');
    is($nodes[0]->function($nodes[0]->ask([ 'c.so', $id ])), 'new0', '... the old artifact does not come back');

    # --- a node stalls ---

    $id = $known->('d.so');
    $fleet->upload('d.so', $id, prefix => 'new');
    kill 'STOP', $nodes[3]->workers;
    my $began = time;
    is($nodes[0]->post('/admin/events', $event->(SymFolder::path('d.so', $id)))->{status}, 200,
        'a node stalls: an event');
    cmp_ok(time - $began, '<', 2, '... is answered without it');
    $are_new->('d.so', $id, @nodes[0 .. 2]);
    kill 'CONT', $nodes[3]->workers;
    $are_new->('d.so', $id, $nodes[3]);

    # --- a node is down ---

    $id = $known->('e.so');
    $fleet->upload('e.so', $id, prefix => 'new');
    $nodes[3]->stop;
    shutdown $nodes[3]{listen}, 2;    # other nodes have inherited it
    $nodes[3]{is_down} = 1;
    is($nodes[1]->post('/admin/events', $event->(SymFolder::path('e.so', $id)))->{status}, 200,
        'a node is down: an event');
    $are_new->('e.so', $id, @nodes[0 .. 2]);
    is($notified->($nodes[1], 'failed'), 0, '... the node is not given up yet');
    $began = time;
    $nodes[1]->reload;
    ok(SymTest->wait_for(sub { $notified->($nodes[1], 'failed') == 1 }, 'the counter'), '... until nginx is reloaded');
    cmp_ok(time - $began, '<', $GIVEN_UP + 5, '... a worker that is exiting does not wait long for it');

    $_->allow(qr/symbolicate_share|symbol source|upstream/) for @nodes;
    is($fleet->end, '', 'nothing unusual in the logs');
    my $failed = 'the node ' . $nodes[3]->address . ' could not be notified of a change, status 502: /tell/events';
    like($nodes[1]->error_log, qr/\Q$failed\E/, '... it says that the node was not notified');
    $nodes[3]->loader_stop;
}

done_testing();
