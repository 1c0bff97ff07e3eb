#!/usr/bin/perl

# A client like Sentry's own posts with a timeout, polls while the job is
# pending, posts again when its id is unknown, and finally gets the same answer
# as a client that waited, whichever worker it polls, and across a reload.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SentryCases qw(differences);
use SymFetch;
use Time::HiRes qw(time);

my $PATIENCE = $SymTest::PATIENCE;
my $UUID = qr/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/;

my $t = SentryCases->new(workers => 3,
    sources => 'location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }',
    sentry => 'symbolicate_source fault uri=/src/; symbolicate_budget 60s;',
    tecken => 'symbolicate_source fault uri=/src/;')->start;
my $n = 0;

# --- it waits, it polls, it gets it ---
{
    my $body = slow_module('gate/a/ok');
    my $first = post($body, 0);
    is($first->{status}, 200, 'timeout=0 is answered at once');
    is($first->{headers}{'content-type'}, 'application/json', '... with JSON');
    is($first->{json}{status}, 'pending', '... pending');
    is($first->{json}{retry_after}, 30, '... with retry_after');
    my $id = $first->{json}{request_id};
    like($id, $UUID, '... and a random UUID');
    is_deeply([ sort keys %{ $first->{json} } ],
              [qw(request_id retry_after status)], '... and nothing else');

    is_deeply([ map { poll($id, 0)->{json}{status} } 1 .. 12 ],
              [ ('pending') x 12 ], 'every worker knows the id');
    my $begin = time;
    is(poll($id, 1)->{json}{status}, 'pending', 'a poll waits for its timeout');
    cmp_ok(time - $begin, '>=', 0.9, '... which is in its query');

    $t->fault->open_gate('a');
    my $got = poll($id, $PATIENCE);
    is($got->{json}{status}, 'completed', 'the answer comes while it waits');
    is($got->{json}{stacktraces}[0]{frames}[0]{function}, 'f0',
       '... with the source\'s file');
    is_deeply([ map { scalar differences(poll($id, 0)->{json}, $got->{json}) }
                1 .. 12 ], [ (0) x 12 ], '... as often as it is requested');
    is(scalar differences(post($body)->{json}, $got->{json}), 0,
       '... the same as for a client that waits');

    $t->reload;
    is(scalar differences(poll($id, 0)->{json}, $got->{json}), 0,
       '... and after a reload');
}

# --- a reload in the middle ---
{
    my $body = slow_module('gate/b/ok');
    my $id = post($body, 0)->{json}{request_id};
    $t->reload;
    is(poll($id, 0)->{json}{status}, 'pending', 'new workers know the id');
    my $socket = poll_begin($id, $PATIENCE);
    $t->fault->open_gate('b');
    my $got = $t->response($socket);
    is($got->{json}{status}, 'completed', '... and get the old ones\' results');
    is($got->{json}{stacktraces}[0]{frames}[0]{function}, 'f0', '... whole');
}

# --- invalid ids ---
for my $id ('00000000-0000-4000-8000-000000000000', 'nonsense', '%2e%2e', 'a' x 5000) {
    my $r = poll($id);
    is($r->{status}, 404, 'an unknown id: ' . substr $id, 0, 40);
    is($r->{body}, '', '... without a body');
}

# --- many clients, each by Sentry's own rules ---
{
    my @bodies = map { slow_module('gate/many/ok', "many$_") } 1 .. 8;
    my @clients = map {
        my $body = $bodies[ $_ % 8 ];
        { body => $body, socket => post_begin($body, 0) }
    } 1 .. 40;
    my ($polls, %done) = (0);
    my $end = time + 3 * $PATIENCE;

    while (my @left = grep { !$_->{answer} } @clients) {
        last if time > $end;
        for my $client (@left) {
            my $r = $t->response(delete $client->{socket});
            my $status = $r->{json}{status} // $r->{status};
            $done{$status}++;
            if ($status eq 'pending') {
                $client->{id} = $r->{json}{request_id} // $client->{id};
                $client->{socket} = poll_begin($client->{id}, $polls < 40 ? 0 : 1);
                $t->fault->open_gate('many') if ++$polls == 50;
            } elsif ($status eq '404' || $status eq '503') {
                $client->{socket} = post_begin($client->{body}, 1);
            } else {
                $client->{answer} = $r->{json};
            }
        }
    }
    is(scalar(grep { ($_->{answer}{status} // '') eq 'completed' } @clients), 40,
       'forty clients have their answers');
    is(scalar(grep { ($_->{answer}{stacktraces}[0]{frames}[0]{function} // '')
                         eq 'f0' } @clients), 40, '... with names');
    cmp_ok($polls, '>=', 50, '... after polling');
    is($done{404} // 0, 0, '... and none lost its id');
}

is($t->end, '', 'a clean log');
done_testing();

# A request for a module that the fault server sends as given; its body.
sub slow_module {
    my ($how, $name) = @_;
    $n++;
    my $id = SymFetch::id($n);
    $name = ($name // 'slow') . "$n.so";

    $t->upload($name, $id);
    $t->fault->script('src', $how);
    return $t->json({
        modules => [ { type => 'elf', code_file => "/lib/$name",
                       debug_file => $name, image_addr => '0x100000',
                       image_size => 0x10000, debug_id => uuid_of($id) } ],
        stacktraces => [ { frames => [ { instruction_addr => '0x101004' } ] } ],
    });
}

# A debug id as Sentry writes it.
sub uuid_of {
    my ($id) = @_;
    my ($guid, $age) = lc($id) =~ /^(.{32})(.*)\z/;
    $guid =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/;
    return $age =~ /^0*\z/ ? $guid : "$guid-$age";
}

sub post_begin {
    my ($body, $timeout) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/sentry/symbolicate'
        . (defined $timeout ? "?timeout=$timeout&scope=1" : '?scope=1'),
        body => $body, headers => [ 'Content-Type', 'application/json' ]));
    return $socket;
}

sub post { return $t->response(post_begin(@_)) }

sub poll_begin {
    my ($id, $timeout) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('GET', "/sentry/requests/$id"
        . (defined $timeout ? "?timeout=$timeout" : '')));
    return $socket;
}

sub poll { return $t->response(poll_begin(@_)) }
