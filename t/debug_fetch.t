# The debug block lists each module that a request waited for: the bytes of its
# file and the time that it took, or the time waited in vain.  A single total
# does not show which module is slow.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;
use Time::HiRes qw(sleep time);

my $WAIT = 0.3;
my @app = ('app.so', SymFetch::id(1));
my @never = ('never.so', SymFetch::id(2));
my @stored = ('stored.so', SymFetch::id(3));
my @late = ('late.so', SymFetch::id(4));
my @odd = ('odd.so', lc sprintf('%032X1', 0xabcdef));

my $t = SymFetch->new->start;
$t->upload(@$_) for \@app, \@stored, \@late, \@odd;
$t->ask([@stored]);

sub size_of {
    return -s $t->fault->folder . '/' . SymFetch::path(@_);
}

sub downloads_of {
    my ($r) = @_;
    is($r->{status}, 200, 'answered');
    return $r->{json}{debug}{downloads};
}

# All modules wait for the same gate, whether they exist or not.
$t->fault->script('src', 'gate/g/ok');
my $began = time;
my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
    body => $t->question([@stored], [@app], [@never]),
    headers => [Debug => 1]));
$t->fault->wait('/as/src/' . SymFetch::path(@$_), count => 1)
    for \@app, \@never;
sleep $WAIT;
$t->fault->open_gate('g');
my $r = $t->response($socket);
my $took = time - $began;

my $downloads = downloads_of($r);
is($downloads->{count}, 1, 'one came');
is($downloads->{size}, size_of(@app), '... with its size');
is_deeply($downloads->{size_per_module}, { join('/', @app) => size_of(@app) },
    '... which the block reports');

for (['time_per_module', 'what came', @app],
    ['fail_time_per_module', 'a module that did not arrive', @never])
{
    my ($key, $what, @module) = @$_;
    my $times = $downloads->{$key};
    is_deeply([keys %$times], [join '/', @module], "$key: $what");
    my ($seconds) = values %$times;
    cmp_ok($seconds, '>=', $WAIT - 0.05, '... was waited for');
    cmp_ok($seconds, '<=', $took + 0.05, '... not longer than the request took');
}

# the order of today's server
like($r->{body}, qr/"downloads":\ \{"count":\ 1,
    \ "size_per_module":\ \{[^}]+\},\ "time_per_module":\ \{[^}]+\},
    \ "fail_time_per_module":\ \{[^}]+\},\ "size":\ \d+,\ "time":/x,
    'count, the maps, size, time');

# not in time: waited in vain, for as long as the request could
$t->fault->script('src', 'gate/h/ok');
$downloads = downloads_of($t->ask_with(
    [Debug => 1, 'X-Symbolicate-Budget' => '300ms'], [@late]));
is_deeply([sort keys %$downloads], [qw(count fail_time_per_module size time)],
    'not in time: the other maps are absent');
cmp_ok($downloads->{fail_time_per_module}{join '/', @late}, '>=', 0.25,
    '... and this one says for how long');
$t->fault->open_gate('h');

# the file's path has an id in a spelling that is not canonical
$t->fault->script('src', 'ok');
$downloads = downloads_of($t->ask_with([Debug => 1], [@odd]));
is_deeply($downloads->{size_per_module}, { join('/', @odd) => size_of(@odd) },
    'under the id as it was sent');

$downloads = downloads_of($t->ask_with([Debug => 1], [@app], [@stored]));
is_deeply($downloads, { count => 0, size => 0, time => 0 },
    'nothing was waited for: no maps');

is($t->end, '', 'nothing is wrong');

done_testing();
