#!/usr/bin/perl

# An upload into a bucket ends what a missing module causes, as one into a folder
# does: the module leaves the list of missing ones, and the webhook hears of it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use IO::Select;
use IO::Socket::UNIX;

use SymS3;
use SymLoader qw(sym_text write_file);
use SymUpload;

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
my $t = SymUpload->new(s3 => $s3, how => <<'CONF');
            symbolicate_missing on;
            symbolicate_webhook uri=/_hook;
CONF
my $dir = $t->{dir};
$t->{parts}{server} = "symbolicate_negative_ttl absent=1h;"
    . "location = /_hook { internal; proxy_pass http://unix:$dir/hook:/in; }";
my $hook = IO::Socket::UNIX->new(Local => "$dir/hook", Listen => 16) or die $!;
chmod 0777, "$dir/hook";
$t->start;

sub listed { return grep { $_->{name} eq $_[0] } @{ $t->request('GET', '/admin/missing')->{json}{modules} } }

# The body of the next request to the hook.
sub call {
    IO::Select->new($hook)->can_read($SymTest::PATIENCE) or die 'nobody calls the webhook';
    my $c = $hook->accept;
    my ($text, $length) = ('', undef);
    while (!defined $length || length($text =~ s/.*?\r\n\r\n//sr) < $length) {
        sysread $c, $text, 65536, length $text or last;
        ($length) = $text =~ /^Content-Length: (\d+)\r\n.*\r\n\r\n/msi;
    }
    $t->send_all($c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    close $c;
    return JSON::PP->new->decode($text =~ s/.*?\r\n\r\n//sr);
}

my $id = SymFolder::id(1);
is($t->function($t->ask([ 'lost', $id ])), 'false', 'a module that the bucket does not have');
ok($t->wait_for(sub { listed('lost') }, 'it is listed'), '... is listed as missing');

# The bucket does not take it: nothing changes.
write_file("$dir/lost.sym", sym_text('lost', $id, prefix => 'found'));
sub put { return $t->curl($t->bearer('ci-secret'), '-T', "$dir/lost.sym", $t->url("/upload/lost/$id/lost.sym")) }
$s3->fault(method => 'PUT', code => 'AccessDenied');
is(put()->{status}, 503, 'an upload that fails');
is(put()->{status}, 201, '... and one that does not');
like($t->function($t->ask([ 'lost', $id ])), qr/^found/, '... it answers');
ok($t->wait_for(sub { !listed('lost') }, 'it is gone'), '... and is no longer missing');
my $told = call();
is_deeply([ map {"$_->{name} $_->{id}"} @{ $told->{modules} } ], ["lost $id"], '... the webhook is called')
    or diag explain $told;

# The store has the artifact before the bucket has the file: the module arrives with the
# file.
my @slow = ('slow', SymFolder::id(2));
my @other = ('other', SymFolder::id(3));
$t->ask(\@slow, \@other);
ok($t->wait_for(sub { listed('slow') && listed('other') }, 'they are listed'), 'two modules are missing');
$s3->forget->fault(method => 'PUT', hold => 1);
my $client = $t->connect;
$t->send_all($client, $t->request_text('PUT', "/upload/slow/$slow[1]/slow.sym",
    headers => [ Authorization => 'Bearer ci-secret' ], body => sym_text(@slow)));
$t->wait_for(sub { grep { $_->{method} eq 'PUT' } $s3->log }, 'the file is being put');
write_file("$dir/other.sym", sym_text(@other));
is($t->loader->run('load', '--quiet', "$dir/other.sym")->{code}, 0, 'one is loaded by hand');
$told = call();
is_deeply([ map { $_->{name} } @{ $told->{modules} } ], ['other'], '... the webhook hears of it, not of one that is being put');
ok(listed('slow'), '... which is still missing');
$s3->release;
is($t->response($client)->{status}, 201, 'the bucket has it');
$told = call();
is_deeply([ map { $_->{name} } @{ $told->{modules} } ], ['slow'], '... the webhook hears of it');
ok($t->wait_for(sub { !listed('slow') }, 'it is gone'), '... it is no longer missing');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
$s3->stop;
done_testing();
