# A gcs source requests an object from Google's JSON API, with its token.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

my $t = SymGiven->new(types => 'gcs storage=http://%%HTTP%%/')->start;

my %source = (id => 'gcs', type => 'gcs', bucket => 'sym-1', prefix => 'v1',
    bearer_token => 'ya29.token', filters => { filetypes => ['breakpad'] });
my $n = 0;

sub ask {
    my ($name, %o) = @_;
    (my $key = 'v1/' . SymGiven::path_of($name, ++$n)) =~ s{/}{%2F}g;
    $t->forget;
    $t->route("/storage/v1/b/sym-1/o/$key?alt=media",
        body => SymGiven::text_of($name, $n), %o);
    return $t->symbolicate([{ %source }], [$name, $n]);
}

my $r = ask('a.pdb');
is($t->function_of($r, 0), 'f0', 'an object') or diag $r->{body};
my ($seen) = $t->requests;
is($seen->{headers}{authorization}, 'Bearer ya29.token', '... with the token');

is($t->status_of(ask('b.pdb', status => 404), 0), 'missing', 'not found');
is($t->status_of(ask('c.pdb', status => 401), 0), 'fetching_failed', 'unauthorized');
is($t->status_of(ask('d.pdb', status => 403), 0), 'fetching_failed', 'forbidden');
is($t->status_of(ask('e.pdb', status => 503), 0), 'fetching_failed', 'unavailable');

$r = $t->symbolicate([{ %source, bearer_token => undef }], ['f.pdb', 99]);
is($r->{status}, 422, 'neither token nor key');

is($t->end, '', 'nothing else');
done_testing();
