#!/usr/bin/perl

# Text crash reports of Apple, which a real Symbolicator answered
# (../shared/fixtures/recorded/dumps), are sent to a real nginx: the answers are
# the same, key by key.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymTest;

my $root = need_fixtures('recorded/dumps');
my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymGiven->new(at => '/')->start;

for my $path (sort glob "$root/cases/apple-*.request.json") {
    my ($name) = $path =~ m{([^/]+)\.request\.json$};
    my $asked = $JSON->decode(SymTest::slurp($path));
    my $want = $JSON->decode(SymTest::slurp("$root/cases/$name.response.json"));
    my $r = $t->form($asked->{path}, %{ $asked->{fields} },
        $asked->{file_field} => SymTest::slurp("$root/in/$asked->{file}"));

    is($r->{status}, 200, $name) or diag $r->{body};
    is_deeply(scalar(eval { $JSON->decode($r->{body}) }), $want, "$name: the answer");
}

is($t->end, '', 'a clean log');
done_testing();
