#!/usr/bin/perl

# sentry-cli asks for all files of a run in one request, and again for those that are not
# complete.  A run may have 30,000 files; a larger one is refused as a whole.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Digest::SHA qw(sha1_hex);
use JSON::PP ();
use SymLoader qw(sym_text);
use SymUpload;

my $t = SymUpload->new(layout => 'unified', tokens => { ci => { secret => 'ci-secret' } })->start;
my @auth = (Authorization => 'Bearer ci-secret');
my $MOST = 30_000;

# the files are named by the test, so it needs no symbols for most of them
sub request {
    my ($n, %more) = @_;
    my $text = join ', ', (map { sprintf '"%040x": {"name": "lib%d.so", "debug_id": "307a5402-9480-8ec2-25f1-%012x", '
            . '"chunks": ["%040x"]}', $_, $_, $_, $_ + 1_000_000 } 1 .. $n),
        map { qq("$_": ) . JSON::PP::encode_json($more{$_}) } sort keys %more;
    return "{$text}";
}

sub assemble {
    my ($body) = @_;
    my $r = $t->request('POST', '/api/0/projects/o/p/files/difs/assemble/', body => $body,
        headers => [ @auth, 'Content-Type' => 'application/json' ]);
    return ($r->{status}, $r->{body} =~ /^\{"error/ ? JSON::PP::decode_json($r->{body}) : $r->{body});
}

# five files of three chunks that the server has, among all others
my $CHUNK = 16;
my (%file, %chunk);
for my $n (1 .. 5) {
    my $text = sym_text("app$n", SymFolder::id($n), prefix => "app$n");
    my @parts = unpack "(a$CHUNK)*", $text;
    $chunk{ sha1_hex($_) } = $_ for @parts;
    $file{ sha1_hex($text) } = { name => "app$n.sym", chunks => [ map { sha1_hex($_) } @parts ] };
}
my $form = join '', map { "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"$_\"\r\n"
        . "Content-Type: application/octet-stream\r\n\r\n$chunk{$_}\r\n" } sort keys %chunk;
is($t->request('POST', '/api/0/organizations/o/chunk-upload/', body => "$form--B--\r\n",
    headers => [ @auth, 'Content-Type' => 'multipart/form-data; boundary=B' ])->{status}, 200, 'chunks of 16 bytes');

my ($status, $answer) = assemble(request($MOST - 5, %file));
is($status, 200, "$MOST files in one request");
for (1, 2, $MOST - 5) {
    my ($sum, $chunk) = map { sprintf '%040x', $_ } $_, $_ + 1_000_000;
    like($answer, qr/"$sum": \{"state": "not_found", "detail": null, "missingChunks": \["$chunk"\]\}/, "... file $_ has no chunks");
}
is(() = $answer =~ /"state": "not_found"/g, $MOST - 5, '... all of them are answered');
like($answer, qr/"$_": \{"state": "ok"/, "... $file{$_}{name} is assembled") for sort keys %file;
like($t->function($t->ask(["app$_", SymFolder::id($_)])), qr/^app$_/, "... and app$_ answers") for 1 .. 5;

($status, $answer) = assemble(request($MOST + 1));
is_deeply([ $status, $answer ], [ 400, { error => "more than $MOST files in one request" } ], 'one more than that');

# bodies that end, or go on, where they must not
my $good = request(3);
for my $bad (substr($good, 0, -1), substr($good, 0, -5), "$good}", "$good {}", $good =~ s/, "/,, "/r, $good =~ s/\}$/,}/r,
    $good =~ s/: /; /r, $good =~ s/"chunks": \[/"chunks": [[/r, ' ', '{,}', '{"a"', '{"' . 'a' x 100_000 . '": {}}') {
    ($status, $answer) = assemble($bad);
    is_deeply([ $status, ref $answer ], [ 400, 'HASH' ], '400: ... ' . substr $bad, -20);
}
is((assemble(' {  } '))[1], '{}', 'no file at all');
is((assemble("\n" . $good =~ s/([,:])/ $1\n /gr . "\n"))[0], 200, 'white space');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
