#!/usr/bin/perl

# Sentry's lists of artifacts for JavaScript events: a list has several pages; a
# bundle is downloaded once, however many of its scripts a request names; the
# token goes only to the source's own address; artifacts in the store are not
# requested again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use File::Temp qw(tempdir);
use SymGiven;
use SymTools;

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymGiven->new(allow => 'allow=127.0.0.0/8')->start;
my $dir = tempdir(CLEANUP => 1);
my $files = 3000;

# The map of each script has one token: line 2, column 3 of its source.
my $zip = <<'PY';
import io, json, sys, zipfile
out, n = sys.argv[1], int(sys.argv[2])
body, files = io.BytesIO(), {}
with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as z:
    for i in range(n):
        for name, text, kind, headers in (
            (f"a{i}.js", f"function f{i}(){{}}\n", "minified_source", {"Sourcemap": f"a{i}.js.map"}),
            (f"a{i}.js.map", json.dumps({"version": 3, "sources": [f"s{i}.ts"], "names": [],
             "sourcesContent": [f"one {i}\ntwo {i}\n"], "mappings": "AACG"}), "source_map", {})):
            z.writestr(name, text)
            files[name] = {"url": "~/x/" + name, "type": kind, "headers": headers}
    z.writestr("manifest.json", json.dumps({"org": "o", "files": files}))
open(out, "wb").write(b"SYSB\2\0\0\0" + body.getvalue())
PY
system(SymTools::path('python3'), '-c', $zip, "$dir/bundle", $files) == 0 or die;

my $own = 'http://' . $t->address_of_servers;
(my $other = $own) =~ s/127\.0\.0\.1/127.0.0.2/;
$t->route('/list?release=r&url=%2Fx%2Fa0', headers => {
    Link => "<$own/list?page=1>; rel=\"previous\"; results=\"false\"; cursor=\"0:0:1\", "
          . "<$own/list?page=2>; rel=\"next\"; results=\"true\"; cursor=\"0:1:0\"" },
    body => '[]');
$t->route('/list?page=2', headers => {
    Link => "<$own/list?page=3>; rel=\"next\"; results=\"false\"" },
    body => " [" . $JSON->encode({ type => 'bundle', id => 'b', url => "$other/bundle" }) . "]\n");
$t->route('/bundle', file => "$dir/bundle");

my %more;

sub ask {
    my (@scripts) = @_;
    return $t->request('POST', '/symbolicate-js',
        headers => ['Content-Type' => 'application/json'],
        body => $JSON->encode({
            source => { id => 's', url => "$own/list", token => 'secret' },
            release => 'r',
            %more,
            options => { explain => Cpanel::JSON::XS::true },
            scraping => { enabled => Cpanel::JSON::XS::false, allowed_origins => [], headers => {} },
            stacktraces => [{ frames => [map {
                { abs_path => "http://cdn.example/x/$_.js", lineno => 1, colno => 5 } } @scripts] }] }));
}

sub places {
    my ($r) = @_;
    return [map {"$_->{filename}:$_->{lineno}:$_->{colno} $_->{context_line}"}
        @{ $JSON->decode($r->{body})->{stacktraces}[0]{frames} }];
}

sub targets { return map { $_->{target} } $t->requests }

$t->forget;
my $r = ask('a0', 'a7', 'a2999');
is($r->{status}, 200, 'three scripts of a bundle') or diag($r->{body});
is_deeply(places($r), ['s0.ts:2:4 two 0', 's7.ts:2:4 two 7', 's2999.ts:2:4 two 2999'],
          'each has its position and its line');
is_deeply([targets()], ['/list?release=r&url=%2Fx%2Fa0', '/list?page=2', '/bundle'],
          'both pages of one list, and the bundle once');
