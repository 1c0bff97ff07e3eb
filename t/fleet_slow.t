#!/usr/bin/perl

# An artifact of the bucket that comes too slowly, or is too large for a node: the file
# itself is fetched.  The bucket is a socket of the test.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Socket::INET;
use Test::More;

use SymFleet;

my $bucket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16) or die "bucket: $!";
my $fleet = SymFleet->new(nodes => 1, how => 'symbolicate_fetch_timeout 2s;',
    shared => 'proxy_pass http://127.0.0.1:' . $bucket->sockport . '/;');
my ($node) = $fleet->nodes;
my $n = 0;

sub next_request {
    my ($method) = @_;
    while (1) {
        my $c = $bucket->accept or die "bucket: $!";
        my $head = '';
        while ($head !~ /\r\n\r\n/) {
            sysread $c, $head, 4096, length $head or last;
        }
        return $c if $head =~ /^\Q$method\E /;
    }
    return;
}

sub answers {
    my ($what, @head) = @_;
    my $id = SymFolder::id(++$n);
    $fleet->upload('a.so', $id, prefix => "f$n");
    my $asked = $node->begin([ 'a.so', $id ]);
    my $c = next_request('GET');
    $node->send_all($c, join("\r\n", 'HTTP/1.1 200 OK', @head, '', 'the begin'));
    is($node->function($node->finish($asked)), "f${n}0", "$what: the file itself is fetched");
    return;
}

answers('an artifact larger than all room', 'Content-Length: 1000000000000');
answers('an artifact that is never complete', 'Content-Length: 1000');

close $bucket;
$node->allow(qr/symbolicate_share|symbol source|upstream|client prematurely/);
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
