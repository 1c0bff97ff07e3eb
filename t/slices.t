# All clients share a worker: while it works on requests of a hundred thousand
# frames, those with two frames must not wait for them.  The order of the
# answers proves it, not a clock: many short requests are answered, one after
# the other, before a long one that was sent before them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use SymTest;
use Test::More;

my @module = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');

my $t = SymTest->new->load(SymTest::symbol_file(@module))
    ->conf(server => 'client_body_buffer_size 32m; symbolicate_slice 100;')
    ->start;

sub body_of {
    my ($frames) = @_;
    return $t->json({ jobs => [{ memoryMap => [[@module]],
        stacks => [[map { [0, ($_ * 7919) % 3_000_000] } 1 .. $frames]] }] });
}

my $frames = SymTest::is_slow() ? 20_000 : 100_000;
my $long = $t->request_text('POST', '/symbolicate/v5',
    body => body_of($frames));
my $short = body_of(2);

# Each short request is sent when the one before it was answered.  If they had
# to wait for a whole long request, only a few could be answered before nginx
# has read the first long one.  How many are answered in time depends on the
# load of the machine: one good round of several proves that it works.
my $FEW = 5;
my ($best, @answers) = (0);
for my $round (1 .. 10) {
    my $keep = $t->connect;
    my @long;
    for (1 .. 2) {
        my $socket = $t->connect;
        $t->send_all($socket, $long);
        push @long, $socket;
    }

    my $answered = 0;
    while ($answered <= $FEW) {
        $t->send_all($keep, $t->request_text('POST', '/symbolicate/v5',
            body => $short, keepalive => 1));
        my $r = $t->raw_response($keep);
        last if $r->{status} != 200 || IO::Select->new(@long)->can_read(0);
        $answered++;
    }
    close $keep;

    $best = $answered if $answered > $best;
    @answers = map { $t->raw_response($_) } @long;
    last if $best > $FEW;
}
cmp_ok($best, '>', $FEW, 'short requests are answered before the long ones');

is($_->{status}, 200, 'a long one: 200') for @answers;
ok($answers[0]{body} eq $answers[1]{body}, 'both have the same answer');
my $json = JSON::PP::decode_json($answers[0]{body});
is(scalar @{$json->{results}[0]{stacks}[0]}, $frames,
    'with all frames');
is_deeply([map { $_->{frame} } @{$json->{results}[0]{stacks}[0]}],
    [0 .. $frames - 1], 'in their order');

# slices of any size give the same
for my $slice (1, 7, 1_000_000) {
    my $u = SymTest->new->conf(server => "symbolicate_slice $slice; "
        . 'client_body_buffer_size 32m;');
    $u->load(SymTest::symbol_file(@module));
    $u->start;
    my $some = body_of(2_003);
    ok($u->post('/symbolicate/v5', $some)->{body}
            eq $t->post('/symbolicate/v5', $some)->{body},
        "slices of $slice: the same answer");
    is($u->stop->log_trouble, '', "slices of $slice: a clean log");
}

# more long requests at a time than may read the store
my $medium = body_of(3_000);
my $want = $t->post('/symbolicate/v5', $medium)->{body};
my @many = map {
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
        body => $medium));
    $socket;
} 1 .. 40;
my $good = grep { ($t->raw_response($_)->{body} || '') eq $want } @many;
is($good, 40, 'forty at a time: all answered, all the same');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
