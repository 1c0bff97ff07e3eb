#!/usr/bin/perl

# A .NET frame whose portable PDB has a URL for its source: the text is fetched
# from there once, and its lines are shown.  The request's headers for source
# files go only to the origins that it allows.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymLoader qw(read_file write_file);
use Test::More;

my $id = '37E9E8A61A8E404EB93C6902E277FF55';
my $links = need_fixtures("sentry/symbols/source-links.pdb/${id}ffffffff/source-links.pdb");

my $t = SymGiven->new->start;
my $http = 'http://' . $t->address_of_servers;

# The fixture, with links to the server here; the file's layout is unchanged.
my $theirs = 'https://raw.githubusercontent.com/dotnet/runtime/d099f075e45d2aa6007a22b71b45a08758559f80/';
my $places = 0;
my $module;    # from the latest answer

sub pdb_at {
    my ($host) = @_;
    my $bytes = read_file($links);
    my $base = "http://$host/" . ++$places;
    $base .= '-' x (length($theirs) - 1 - length $base) . '/';
    die 'no link in the fixture' if $bytes !~ s/\Q$theirs\E/$base/g;
    my $file = $t->loader->dir . "/pdb$places";
    write_file($file, $bytes);
    my $path = "/sym$places";
    $t->route("$path/source-links.pdb/${id}ffffffff/source-links.pdb", file => $file);
    return { source => $t->source($path, filters => {}),
        text => "${base}src/libraries/Common/src/System/ThrowHelper.cs" };
}

sub path_at { return $_[0]{text} =~ s{^http://[^/]+}{}r }

sub ask {
    my ($pdb, %more) = @_;
    my $r = $t->post('/symbolicate', $t->json({ sources => [$pdb->{source}],
        modules => [ { type => 'pe_dotnet', debug_file => 'source-links.pdb',
            debug_id => '37e9e8a6-1a8e-404e-b93c-6902e277ff55-a09672e1' } ],
        stacktraces => [ { frames => [ ({ instruction_addr => 1,
            function_id => 7, addr_mode => 'rel:0' }) x 2 ] } ], %more }),
        'Content-Type' => 'application/json');
    is($r->{status}, 200, 'an answer') or diag $r->{body};
    $module = $r->{json}{modules}[0];
    return $r->{json}{stacktraces}[0]{frames}[1];
}

sub texts_asked {
    my ($pdb) = @_;
    return grep { $_->{target} eq path_at($pdb) } $t->requests;
}

my $source = join '', map {"line $_\n"} 1 .. 500;

# --- the thin path ---

my $pdb = pdb_at($t->address_of_servers);
$t->route(path_at($pdb), body => $source);
my $frame = ask($pdb);
my $n = $frame->{lineno};
cmp_ok($n, '>', 5, 'the line of the frame');
is($frame->{source_link}, $pdb->{text}, 'its link');
is($frame->{context_line}, "line $n", '... and the line at that position');
is_deeply($frame->{pre_context}, [ map {"line $_"} $n - 5 .. $n - 1 ], '... lines before it');
is_deeply($frame->{post_context}, [ map {"line $_"} $n + 1 .. $n + 5 ],
    '... and after it');
is(scalar(my @once = texts_asked($pdb)), 1, 'one request for two frames');

is(ask($pdb, options => { dif_candidates => JSON::PP::true })->{context_line}, "line $n",
    'again');
is(scalar(@once = texts_asked($pdb)), 1, '... from the store');

# --- candidates ---

# The candidates in Symbolicator's own test of this file
# (dotnet_source_links.snap) include one of a source with that name.
sub is_candidate {
    my ($one, $download, $what) = @_;
    my @links = grep { $_->{source} eq 'sourcelink' } @{ $module->{candidates} };
    is_deeply(\@links, [ { source => 'sourcelink', location => $one->{text},
        download => $download } ], "... $what");
    return;
}

is_candidate($pdb, { status => 'ok', features => { has_debug_info => JSON::PP::false,
    has_unwind_info => JSON::PP::false, has_symbols => JSON::PP::false,
    has_sources => JSON::PP::true } }, 'a candidate for two frames');
is($module->{candidates}[-1]{source}, 'src', '... sorted by source');
is($module->{candidates}[0]{source}, 'sourcelink', '... before "src"');

for my $case (
    [ 404, { status => 'notfound' } ],
    [ 403, { status => 'noperm', details => '403 Forbidden' } ],
    [ 500, { status => 'error',
        details => 'download failed: 500 Internal Server Error' } ],
) {
    my ($status, $download) = @$case;
    my $one = pdb_at($t->address_of_servers);
    $t->route(path_at($one), status => $status);
    is(ask($one, options => { dif_candidates => JSON::PP::true })->{context_line}, undef,
        "$status: no line");
    is_candidate($one, $download, 'its candidate');
    is(scalar(my @before = texts_asked($one)), 1, '... after one request');
    ask($one);
    is(scalar(my @after = texts_asked($one)), 1, '... and it is recorded under its URL');
}

# --- not wanted ---

$pdb = pdb_at($t->address_of_servers);
$t->route(path_at($pdb), body => $source);
is(ask($pdb, options => { apply_source_context => JSON::PP::false })->{context_line},
    undef, 'no source context');
is(scalar(@once = texts_asked($pdb)), 0, '... and no request');

# --- headers ---

for my $case (
    [ 'an allowed origin', 'secret', {} ],
    [ 'a host', 'secret', { allowed_origins => ['127.0.0.1'] } ],
    [ 'another host', undef, { allowed_origins => ['*.example.com'] } ],
    [ 'no place', undef, { allowed_origins => [] } ],
    [ 'not enabled', undef, { enabled => JSON::PP::false } ],
) {
    my ($what, $want, $scraping) = @$case;
    my $one = pdb_at($t->address_of_servers);
    $t->route(path_at($one), body => $source);
    my $got = ask($one, scraping => { enabled => JSON::PP::true,
        allowed_origins => ['*'], headers => { 'X-Key' => 'secret' }, %$scraping });
    is($got->{context_line}, "line $n", "$what: a line");
    my ($seen) = texts_asked($one);
    is($seen->{headers}{'x-key'}, $want, '... ' . ($want ? 'with' : 'without') . ' the header');
}

# --- after a failure the link is still shown ---

for my $case (
    [ 'no such file', status => 404 ],
    [ 'an error', status => 500 ],
    [ 'an empty file', body => '' ],
    [ 'a short file', body => "one\ntwo\n" ],
) {
    my ($what, %route) = @$case;
    my $one = pdb_at($t->address_of_servers);
    $t->route(path_at($one), %route);
    my $got = ask($one);
    is($got->{source_link}, $one->{text}, "$what: the link");
    is($got->{context_line}, undef, '... without a line');
}

{
    my $large = $t->loader->dir . '/large';
    write_file($large, $source x 4000);
    my $one = pdb_at($t->address_of_servers);
    $t->route(path_at($one), file => $large);
    cmp_ok(-s $large, '>', 16 << 20, 'a file that is too large');
    is(ask($one)->{context_line}, undef, '... has no lines');
}

{
    my $one = pdb_at("127.0.0.2:$t->{ports}{port}");
    $t->route(path_at($one), body => $source);
    my $got = ask($one);
    is($got->{source_link}, $one->{text}, 'a reserved address: the link');
    is($got->{context_line}, undef, '... without a line');
    is(scalar(@once = texts_asked($one)), 0, '... and without a request');
}

is($t->end, '', 'nothing else');
done_testing();
