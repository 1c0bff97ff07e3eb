#!/usr/bin/perl

# A bucket that refuses a write for a moment is asked again with the same request,
# whatever other uploads said to nginx in the meantime.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymS3;
use SymLoader qw(sym_text);
use SymUpload;

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
my $t = SymUpload->new(tokens => { ci => { secret => 'secret' } }, s3 => $s3)->start;
my $n = 0;

sub statuses {
    my ($name) = @_;
    return map { $_->{status} } grep { $_->{method} eq 'PUT' && $_->{url} =~ m{/\Q$name\E/} } $s3->log;
}

for my $name ('m', 'a_module_of_a_longer_name') {
    my $id = SymFolder::id(++$n);
    my $text = sym_text($name, $id, prefix => 'slow');
    $s3->forget->fault(method => 'PUT', url => "/$name/", code => 'SlowDown');
    my $s = $t->connect;
    $t->send_all($s, "POST /upload/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n"
        . 'Content-Length: ' . length($text) . "\r\n\r\n$text");
    $t->wait_for(sub { grep { $_ } statuses($name) }, 'the bucket has refused it');

    # others come and go before the next try
    for my $other (map { 'x' x $_ } 1 .. 12) {
        my $r = $t->post('/upload/', sym_text($other, SymFolder::id(++$n), prefix => 'fast'),
            Authorization => 'Bearer secret');
        is($r->{status}, 201, 'another upload') or diag $r->{body};
    }

    is($t->response($s)->{status}, 201, "$name: stored");
    close $s;
    is_deeply([ statuses($name) ], [ 503, 200 ], '... by the second try');
    like($t->function($t->ask([ $name, $id ])), qr/^slow/, '... it answers');
}

is($t->end, '', 'nothing is wrong');
$s3->stop;
done_testing();