my %tokens = map { $_->{target} => $_->{headers}{authorization} // $_->{headers}{Authorization} } $t->requests;
is($tokens{'/list?page=2'}, 'Bearer secret', 'the source gets its token');
is($tokens{'/bundle'}, undef, 'another host does not');

$t->forget;
is($JSON->decode(ask('a0', 'a7')->{body})->{stacktraces}[0]{frames}[1]{filename}, 's7.ts', 'again');
is_deeply([targets()], [], 'artifacts in the store are not requested again');

$r = ask('a0', 'a1500');
is_deeply(places($r)->[1], 's1500.ts:2:4 two 1500', 'another script of the bundle');
is_deeply([targets()], [], 'which is not downloaded again');

$r = ask('none');
is_deeply([map { "$_->{file} $_->{by} $_->{uri} $_->{result}" } @{ $JSON->decode($r->{body})->{explanations} }],
    ['list list ' . $own . '/list?release=r&url=%2Fx%2Fnone absent', 'minified_source scraping http://cdn.example/x/none.js disabled'],
    'a script that no list names is explained');

# An event names a dist; the files were uploaded without one.
%more = (dist => '7');
$t->route('/list?release=r&url=%2Fx%2Fd&dist=7', body => '[]');
$t->route('/list?release=r&url=%2Fx%2Fd', body => $JSON->encode([{ type => 'bundle', id => 'd', url => "$other/bundle" }]));
$t->route('/list?release=r&url=%2Fx%2Fe&dist=7', body => '[]');
$t->route('/list?release=r&url=%2Fx%2Fe', body => '[]');
$r = ask('d', 'e');
is_deeply([map { $_->{file} eq 'list' ? "$_->{by}: $_->{result}" : () } @{ $JSON->decode($r->{body})->{explanations} }],
    ['list: found', 'list without dist: lists files: uploaded without the dist of the request',
     'list: found', 'list without dist: lists nothing'],
    'files that have another dist are explained');
is($JSON->decode($r->{body})->{stacktraces}[0]{frames}[0]{lineno}, 1, 'and not taken');
%more = ();

# --- single files; answers are those in Symbolicator's tests (e2e_react_native,
# invalid_location, sourcemap_nofiles_source_expansion) or its sources ---

my $map = { version => 3, sources => ['s.ts'], names => [], mappings => 'AACG', sourcesContent => ["one\ntwo\n"] };

sub single {
    my ($name, $body, %entry) = @_;
    $t->route("/$name", body => $body);
    return { type => 'file', id => $name, url => "$own/$name", abs_path => "~/x/$name", %entry };
}

sub ask_frames {
    my @frames = @_;
    my $body = $t->request('POST', '/symbolicate-js',
        headers => ['Content-Type' => 'application/json'],
        body => $JSON->encode({
            source => { id => 's', url => "$own/list", token => 'secret' },
            release => 'r',
            scraping => { enabled => Cpanel::JSON::XS::false, allowed_origins => [], headers => {} },
            stacktraces => [{ frames => \@frames }] }))->{body};
    return $JSON->decode($body);
}

$t->route('/list?release=r&url=%2Fx%2Fh', body => $JSON->encode([
    single('h.js', '', headers => { SoUrCemAp => 'h.js.map' }), single('h.js.map', $JSON->encode($map), headers => {}) ]));
my $answer = ask_frames({ abs_path => 'app:///x/h.js', lineno => 1, colno => 5 });
my $frame = $answer->{stacktraces}[0]{frames}[0];
is_deeply([@$frame{qw(abs_path lineno colno function context_line)}], ['app:///x/s.ts', 2, 4, '<unknown>', 'two'],
    'bytecode of Hermes is an empty file, whose headers name its map');
is($answer->{errors}, undef, '... without an error');

$t->route('/list?release=r&url=%2Fx%2Fn', body => $JSON->encode([ single('n.js', '', headers => {}) ]));
is_deeply([map { $_->{type} } @{ ask_frames({ abs_path => 'app:///x/n.js', lineno => 1, colno => 5 })->{errors} }],
    ['missing_source'], 'an empty file without headers is missing');
$t->route('/list?release=r&url=%2Fx%2Fm', body => $JSON->encode([
    single('m.js', "m()\n//# sourceMappingURL=m.js.map"), single('m.js.map', '', headers => { a => 'b' }) ]));
is_deeply([map { $_->{type} } @{ ask_frames({ abs_path => 'app:///x/m.js', lineno => 1, colno => 2 })->{errors} }],
    ['malformed_sourcemap'], '... and an empty map with headers is malformed');

$t->forget;
$answer = ask_frames({ abs_path => 'app:///x/page.html', lineno => 0 }, { abs_path => 'app:///x/page.html', lineno => 0, colno => 0 });
is_deeply($answer->{errors}, [ map { { abs_path => 'app:///x/page.html', type => 'invalid_location', line => 0, col => $_ } } undef, 0 ],
    'frames without a line, and perhaps without a column');
is_deeply([$answer->{scraping_attempts}, targets()], [undef], '... for which no script is looked for');

my %null = (%$map, sources => [undef]);
$t->route('/list?release=r&url=%2Fx%2Fnull', body => $JSON->encode([
    single('null.js', "n()\n//# sourceMappingURL=null.js.map"), single('null.js.map', $JSON->encode(\%null)) ]));
$frame = ask_frames({ abs_path => 'app:///x/null.js', filename => 'sent.js', module => 'sent', lineno => 1, colno => 2 })
    ->{stacktraces}[0]{frames}[0];
is_deeply([@$frame{qw(abs_path filename module lineno)}], ['app:///x/null.js', 'sent.js', 'sent', 2],
    'a source without a name: file and module stay as they were sent');
$frame = ask_frames({ abs_path => 'app:///x/null.js', lineno => 1, colno => 2 })->{stacktraces}[0]{frames}[0];
is_deeply([exists $frame->{filename}, exists $frame->{module}], ['', ''], '... and neither is made up');

$t->forget;
$t->route('/list', status => 500, body => 'no');
$r = ask('b');
is($JSON->decode($r->{body})->{errors}[0]{type}, 'scraping_disabled', 'a list that fails lists nothing');

is($t->end, '', 'a clean log');
done_testing();
