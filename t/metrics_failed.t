# A module whose fetch failed counts as failed in the metrics, even if the store
# has no record of it and the request is answered without it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $t = SymFetch->new(how => 'symbolicate_on_failure partial;',
    sources => <<'SOURCES')->start;
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /metrics { symbolicate_metrics; }
SOURCES

sub modules {
    my ($outcome) = @_;
    my ($n) = $t->request('GET', '/metrics')->{body}
        =~ /^symbolicate_modules_total\{outcome="$outcome"\} (\d+)$/m;
    return $n;
}

my @module = ('m.so', SymFetch::id(1));
$t->loader_stop;
my $r = $t->ask([@module]);
is($r->{status}, 200, 'no loader: answered without the module');
is($t->found($r, @module), 0, '... false');
is(modules('failed'), 1, '... which counts as failed');
is(modules('absent'), 0, '... not as absent');

$t->loader_start;
$t->fault->script('src', 'status/500');
$t->wait_for(sub { $t->loader_log =~ /listening/ && $t->ask([@module])
    && $t->fault->count }, 'the source gets a request');
my ($failed, $absent) = (modules('failed'), modules('absent'));
$r = $t->ask([@module]);
is(modules('failed') - $failed, 1, 'a source that fails: counts as failed');
is(modules('absent') - $absent, 0, '... not as absent');

is($t->end, '', 'nothing is wrong');

done_testing();
