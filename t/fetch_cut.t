# A connection breaks in the middle of a file: the rest is requested, if the
# source supports that, and received bytes are not fetched again.  Two versions
# of a file are never mixed, whatever the source answers, and a source that
# breaks off repeatedly is given up.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use SymFetch;
use SymLoader qw(sym_text);
use Test::More;

my $t = SymFetch->new(how => <<'HOW', sources => <<'SOURCES');
            symbolicate_source fault uri=/src/
                redirect=bucket.example.com/_bucket/;
            symbolicate_negative_ttl absent=1h malformed=1h failed=600s;
HOW
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /_bucket/ { internal; proxy_pass http://%%FAULT%%/as/bucket/; }
        location /cached/ {
            internal;
            proxy_pass http://%%FAULT%%/as/src/;
            proxy_cache files;
            proxy_cache_valid 1h;
        }
        location /behind { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source cached uri=/cached/; }
SOURCES

$t->conf(http => 'proxy_cache_path %%DIR%%/cache keys_zone=files:1m;')->start;

my $FUNCTIONS = 2000;
my $n = 0;
my $is_packed = 0;
my $more = '';    # after the first version

# Functions of a file in each version: a0, a1 ... or b0, b1 ...
sub text {
    my ($module, $prefix) = @_;
    my $text = sym_text(@$module, functions => $FUNCTIONS, prefix => $prefix);
    return $text if !$is_packed;
    gzip(\$text, \my $packed);
    return $packed;
}

# A module with two versions, of the same length except for what follows the
# first.
sub module {
    my @module = ('m' . ++$n . '.so', SymFetch::id($n));
    my $path = SymFetch::path(@module);
    $t->fault->file($path, text(\@module, 'a') . $more)->file("$path.2", text(\@module, 'b'));
    return @module;
}

# The functions at both ends and in the middle.
sub functions {
    my (@module) = @_;
    my $r = $t->post('/symbolicate/v5', $t->json({ jobs => [{ memoryMap => [[@module]],
        stacks => [[map { [0, 0x1004 + 0x40 * $_] } 0, $FUNCTIONS / 2, $FUNCTIONS - 1]] }] }));
    return join ' ', map { $_->{function} // '-' } @{ $r->{json}{results}[0]{stacks}[0] || [] };
}

sub whole {
    my ($prefix) = @_;
    return join ' ', map {"$prefix$_"} 0, $FUNCTIONS / 2, $FUNCTIONS - 1;
}

sub got {
    my ($what, $gets, $prefix, @script) = @_;
    my @module = module();
    $t->fault->script('src', @script);
    is(functions(@module), whole($prefix), "$what: the file");
    is($t->gets(@module), $gets, "... by $gets GETs");
    return @module;
}

sub failed {
    my ($what, $gets, @script) = @_;
    my @module = module();
    $t->fault->script('src', @script);
    my $r = $t->ask([@module]);
    is($r->{status}, 503, "$what: 503");
    like($t->reasons($r)->{"$module[0]/$module[1]"}, qr/the body was cut short\z/, '... why');
    is($t->gets(@module), $gets, "... after $gets GETs");
    return;
}

# --- the rest comes ---

my @module = got('one cut', 2, 'a', 'part/5000/plain', 'part/all/plain,rest');
my ($m) = SymLoader::json_lines($t->loader->run('show', '--json', join '/', @module)->{out});
is($m->{state}, 'ready', '... stored');
got('cut in chunks', 2, 'a', 'part/5000/plain,chunks', 'part/all/plain,rest');
got('a rest in chunks', 2, 'a', 'part/5000/plain', 'part/all/plain,rest,chunks');
got('four cuts', 5, 'a', ('part/5000/plain') x 4, 'part/all/plain,rest');
got('a date of yesterday', 2, 'a', 'part/5000/untagged,old', 'part/all/untagged,old,rest');
got('the ETag counts, not the date', 2, 'a', 'part/5000/new', 'part/all/new,rest');

$is_packed = 1;
got('with Content-Encoding', 2, 'a', 'part/5000/gz', 'part/all/gz,rest');
failed('... by date alone', 1, 'part/5000/gz,untagged,old');
failed('... in chunks', 1, 'part/5000/gz,chunks');
failed('... which the rest does not have', 2, 'part/5000/gz',
    'part/all/gz,rest,bare');
$is_packed = 0;

# where it was redirected to
$t->fault->script('bucket', 'part/5000/plain', 'part/all/plain,rest');
got('a redirect', 1, 'a', 'away/bucket.example.com');
is($t->fault->count('/as/bucket/' . SymFetch::path("m$n.so", SymFetch::id($n))), 2,
    '... whose answer was cut');

# --- another file meanwhile ---

got('a new file', 2, 'b', 'part/5000/plain', 'part/all/second');
$more = "STACK CFI 1004 .cfa: x\n" x 2000;
got('... which is shorter than what came', 2, 'b', 'part/80000/plain', 'part/all/second');
$more = '';
got('... cut, too', 3, 'b', 'part/5000/plain', 'part/7000/second', 'part/all/second,rest');
got('a source without Range', 2, 'a', 'part/5000/plain', 'part/all/ignore');
failed('a source without If-Range', 2, 'part/5000/plain',
    'part/all/second,always');
failed('... nor sends an ETag with a part', 2, 'part/5000/plain',
    'part/all/second,always,tagless');
failed('... by date, of a new file', 2, 'part/5000/untagged,old',
    'part/all/second,always,untagged,new');

# --- wrong answers ---

failed("a part that is $_", 2, 'part/5000/plain', "part/all/plain,rest,$_")
    for qw(far near grown length tagless);
failed("then $_", 2, 'part/5000/plain', $_)
    for qw(status/404 status/416 status/503 status/206 hangup garbage redirect/302/ok);
failed('endless cuts', 5, 'part/5000/plain');
failed('... from the beginning', 5, 'part/5000/ignore');

# --- sources that cannot ---

failed("$_", 1, "part/5000/$_") for qw(quiet weak untagged), 'untagged,new';
failed('nothing came', 1, 'part/0/plain');

# a cache in between requests whole files
@module = module();
$t->fault->script('src', 'part/5000/plain', 'part/all/plain,rest');
is($t->post('/behind/v5', $t->question([@module]))->{status}, 503, 'a cache: 503');
is($t->gets(@module), 1, '... after 1 GET');

is($t->end, '', 'nothing is wrong');
done_testing();
