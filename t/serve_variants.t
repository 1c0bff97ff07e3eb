# Requests for one module that select different paths: each has its own fetch
# and its own absence, and a found file ends them all.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(json_lines sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my ($A, $B) = map { $_ x 32 } 'a', 'b';
my $t = SymServe->new->serve('--jobs', 1);
my $c = $t->client;
my $other = $t->client;
$_->hello for $c, $other;

sub ensure {
    my ($client, $ticket, $name, $variant, %more) = @_;
    $client->send(ENSURE => ticket => $ticket, scope => 's', key => "$name/$ID",
        defined $variant ? (checksum => $variant) : (), %more);
    return;
}

sub none {
    my ($client, $ticket, $state) = @_;
    $client->send(NONE => ticket => $ticket, state => $state // 2, text => 'not there',
        ttl => [ 3600, 3600, 3600 ]);
    return $client->recv->{type};
}

# Paths of the module without a file.
sub listed {
    my ($name) = @_;
    return grep { ($_->{path} // '') =~ /^\Q$name\E/ } json_lines($t->run('ls', '--json')->{out});
}

# --- apart ---

ensure($c, 1, 'a.so', $A);
is($c->recv->{type}, 'FETCH', 'a variant is requested');
ensure($other, 1, 'a.so', $B);
is($other->recv->{type}, 'FETCH', '... another one, too, at the same time');
ensure($other, 2, 'a.so');
is($other->recv->{type}, 'FETCH', '... and the module itself');
is(none($c, 1), 'NEGATIVE', 'one is absent');
is(none($other, 1, 3), 'NEGATIVE', 'one has failed');

ensure($c, 3, 'a.so', $A);
is_deeply([ @{ $c->recv }{qw(type state)} ], [ 'NEGATIVE', 2 ],
    'absent for the same variant');
ensure($c, 4, 'a.so', $B);
is_deeply([ @{ $c->recv }{qw(type state)} ], [ 'NEGATIVE', 3 ],
    'failed for the same variant');

my $file = $t->file('a', sym_text('a.so', $ID));
$other->send(INGEST => ticket => 2, path => $file, source => '');
is($other->recv->{type}, 'READY', 'the module itself is ready');
for my $variant ($A, $B, undef) {
    ensure($c, 5, 'a.so', $variant);
    is($c->recv->{type}, 'READY', '... for everybody');
}

# --- a found file ends the other requests ---

ensure($c, 6, 'b.so', $A);
is($c->recv->{type}, 'FETCH', 'a variant is requested');
ensure($other, 6, 'b.so', $B);
is($other->recv->{type}, 'FETCH', '... and another');
$c->send(INGEST => ticket => 6, path => $t->file('b', sym_text('b.so', $ID)), source => '');
is($c->recv->{type}, 'READY', 'one is found');
is_deeply($other->recv, { type => 'READY', ticket => 6, flags => 0 },
    '... so the other is found, too');
$other->send(NONE => ticket => 6, state => 2, text => 'too late');

# --- all are forgotten at once; a file in flight is requested again ---

for my $variant ($A, $B, undef) {
    ensure($c, 7, 'c.so', $variant);
    is($c->recv->{type}, 'FETCH', 'asked for');
    is(none($c, 7), 'NEGATIVE', '... absent');
}
ensure($other, 8, 'c.so', 'c' x 32);
is($other->recv->{type}, 'FETCH', 'another one is in flight');
$c->send(INVALIDATE => ticket => 8, scope => 's', key => "c.so/$ID");
is_deeply([ @{ $c->recv }{qw(type flags)} ], [ 'DONE', 1 ], 'forgotten');
is_deeply([ listed('c.so') ], [], '... all of them');
$other->send(NONE => ticket => 8, state => 2, text => 'not there');
is($other->recv->{type}, 'FETCH',
    '... and the one in flight is requested again');
is(none($other, 8), 'NEGATIVE', '... then it is absent');

# --- a client that invents variants: each counts like an invented name ---

sub stat_of { return (json_lines($t->run('stat', '--json')->{out}))[0]{ $_[0] } }

my ($before, $absent) = map { stat_of($_) } 'live_bytes', 'absent';
for my $n (0 .. 199) {
    ensure($c, 100 + $n, 'd.so', sprintf '%032x', $n);
    $c->recv->{type} eq 'FETCH' or die;
    none($c, 100 + $n);
}
is(scalar(listed('d.so')), 200, 'each is recorded');
is(stat_of('absent'), $absent + 200, '... and counted');
$c->send(INVALIDATE => ticket => 9, scope => 's', key => "d.so/$ID");
is($c->recv->{type}, 'DONE', '... and is removed with the module');
cmp_ok(stat_of('live_bytes'), '<=', $before, '... with all its bytes');

is($t->stop->{code}, 0, 'the daemon ends');
is($t->verify, 'sound', 'the store is sound');
done_testing();
