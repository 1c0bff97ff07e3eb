#!/usr/bin/perl

# Two servers of files may be each other's sources.  Their requests end: each server adds
# an address to X-Forwarded-For, and one that finds eight commas there asks no source.
# That is the default of debuginfod (--forwarded-ttl-limit).  No source learns a client's
# address.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymLoader qw(read_file);

my $t = SymFetch->new(sources => <<'CONF')->start;
        location /away/ { internal; proxy_pass http://%%ADDRESS%%/seen/; }
        location /seen/ { return 200 "for $http_x_forwarded_for"; }
        location /files/ {
            symbolicate        files;
            symbolicate_proxy  on;
            symbolicate_source away uri=/away/ layout=debuginfod;
        }
        location /self/ { internal; proxy_pass http://%%ADDRESS%%/loop/buildid/; }
        location /loop/ {
            symbolicate        files;
            symbolicate_proxy  on files=100;
            symbolicate_source self uri=/self/ layout=debuginfod;
        }
CONF
my $path = 'buildid/' . 'ab' x 20 . '/source/src/a.c';

sub get {
    my ($where, @values) = @_;
    return $t->request('GET', "/$where/$path", headers => [ map { ('X-Forwarded-For' => $_) } @values ]);
}

sub addresses {
    my ($n) = @_;
    return join ', ', map {"10.0.0.$_"} 1 .. $n;
}

my $seen = sub { return grep {/uri=\/seen\//} split /\n/, read_file($t->dir . '/logs/access.log') };

is(get('files')->{body}, 'for unknown', 'a client: the source is told of one server');
is(get('files', addresses(1))->{body}, 'for unknown, unknown', 'a server before it: of two');
is(get('files', addresses(2), addresses(1))->{body}, 'for ' . join(', ', ('unknown') x 4),
    'two headers: of all');
is(get('files', addresses(8))->{body}, 'for ' . join(', ', ('unknown') x 9), 'seven commas');
is(scalar $seen->(), 4, 'the source was asked for each');
is(get('files', addresses(9))->{status}, 404, 'eight commas: 404');
is(get('files', addresses(5), addresses(4))->{status}, 404, '... in two headers');
is(get('files', ',' x 1000)->{status}, 404, 'a thousand commas');
is(scalar $seen->(), 4, '... the source is not asked');

# Each step of a request is tried at the next server.
is(get('loop')->{status}, 404, 'a server that is its own source: 404');
my @loop = grep {/uri=\/loop\//} split /\n/, read_file($t->dir . '/logs/access.log');
cmp_ok(scalar @loop, '>=', 9, '... it was asked again and again');
is(scalar(grep { !/code=404/ } @loop), 0, '... until one did not');

is($t->end, '', 'nothing is wrong');
done_testing();
