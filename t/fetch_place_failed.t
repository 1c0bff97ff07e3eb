# A source has several paths for a module, and cannot answer at one of them.  The
# module has failed, for as long as that path; then only that path is tried again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $t = SymFetch->new(sources => <<'CONF')->start;
        location /src-symstore/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /sentry {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source symstore uri=/src-symstore/ layout=symstore;
            symbolicate_on_failure partial;
            symbolicate_negative_ttl absent=1h malformed=1h failed=1s;
        }
CONF

my $body = $t->json({
    stacktraces => [{ frames => [{ instruction_addr => '0x11004' }] }],
    options => { apply_source_context => \0 },
    modules => [{ image_addr => '0x10000', image_size => 0x8000, type => 'pe',
        debug_file => 'm.pdb', debug_id => '00000000-0000-4000-8000-0000abcdef01',
        code_file => 'm.exe', code_id => '5e0000012a000' }] });

sub status {
    my $r = $t->post('/sentry/symbolicate', $body, 'Content-Type' => 'application/json');
    return $r->{json}{modules}[0]{debug_status} // "$r->{status}: $r->{body}";
}

# Paths that were requested since the last forget(), with their numbers of GETs.
sub paths {
    my $of = $t->fault->stats->{paths};
    return { map { $_ => $of->{$_}{count} } grep { $of->{$_}{count} } keys %$of };
}

$t->fault->script('src', 'status/503', 'status/404');
is(status(), 'fetching_failed', 'the first path cannot be asked: failed');
my $paths = paths();
cmp_ok(keys %$paths, '>=', 4, 'all paths were tried: ' . keys %$paths);
is_deeply([grep { $_ != 1 } values %$paths], [], '... each once');

$t->fault->forget;
$t->wait_for(sub { status(); $t->fault->count }, 'the failure to expire');
my $again = paths();
is_deeply([values %$again], [1], 'then one path is tried, once');
ok($paths->{ (keys %$again)[0] // '' }, '... one of those');
is(status(), 'missing', 'it has no such file either: the module is absent');
is_deeply(paths(), $again, '... and nothing is requested');

is($t->end, '', 'nothing is wrong');
done_testing();
