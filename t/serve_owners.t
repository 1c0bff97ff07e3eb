# Searches that describe one object differently share places at its source.  Each
# place is tried by one of them at a time.  The other waits, with neither a lease nor
# a place of its own, and goes on with what the first one found.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF0';
my ($READ, $ABSENT, $FAILED) = 1 .. 3;
my ($BREAKPAD, $NATIVE, $ELF) = (0, 1, 1);

# A client of Mozilla's API has one place: the .sym file.  Sentry's API describes an
# ELF file with five: .sym, file, cabinet, and by build id the debug file and the
# file itself.  With the flag (all places) the last one comes first.
my ($SYM, $DEBUG, $CODE) = (1 << 0, 1 << 3, 1 << 4);
my $ALL = 0b11111;
my ($FIRST_CODE, $FIRST_SYM) = (1 << 0, 1 << 1);
my %mozilla = (layout => $BREAKPAD);
my %sentry = (layout => $NATIVE, object => $ELF);
my %any = (%sentry, flags => 1);

my $t = SymServe->new->serve('--jobs', 1);
my $n = 0;

# The build id is another one for each name.
sub ensure {
    my ($c, $key, %how) = @_;
    $how{code_id} = sprintf('%-32.32s00112233', unpack('H*', $key)) if $how{object};
    $c->send(ENSURE => ticket => 1, scope => 's', key => $key, %how);
    return;
}

# The places of the FETCH that must come next.
sub fetch {
    my ($c) = @_;
    my $m = $c->recv;
    return $m->{type} eq 'FETCH' ? $m->{bits} // 1 : $m->{type};
}

sub waits {
    my ($c, $what) = @_;
    $c->sync; # which handles all that came before
    is($t->stats->{fetches_running}, $what->[0], $what->[1]);
    return;
}

sub none {
    my ($c, $state, @places) = @_;
    $c->send(NONE => ticket => 1, state => $state, text => 'why', places => \@places,
        ttl => [ 3600, 3600, 3600 ]);
    return;
}

sub ingest {
    my ($c, $path, @places) = @_;
    $c->send(INGEST => ticket => 1, path => $path, places => \@places, ttl => [ 3600, 3600, 3600 ]);
    return;
}

sub body {
    my ($name, %how) = @_;
    return $t->file('body' . ++$n, sym_text($name, $ID, lines => 1, %how));
}

sub poor {
    my ($name) = @_;
    return $t->file('poor' . ++$n, "MODULE Linux x86_64 $ID $name\nPUBLIC 1000 0 poor\n");
}

# --- one describes the object by a name and an id, the other by all it knows ---

for my $case (['a file', $READ], ['no file', $ABSENT]) {
    my ($what, $outcome) = @$case;
    my ($a, $b) = map { $t->client } 1 .. 2;
    my $name = 'one' . ++$n;
    my $before = $t->stats->{elections};

    ensure($a, "$name/$ID", %mozilla);
    is(fetch($a), 1, "$what: the first search has the common place");
    ensure($b, "$name/$ID", %sentry);
    waits($b, [1, '... and the other waits']);
    is($t->stats->{lease_bytes}, 1 << 20, '... without a lease');
    if ($outcome == $READ) {
        ingest($a, body($name), [ 0, $READ, 200 ]);
        is($_->recv->{type}, 'READY', '... both get it') for $a, $b;
        is($t->stats->{elections} - $before, 1, '... after one FETCH');
    } else {
        none($a, 2, [ 0, $ABSENT, 404 ]);
        is($a->recv->{type}, 'NEGATIVE', '... the first search ends');
        is(fetch($b), $ALL & ~$SYM, '... the other tries all other places');
        none($b, 2, map { [ $_, $ABSENT, 404 ] } 1 .. 4);
        is($b->recv->{state}, 2, '... and ends');
    }
}

# --- the search for all places has the common place second ---

