#!/usr/bin/perl

# nginx is reloaded while uploads are at work, in a folder or a bucket: the old
# worker ends when their clients have their answers, and not earlier, even if the
# loader is all that it waits for.  CI jobs must not fail because of a reload.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymS3;
use SymLoader qw(sym_text);
use SymUpload;

my $n = 0;

# Sends a file of a new module; the answer is not there yet.
sub begin {
    my ($t) = @_;
    my $id = SymFolder::id(++$n);
    my $text = sym_text('m', $id, prefix => "mine$n");
    my $s = $t->connect;
    $t->send_all($s, "PUT /upload/m/$id/m.sym HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ci-secret\r\n"
        . 'Content-Length: ' . length($text) . "\r\n\r\n$text");
    return { socket => $s, id => $id, text => $text, prefix => "mine$n" };
}

sub ends {
    my ($t, $upload, $name, @old) = @_;
    my $r = $t->response($upload->{socket});
    is($r->{status}, 201, "$name: stored") or diag $r->{body};
    close $upload->{socket};
    like($t->function($t->ask([ 'm', $upload->{id} ])), qr/^$upload->{prefix}/, '... it answers');
    my %old = map { $_ => 1 } @old;
    ok($t->wait_for(sub { !grep { $old{$_} } $t->workers }, 'old workers'), '... and the old worker has ended');
    return;
}

# Stops the loader, so that the worker waits for nothing else.
sub pause { kill STOP => $_[0]->loader->pid; return }
sub resume { kill CONT => $_[0]->loader->pid; return }

# --- a folder ---

my $t = SymUpload->new->start;
my @old = $t->workers;
pause($t);
my $upload = begin($t);
$t->wait_for(sub { $t->curl($t->bearer('ci-secret'), $t->url('/upload/'))->{status} == 405 }, 'it is at work');
$t->reload;
resume($t);
ends($t, $upload, 'a folder', @old);
is($t->end, '', 'nothing is wrong');

# --- a bucket ---

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
$t = SymUpload->new(s3 => $s3)->start;

for my $how ('it takes the file', 'it is overloaded for a moment') {
    @old = $t->workers;
    $s3->forget->fault(method => 'PUT', hold => 1, $how =~ /overloaded/ ? (code => 'SlowDown') : ());
    $upload = begin($t);
    $t->wait_for(sub { grep { $_->{method} eq 'PUT' } $s3->log }, 'the bucket is asked to take it');
    $t->reload;
    pause($t);
    $s3->release;
    # the worker has the bucket's answer, and its next request comes from the loader
    $t->wait_for(sub { grep { $_->{method} eq 'PUT' && ($_->{status} // 0) == 200 } $s3->log }, 'it has');
    resume($t);
    ends($t, $upload, "a slow bucket, $how", @old);
    my $r = $s3->signed('symbols', "m/$upload->{id}/m.sym");
    is($r->{body}, $upload->{text}, '... and is in the bucket');
}

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
$s3->stop;
done_testing();
