#!/usr/bin/perl

# A newer loader may read files that an older one cannot, so after an upgrade
# malformed modules are tried again, and no others.  A worker of a release with
# another protocol is refused, with an error that says what to do.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
my $other = SymServe->new(faults => 1);    # claims to be another version

$t->serve('--jobs', 1);
my $c = $t->client;
for my $name ('bad.so', 'good.so') {
    is($c->ensure(1, "$name/$ID", 1)->{type}, 'FETCH', "$name: FETCH");
    $c->send(INGEST => ticket => 1, ttl => [ 3600, 86400, 10 ],
             path => $t->file($name, $name eq 'good.so' ? sym_text($name, $ID)
                                                        : 'nonsense'));
    is($c->recv->{type}, $name eq 'good.so' ? 'READY' : 'NEGATIVE', '... told');
}
is($c->ensure(1, "gone.so/$ID", 1)->{type}, 'FETCH', 'gone.so: FETCH');
$c->send(NONE => ticket => 1, state => 2, text => 'no');
is($c->recv->{type}, 'NEGATIVE', '... told');
unlike($t->stop->{err}, qr/tried again/, 'its own report nothing');

$t->serve;
for my $version (18, 20) {
    $c = $t->client(version => $version);
    is($c->hello->{type}, 'REFUSED', "a client of version $version");
    like($c->hello->{text}, qr/speaks version 19 .*version $version: install both/,
         '... gets the reason');
}
$c = $t->client;
$c->send(ENSURE => ticket => 1, key => "bad.so/$ID");
is($c->recv->{state}, 4, 'the same version keeps the malformed one');
$t->stop;

$other->{store} = $t->store;
$other->serve('--jobs', 1);
$c = $other->client;
is($c->ensure(1, "bad.so/$ID", 1)->{type}, 'FETCH',
    '... and has it fetched again');
$c->send(ENSURE => ticket => 2, key => "gone.so/$ID");
is($c->recv->{state}, 2, 'absent modules stay absent');
$c->send(ENSURE => ticket => 3, key => "good.so/$ID");
is($c->recv->{type}, 'READY', 'ready ones stay ready');
is($other->stop->{code}, 0, 'it ends');
is($t->verify, 'sound', 'the store is sound');

# --- kinds of artifacts that this loader does not make ---

$t->serve;
$c = $t->client;
$c->send(ENSURE => ticket => 1, key => "good.so/$ID", kind => 999);
my $m = $c->recv;
is_deeply([ @{$m}{qw(type state)} ], [ 'NEGATIVE', 3 ], 'another kind: failed');
like($m->{text}, qr/no artifact of that kind/, '... and why');
$c->send(ENSURE => ticket => 1, key => "good.so/$ID");
is($c->recv->{type}, 'READY', 'no kind means symcache');
$c->send(ENSURE => ticket => 1, key => "good.so/$ID", kind => 1);
is($c->recv->{type}, 'READY', '... like its number');
$t->stop;

done_testing();
