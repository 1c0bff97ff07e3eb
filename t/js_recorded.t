#!/usr/bin/perl

# Requests for JavaScript events that a real Symbolicator answered
# (../shared/fixtures/recorded/js) are sent to a real nginx, with a server that
# plays Sentry's lists of artifacts: the answers are the same, key by key.
# Refused requests have the same status.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use IO::Uncompress::Gunzip qw(gunzip);
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymServer;
use SymTools;

my $root = need_fixtures('recorded/js') . '/..';
my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!";
    local $/;
    return scalar <$in>;
}

my $port = SymServer::free_port();
my $server = SymServer->start_deaf('recorded', SymTools::path('python3'),
                                   "$root/server.py", $root, $port)->wait_port($port);

my $t = SymGiven->new(
    ttl => 'symbolicate_negative_ttl absent=1h malformed=1h failed=1h;')->start;

sub file {
    my ($name) = @_;
    my ($path) = grep { -e } ("$root/js/cases/$name", "$root/js/cases/$name.gz");
    my $text = slurp($path);
    gunzip(\$text => \my $plain) if $path =~ /\.gz$/;
    $text = $plain if $path =~ /\.gz$/;
    return $text =~ s/\@SERVER\@/127.0.0.1:$port/gr;
}

# A scraped file's URL ends with the beginning of its hour.
sub answer {
    my ($text) = @_;
    return scalar eval { $JSON->decode($text =~ s/#\d{10}"/#T"/gr) };
}

my $only = $ENV{SYM_JS_CASES} // '';
my @names = grep {/$only/} map { m{([^/]+)\.request\.json(?:\.gz)?$} } glob("$root/js/cases/*");
cmp_ok(@names, '>=', $only ? 1 : 112, 'recorded cases');

for my $round ('', ' again') {
    for my $name (@names) {
        my $want = answer(file("$name.response.json"));
        my $r = $t->request('POST', '/symbolicate-js',
            headers => ['Content-Type' => 'application/json'],
            body => file("$name.request.json"));

        if (ref $want eq 'HASH' && $want->{http_status}) {
            is($r->{status}, $want->{http_status}, "$name$round: the status");
            next;
        }
        is($r->{status}, 200, "$name$round") or diag($r->{body});
        is_deeply(answer($r->{body}), $want, "$name$round: the answer");
    }
}

is($t->end, '', 'a clean log');
done_testing();
