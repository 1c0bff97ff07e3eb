#!/usr/bin/perl

# Hostile input that takes over its converter gains nothing: the daemon gives
# each converter only one file, so that a compromised one never sees the symbols
# of another source or user.  The next one is started before it is needed, and
# never more than --jobs are working.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new(faults => 1);
my ($c, $n) = (undef, 0);

# A file that fails in a converter that has read another one
# (t/faults/faults.h).
sub file {
    my $name = 'm' . ++$n;
    my ($module, $rest) = split /^/, sym_text($name, $ID), 2;
    return $t->file("$name.sym", "${module}INFO FAULT remember\n$rest");
}

sub bring {
    my ($type) = @_;
    my $path = file();

    if ($type eq 'DEPOSIT') {
        $c->send(DEPOSIT => ticket => $n, path => $path);
        my $m = $c->recv;
        return $m->{flags} & 1 ? 'stored' : $m->{text};
    }

    $c->ensure($n, "m$n/$ID", 1)->{type} eq 'FETCH' or die 'no FETCH';
    $c->send($type => ticket => $n, path => $path);
    my $m = $c->recv;
    return $m->{type} eq 'READY' ? 'stored' : $m->{text};
}

# --- the test can detect it: loaded by hand, all files are of one user ---

my @files = map { file() } 1 .. 3;
my $r = $t->run('load', '--jobs', 1, @files);
like($r->{out}, qr/^\Q$files[0]\E: m1\//m, 'load by hand: the first is stored');
like($r->{err}, qr/^symloader: \Q$files[1]\E: .*has read another file/m,
    '... the second has the same converter');

# --- the daemon ---

for my $jobs (1, 2) {
    $t->serve('--jobs', $jobs);
    $c = $t->client;
    my $before = $t->descriptors;

    for my $type (qw(INGEST INGEST INGEST DEPOSIT DEPOSIT INGEST)) {
        is(bring($type), 'stored', "--jobs $jobs, $type: a converter without a past");
    }

    # many at once, more than there are converters
    my @paths = map { file() } 1 .. 12;
    $c->send(DEPOSIT => ticket => 100 + $_, path => $paths[$_]) for 0 .. $#paths;
    my @m = map { $c->recv } @paths;
    is(scalar(grep { $_->{flags} & 1 } @m), 12, 'twelve at once: each has its own')
        or diag(explain(\@m));
    is($t->stats->{conversions_breakpad_ready}, 18, '... all are counted');

    my @waiting = $t->wait_converters(1);
    is(bring('INGEST'), 'stored', 'one more');
    ok($t->wait_converters(1, @waiting), '... and the next converter waits');
    is($t->settled_descriptors($before), $before,
        '... no state of them is left');
    $t->stop;
}

# --- no more than --jobs are working, and one waits ---

$t->serve('--jobs', 1, '--convert-cpu', 600);
$c = $t->client;
my ($at_work) = $t->wait_converters(1);
my $hang = $t->file('hang', "FAULT hang\n");
$c->send(DEPOSIT => ticket => $_, path => $hang) for 1 .. 3;
$t->wait_stat(conversions_running => 1);
my @two = $t->wait_converters(2);
is(scalar(grep { $_ == $at_work } @two), 1, 'one is working, and one waits');
$c->sync;
is($t->stats->{conversions_running}, 1, '... but does not get the next file');
is_deeply([ sort $t->converters ], [ sort @two ],
    '... and there are no others');

my ($next) = grep { $_ != $at_work } @two;
kill('KILL', $at_work);
like($c->recv->{text}, qr/killed from outside/, 'it dies: so does its file');
@two = $t->wait_converters(2, $at_work);
is(scalar(grep { $_ == $next } @two), 1,
    '... the waiting one gets the next file');

is($t->stop->{code}, 0, 'a clean end');
is(scalar(grep { kill(0, $_) } @two), 0, '... no converter outlives it');
is($t->verify, 'sound', 'the store is sound');

done_testing();
