#!/usr/bin/perl

# A private bucket holds scripts and source maps by the paths of the web site, and
# mappings of Java by their UUIDs: requests without Sentry's `source` are answered from
# it.  nginx signs each request.  A file that the bucket lacks is missing once, and is
# found after its upload and an event.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use SymFolder;
use SymS3;
use Test::More;

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $UUID = '0c0ffee0-0000-5000-8000-000000000001';
my $SITE = 'https://example.com/static';

my $s3 = SymS3->new->start;
$s3->bucket('site');
$s3->bucket('maps');

my $t = SymFolder->new;
my $socket = $t->loader->socket_path;

sub bucket {
    my ($name) = @_;
    return <<"CONF";
        location /$name/ {
            internal;
            symbolicate_aws_sigv4 region=us-east-1 credentials=static access_key=@{[ $s3->access ]} secret_key=@{[ $s3->secret ]};
            proxy_set_header Authorization        \$symbolicate_aws_authorization;
            proxy_set_header X-Amz-Date           \$symbolicate_aws_date;
            proxy_set_header X-Amz-Content-Sha256 \$symbolicate_aws_content_sha256;
            proxy_pass http://@{[ $s3->address ]}/$name/;
        }
CONF
}

$t->conf(locations => <<"CONF" . bucket('site') . bucket('maps'));
        location /symbolicate {
            symbolicate sentry;
            symbolicate_admin on;
            symbolicate_loader unix:$socket;
            symbolicate_negative_ttl absent=1h public=1h failed=1s;
            symbolicate_source site uri=/site/ layout=site;
            symbolicate_source maps uri=/maps/ layout=unified kinds=proguard;
        }
CONF
$t->start;

sub ask {
    my ($api, $body) = @_;
    my $r = $t->request('POST', "/symbolicate-$api",
        headers => ['Content-Type' => 'application/json'], body => $JSON->encode($body));
    my $got = eval { $JSON->decode($r->{body}) } or return { function => "$r->{status} $r->{body}" };
    return { %{ $got->{stacktraces}[0]{frames}[0] }, errors => $got->{errors} };
}

sub js {
    my ($file) = @_;
    my $f = ask(js => { stacktraces => [{ frames => [
        { abs_path => "$SITE/$file", lineno => 1, colno => 14 } ] }] });
    return join ' ', map { $_ // '-' } @{$f}{qw(function abs_path lineno context_line)};
}

sub jvm {
    my $f = ask(jvm => { modules => [{ uuid => $UUID, type => 'proguard' }],
        stacktraces => [{ frames => [{ module => 'x', function => 'a', lineno => 2, index => 0 }] }] });
    return "$f->{module}.$f->{function}:$f->{lineno}";
}

# --- scripts ---

# function a(){throw 1}  tokens, from 0: column 9 is readCart, 13 is cart.ts 2:3 (ECMA-426)
my $script = "function a(){throw 1}\n//# sourceMappingURL=app.js.map\n";
my $map = $JSON->encode({ version => 3, sources => ['cart.ts'], names => ['readCart'],
    mappings => 'AAAA,SAASA,IACP', sourcesContent => ["function readCart() {\n  throw 1;\n}\n"] });

is(js('app.js'), "- $SITE/app.js 1 -", 'the bucket has nothing');
my $gets = $s3->gets;
is(js('app.js'), "- $SITE/app.js 1 -", '... which is known');
is($s3->gets, $gets, '... and costs no further request');

$s3->put('site', 'static/app.js', \$script);
$s3->put('site', 'static/app.js.map', \$map);
my $event = $JSON->encode({ Records => [ map { {
    eventName => 'ObjectCreated:Put', s3 => { bucket => { name => 'site' }, object => { key => $_ } } }
    } 'static/app.js', 'static/app.js.map' ] });
my $r = $t->request('POST', '/symbolicate/events?source=site', body => $event);
is($r->{status}, 200, 'uploaded, with an event') or diag $r->{body};
is(js('app.js'), "readCart $SITE/cart.ts 2   throw 1;", 'the original function, file and line, and its text');
is($s3->gets, $gets + 2, '... from script and map, once each');
is(js('app.js'), "readCart $SITE/cart.ts 2   throw 1;", 'again');
is($s3->gets, $gets + 2, '... from the store');

# --- mappings ---

my $hex = $UUID =~ tr/-//dr;
$s3->put('maps', substr($hex, 0, 2) . '/' . substr($hex, 2) . '/proguard',
    \"a.Main -> x:\n    1:2:void run():10:11 -> a\n");
is(jvm(), 'a.Main.run:11', 'a frame of Java, by the UUID of its mapping');

is_deeply([ grep { $_->{status} == 403 } $s3->log ], [], 'all requests were signed well');
is($t->end, '', 'a clean log');
done_testing();
