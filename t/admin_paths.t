# symbolicate_admin opens paths that change the store: only in locations that
# set it, only with documented actions, and never to a script of a browser.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

my $t = SymFolder->new;
$t->{parts}{locations} .= <<'CONF';
        location / { symbolicate; symbolicate_admin on; }
        location /off { symbolicate; symbolicate_admin off; }
        location /guarded/ { symbolicate; symbolicate_admin on; deny all; }
        location /limited {
            symbolicate; symbolicate_admin on;
            limit_except POST { deny all; }
        }
        location /hasty { symbolicate; symbolicate_admin on;
            symbolicate_budget 300ms; }
        location /no_loader { symbolicate; symbolicate_admin on;
            symbolicate_loader off; }
        location ~ ^/regex { symbolicate; }
CONF
$t->start;

my @module = ('a.so', SymFolder::id(0xe1));
my $path = "a.so/$module[1]";
$t->upload(@module);
$t->ask(\@module);

# --- where ---

for my $base ('/symbolicate', '/off', '/regex') {
    is($t->request('DELETE', "$base/cache/$path")->{status}, 404, "$base: no cache");
    is($t->post("$base/events", '{"Records":[]}')->{status}, 404, "$base: no events");
    is($t->request('GET', "$base/explain/$path")->{status}, 404, "$base: no explain");
}
is($t->request('GET', "/symbolicate/explain/$path")->{json}{state}, undef,
    '... nor what it would answer');

is($t->request('GET', "$_/explain/$path")->{json}{state}, 'ready',
    "'$_': explain") for '', '/admin', '/no_loader';

is($t->request('GET', "/guarded/explain/$path")->{status}, 403, 'nginx guards');
is($t->request('DELETE', "/guarded/cache/$path")->{status}, 403, '... all');
is($t->post('/guarded/events', '{"Records":[]}')->{status}, 403, '... of it');
is($t->request('DELETE', "/limited/cache/$path")->{status}, 403, 'limit_except');
is($t->post('/limited/events', '{"Records":[]}')->{status}, 200, '... but POST');

# --- odd paths ---

for my $odd ('cache', 'cache/', 'cache/a.so', 'cache/a.so/', "cache//$module[1]x/",
    "cache/$path/", "cache/$path/x", "cache/x/$path", "cachex/$path",
    "explain/$path/", 'explain', 'explain/a.so') {
    is($t->request($odd =~ /^cache/ ? 'DELETE' : 'GET', "/admin/$odd")->{status},
        404, "/admin/$odd");
}
for my $short ('explain', 'explain/a.so') {
    like($t->request('GET', "/admin/$short")->{json}{description},
        qr{must end in /NAME/ID}, "/admin/$short: what is missing");
}
is($t->post("/admin/events$_", '{"Records":[]}')->{status}, 404, "events$_")
    for qw(/ /x s);
is($t->request('DELETE', "/admin/cache/b%2Fc.so/$module[1]")->{status}, 404,
    'a name with a slash has three parts');

for my $bad ('xyz', 'A' x 17, $module[1] . 'G') {
    my $r = $t->request('DELETE', "/admin/cache/a.so/$bad");
    is($r->{status}, 400, "not a debug id: $bad");
    like($r->{json}{description}, qr/debug id/, '... says so');
}
is($t->forget('A' x 256, $module[1])->{status}, 400, 'a name too long');
is($t->forget('A' x 255, SymFolder::id(0xe2))->{json}{removed}, JSON::PP::false,
    'the longest name');

# --- methods ---

for (["cache/$path", 'DELETE'], ['events', 'POST'], ["explain/$path", 'GET']) {
    my ($page, $method) = @$_;
    for my $other (grep { $_ ne $method } qw(GET HEAD POST PUT DELETE PATCH)) {
        my $r = $t->request($other, "/admin/$page");
        is($r->{status}, 405, "$other $page");
        is($r->{headers}{allow}, "$method, OPTIONS", '... Allow');
    }
    my $r = $t->request('OPTIONS', "/admin/$page");
    is("$r->{status} $r->{headers}{allow}", "200 $method", "OPTIONS $page");
}

# --- not for scripts ---

my @origin = (Origin => 'https://evil.example');
my $r = $t->request('GET', "/admin/explain/$path", headers => \@origin);
is($r->{status}, 200, 'a request with an Origin');
is($r->{headers}{'access-control-allow-origin'}, undef, '... is not for scripts');
$r = $t->request('OPTIONS', "/admin/cache/$path", headers => [@origin,
    'Access-Control-Request-Method' => 'DELETE']);
is_deeply([grep { /^access-control/ } keys %{$r->{headers}}], [],
    'nor is a preflight answered');
$r = $t->post('/admin/v5', $t->question(\@module), @origin);
is($r->{headers}{'access-control-allow-origin'}, '*', 'symbols are, as always');
is($t->function($r), 'f0', '... and there');

# --- no loader, or one that does not answer ---

$r = $t->request('DELETE', "/no_loader/cache/$path");
is("$r->{status} $r->{json}{description}",
    '503 no symbolicate_loader is set here', 'no loader configured');
$r = $t->post('/no_loader/events', '{"Records":[]}');
is($r->{status}, 200, 'events without modules need none');

kill 'STOP', $t->loader->pid;
$r = $t->request('DELETE', "/hasty/cache/$path");
is("$r->{status} $r->{json}{description}",
    '503 the symbol loader does not answer', 'the budget is spent');
kill 'CONT', $t->loader->pid;
$t->wait_for(sub { !$t->store_has(@module) },
    'the loader received it nevertheless');
is($t->forget(@module)->{status}, 200, 'the late answer does no harm');

$t->loader_stop;
$r = $t->forget(@module);
is($r->{status}, 503, 'the loader is stopped');
like($r->{json}{description}, qr/loader (went away|is not running)/, '... why');

# admin requests are not counted as requests for symbols
$t->wait_for(sub { $t->access_log =~ /code=503 uri=\/admin\/cache/ }, 'a log line');
like($t->access_log, qr/^status=- frames=- .* uri=\/admin\/cache/m,
    'log variables exist only for symbol requests');

# --- configurations that would serve nothing ---

sub refused {
    my ($locations, $what) = @_;
    my ($code, $said) = SymTest->new->conf(locations => $locations)->check_conf;
    isnt($code, 0, $what);
    like($said, qr/symbolicate_admin.*would serve nothing/, '... says why');
}

sub SymTest::check_conf { return $_[0]->check($_[0]->conf_text) }

refused('location /x { symbolicate_admin on; }', 'admin without symbolicate');
refused('location = /x/v5 { symbolicate; symbolicate_admin on; }', 'exact');
refused('location = / { symbolicate; symbolicate_admin on; }', 'only the root');
refused('location ~ ^/x { symbolicate; symbolicate_admin on; }', 'regex');
refused('location /x { symbolicate_health; symbolicate_admin on; }', 'health');

is($t->end, '', 'the logs are clean');

done_testing();
