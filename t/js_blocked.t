#!/usr/bin/perl

# A web host of scripts that refuses connections or never answers gets no
# requests for a while, as in Symbolicator: attempts of later events say so, and
# explanations give the reason.  Another host and another scope are not affected.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use IO::Select;
use IO::Socket::INET;
use SymGiven;
use SymServer;
use Test::More;

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymGiven->new(allow => 'allow=127.0.0.0/8 block=2/1m/1h', location => 'proxy_read_timeout 1s;')->start;
my $n = 0;

# Attempts for new scripts of a host, one event each.
sub scrape {
    my ($host, %o) = @_;
    my $url = "http://$host/" . ++$n . '.js';
    my $r = $t->request('POST', '/symbolicate-js' . ($o{query} // ''),
        headers => ['Content-Type' => 'application/json'],
        body => $JSON->encode({
            source => { id => 's', url => 'http://' . $t->address_of_servers . '/list', token => 't' },
            options => { explain => Cpanel::JSON::XS::true },
            stacktraces => [{ frames => [{ abs_path => $url, lineno => 1, colno => 1 }] }] }));
    my $answer = $JSON->decode($r->{body});
    is_deeply([map { $_->{type} } @{ $answer->{errors} }], ['missing_source'], "$url: the script is missing");
    is($answer->{scraping_attempts}[0]{url}, $url, '... which was attempted');
    return { %{ $answer->{scraping_attempts}[0] }, explained => $answer->{explanations} };
}

sub listener {
    my ($port) = @_;
    return IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 100, ReuseAddr => 1)
        || die "listen: $!";
}

# Connections to a listener that never reads.
sub connections {
    my ($listener) = @_;
    my $ready = IO::Select->new($listener);
    my $count = 0;
    $count++, $listener->accept->close while $ready->can_read(0);
    return $count;
}

sub blocked_text {
    my ($cause) = @_;
    return 'Host 127.0.0.1 is temporarily blocked because there were too many download failures. '
        . "It will remain blocked for a maximum of 1h. The error that triggered the block was: `$cause`.";
}

# --- a host that refuses ---

my $port = SymServer::free_port();
for my $turn (1, 2) {
    my $got = scrape("127.0.0.1:$port");
    is("$got->{status} $got->{reason}", 'failure download_error', "refused connection $turn");
    unlike($got->{details}, qr/blocked/, '... and its reason');
}

my $refused = listener($port);
my $got = scrape("127.0.0.1:$port");
is("$got->{status} $got->{reason}", 'failure download_error', 'then the host is blocked');
is($got->{details}, blocked_text('download failed: unreachable'), '... with the text of Symbolicator');
is(connections($refused), 0, '... and gets no connection');
my ($tried) = grep { $_->{by} eq 'scraping' } @{ $got->{explained} };
like("$tried->{result}: $tried->{reason}", qr/^failed: .*its host is blocked: too many downloads failed/,
    'the explanation names the block');

# --- a host that never answers ---

my $hanging = listener(0);
my $host = '127.0.0.1:' . $hanging->sockport;
for my $turn (1, 2) {
    $got = scrape($host);
    is("$got->{status} $got->{reason}", 'failure timeout', "time-out $turn");
}
is(connections($hanging), 2, '... of one connection each');
$got = scrape($host);
like($got->{details}, qr/^\QHost 127.0.0.1 is temporarily blocked\E.*`download timed out after .*`\.$/, 'a host that hangs is blocked');
is(connections($hanging), 0, '... and gets no connection');

# --- others ---

scrape($host, query => '?scope=2');
is(connections($hanging), 1, 'another scope still connects to the host');
$got = scrape($t->address_of_servers);
is("$got->{status} $got->{reason}", 'failure not_found', 'another port is another host, which gets its request');

is($t->end, '', 'nothing else');
done_testing();
