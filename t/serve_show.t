#!/usr/bin/perl

# Why is a module absent?  An operator sees its state, the reason, until when it
# is valid, and the attempts to get it; text sent by a worker never reaches a
# terminal unescaped.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::Local qw(timegm);

use SymLoader qw(sym_text json_lines);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new->serve('--jobs', 1);
my $c = $t->client;
my $n = 0;

sub none {
    my ($name, %fields) = @_;

    $c->ensure(++$n, "$name/$ID", 1);
    $c->send(NONE => ticket => $n, ttl => [ 3600, 86400, 1 ], %fields);
    is($c->recv->{type}, 'NEGATIVE', "$name: NEGATIVE");
}

sub shown { return (json_lines($t->run('show', '--json', "$_[0]/$ID")->{out}))[0] }
sub listed {
    my ($name) = @_;
    return (grep { $_->{name} eq $name } json_lines($t->run('ls', '--json')->{out}))[0];
}

sub seconds {
    my ($y, $mon, $d, $h, $min, $s) =
        $_[0] =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)Z$/ or return -1;
    return timegm($s, $min, $h, $d, $mon - 1, $y);
}

# --- absent, after two sources ---

my $before = time;
none('gone.so', state => 2, text => 'no source has it',
     attempts => "s3 404 231 12 http://s3/sym/gone.so/x y.sym\n"
               . "folder refused 0 0 /sym/gone.so\n");
my $after = time;

my $m = shown('gone.so');
is($m->{state}, 'absent', 'show: state');
is($m->{reason}, 'no source has it', '... reason');
ok($m->{expires_at} >= $before + 3600 && $m->{expires_at} <= $after + 3600,
   '... when it expires');
is_deeply($m->{attempts},
          [ { source => 's3', status => '404', bytes => 231, ms => 12,
              url => 'http://s3/sym/gone.so/x y.sym' },
            { source => 'folder', status => 'refused', bytes => 0, ms => 0,
              url => '/sym/gone.so' } ], '... what was tried');

my $text = $t->run('show', "gone.so/$ID")->{out};
like($text, qr/^state +absent$/m, 'show as text: state');
like($text, qr/^reason +no source has it$/m, '... reason');
my ($expires) = $text =~ /^expires +(\S+)$/m;
is(seconds($expires), $m->{expires_at}, '... when it expires');
like($text,
     qr{^attempt +s3: 404, 231 bytes, 12 ms, http://s3/sym/gone\.so/x y\.sym$}m,
     '... what was tried first');
like($text, qr{^attempt +folder: refused, 0 bytes, 0 ms, /sym/gone\.so$}m,
     '... and then');

my $l = listed('gone.so');
is_deeply([ @$l{qw(state reason expires_at)} ],
          [ @$m{qw(state reason expires_at)} ], 'ls has the same facts');
like($t->run('ls')->{out},
     qr{^absent .* gone\.so/$ID  \(until \Q$expires\E: no source has it\)$}m,
     '... as text');

# --- a negative that has expired ---

none('down.so', state => 3, text => 'refused', attempts => '');
$m = shown('down.so');
is($m->{state}, 'failed', 'failed');
is_deeply($m->{attempts}, [], '... with nothing tried');

# only the clock causes this
my $end = time + 60;
$text = '';
$text = $t->run('show', "down.so/$ID")->{out}
    while $text !~ /expired/ && time < $end;
like($text, qr/^expires +\S+ \(has expired\)$/m,
    'show says that it has expired');
like($t->run('ls')->{out}, qr{down\.so/$ID  \(expired \S+: refused\)$}m,
     '... and so does ls');

# --- invalid attempts, and a module that finally arrived ---

none('odd.so', state => 2, text => "a\e[31mb",
     attempts => "\e[2Jx\n\n s y -1 99999999999999999999999 \nlast 200");
$text = $t->run('show', "odd.so/$ID")->{out};
unlike($text, qr/[\x00-\x09\x0b-\x1f]/, 'no control character is printed');
is(scalar(() = $text =~ /^attempt /mg), 4, '... and each line is there');
is_deeply(shown('odd.so')->{attempts}[3],
          { source => 'last', status => '200', bytes => 0, ms => 0, url => '' },
          'missing fields are empty');

$c->ensure(++$n, "here.so/$ID", 1);
$c->send(INGEST => ticket => $n, ttl => [ 1, 1, 1 ], source => 'http://s3/here',
         path => $t->file('here', sym_text('here.so', $ID)),
         attempts => "s3 200 300 4 http://s3/here\n");
is($c->recv->{type}, 'READY', 'a module that was fetched');
$m = shown('here.so');
is($m->{attempts}[0]{status}, '200', '... has its attempts, too');
ok(!exists $m->{reason} && !exists $m->{expires_at}, '... and no reason');

is($t->stop->{code}, 0, 'a clean end');
done_testing();