{
    my ($a, $b) = map { $t->client } 1 .. 2;
    ensure($a, "two.so/$ID", %mozilla);
    is(fetch($a), 1, 'the first search has the second place of another');
    ensure($b, "two.so/$ID", %any);
    is(fetch($b), $FIRST_CODE, '... which tries those before');
    none($b, 2, [ 0, $ABSENT, 404 ]);
    waits($b, [1, '... and waits then']);
    none($a, 3, [ 0, $FAILED, 503 ]);
    is($a->recv->{state}, 3, 'the common place fails');
    is(fetch($b), $ALL & ~$FIRST_CODE & ~$FIRST_SYM, '... so the other goes on after it');
    none($b, 2, map { [ $_, $ABSENT, 404 ] } 2 .. 4);
    is($b->recv->{state}, 3, '... and has failed');
}

# --- the owner is lost ---

{
    my ($a, $b) = map { $t->client } 1 .. 2;
    ensure($a, "three.so/$ID", %sentry);
    is(fetch($a), $ALL, 'the first search owns all places');
    ensure($b, "three.so/$ID", %mozilla);
    waits($b, [1, '... so the other waits']);
    $a->close;
    is(fetch($b), 1, 'killed before the first byte: the other goes on');
    none($b, 2, [ 0, $ABSENT, 404 ]);
    is($b->recv->{type}, 'NEGATIVE', '... and ends');

    my ($c, $d) = map { $t->client } 1 .. 2;
    ensure($c, "four.so/$ID", %sentry);
    is(fetch($c), $ALL, 'the first search owns all places');
    ensure($d, "four.so/$ID", %any);
    waits($d, [1, '... so the other waits']);
    ingest($c, $t->file('bad', "garbage\n"), [ 0, $READ, 200 ]);
    my @tried = (fetch($c), fetch($d));
    is($tried[0] & $tried[1], 0, 'after a file that cannot be read each place has one owner');
    is($tried[1] & $FIRST_SYM, 0, '... and that file is not fetched again');
    $c->close;
    none($d, 2, map { [ $_, $ABSENT, 404 ] } grep { $tried[1] >> $_ & 1 } 0 .. 4);
    if ($tried[1] != ($ALL & ~$FIRST_SYM)) {
        my $rest = fetch($d);
        is($rest & $FIRST_SYM, 0, 'killed between places: the other tries the rest');
        none($d, 2, map { [ $_, $ABSENT, 404 ] } grep { $rest >> $_ & 1 } 0 .. 4);
    }
    is($d->recv->{state}, 4, '... and ends: malformed');

    my ($e, $f) = map { $t->client } 1 .. 2;
    ensure($e, "five.so/$ID", %sentry);
    is(fetch($e), $ALL, 'the first search owns all places');
    ensure($f, "five.so/$ID", %mozilla);
    waits($f, [1, '... so the other waits']);
    ingest($e, body('five.so'), [ 0, $READ, 200 ]);
    $e->close;
    is($f->recv->{type}, 'READY', 'killed after INGEST: the other has the file');
}

# --- plans that cross ---

