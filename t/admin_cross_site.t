# A page of another site can make an operator's browser post to the admin paths,
# with the operator's address and password.  For a simple content type the
# browser asks no permission.  Such requests are refused; those of other clients
# are not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

my $t = SymFolder->new->start;

my @module = ('a.so', SymFolder::id(0xe7));
my $path = "/admin/cache/a.so/$module[1]";
my $events = '{"Records":[]}';

$t->upload(@module);
$t->ask(\@module);

sub post { return $t->post('/admin/events', $events, @_)->{status} }

for my $type ('text/plain', 'text/plain; charset=UTF-8',
    'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x',
    'application/json') {
    my @type = ('Content-Type' => $type);

    is(post(@type), 200, "$type: no browser");
    is(post(@type, 'Sec-Fetch-Site' => $_), 403, "$type, site '$_'")
        for 'cross-site', 'same-site', '';
    is(post(@type, Origin => $_), 403, "$type, origin '$_'")
        for 'https://evil.example', 'null', '', 'http://', 'localhost',
        'http://localhost.evil.example', 'http://x';
    is(post(@type, 'Sec-Fetch-Site' => $_), 200, "$type, site '$_'")
        for 'same-origin', 'none';
}

# The tests' Host is localhost.
is(post(Origin => 'http://LOCALHOST'), 200, "the server's own origin");
is(post(Origin => 'http://localhost:81'), 403, '... but not of another port');
is(post('Sec-Fetch-Site' => 'cross-site', Origin => 'http://localhost'), 403,
    'the newer header counts');

my $r = $t->request('DELETE', $path,
    headers => [Origin => 'https://evil.example']);
is($r->{status}, 403, 'DELETE, too');
like($r->{body}, qr/a page of another site sent this request/, '... says why');
is($t->request('GET', "/admin/explain/a.so/$module[1]")->{json}{state}, 'ready',
    '... and changed nothing');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
