#!/usr/bin/perl

# Why is a module absent?  An operator sees its state, the reason, until when it
# is valid, and the paths where it was looked for; text sent by a worker never
# reaches a terminal unescaped.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::MD5 qw(md5_hex);
use Test::More;
use Time::Local qw(timegm);

use SymLoader qw(sym_text json_lines);
use SymServe;

my $t = SymServe->new->serve('--jobs', 1);
my $c = $t->client;
my $n = 0;

# A module of this name.
sub key { return "$_[0]/" . uc(md5_hex($_[0])) . '1' }

# At a source with two paths for the id: with the canonical one, and with that which
# is sent.
sub none {
    my ($name, %fields) = @_;

    $c->send(ENSURE => ticket => ++$n, key => "$name/" . lc((split m{/}, key($name))[1]), scope => 's3');
    is($c->recv->{bits}, 3, "$name: FETCH of two places");
    $c->send(NONE => ticket => $n, ttl => [ 3600, 86400, 1 ], %fields);
    is($c->recv->{type}, 'NEGATIVE', "$name: NEGATIVE");
    return;
}

sub shown { return (json_lines($t->run('show', '--json', key($_[0]))->{out}))[0] }
sub seconds {
    my ($y, $mon, $d, $h, $min, $s) =
        $_[0] =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)Z$/ or return -1;
    return timegm($s, $min, $h, $d, $mon - 1, $y);
}

# --- absent and failed ---

my $before = time;
none('gone.so', state => 3, places => [
    [ 0, 2, 404, '', 'not there', 'http://s3/sym/gone.so/x y.sym' ],
    [ 1, 3, 0, 'refused', 'no connection' ] ]);
my $after = time;

my $m = shown('gone.so');
is($m->{state}, 'failed', 'show: the state, failed before absent');
is($m->{reason}, 'no connection', '... reason');
is($m->{source}, 's3', '... source');
ok($m->{expires_at} >= $before && $m->{expires_at} <= $after + 2,
   '... when a path is tried again first');
my ($canonical, $sent) = @{ $m->{places} };
is_deeply([ @$canonical{qw(source path outcome reason url ms)} ],
          [ 's3', key('gone.so') . '/gone.so.sym', '404', 'not there',
            'http://s3/sym/gone.so/x y.sym', 1 ], '... the first path');
my ($listed) = grep { ($_->{path} // '') eq $canonical->{path} } json_lines($t->run('ls', '--json')->{out});
is_deeply([ @$listed{qw(source path outcome reason url file_bytes expires_at stored_at)} ],
          [ @$canonical{qw(source path outcome reason url file_bytes expires_at stored_at)} ], '... as ls has it');
ok($canonical->{expires_at} >= $before + 3600 && $canonical->{expires_at} <= $after + 3600,
   '... when it is tried again');
is_deeply([ @$sent{qw(path outcome reason url)} ],
          [ lc(key('gone.so')) . '/gone.so.sym', 'refused', 'no connection', '' ],
          '... the second');

my $text = $t->run('show', key('gone.so'))->{out};
like($text, qr/^state +failed$/m, 'show as text: state');
like($text, qr/^reason +no connection$/m, '... reason');
my ($expires) = $text =~ /^expires +(\S+)/m;
is(seconds($expires), $m->{expires_at}, '... when it is tried again');
my ($until) = $text =~
    m{^place +s3: 404, 0 bytes, 1 ms, http://s3/sym/gone\.so/x y\.sym, until (\S+): not there$}m;
is(seconds($until // ''), $canonical->{expires_at}, '... the first path');
like($text, qr{^place +s3: refused, 0 bytes, 1 ms, \Q@{[ lc key('gone.so') ]}\E/gone\.so\.sym, until \S+: no connection$}m,
    '... the second');

# --- a result that has expired ---

none('down.so', state => 3, text => 'refused');
$m = shown('down.so');
is($m->{state}, 'failed', 'failed');
is_deeply([ map {$_->{outcome}} @{ $m->{places} } ], [ ('untried') x 2 ],
    '... with nothing tried');

# only the clock causes this
my $end = time + 60;
$text = '';
$text = $t->run('show', key('down.so'))->{out}
    while $text !~ /expired/ && time < $end;
like($text, qr/^expires +\S+ \(has expired\)$/m,
    'show says that it has expired');

# --- invalid text, and a module that finally arrived ---

none('odd.so', state => 2, text => "a\e[31mb", places => [
    [ 0, 2, 404, "\e[2Jx", "b\n", "\e[31m/y" ] ]);
$text = $t->run('show', key('odd.so'))->{out};
unlike($text, qr/[\x00-\x09\x0b-\x1f]/, 'no control character is printed');
is(scalar(() = $text =~ /^place /mg), 2, '... and each path is there');

$c->ensure(++$n, key('here.so'), 1);
$c->send(INGEST => ticket => $n, ttl => [ 1, 1, 1 ], source => 'http://s3/here',
         path => $t->file('here', sym_text('here.so', (split m{/}, key('here.so'))[1])));
is($c->recv->{type}, 'READY', 'a module that was fetched');
$m = shown('here.so');
is_deeply([ map {"$_->{outcome} $_->{url}"} @{ $m->{places} } ],
    [ '200 http://s3/here' ], '... has its path, too');
ok(!exists $m->{reason} && !exists $m->{expires_at}, '... and no reason');

is($t->stop->{code}, 0, 'a clean end');
done_testing();