{
    my ($a, $b) = map { $t->client } 1 .. 2;
    my (%asked, @open);

    ensure($a, "six.so/$ID", %sentry);
    is(my $first = fetch($a), $ALL, 'a search from .sym to the code file');
    ensure($b, "six.so/$ID", %any);
    my %numbers = (    # of .sym, file, cabinet, debug file, code file
        $a->{name} => [0 .. 4],
        $b->{name} => [1, 2, 3, 4, 0],
    );

    # no file can be read
    my %ends;
    my @turns = ([$a, $first]);
    my $until = time + 60;
    while (keys %ends < 2 && time < $until) {
        while (my $turn = shift @turns) {
            my ($c, $bits) = @$turn;
            my ($place) = grep { $bits >> $_ & 1 } 0 .. 4;
            my ($what) = grep { $numbers{ $c->{name} }[$_] == $place } 0 .. 4;
            $asked{$what}++;
            ingest($c, $t->file('bad' . ++$n, "garbage $n\n"), [ $place, $READ, 200 ]);
        }
        for my $c (grep { !$ends{ $_->{name} } } $a, $b) {
            my $m = $c->recv(0.01);
            push @turns, [$c, $m->{bits} // 1] if $m->{type} eq 'FETCH';
            $ends{ $c->{name} } = $m if $m->{type} eq 'NEGATIVE';
        }
    }
    is_deeply([ map { $_->{state} } values %ends ], [4, 4], 'both end: no file can be read');
    is_deeply(\%asked, { map { $_ => 1 } 0 .. 4 }, '... and each place was tried once');
}

# --- a poor file and a good one, from two searches ---

for my $case (['poor last', 0], ['good last', 1]) {
    my ($what, $is_good_last) = @$case;
    my ($a, $b) = map { $t->client } 1 .. 2;
    my $name = 'seven' . ++$n;

    ensure($a, "$name/$ID", %mozilla);
    is(fetch($a), 1, "$what: one search has the .sym file");
    ensure($b, "$name/$ID", %any);
    is(fetch($b), $FIRST_CODE, '... the other the executable');
    my @files = ([$a, poor($name), 0], [$b, body($name), 0]);
    for my $file ($is_good_last ? @files : reverse @files) {
        my ($c, $path, $place) = @$file;
        ingest($c, $path, [ $place, $READ, 200 ]);
        if ($c == $a) {
            is($a->recv->{type}, 'READY', '... the .sym file is stored');
        } elsif ($is_good_last) {
            my $bits = fetch($b);
            is($bits, $ALL & ~$FIRST_CODE & ~$FIRST_SYM, '... all other places are tried');
            none($b, 2, map { [ $_, $ABSENT, 404 ] } 2 .. 4);
            is($b->recv->{type}, 'READY', '... and the search ends');
        } else {
            ok($t->wait_log(qr{\Q$name\E/$ID: ready}), '... the executable is stored');
        }
    }
    if (!$is_good_last) {
        is(fetch($b), $ALL & ~$FIRST_CODE & ~$FIRST_SYM, '... all other places are tried');
        none($b, 2, map { [ $_, $ABSENT, 404 ] } 2 .. 4);
        is($b->recv->{type}, 'READY', '... and the search ends');
    }
    like($t->run('lookup', "$name/$ID", '1000')->{out}, qr{^f0\n/src/f\.c:1$}m, '... the good one stays');
}

# --- an event while a search waits ---

{
    my ($a, $b, $c) = map { $t->client } 1 .. 3;
    ensure($a, "eight.so/$ID", %mozilla);
    is(fetch($a), 1, 'the first search has the place');
    ensure($b, "eight.so/$ID", %sentry);
    waits($b, [1, '... the other waits']);
    $c->send(CHANGED => ticket => 1000, scope => 's', source => "eight.so/$ID/eight.so.sym");
    is($c->recv->{type}, 'DONE', 'the file has changed meanwhile');
    none($a, 2, [ 0, $ABSENT, 404 ]);
    is(fetch($a), 1, '... the outcome is void: the place is tried again');
    none($a, 2, [ 0, $ABSENT, 404 ]);
    is($a->recv->{type}, 'NEGATIVE', '... for both');
    is(fetch($b), $ALL & ~$SYM, '... and the other goes on after it');
}

# --- a place that stalls ---

{
    my @clients = map { $t->client } 1 .. 3;
    my $before = $t->stats;
    ensure($clients[0], "nine.so/$ID", %mozilla);
    is(fetch($clients[0]), 1, 'one search has the place, and stalls');
    ensure($clients[1], "nine.so/$ID", %sentry);
    ensure($clients[2], "nine.so/$ID", %mozilla, flags => 1);
    waits($_, [$before->{fetches_running} + 1, '... another waits']) for @clients[1, 2];
    is($t->stats->{lease_bytes} - $before->{lease_bytes}, 1 << 20, '... all without a lease');
    is($t->client->ensure(1, "ten.so/$ID", 1)->{type}, 'FETCH', 'other sources go on');
}

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');
done_testing();
