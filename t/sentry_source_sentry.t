# A sentry source returns a list of a module's files, and then the file.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

my $t = SymGiven->new->start;
my $address = $t->address_of_servers;
my %source = (id => 'sentry:project', type => 'sentry',
    url => "http://$address/api/files/?org=1");

sub list {
    my ($n, @files) = @_;
    $t->route("/api/files/?org=1&debug_id=" . SymGiven::guid($n),
        body => JSON::PP::encode_json(\@files));
    return;
}

sub file {
    my ($id, $name, $n, %o) = @_;
    $t->route("/api/files/?org=1&id=$id", body => SymGiven::text_of($name, $n, %o));
    return;
}

list(1, { id => '7', symbolType => 'proguard' }, { id => '8', symbolType => 'breakpad' });
file(8, 'a.pdb', 1);
my $r = $t->symbolicate([{ %source, token => 'abc' }], ['a.pdb', 1]);
is($t->function_of($r, 0), 'f0', 'a file of Sentry') or diag $r->{body};
my @seen = $t->requests;
is_deeply([map { $_->{target} } @seen],
    [map { "/api/files/?org=1&$_" } 'debug_id=' . SymGiven::guid(1), 'id=8',
        'debug_id=' . SymGiven::guid(1)],
    'the list, then the file; the list again, since all files are compared');
is($_->{headers}{authorization}, 'Bearer abc', '... with the token') for @seen;

$t->forget;
list(2, { id => 'x/9 &', symbolType => 'breakpad' });
file('x%2F9%20%26', 'b.pdb', 2);
$r = $t->symbolicate([{ %source, cookies => 'session=1' }], ['b.pdb', 2]);
is($t->function_of($r, 0), 'f0', 'an id is encoded') or diag $r->{body};
@seen = $t->requests;
is($seen[0]{headers}{cookie}, 'session=1', '... cookies are sent');
is($seen[0]{headers}{authorization}, undef, '... and no token');

my $n = 10;
sub ended {
    my ($want, $what, %o) = @_;
    $t->forget;
    $t->route('/api/files/?org=1&debug_id=' . SymGiven::guid(++$n), %o);
    my $got = $t->symbolicate([{ %source, token => 'abc' }], ["n$n.pdb", $n]);
    is($t->status_of($got, 0), $want, $what) or diag $got->{body};
    is(scalar(my @all = $t->requests), 1, '... after one request');
    return;
}

ended('missing', 'an empty list', body => '[]');
ended('missing', 'no file of a supported type',
    body => '[{"id":"1","symbolType":"bogus"},{"id":2,"symbolType":"pdb"},3]');
ended('missing', 'no list', status => 404);
ended('fetching_failed', 'a token that is not valid', status => 401);
ended('fetching_failed', 'an error', status => 500);
ended('fetching_failed', 'no JSON', body => '[{"id":');
ended('fetching_failed', 'not a JSON list', body => '{}');
ended('fetching_failed', 'a list that is too long', body => '[' . ' ' x 300000 . ']');

is($t->end, '', 'nothing else');
done_testing();
