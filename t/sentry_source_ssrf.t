# A request must not make the server connect to hosts that only the server can
# reach: with a literal address in any spelling, a name, a name whose address
# changes, or a redirect.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

# 127.0.0.2 is allowed, as if it were a public address; 127.0.0.1 is not
my $t = SymGiven->new(allow => 'allow=127.0.0.2/32')->start;
my $port = $t->{ports}{port};
my $n = 0;

sub ask {
    my ($host, %o) = @_;
    my $name = 'x' . ++$n . '.pdb';
    $t->forget->symbols('/s', $name, $n);
    my $r = $t->symbolicate([$t->source('/s', url => "http://$host/s", %o)],
        [$name, $n]);
    return ($r, $t->requests);
}

sub details_of {
    my ($r) = @_;
    my @details = grep { defined } map { $_->{download}{details} }
        @{$r->{json}{modules}[0]{candidates}};
    return @details ? @details : 'no details';
}

sub reached {
    my ($host, $what) = @_;
    my ($r, @seen) = ask($host);
    is($t->function_of($r, 0), 'f0', "$what is asked");
    is($seen[0]{address}, '127.0.0.2', '... at the allowed address');
    return;
}

sub refused {
    my ($host, $what) = @_;
    my ($r, @seen) = ask($host);
    is($r->{status}, 200, "$what: answered") or diag $r->{body};
    is($t->status_of($r, 0), 'fetching_failed', '... fetching_failed');
    is(scalar(@seen), 0, '... and no request was sent');
    # from Symbolicator's tests/integration/e2e.rs
    like($_, qr/^download failed: destination is restricted$/, '... says why')
        for $host =~ /^gone/ ? () : details_of($r);
    return;
}

reached("127.0.0.2:$port", 'an allowed address');
reached("0x7f000002:$port", '... in another spelling');

refused("$_:$port", "literal $_")
    for qw(127.0.0.1 127.1 2130706433 0177.0.0.1 0x7f000001 0x7f.1 017700000001
           0 0.0.0.0 127.0.0.1. [::1] [::] [::ffff:127.0.0.1] [::127.0.0.1]
           [64:ff9b::7f00:1] [2002:7f00:1::] 10.0.0.1 192.168.1.1 172.16.0.1
           169.254.169.254 100.64.0.1 224.0.0.1 255.255.255.255 [fd00:ec2::254]
           [fe80::1]);

# --- names ---

$t->names('good.test' => [['127.0.0.2']], 'bad.test' => [['127.0.0.1']],
    'both.test' => [['127.0.0.1', '127.0.0.2']],
    'inner.test' => [['10.1.2.3', '192.168.0.1']],
    'v6.test' => [['::1', 'fd00::1']], 'meta.test' => [['169.254.169.254']],
    'turn.test' => [['127.0.0.2'], ['127.0.0.1']], 'gone.test' => [[]]);

reached("good.test:$port", 'a name with an allowed address');
reached("both.test:$port", 'a name with one allowed address of two');
refused("$_.test:$port", "the name $_.test") for qw(bad inner v6 meta gone);
refused("bad.test.:$port", 'a name with a dot at its end');

# A name whose address changes after the check: the resolver answers once, for
# both the check and the connection.
my ($r, @seen) = ask("turn.test:$port");
is($t->function_of($r, 0), 'f0', 'a name that will change gets one request');
is($seen[0]{address}, '127.0.0.2', '... at the address that was checked');
is($t->asked->{'turn.test'}, 1, '... with one query');
sleep 2;    # nginx's resolver must not use its cache any more
refused("turn.test:$port", 'the name with its next address');

# --- redirects ---

for my $to ("http://127.0.0.1:$port/s", "http://bad.test:$port/s",
    "//127.1:$port/s", "http://2130706433:$port/s", "http://[::1]:$port/s",
    'http://169.254.169.254/latest/meta-data/', 'file:///etc/passwd',
    "http://127.0.0.2\@127.0.0.1:$port/s", "http://127.0.0.1:$port\\\@127.0.0.2/s",
    'unix:/tmp/x', "http://unix:/tmp/x")
{
    my $name = 'y' . ++$n . '.pdb';
    my $path = SymGiven::path_of($name, $n);
    $t->forget->symbols('/s', $name, $n);
    $t->route("/r/$path", status => 302, headers => { Location => "$to/$path" });
    my $got = $t->symbolicate([$t->source('/r', url => "http://127.0.0.2:$port/r")],
        [$name, $n]);
    is($t->status_of($got, 0), 'fetching_failed', "a redirect to $to");
    is(scalar(my @all = $t->requests), 1, '... is not followed');
    is((details_of($got))[0], 'download failed: destination is restricted',
        '... says why') if $to =~ m{^[^\\]*(?:127\.|169\.|bad|::1)[^\\]*$};
}

# --- requests that are refused completely ---

for my $url ('ftp://127.0.0.2/', 'http://', 'http://a b/', 'http://127.0.0.2:0/',
    'http:///x', 'unix:/tmp/x', 'http://x%2fy/')
{
    my $got = $t->symbolicate([$t->source('/s', url => $url)], ['z.pdb', 1]);
    is($got->{status}, 422, "422: $url");
    like($got->{body}, qr/sources\[0\]\.url: invalid value/, '... says which');
}
for my $headers ({ Host => 'x' }, { 'Content-Length' => '5' },
    { 'Transfer-Encoding' => 'chunked' }, { A => "b\r\nHost: c" }, { "A\n" => 'b' })
{
    my $got = $t->symbolicate([$t->source('/s', headers => $headers)], ['z.pdb', 1]);
    is($got->{status}, 422, '422: header ' . (keys %$headers)[0] =~ s/\n//r);
}

is($t->end, '', 'nothing else');
done_testing();
