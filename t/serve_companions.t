#!/usr/bin/perl

# Companions of a debug file are found even if a daemon has the store:
# `symloader load` opens them for it, and prints the daemon's messages.  If the
# client dies meanwhile, or never answers, its file is stored without them, and
# no other client waits for it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymCompanions qw(companion_cases run);
use SymLoader qw(sym_text);
use SymServe;

my $FOLLOWS = 2;    # flags of DEPOSIT, GIVEN and DONE: docs/formats/loader-protocol.md
my ($THERE, $DID) = (1, 1);

my $t = SymServe->new->serve('--jobs', 1);
my $dir = $t->dir;

companion_cases($t);

# --- the protocol ---

run('g++ -gdwarf-5 -O2 -o thing src/a.cc src/b.cc && cp thing other &&',
    'dwz -5 -m common thing other');
my $file = "$dir/thing";

# The first WANT that follows a DEPOSIT of the file.
sub wanted {
    my ($c, $ticket, $flags) = @_;

    $c->send(DEPOSIT => ticket => $ticket, flags => $flags, path => $file,
             source => $file);
    return $c->recv;
}

# All messages up to DONE.
sub to_done {
    my ($c) = @_;
    my @m;

    do { push @m, $c->recv } until $m[-1]{type} =~ /^(?:DONE|END|NOTHING)$/;
    return @m;
}

# The next message except WANT, which is answered with nothing.
sub without {
    my ($c) = @_;
    my $m = $c->recv;

    while ($m->{type} eq 'WANT') {
        $c->send(GIVEN => ticket => $m->{ticket});
        $m = $c->recv;
    }
    return $m;
}

# The client has sent an invalid file: the names are missing.
sub is_without {
    my ($what, $c) = @_;
    my $m = without($c);

    is($m->{type}, 'NOTE', "$what counts as nothing");
    like($m->{text}, qr/names are missing.*common/, '... which is reported');
    $m = without($c);
    is("$m->{type} $m->{flags}", "DONE $DID", '... and the file is stored');
    return;
}

{
    my $c = $t->client;
    my $m = wanted($c, 5, 0);
    is($m->{type}, 'DONE', 'without the flag: no WANT, and no report');
    $c->close;
}

my $before = $t->descriptors;

{
    my $c = $t->client;
    my $m = wanted($c, 5, $FOLLOWS);
    is("$m->{type} $m->{ticket} $m->{kind} $m->{attempt} $m->{name}",
       'WANT 5 1 0 common', 'WANT: the supplementary file');
    $c->send(GIVEN => ticket => 6, flags => $THERE, path => "$dir/common");
    $c->send(GIVEN => ticket => 5, flags => $THERE, path => "$dir/other");
    $m = $c->recv;
    is($m->{type}, 'NOTE', 'another file is not a supplementary file');
    like($m->{text}, qr/of another build/, '... which is reported');
    is_without('... so it', $c);
    $c->send(GIVEN => ticket => 5, flags => $THERE, path => "$dir/common");
    ok($c->sync, 'an unexpected answer is ignored');

    $m = wanted($c, 5, $FOLLOWS);
    $c->send(GIVEN => ticket => 5, flags => $THERE, path => "$dir/src",
             length => 1);
    is_without('a folder', $c);
    wanted($c, 5, $FOLLOWS);
    $c->send(GIVEN => ticket => 5, flags => $THERE, path => "$dir/common",
             length => 1 << 40);
    is_without('a file that is shorter than announced', $c);
    $c->close;

    $c = $t->client;
    $c->raw(pack('vvVVQ<', 0x4c53, 11, 5, 0, 0), $file);
    is($c->recv->{type}, 'END', 'a descriptor too many: disconnected');
    $c->close;
    $c = $t->client;
    $c->raw(pack('vvVVQ<', 0x4c53, 11, 5, $THERE, 0));
    is($c->recv->{type}, 'END', 'one too few: disconnected');
    $c->close;
    ok($t->wait_stat(conversions_running => 0), 'nothing is left');
    $t->wait_stat(clients => 1);
    is($t->settled_descriptors($before), $before, '... nor a descriptor');
}

# --- a client that dies ---

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $good = $t->client;

{
    my $c = $t->client;
    wanted($c, 1, $FOLLOWS);
    $c->close;
    $good->ensure(1, "good1/$ID", 1);
    $good->send(INGEST => ticket => 1,
                path => $t->file('good1', sym_text('good1', $ID)));
    is($good->recv->{type}, 'READY', 'a client that dies delays no other');
    like($t->wait_log(qr/thing\/\S+: /), qr/ready/,
         '... and its file is stored');
}

# --- one that never answers ---

{
    my $c = $t->client;
    my $m = wanted($c, 1, $FOLLOWS);
    $c->send(DEPOSIT => ticket => 2, flags => $FOLLOWS, path => $file,
             source => $file);
    $good->ensure(2, "good2/$ID", 1);
    $good->send(INGEST => ticket => 2,
                path => $t->file('good2', sym_text('good2', $ID)));
    is($good->recv->{type}, 'READY',
        'one that never answers is not waited for long');
    my @m = (to_done($c), to_done($c));
    is(scalar(grep { $_->{type} eq 'WANT' } @m), 0,
        '... it gets no other WANT');
    my @late = grep { $_->{type} eq 'NOTE' && $_->{text} =~ /in time/ } @m;
    is($late[0]{ticket}, 1, '... it gets the reason for missing names');
    is_deeply([ map { $_->{ticket} } grep { $_->{type} eq 'DONE' } @m ],
              [ 1, 2 ], '... and both of its files are stored');
    $c->close;
}

is($t->stop->{code}, 0, 'stopped');
done_testing();
