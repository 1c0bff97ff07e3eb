#!/usr/bin/perl

# The answer about 30,000 files, of which the server has no chunk, is 10 MB.  It is written
# in slices, which count as memory of the request and are sent while others are written; no
# turn is long, and symbolicate_max_answer holds for it, too.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymMetrics qw(parse_page);
use SymUpload;

my $t = SymUpload->new(layout => 'unified', tokens => { ci => { secret => 'ci-secret' } });
my $upload = "symbolicate upload;\n" . join "\n", $t->{parts}{locations} =~ /location \/api\/0\/ \{\s+symbolicate upload;\s+(.*?)\}/s;
$t->{parts}{locations} .= <<"CONF";
        location /metrics { symbolicate_metrics; }
        location /short/api/0/ { symbolicate_max_answer 100k; $upload }
CONF
$t->start;
my ($MOST, $CHUNKS) = (30_000, 5);

my $body = '{' . join(', ', map {
    my $n = $_;
    my $chunks = join ', ', map { sprintf '"%040x"', $_ * $MOST + $n } 1 .. $CHUNKS;
    sprintf '"%040x": {"name": "lib%d.so", "debug_id": "307a5402-9480-8ec2-25f1-%012x", "chunks": [%s]}', $n, $n, $n, $chunks;
} 1 .. $MOST) . '}';

sub assemble {
    my ($where) = @_;
    return $t->request('POST', "$where/api/0/projects/o/p/files/difs/assemble/", body => $body,
        headers => [ Authorization => 'Bearer ci-secret', 'Content-Type' => 'application/json' ]);
}

my $r = assemble('');
is($r->{status}, 200, "$MOST files") or diag $r->{body};
is($r->{headers}{'content-type'}, 'application/json', '... JSON');
cmp_ok(length $r->{body}, '>', 9 << 20, '... a long answer');
is(() = $r->{body} =~ /"state": "not_found"/g, $MOST, '... about all of them');
my $last = join ', ', map { sprintf '"%040x"', $_ * $MOST + $MOST } 1 .. $CHUNKS;
like($r->{body}, qr/"missingChunks": \[$last\]\}\}\z/, '... to the last chunk');

$r = assemble('/short');
is($r->{status}, 500, 'an answer that is longer than the location allows');
like($r->{body}, qr/longer than symbolicate_max_answer/, '... and says so');

my ($value) = parse_page($t->request('GET', '/metrics')->{body});
is($value->{'turn_seconds_bucket{le=0.1}'}, $value->{turn_seconds_count}, 'no turn was long') if !SymTest::is_slow();

is($t->end, '', 'nothing is wrong');
done_testing();
