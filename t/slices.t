# One worker serves everybody: while it works at requests of a hundred thousand
# frames, those with two frames must not wait for them.  Proved by the order of
# the answers, not by a clock: many short requests are answered, one after the
# other, before a long one that was sent before the first of them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
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

my @long;
for (1 .. 2) {
    my $socket = $t->connect;
    $t->send_all($socket, $long);
    push @long, $socket;
}

# each of these is sent when the one before it was answered: had any of them to
# wait for a whole long request, that one would be ready at the end
my $keep = $t->connect;
my $answered = 0;
for (1 .. 50) {
    $t->send_all($keep, $t->request_text('POST', '/symbolicate/v5',
        body => $short, keepalive => 1));
    my $r = $t->response($keep);
    $answered++ if $r->{status} == 200;
}
is($answered, 50, 'fifty short requests, one after the other');
my @ready = IO::Select->new(@long)->can_read(0);
is(scalar @ready, 0, 'and none of two long ones is answered yet');
close $keep;

my @answers = map { $t->response($_) } @long;
is($_->{status}, 200, 'a long one: 200') for @answers;
ok($answers[0]{body} eq $answers[1]{body}, 'both have the same answer');
is(scalar @{$answers[0]{json}{results}[0]{stacks}[0]}, $frames,
    'with all frames');
is_deeply([map { $_->{frame} } @{$answers[0]{json}{results}[0]{stacks}[0]}],
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

# more long requests at a time than are admitted to the store
my $medium = body_of(3_000);
my $want = $t->post('/symbolicate/v5', $medium)->{body};
my @many = map {
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
        body => $medium));
    $socket;
} 1 .. 40;
my $good = grep { ($t->response($_)->{body} || '') eq $want } @many;
is($good, 40, 'forty at a time: all answered, all the same');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
