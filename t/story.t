# The view of an operator: a module that only S3 has is answered; S3 goes away,
# and another module is a failure with its reason; S3 is back, and the module is
# answered as soon as failures may be retried; metrics and explain report all of
# it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use SymFetch;
use SymLoader qw(sym_text);
use SymS3;
use Test::More;
use Time::HiRes qw(time);

my $s3 = SymS3->new->start;
my $address = $s3->address;

$s3->bucket('symbols', public => 1);

my $t = SymFetch->new(
    how => 'symbolicate_admin on; symbolicate_source s3 uri=/s3/; '
        . 'symbolicate_negative_ttl failed=2s;',
    sources => "        location /s3/ { internal; "
        . "proxy_pass http://$address/symbols/v1/; }\n"
        . "        location = /metrics { symbolicate_metrics; }\n")->start;

my @first = ('first.so', SymFetch::id(1));
my @second = ('second.so', SymFetch::id(2));

for ([ \@first, 'one' ], [ \@second, 'two' ]) {
    my ($module, $function) = @$_;

    $s3->put('symbols', 'v1/' . SymFetch::path(@$module),
             \sym_text(@$module, prefix => $function));
}

sub metric {
    my ($name) = @_;
    my ($value) = $t->request('GET', '/metrics')->{body} =~ /^\Q$name\E ([0-9.e+]+)$/m;
    return $value;
}

sub explanation {
    my (@module) = @_;
    return JSON::PP::decode_json(
        $t->request('GET', '/symbolicate/explain/' . join '/', @module)->{body});
}

my $r = $t->ask([@first]);
is($r->{status}, 200, 'a module that only S3 has: 200');
like($t->function($r, 0), qr/^one/, '... with its function');
is(metric('symbolicate_fetches_total{source="s3",outcome="found"}'), 1,
   '... one download');
is(explanation(@first)->{state}, 'ready', '... explained as ready');

$s3->stop;
$r = $t->ask([@second]);
is($r->{status}, 503, 'S3 is away: 503 for another module');
like($t->reasons($r)->{ join '/', @second }, qr/source "s3": no connection/,
     '... with the reason');
like($r->{headers}{'retry-after'}, qr/^[1-3]$/, '... and when to retry');
is(metric('symbolicate_fetches_total{source="s3",outcome="failed"}'), 1,
   '... counted');
my $why;
$t->wait_for(sub {
    $why = explanation(@second);
    # its lifetime is over: it fails again
    return $why->{state} eq 'failed' || ($t->ask([@second]) && 0);
}, 'a failure that is remembered');
is($why->{state}, 'failed', '... explained as failed');
like($why->{reason}, qr/no connection/, '... with the reason');
is($t->ask([@first])->{status}, 200, 'stored modules are answered');

$s3->start;

# the lifetime, a quarter more at most, and some for a busy machine
my $patience = time + $SymTest::PATIENCE;
do {
    select undef, undef, undef, 0.1;
    $r = $t->ask([@second]);
} while ($r->{status} == 503 && time < $patience);

is($r->{status}, 200, 'S3 is back: 200 by itself');
like($t->function($r, 0), qr/^two/, '... with its function');
is(metric('symbolicate_fetches_total{source="s3",outcome="found"}'), 2,
   '... with another download');
is(explanation(@second)->{state}, 'ready', '... explained as ready');

is($t->end, '', 'the logs have no other error');
done_testing();
