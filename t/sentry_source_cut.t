# The connection to a request's source breaks in the middle of a file: the rest
# is requested with the same credentials, and an invalid rest is a failure.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

my $t = SymGiven->new->start;
my $source = $t->source('', headers => { 'X-Key' => 'secret' },
    url => 'http://' . $t->fault->address . '/as/src/');
my $n = 0;

sub ask {
    my (@script) = @_;
    my $name = 'a' . ++$n . '.pdb';
    $t->fault->file(SymGiven::path_of($name, $n),
        SymGiven::text_of($name, $n, functions => 2000));
    $t->fault->script('src', map {"key/X-Key/secret/$_"} @script);
    my $r = $t->symbolicate([$source], [$name, $n]);
    is($r->{status}, 200, 'an answer');
    is($t->fault->count('/as/src/' . SymGiven::path_of($name, $n)), scalar @script,
        '... by ' . @script . ' GETs');
    return $r;
}

my $r = ask('part/5000/plain', 'part/5000/rest', 'part/all/rest');
is($t->function_of($r, 0), 'f0', 'cut twice: the file');
is($r->{json}{modules}[0]{candidates}[0]{download}{status}, 'ok', '... a sound one');

$r = ask('part/5000/plain', 'part/all/rest,far');
is($t->function_of($r, 0), undef, 'another part: no file');
is($t->status_of($r, 0), 'fetching_failed', '... a failure');

is($t->end, '', 'nothing else');
done_testing();
