#!/usr/bin/perl

# The path of a missing module: requested, fetched by the elected client,
# converted, committed, and from then on available to all clients, also after a
# restart of the daemon.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new->serve('--jobs', 1);
my $file = $t->file('body', sym_text('libfoo.so', $ID, lines => 1));

my $c = $t->client;
is_deeply($c->hello, { type => 'WELCOME', version => 19 },
    'HELLO, WELCOME');

$c->send(ENSURE => ticket => 7, key => "libfoo.so/$ID");
is_deeply($c->recv, { type => 'FETCH', ticket => 7, length => 1 << 20 },
          'a missing module: FETCH, with a lease of 1 MiB');
$c->send(INGEST => ticket => 7, path => $file, source => 'http://s/libfoo.so');
is_deeply($c->recv, { type => 'READY', ticket => 7, flags => 0 }, 'handed over: READY');

my $r = $t->run('lookup', "libfoo.so/$ID", '1000');
like($r->{out}, qr/^f0\n\/src\/f\.c:1$/m, 'the module answers');

my ($m) = SymLoader::json_lines($t->run('show', '--json',
                                        "libfoo.so/$ID")->{out});
is($m->{file}, 'http://s/libfoo.so', 'the store knows where it came from');

my $other = $t->client;
$other->send(ENSURE => ticket => 1, key => "libfoo.so/$ID");
is_deeply($other->recv, { type => 'READY', ticket => 1, flags => 0 },
          'READY at once for the next');

# The same file under another name: the requested name counts, the id must
# match.
$c->send(ENSURE => ticket => 8, key => "other.so/$ID");
is($c->recv->{type}, 'FETCH', 'requested by another name');
$c->send(INGEST => ticket => 8, path => $file, source => '');
is($c->recv->{type}, 'READY', '... stored under that');
is($t->run('lookup', "other.so/$ID", '1000')->{code}, 0, '... and found');

# A part of a file: the bytes before and after do not belong to it.
my $text = sym_text('part.so', $ID);
my $body = $t->file('parts', "before $text" . "FUNC after\n");
$c->send(ENSURE => ticket => 9, key => "part.so/$ID");
is($c->recv->{type}, 'FETCH', 'another module');
$c->send(INGEST => ticket => 9, path => $body, offset => length('before '),
         length => length($text));
is($c->recv->{type}, 'READY', 'a part of a file');

# A code id in the key has room for only 40 digits; its own field has all of
# them.
{
    my $elf = fixtures('elf/crash.debug');
    my ($code_id) = qx(eu-readelf -n $elf) =~ /Build ID: ([0-9a-f]{40})/;
    my $key = 'libcrash.so/' . uc $code_id;

    for (["${code_id}00", 'NEGATIVE'], [$code_id, 'READY']) {
        my ($asked, $answer) = @$_;

        $c->send(ENSURE => ticket => 10, key => $key, code_id => $asked);
        is($c->recv->{type}, 'FETCH', 'a module by its code id');
        $c->send(INGEST => ticket => 10, path => $elf, source => '');
        is($c->recv->{type}, $answer, '... its file: ' . $answer);
        $key = "again.$key";
    }

    $c->send(ENSURE => ticket => 11, key => "third.$key");
    is($c->recv->{type}, 'READY', '... found by the digits in the key');
}

my $stopped = $t->stop;
is($stopped->{code}, 0, 'SIGTERM ends the daemon cleanly');
like($stopped->{err}, qr/^symloader: libfoo\.so\/$ID: ready$/m,
     'the log has a line for each module');
ok(!-e $t->socket_path, 'the socket is gone');
is($t->verify, 'sound', 'the store is sound');

$t->serve;
$c = $t->client;
$c->send(ENSURE => ticket => 1, key => "libfoo.so/$ID");
is_deeply($c->recv, { type => 'READY', ticket => 1, flags => 0 },
          'READY at once after a restart');
is($t->stop('INT')->{code}, 0, 'SIGINT ends it cleanly, too');

done_testing();
