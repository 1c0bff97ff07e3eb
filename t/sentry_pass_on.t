#!/usr/bin/perl

# Requests that are not served here are passed to a Symbolicator behind the same
# address, by the locations in docs/use/sentry.md; ids of both are answered.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymTest;

my $ID = '0b8cb7b1-6b3f-4c0e-9d6a-5f0f7f1f2f3f';
my ($recipe) = SymTest::slurp(SymTest->root . '/docs/use/sentry.md')
    =~ /^## Other events\n.*?^```nginx\n(.*?)^```/ms or die 'no recipe';
my $given = $recipe =~ s{http://symbolicator:3021;}{http://unix:%%DIR%%/symbolicator:;}g;
is($given, 2, 'the recipe names the server twice');

my $t = SymTest->new->load_fixtures;
$t->conf(http => <<"HTTP", locations => <<"CONF")->start;
    server {
        listen unix:%%DIR%%/symbolicator;
        location = /symbolicate-any { return 200 "a crash"; }
        location = /symbolicate-js { return 200 "JavaScript"; }
        location = /requests/$ID { return 200 "theirs, \$args"; }
        location / { return 404; }
    }
HTTP
        location / { symbolicate sentry; }
        $recipe
CONF

is($t->request('POST', '/symbolicate-any', body => 'MDMP')->{body}, 'a crash',
    'an event by URL is passed on');
is($t->request('GET', "/requests/$ID?timeout=5")->{body}, 'theirs, timeout=5',
    'an id of Symbolicator');

my $body = $t->json({ modules => [], stacktraces => [ { frames => [ { instruction_addr => '0x1' } ] } ] });
my @json = (body => $body, headers => ['Content-Type' => 'application/json']);
my $r = $t->request('POST', '/symbolicate?timeout=0', @json);
is($r->{json}{status}, 'pending', 'an event is accepted here');
my $id = $r->{json}{request_id};
$r = $t->request('GET', "/requests/$id?timeout=60");
is($r->{status}, 200, '... and its id is known');
is($r->{json}{status}, 'completed', '... with its result');
is($t->request('GET', '/requests/00000000-0000-4000-8000-000000000000')->{status}, 404,
    'an unknown id');
is($t->request('GET', "/own/requests/$id")->{status}, 404,
    'no other path is passed on');

is($t->stop->log_trouble, '', 'nothing is wrong');
done_testing();
