# Credentials of a request's sources are in no log, no record and no answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

my $t = SymGiven->new->start;
my $address = $t->address_of_servers;
my $n = 0;
my $said = '';

for my $status (200, 403, 404, 500, 302) {
    for my $source ($t->source('/s', headers => { 'X-Key' => 'TOPSECRET1' }),
        $t->source('/s', url => "http://user:TOPSECRET2\@$address/s?sig=TOPSECRET3"),
        { id => 's', type => 's3', bucket => 'b', region => ['us-east-1',
            "http://$address"], access_key => 'AKID', secret_key => 'TOPSECRET4',
            session_token => 'TOPSECRET5', filters => { filetypes => ['breakpad'] } },
        { id => 'g', type => 'gcs', bucket => 'b', bearer_token => 'TOPSECRET6' },
        { id => 'i', type => 'sentry', url => "http://$address/api",
            token => 'TOPSECRET7' },
        { id => 'i', type => 'sentry', url => "http://$address/api",
            cookies => 'session=TOPSECRET8' },
        $t->source('/s', url => "http://user:TOPSECRET9\@127.0.0.1:1/s?sig=TOPSECRET0"))
    {
        my $name = 'k' . ++$n . '.pdb';
        $t->route("/s/" . SymGiven::path_of($name, $n), status => $status,
            headers => { Location => '/s?sig=TOPSECRET3' }, body => 'no');
        $t->route('/api', status => $status, body => '[]');
        $said .= $t->symbolicate_in('?scope=o', [$source], [$name, $n])->{body};
    }
}
unlike($said, qr/TOPSECRET/, 'no answer has a secret');

my $bad = $t->symbolicate([{ id => 's', type => 'sentry', url => 'http://x',
    token => "TOPSECRET1\n" }], ['a.pdb', 1]);
is($bad->{status}, 422, 'a token that is invalid in a header is refused');
unlike($bad->{body}, qr/TOPSECRET/, '... without naming it');

my $listed = $t->loader->run('ls', '--json')->{out};
unlike($listed, qr/TOPSECRET/, 'no record has a secret');
is($t->end, '', 'nothing else');
unlike($t->error_log, qr/TOPSECRET/, 'no line of the error log');
unlike($t->access_log, qr/TOPSECRET/, 'nor of the access log');
unlike($t->loader_log, qr/TOPSECRET/, "nor of the loader's");
my $store = $t->store;
my $found = `grep -rlaE 'TOPSECRET|AKID' $store`;
is($found, '', 'nor is one anywhere in the store');
done_testing();
