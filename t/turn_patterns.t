#!/usr/bin/perl

# Patterns that are slow to match (filters.path_patterns of a request's sources)
# must not block a worker: 2 KB of gzip contain 4,096 of them, and names that
# almost match.  Nor may they cost more than their size justifies.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use Test::More;

use SymGiven;

my $t = SymGiven->new(sources => <<'CONF')->start;
        location /none {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source own uri=/own/;
        }
        location /own/ { internal; alias %%DIR%%/own/; }
        location /metrics { symbolicate_metrics; }
CONF
my ($worker) = $t->workers;

# Seconds of processor time that the worker has used.
sub spent {
    my @fields = split ' ', SymTest::slurp("/proc/$worker/stat") =~ s/^.*\) //sr;
    return ($fields[11] + $fields[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

sub body {
    my $pattern = '*' . 'a' x 60 . 'b';
    my @sources = map { $t->source("/s$_", id => "s$_",
        filters => { filetypes => ['breakpad'], path_patterns => [ ($pattern) x 64 ] }) } 1 .. 64;
    my @modules = map { { type => 'pe', debug_id => SymGiven::guid($_), image_size => 0x1000,
        image_addr => sprintf('0x%x', 0x10000 * $_),
        code_file => 'a' x 250, debug_file => 'a' x 250 } } 1 .. 8;
    return $t->json({ sources => \@sources, modules => \@modules,
        options => { dif_candidates => JSON::PP::true },
        stacktraces => [{ frames => [map { { instruction_addr => $_->{image_addr} } }
            @modules] }] });
}

my $body = body();
gzip(\$body => \my $packed, -Level => 9) or die 'gzip';
cmp_ok(length $packed, '<', 4096, 'a small request');

for my $place ('/none/symbolicate', '/symbolicate') {
    my $before = spent();
    my $r = $t->post($place, $packed, 'Content-Type' => 'application/json',
        'Content-Encoding' => 'gzip');
    is($r->{status}, 200, "$place: answered");
    is($r->{json}{modules}[$_]{debug_status}, 'fetching_failed', "... module $_")
        for 0, 7;
    cmp_ok(spent() - $before, '<', $place eq '/symbolicate' ? 2 : 0.5, '... in bounded time')
        if !SymTest::is_slow();
}

my $page = $t->request('GET', '/metrics')->{body};
my %le = $page =~ /^symbolicate_turn_seconds_bucket\{le="([^"]+)"\} (\d+)$/mg;
cmp_ok($le{'+Inf'}, '>', 0, 'turns are measured');
is($le{'0.1'}, $le{'+Inf'}, 'none was longer than 100 ms') if !SymTest::is_slow();

# patterns work as usual
$t->symbols('/good', 'good.pdb', 77);
my $good = sub {
    my ($pattern) = @_;
    return $t->status_of($t->symbolicate([$t->source('/good',
        filters => { filetypes => ['breakpad'], path_patterns => [$pattern] })],
        ['good.pdb', 77]), 0);
};
is($good->('*bad*'), 'missing', 'a pattern that does not match');
is($good->('*good*'), 'found', 'a pattern that matches');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
