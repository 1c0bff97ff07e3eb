# nginx's own limit_conn limits each client address's share of a stalled source:
# an address with hundreds of requests leaves slots for another one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $n = 0;

sub new {
    my ($http, $server) = @_;
    my $t = SymFetch->new(serve => ['--jobs', 2], how => <<"HOW", sources => <<'SOURCES')
            symbolicate_source slow uri=/slow/;
            symbolicate_fetch_timeout 5m min_rate=0;
            symbolicate_budget 30s;
            $server
HOW
        location /slow/ { internal; proxy_pass http://%%FAULT%%/as/slow/; }
SOURCES
        ->conf(http => "symbolicate_fetch_concurrency 16; $http")->start;
    $t->fault->script('slow', 'blackhole');
    return $t;
}

sub ask {
    my ($t, $from) = @_;
    my @module = ('m' . ++$n . '.so', SymFetch::id($n));
    $t->upload(@module, functions => 10);
    my $socket = $t->connect(from => $from);
    $t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
        body => $t->question(\@module)));
    return ($socket, '/as/slow/' . SymFetch::path(@module));
}

# Two hundred requests of one address.
sub crowd {
    my ($t) = @_;
    return map { (ask($t, '127.0.0.2'))[0] } 1 .. 200;
}

{
    my $t = new('', '');
    my @sockets = crowd($t);
    $t->fault->wait(undef, now => 16);
    pass('without a limit one address takes all slots');
    close $_ for @sockets;
    is($t->end, '', 'nothing is wrong');
}

{
    my $t = new('limit_conn_zone $binary_remote_addr zone=client:1m;
                 limit_conn_status 429; limit_conn_log_level info;',
        'limit_conn client 8;');
    my @sockets = crowd($t);
    is($t->response($sockets[-1])->{status}, 429, 'with limit_conn the rest is refused');
    $t->fault->wait(undef, now => 8);

    my ($socket, $path) = ask($t, '127.0.0.3');
    $t->fault->wait($path, count => 1);
    is($t->fault->count, 9, '... and another address is served at once');
    close $_ for @sockets, $socket;
    is($t->end, '', 'nothing is wrong');
}

done_testing();
