# The page that is built into the module: a few files that need no other server,
# under any prefix, small on the wire, with a policy that prevents anything in a
# symbol's name from running as code.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib ();
use SymTest;
use Test::More;

my $t = SymTest->new;
$t->conf(locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location /__ { symbolicate_health; }
        location /page { symbolicate_page; }
        location /deep/er/p%41ge:1/ {
            symbolicate_page api=../../api/v5 sentry=/s admin=/admin/ metrics=/m;
        }
        location /mixed { symbolicate_page; if ($arg_x) { set $y 1; } }
        location /closed/ { symbolicate_page; deny all; }
CONF

sub get {
    my ($path, @headers) = @_;
    return $t->request('GET', $path, headers => [@headers]);
}

# --- where ---

my $plain = get('/page/');
is($plain->{status}, 200, 'the page');
is($plain->{headers}{'content-type'}, 'text/html; charset=utf-8', '... is HTML');
like($plain->{body}, qr{^<!doctype html>.*</html>\n$}s, '... whole');
is(get('/page/index.html')->{body}, $plain->{body}, 'the page by its name');
is(get('/page/?x=1')->{body}, $plain->{body}, 'a query does not matter');
is(get('/mixed/?x=1')->{body}, $plain->{body}, 'in an "if" block');

my $moved = get('/page');
is($moved->{status}, 301, 'links are relative to a folder');
is($moved->{headers}{location}, './page/', '... which works under any prefix');
is(get('/deep/er/p%41ge:1/')->{status}, 404, 'a location has its own path only');
is(get('/deep/er/p%2541ge:1/')->{body}, $plain->{body}, 'under another prefix');
is(get('/page/none.js')->{status}, 404, 'no such file');
is(get('/page/index.htm')->{status}, 404, 'nor the beginning of a name');
is(get('/pagex')->{status}, 404, 'nor of another path');
is(get('/page//index.html')->{status}, 200, 'slashes are merged by nginx');
is(get('/closed/')->{status}, 403, 'nginx controls access');

# --- every file that the page names exists, and none is from elsewhere ---

my (%seen, @queue) = ('index.html' => 1);
@queue = ('index.html');
my $packed = 0;
while (defined(my $name = shift @queue)) {
    my $r = get("/page/$name");
    is($r->{status}, 200, "$name is there");
    my $zipped = get("/page/$name", 'Accept-Encoding' => 'gzip');
    is($zipped->{headers}{'content-encoding'}, 'gzip', '... packed, too');
    is($zipped->{headers}{'content-length'}, length $zipped->{body}, '... its length');
    is(Compress::Zlib::memGunzip($zipped->{body}), $r->{body}, '... the same');
    is($r->{headers}{'content-encoding'}, undef, '... and plain');
    isnt($r->{headers}{etag}, $zipped->{headers}{etag}, '... each with its ETag');
    $packed += length $zipped->{body};

    my $text = $r->{body};
    unlike($text, qr{\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|DOMParser)},
        '... writes no markup');
    unlike($text =~ s{http://www\.w3\.org/2000/svg}{}gr, qr{https?://}, '... names no other host');
    unlike($text, qr{\s(?:style|on\w+)="}, '... has nothing inline') if $name =~ /html$/;
    for my $other ($text =~ m{(?:src|href)="([^"#]+)"}g, $text =~ m{from '\./([^']+)'}g) {
        push @queue, $other if !$seen{$other}++;
    }
}
cmp_ok(scalar keys %seen, '>', 5, 'several files');
cmp_ok($packed, '<', 150_000, "all together take less than 150 KB ($packed)");

# --- headers ---

my %type = ('page.css' => 'text/css; charset=utf-8', 'icon.svg' => 'image/svg+xml',
    'page.mjs' => 'text/javascript; charset=utf-8', 'settings.json' => 'application/json');
is(get("/page/$_")->{headers}{'content-type'}, $type{$_}, "type of $_") for sort keys %type;

for (['/page/', 200], ['/page/page.mjs', 200], ['/page/settings.json', 200], ['/page', 301],
    ['/page/none', 404]) {
    my ($path, $status) = @$_;
    my $r = get($path);
    is($r->{status}, $status, "$path: $status");
    my %policy = map { /^(\S+) (.*)$/ } split /;\s*/, $r->{headers}{'content-security-policy'};
    is_deeply(\%policy, {
        'default-src' => q('none'), 'script-src' => q('self'), 'style-src' => q('self'),
        'img-src' => q('self'), 'connect-src' => q('self'), 'base-uri' => q('none'),
        'form-action' => q('none'), 'frame-ancestors' => q('none'),
        'require-trusted-types-for' => q('script'),
    }, '... policy');
    is($r->{headers}{'x-content-type-options'}, 'nosniff', '... types are not guessed');
    is($r->{headers}{'referrer-policy'}, 'no-referrer', '... no Referer');
    is($r->{headers}{'access-control-allow-origin'}, undef, '... not for scripts of others');
    is($r->{headers}{'cache-control'}, 'no-cache',
        '... cached, and revalidated');
}
like(get('/page/')->{headers}{vary}, qr/Accept-Encoding/, 'Vary');

# --- conditional requests ---

for my $name ('', 'page.mjs', 'settings.json') {
    for my $coding ('identity', 'gzip') {
        my @accept = ('Accept-Encoding' => $coding);
        my $etag = get("/page/$name", @accept)->{headers}{etag};
        like($etag, qr/^"[0-9a-f]{16,32}z?"$/, "ETag of '$name', $coding");
        my $r = get("/page/$name", @accept, 'If-None-Match' => $etag);
        is($r->{status}, 304, '... 304 for a client that has it');
        is($r->{body}, '', '... without a body');
        is($r->{headers}{etag}, $etag, '... with its ETag');
        is(get("/page/$name", @accept, 'If-None-Match' => '"0"')->{status}, 200, '... another');
    }
}

my $head = $t->request('HEAD', '/page/', headers => ['Accept-Encoding' => 'gzip']);
is($head->{status}, 200, 'HEAD');
is($head->{body}, '', '... no body');
is($head->{headers}{'content-length'},
    get('/page/', 'Accept-Encoding' => 'gzip')->{headers}{'content-length'}, '... its length');

for my $method (qw(POST PUT DELETE PATCH)) {
    my $r = $t->request($method, '/page/');
    is($r->{status}, 405, "$method");
    is($r->{headers}{allow}, 'GET, HEAD, OPTIONS', '... Allow');
}
is(get('/page/', 'Accept-Encoding' => 'gzip;q=0')->{headers}{'content-encoding'}, undef,
    'a client that refuses gzip');

# --- settings ---

is_deeply(get('/page/settings.json')->{json}, {
    version => get('/__version__')->{json}{version},
    api => '/symbolicate/v5', sentry => undef, admin => undef, metrics => undef,
}, 'settings by default');
my $settings = get('/deep/er/p%2541ge:1/settings.json')->{json};
delete $settings->{version};
is_deeply($settings, { api => '../../api/v5', sentry => '/s', admin => '/admin/', metrics => '/m' },
    'settings as configured');

# --- errors of nginx -t ---

sub says {
    my ($path, $inside) = @_;
    my ($code, $said) = $t->check(SymTest::bare_conf(
        "server { listen %%ADDRESS%%; location $path { $inside } }"));
    return $code == 0 ? 'taken' : $said;
}
is(says('/page', 'symbolicate_page;'), 'taken', 'no store is needed');
like(says('= /page', 'symbolicate_page;'), qr/beginning of a path/, 'an exact location');
like(says('~ ^/page', 'symbolicate_page;'), qr/beginning of a path/, 'a regular expression');
like(says('/page', "symbolicate_page $_;"), qr/must be a path/, "'$_'")
    for 'api=', 'api=v5', 'api=//host/v5', 'api=http://host/v5', 'admin=/a?x', 'admin=/a#x', 'api=/\\\\host';
like(says('/page', 'symbolicate_page apis=/x;'), qr/it knows "api=URI"/, 'an unknown parameter');
like(says('/page', 'symbolicate_page; symbolicate_page;'), qr/duplicate/, 'twice');
like(says('/page', 'symbolicate_page; symbolicate_metrics;'),
    qr/cannot be next to "symbolicate_page"/, 'beside another');
like(says('/page', 'symbolicate_metrics; symbolicate_page;'),
    qr/cannot be next to "symbolicate_metrics"/, 'and vice versa');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
