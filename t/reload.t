# nginx -s reload is the way to change certificates and limits many times a
# day.  It must not lose any request, not even a long one that the old worker
# has only begun, and the old workers must exit.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('test_app.pdb', '5A9832E5287241C1838ED98914E9B7FF1');

# small slices: a long request takes many turns
my $t = SymTest->new(workers => 2)->load(SymTest::symbol_file(@module))
    ->conf(server => 'symbolicate_slice 50; client_body_buffer_size 16m;')
    ->start;

sub body_of {
    my ($frames) = @_;
    return $t->json({ jobs => [{ memoryMap => [[@module]],
        stacks => [[map { [0, 0x1000 + $_ % 90_000] } 1 .. $frames]] }] });
}

my $short = body_of(2);
my $long = body_of(SymTest::is_slow() ? 2_000 : 10_000);
my $want_short = $t->post('/symbolicate/v5', $short)->{body};
my $want_long = $t->post('/symbolicate/v5', $long)->{body};
like($want_short, qr/"function"/, 'symbols are there');

my $enough = $t->dir . '/enough';

# Clients that send requests until the file exists, each on its own connections;
# each prints a byte for a good answer, and a line for a bad one.
sub client {
    my ($body, $want) = @_;
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork;
    if (!$pid) {
        $out->autoflush(1);
        while (!-e $enough) {
            my $r = eval { $t->post('/symbolicate/v5', $body) };
            my $good = $r && ($r->{status} || 0) == 200
                && $r->{body} eq $want;
            print $out $good ? '.' : 'x';
        }
        POSIX::_exit(0);
    }
    close $out;
    return { pid => $pid, in => $in };
}

my @clients = ((map { client($short, $want_short) } 1 .. 3),
    map { client($long, $want_long) } 1 .. 2);

# a long request that is not yet answered when nginx reloads
my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
    body => $long));

my %first = map { $_ => 1 } $t->workers;
for (1 .. 5) {
    $t->reload;
    # every client gets an answer between two reloads
    sysread $_->{in}, my $some, 1 for @clients;
}

my $r = $t->response($socket);
is($r->{status}, 200, 'the request that was begun: 200');
ok($r->{body} eq $want_long, 'and all of its answer');
close $socket;

# not with a signal, which would break off a request
open my $mark, '>', $enough or die "$enough: $!";
close $mark;
for my $client (@clients) {
    local $/;
    my $marks = readline $client->{in};
    waitpid $client->{pid}, 0;
    unlike($marks, qr/x/, 'a client lost nothing: ' . length($marks)
        . ' answers');
}

$t->wait_for(sub { !grep { $first{$_} } $t->workers },
    'the first workers are gone');
pass('the first workers are gone');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
