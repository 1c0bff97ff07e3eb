# A client that invents modules can neither push real ones out of the list of
# missing modules nor cost workers and loader much; names that would harm a
# spreadsheet are escaped.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

my $t = SymFolder->new(workers => 2, how => <<'CONF')->start;
            symbolicate_missing on;
            symbolicate_max_missing 0;
            symbolicate_on_failure partial;
CONF

sub page {
    my ($query) = @_;
    return $t->request('GET', "/admin/missing?$query");
}

sub json { return page('per_page=1000&' . ($_[0] // ''))->{json} // {} }

my @real = ('real.so', SymFolder::id(1));
$t->ask(\@real);
$t->wait_for(sub { grep { $_->{name} eq 'real.so' } @{json()->{modules}} },
    'a real one');

# --- thousands of invented modules ---

my $n = 0;
for (1 .. 12) {
    $t->ask(map { ['fake.so', SymFolder::id(1000 + $n++)] } 1 .. 500);
}

# Within the second of a flood some requests are not reported, so the requests
# are repeated, as real clients do.
sub ask_until {
    my ($is_so, $what, @modules) = @_;
    for (1 .. $SymTest::PATIENCE) {
        is($t->ask(@modules)->{status}, 200, "asked for: $what") if $_ == 1;
        $t->ask(@modules) if $_ > 1;
        for (1 .. 10) {
            return if $is_so->();
            select undef, undef, undef, 0.1;
        }
    }
    fail("not in the list: $what");
    return;
}

$t->wait_for(sub { json()->{missing} > 64 }, 'invented ones');
ask_until(sub {
    my ($real) = grep { $_->{name} eq 'real.so' } @{json()->{modules}};
    return $real && $real->{requests} >= 3;
}, 'the real one', \@real);
my $list = json('sort=requests');
is($list->{modules}[0]{name}, 'real.so', '... before all others');
cmp_ok($list->{counts}{evicted}, '==', 0, 'nothing was evicted');
cmp_ok($list->{missing}, '<=', 1 + 12 * 64,
    'few of 6,000 invented modules were reported');
cmp_ok((-s $t->store . '/missing'), '<', 1 << 20, 'the file is small');

# --- names ---

my @evil = (['+cmd.so', 2], ['@sum.so', 3], ['-1 x.so', 4]);
ask_until(sub { @evil == grep { !/^(?:fake|real)\.so$/ }
    map { $_->{name} } @{json()->{modules}} }, 'names that look like formulas',
    map { [$_->[0], SymFolder::id($_->[1])] } @evil);
my $r = page('format=csv');
like($r->{headers}{'content-type'}, qr{^text/csv}, 'CSV');
like($r->{body}, qr/^"'\Q$_->[0]\E",/m, "a formula is text: $_->[0]") for @evil;
my @lines = split /(?<=\n)/, $r->{body};
is(scalar(grep {/\r\n\z/} @lines), scalar @lines, 'lines end as RFC 4180 says');

$r = page('format=prometheus&per_page=40&sort=name');
like($r->{headers}{'content-type'}, qr{^text/plain; version=0\.0\.4},
    'Prometheus');
is(scalar(() = $r->{body} =~ /^symbolicate_missing_module_requests\{/mg), 40,
    'as many series as requested');
is(page('format=prometheus&per_page=101')->{status}, 400, 'not more than 100');

# --- off, and not for every client ---

is($t->request('GET', '/symbolicate/missing')->{status}, 404,
    'without symbolicate_admin: nothing');
is($t->request('POST', '/admin/missing')->{status}, 405, 'GET alone');

is($t->end, '', 'the logs are clean');
done_testing();
