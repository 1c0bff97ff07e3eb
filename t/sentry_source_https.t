# https sources of requests: the certificate must have a trusted chain, name the
# host of the URL (not the address of the connection), and be unexpired;
# `accept_invalid_certs` changes that only if the administrator has set a
# location for it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use SymGiven;
use SymLoader qw(write_file);
use SymTest;
use Test::More;

my $dir = tempdir('symtest-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $EC = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

sub openssl {
    my ($command) = @_;
    system("openssl $command >$dir/said 2>&1") == 0
        or BAIL_OUT("openssl $command: " . SymTest::slurp("$dir/said"));
    return;
}

# A root, an authority below it, and the certificates that it signs for a host.
sub signed {
    my ($name, $host, $dates) = @_;
    openssl("req -new $EC -keyout $dir/$name.key -out $dir/$name.csr -subj /CN=$host");
    write_file("$dir/ca.conf", <<"CONF");
[ca]
default_ca = it
[it]
database = $dir/index
new_certs_dir = $dir
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = of
[any]
commonName = supplied
[of]
subjectAltName = DNS:$host
CONF
    openssl("ca -batch -notext -config $dir/ca.conf -cert $dir/middle.pem"
        . " -keyfile $dir/middle.key $dates -in $dir/$name.csr -out $dir/$name.pem");
    write_file("$dir/$name.chain",
        SymTest::slurp("$dir/$name.pem") . SymTest::slurp("$dir/middle.pem"));
    return ("$dir/$name.chain", "$dir/$name.key");
}

openssl("req -x509 $EC -keyout $dir/root.key -out $dir/root.pem -subj /CN=Root -days 3650");
openssl("req -new $EC -keyout $dir/middle.key -out $dir/middle.csr -subj /CN=Middle");
write_file("$dir/middle.ext", "basicConstraints = critical,CA:TRUE\n");
openssl("x509 -req -in $dir/middle.csr -CA $dir/root.pem -CAkey $dir/root.key"
    . " -CAcreateserial -days 3650 -extfile $dir/middle.ext -out $dir/middle.pem");
write_file("$dir/index", '');
write_file("$dir/index.attr", "unique_subject = no\n");
openssl("req -x509 $EC -keyout $dir/self.key -out $dir/self.pem -subj /CN=sym.test"
    . ' -addext subjectAltName=DNS:sym.test -days 3650');

my @certificates = (
    good => [ signed('good', 'sym.test', '-days 3650') ],
    expired => [ signed('expired', 'sym.test',
            '-startdate 20200101000000Z -enddate 20200201000000Z') ],
    self => [ "$dir/self.pem", "$dir/self.key" ],
);
my @names = @certificates[ grep { $_ % 2 == 0 } 0 .. $#certificates ];
my %certificate = @certificates;

my $any = '/_any/';

sub given {
    my ($types) = @_;
    return SymGiven->new(types => $types, trusted => "$dir/root.pem",
        certificate => [ map { @{ $certificate{$_} } } @names ],
        location => 'proxy_ssl_verify_depth 2;', sources => <<"CONF")->start;
        location $any {
            internal;
            proxy_pass \$symbolicate_given_url;
            proxy_set_header Host \$symbolicate_given_host;
            proxy_ssl_name \$symbolicate_given_name;
            proxy_ssl_server_name on;
        }
CONF
}

my $n = 0;

sub ask {
    my ($t, $host, $certificate, %o) = @_;
    my %port;
    @port{@names} = @{ $t->{ports}{tls} };
    my $name = 't' . ++$n . '.pdb';
    $t->forget->symbols('/s', $name, $n);
    $t->names(map { $_ => [['127.0.0.1']] } qw(sym.test other.test));
    my $r = $t->symbolicate([ $t->source('/s', url => "https://$host:$port{$certificate}/s", %o) ],
        [ $name, $n ]);
    my @seen = $t->requests;
    return ($t->status_of($r, 0), @seen);
}

# The requests that a source receives, and whether its file is used.
sub accepted {
    my ($what, @how) = @_;
    my ($status, @seen) = ask(@how);
    is($status, 'found', "$what: found");
    is(scalar(@seen), 1, '... by one request');
    like($seen[0]{headers}{host}, qr/\A\Q$how[1]\E:\d+\z/, '... for the host of the URL');
    return;
}

sub refused {
    my ($what, @how) = @_;
    my ($status, @seen) = ask(@how);
    is($status, 'fetching_failed', "$what: fetching_failed");
    is(scalar(@seen), 0, '... and nothing was sent, credentials least of all');
    return;
}

my %headers = (headers => { 'X-Key' => 'one' });
my %lax = (%headers, accept_invalid_certs => JSON::PP::true);

my $t = given("http unverified=$any");
accepted('a good chain', $t, 'sym.test', 'good', %headers);
refused('another name', $t, 'other.test', 'good', %headers);
refused('only the address', $t, '127.0.0.1', 'good', %headers);
refused('an expired certificate', $t, 'sym.test', 'expired', %headers);
refused('a self-signed certificate', $t, 'sym.test', 'self', %headers);
accepted("lax: $_->[0]", $t, $_->[1], $_->[2], %lax)
    for [ 'a good chain', 'sym.test', 'good' ], [ 'another name', 'other.test', 'good' ],
    [ 'expired', 'sym.test', 'expired' ], [ 'signs itself', 'sym.test', 'self' ];

# a file fetched from a lax source does not exist for a strict one
my $name = 'both.pdb';
my ($port) = @{ $t->{ports}{tls} }[1];
$t->symbols('/s', $name, 99);
for my $case ([ \%lax, 'found' ], [ \%headers, 'fetching_failed' ]) {
    my $r = $t->symbolicate([ $t->source('/s', url => "https://sym.test:$port/s", %{ $case->[0] }) ],
        [ $name, 99 ]);
    is($t->status_of($r, 0), $case->[1], 'the same file: ' . $case->[1]);
}

# a redirect's certificate is checked as well
$t->forget;
my $path = SymGiven::path_of('r.pdb', 98);
$t->symbols('/moved', 'r.pdb', 98);
$t->route("/from/$path", status => 302, headers => { Location => "https://sym.test:$port/moved/$path" });
my $r = $t->symbolicate([ $t->source('/from',
    url => "https://sym.test:$t->{ports}{tls}[0]/from") ], [ 'r.pdb', 98 ]);
is($t->status_of($r, 0), 'fetching_failed', 'a redirect to an expired certificate');
is(scalar(my @all = $t->requests), 1, '... is not followed to its end');
is($t->end, '', 'nothing else');

# --- without a location for such sources ---

$t = given('http');
refused('accept_invalid_certs alone changes nothing', $t, 'sym.test', 'expired', %lax);
accepted('... and a good chain is accepted', $t, 'sym.test', 'good', %lax);
is($t->end, '', 'nothing else');

done_testing();
