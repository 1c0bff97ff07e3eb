#!/usr/bin/perl

# A JavaScript request without Sentry's `source` is answered from the location's
# own sources: a folder with the paths of the web site, or one with debug ids;
# and from files loaded by hand.  The maps were made by hand, field by field
# (ECMA-426).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use MIME::Base64 ();
use SymFolder;
use SymLoader qw(write_file);
use Test::More;

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $ID = '0c0ffee0-0000-4000-8000-000000000001';

my $t = SymFolder->new;
my $dir = $t->dir;
my $socket = $t->loader->socket_path;

$t->conf(locations => <<"CONF");
        location /symbolicate {
            symbolicate sentry;
            symbolicate_admin on;
            symbolicate_loader unix:$socket;
            symbolicate_source site uri=/_site/ layout=site;
            symbolicate_source ids  uri=/_ids/  layout=unified kinds=script,sourcemap;
            symbolicate_source cdn  uri=/_cdn/  layout=site;
            symbolicate_source last uri=/_last/ layout=site;
        }
        location /_site/ { internal; alias $dir/site/; }
        location /_ids/  { internal; alias $dir/ids/; }
        location /_cdn/  { internal; proxy_pass http://unix:$dir/cdn:/; }
        location /_last/ { internal; alias $dir/last/; }
CONF

sub ask {
    my ($abs_path, $line, $column, %o) = @_;
    my $r = $t->request('POST', '/symbolicate-js',
        headers => ['Content-Type' => 'application/json'],
        body => $JSON->encode({
            modules => $o{id} ? [{ type => 'sourcemap', code_file => $abs_path, debug_id => $o{id} }] : [],
            stacktraces => [{ frames => [{ abs_path => $abs_path, lineno => $line, colno => $column }] }] }));
    my $got = eval { $JSON->decode($r->{body}) } or return "$r->{status} $r->{body}";
    my $f = $got->{stacktraces}[0]{frames}[0];
    return join ' ', ($f->{data}{symbolicated} ? "$f->{function} $f->{abs_path}:$f->{lineno}:$f->{colno}" : 'minified'),
        (defined $f->{context_line} ? "[$f->{context_line}]" : ()), map { $_->{type} } @{ $got->{errors} };
}

sub place {
    my ($path, $text) = @_;
    my @folders = split m{/}, $path;
    pop @folders;
    mkdir join '/', $dir, @folders[0 .. $_] for 0 .. $#folders;
    write_file("$dir/$path", $text);
    return;
}

# function a(){throw 1}  tokens: column 9 is readCart (the source's function), 13 is
# cart.ts 2:3
sub script { return "function a(){throw 1}" . join '', map {"\n//# $_"} @_, '' }

sub map_of {
    my ($source, %more) = @_;
    return $JSON->encode({ version => 3, sources => [$source], names => ['readCart'],
        mappings => 'AAAA,SAASA,IACP', %more });
}

my %text = (sourcesContent => ["function readCart() {\n  throw 1;\n}\n"]);
my $site = 'https://example.com/static';
my $inside = 'data:application/json;base64,' . MIME::Base64::encode_base64(map_of('inside.ts', %text), '');

place('site/static/app.min.js', script('sourceMappingURL=maps/app%20.map?v=1'));
place('site/static/maps/app .map', map_of('../src/cart.ts', %text));
place('site/static/beside.js', script());
place('site/static/beside.js.map', map_of('beside.ts'));
place('site/static/beside.ts', "one\ntwo\n");
place('site/static/alone.js.map', map_of('alone.ts', %text));
place('site/static/inside.js', script("sourceMappingURL=$inside"));
place('site/static/broken.js', script());
place('site/static/broken.js.map', '{');
place('site/static/self.js', "function a(){throw 1}\nlineTwo();\n");
place('site/static/self.js.map', map_of('self.js'));
place('site/static/loop.js', script());
place('site/static/loop.js.map', map_of('loop.js.map') =~ s/^\{/{\n"x": 1,\n/r);
place('secret.js', script());
place('secret.js.map', map_of('secret.ts'));
my $hex = $ID =~ tr/-//dr;
my $folder = 'ids/' . substr($hex, 0, 2) . '/' . substr $hex, 2;
place("$folder/script", script("debugId=$ID"));
place("$folder/sourcemap", map_of('ids.ts', %text, debugId => $ID));

# a web server that sends the headers
$t->conf(http => <<"CONF");
    server {
        listen unix:$dir/cdn;
        root $dir/cdn_root;
        location = /h/named.js  { add_header SourceMap    maps/header.map; add_header X-SourceMap x.map; }
        location = /h/old.js    { add_header x-sourcemap  /h/maps/header.map; }
        location = /h/first.js  { add_header X-SourceMap  maps/other.map; add_header SourceMap maps/header.map; }
        location = /h/data.js   { add_header SourceMap    "$inside"; }
            location = /h/bytes.js  { add_header SourceMap    "\xff.map"; }
        location = /h/long.js   { add_header SourceMap    "@{['x' x 2044]}.map?"; }
    }
CONF

for my $script (qw(named old first data bytes long plain)) {
    place("cdn_root/h/$script.js", script('sourceMappingURL=maps/comment.map'));
}
place('cdn_root/h/maps/header.map', map_of('header.ts', %text));
place('cdn_root/h/maps/comment.map', map_of('comment.ts', %text));

# all three sites have it, the last two, the last one
for my $site (['site', 'cdn_root', 'last'], ['cdn_root', 'last'], ['last']) {
    my $name = "sites$#$site.js";
    place("$_/$name", script()) for @$site;
    place("$_/$name.map", map_of("$_.ts", %text)) for @$site;
}
place('site/apart.js', script('sourceMappingURL=apart.map'));
place('last/apart.map', map_of('../apart.ts'));
place('cdn_root/apart.ts', "one\ntwo\n");

$t->start;
is(ask("$site/app.min.js", 1, 14), "readCart https://example.com/static/src/cart.ts:2:3 [  throw 1;]",
   'a script of the folder, with the map that it names');
is(ask("$site/app.min.js?v=7", 1, 14), "readCart https://example.com/static/src/cart.ts:2:3 [  throw 1;]",
   '... with any query');
is(ask('http://cdn.example.net/static/app.min.js', 1, 14),
   "readCart http://cdn.example.net/static/src/cart.ts:2:3 [  throw 1;]", '... from any host');
is(ask("$site/beside.js", 1, 14), "readCart $site/beside.ts:2:3 [two]",
   'the map next to a script, and the source in the folder');
is(ask("$site/self.js", 1, 14), "readCart $site/self.js:2:3 [lineTwo();]",
   'a script that is its own source: one path in two roles');
is(ask("$site/loop.js", 1, 14), "readCart $site/loop.js.map:2:3 [\"x\": 1,]",
   '... and a map');
is(ask("$site/alone.js", 1, 14), "<unknown> $site/alone.ts:2:3 [  throw 1;]",
   'a map without its script: positions, but no functions');
is(ask("$site/inside.js", 1, 14), "readCart $site/inside.ts:2:3 [  throw 1;]", 'a map inside of its script');
is(ask("$site/broken.js", 1, 14), 'minified [function a(){throw 1}] malformed_sourcemap', 'a map that cannot be read');
is(ask("$site/gone.js", 1, 14), 'minified missing_source', 'a script that does not exist');
is(ask('https://example.com/gone.js', 1, 14), 'minified missing_source', '... at another path');
is(ask("$site/app.min.js", 9, 9), 'minified invalid_location', 'a position outside of it');
is(ask('https://example.com/static/../../secret.js', 1, 14), 'minified missing_source', 'paths stay in the folder');
is(ask('https://example.com/%2e%2e/secret.js', 1, 14), 'minified missing_source', '... whatever their spelling');
is(ask('https://example.com/..%2fsecret.js', 1, 14), 'minified missing_source', '... whatever their slashes');
is(ask('app:///main.js', 1, 14, id => $ID), 'readCart app:///ids.ts:2:3 [  throw 1;]', 'both files by their debug id');
is(ask('app:///main.js', 1, 14, id => $ID =~ s/1$/2/r), 'minified missing_source', '... another debug id');
is(ask('<anonymous>', 1, 14), 'minified missing_source', 'no URL');

# --- headers of the script's answer ---

my $web = 'https://example.com/h';
my $mapped = sub { "readCart $web/maps/$_[0].ts:2:3 [  throw 1;]" };
is(ask("$web/plain.js", 1, 14), $mapped->('comment'), 'a site without headers: the comment');
is(ask("$web/named.js", 1, 14), $mapped->('header'), 'SourceMap goes before X-SourceMap and the comment');
is(ask("$web/first.js", 1, 14), $mapped->('header'), '... wherever it stands');
is(ask("$web/old.js", 1, 14), $mapped->('header'), 'X-SourceMap, in any case, and a path from the root');
is(ask("$web/data.js", 1, 14), "readCart $web/inside.ts:2:3 [  throw 1;]", 'a map inside of the header');
is(ask("$web/bytes.js", 1, 14), $mapped->('comment'), 'a header that is not UTF-8 is ignored');
is(ask("$web/long.js", 1, 14), $mapped->('comment'), '... nor is one of more than 2,048 bytes');

# --- several sites ---

is(ask('https://example.com/sites2.js', 1, 14), 'readCart https://example.com/site.ts:2:3 [  throw 1;]',
   'the first site that has a file answers');
is(ask('https://example.com/sites1.js', 1, 14), 'readCart https://example.com/cdn_root.ts:2:3 [  throw 1;]',
   '... or the second one');
is(ask('https://example.com/sites0.js', 1, 14), 'readCart https://example.com/last.ts:2:3 [  throw 1;]',
   '... or the third one');
is(ask('https://example.com/apart.js', 1, 14), 'readCart https://example.com/apart.ts:2:3 [two]',
   'a script, its map and a source, each at another site');

# --- loaded by hand, through the daemon ---

my $UI = 'http://ui.example';
my $LOADED = '0c0ffee0-0000-4000-8000-000000000003';
place('dist/js/ui app.js', script('sourceMappingURL=ui%20app.js.map'));
place('dist/js/ui app.js.map', map_of('ui.ts', %text));
place('dist/js/same.js', script('sourceMappingURL=ui%20app.js.map'));
place('dist/page.html', '<p>');
place('ids.js', script("debugId=$LOADED"));
place('ids.js.map', map_of('loaded.ts', %text, debug_id => $LOADED));

is(ask("$UI/v1/js/ui%20app.js", 1, 14), 'minified missing_source', 'nothing is loaded yet');
like($t->symloader('load', '--url-prefix', 'http://ui.example/v1', "$dir/dist"), qr/^3 files, /m,
     'scripts and maps of a folder are loaded');
$t->load("$dir/ids.js", "$dir/ids.js.map");
is(ask("$UI/v1/js/ui%20app.js", 1, 14), "readCart $UI/v1/js/ui.ts:2:3 [  throw 1;]", '... and found by their paths');
is(ask("$UI/v1/js/same.js", 1, 14), "readCart $UI/v1/js/ui.ts:2:3 [  throw 1;]", '... also of two equal scripts');
is(ask("$UI/js/same.js", 1, 14), 'minified missing_source', '... below the prefix only');
is(ask('app:///main.jsbundle', 1, 14, id => $LOADED), 'readCart app:///loaded.ts:2:3 [  throw 1;]',
   'loaded files are found by debug id');
is(ask("$UI/ids.js", 1, 14), "readCart $UI/loaded.ts:2:3 [  throw 1;]", '... and by their names');

place('dist/js/ui app.js.map', map_of('newer.ts', %text));
$t->symloader('load', '--url-prefix', '~/v1/', "$dir/dist");
is(ask("$UI/v1/js/ui%20app.js", 1, 14), "readCart $UI/v1/js/newer.ts:2:3 [  throw 1;]", 'a later build replaces them');

like($t->symloader('show', '~/static/app.min.js'), qr{^file +/_site/static/app\.min\.js$}m,
     'a path names a file of a site for commands, too');
place('site/static/beside.js.map', map_of('newer.ts', %text));
is(ask("$site/beside.js", 1, 14), "readCart $site/beside.ts:2:3 [two]", 'a changed file is not fetched again');
$t->symloader('rm', '~/static/beside.js.map');
is(ask("$site/beside.js", 1, 14), "readCart $site/newer.ts:2:3 [  throw 1;]", '... until it is removed');

# --- events of the bucket that has the site ---

sub changed {
    my ($key) = @_;
    return $t->post('/symbolicate/events', $JSON->encode({ Records => [
        { eventName => 'ObjectCreated:Put', s3 => { object => { key => $key } } }] }))->{json}{removed};
}

place('site/static/beside.js.map', map_of('newest.ts', %text));
is(changed('build/7/static/beside.js.map'), 1, 'a map was replaced');
is(ask("$site/beside.js", 1, 14), "readCart $site/newest.ts:2:3 [  throw 1;]", '... and is fetched again');
place('site/gone.js', script());
place('site/gone.js.map', map_of('there.ts', %text));
is(changed('gone.js') + changed('gone.js.map'), 2, 'a script and its map were uploaded');
is(ask('https://example.com/gone.js', 1, 14), 'readCart https://example.com/there.ts:2:3 [  throw 1;]',
   '... which were absent before');
unlink "$dir/site/gone.js", "$dir/site/gone.js.map";
is(changed('gone.js') + changed('gone.js.map'), 2, 'both are removed');
is(changed("$folder/script"), 1, 'an event for a file by debug id');
is(changed('static/other.js'), 0, '... and for one that nobody asked for');

# --- why is it still minified? ---

sub explanations {
    my ($abs_path, $line, $column, $id) = @_;
    my $r = $t->request('POST', '/symbolicate-js',
        headers => ['Content-Type' => 'application/json'],
        body => $JSON->encode({
            modules => $id ? [{ type => 'sourcemap', code_file => $abs_path, debug_id => $id }] : [],
            options => { explain => Cpanel::JSON::XS::true, apply_source_context => Cpanel::JSON::XS::false },
            stacktraces => [{ frames => [{ abs_path => $abs_path, lineno => $line, colno => $column }] }] }));
    my $got = eval { $JSON->decode($r->{body}) } or return [$r->{status}, $r->{body}];
    return [map { $_->{note} // join ' ', @$_{qw(file by uri result)} }
            @{ $got->{explanations} }];
}

my $OLD = $ID =~ s/1$/9/r;
place('site/old.js', script('debugId=' . $ID =~ s/1$/8/r, 'sourceMappingURL=old.js.map'));
place('site/old.js.map', map_of('old.ts', debugId => $OLD));
place('site/plain.js', script());
is_deeply(explanations("$site/app.min.js", 1, 14),
    ['minified_source url ~/static/app.min.js found', 'source_map url ~/static/maps/app%20.map found'],
    'explained: files that were found');
is_deeply(explanations('https://example.com/gone.js', 1, 1, $ID =~ s/1$/4/r),
    ['minified_source debug-id urn:uuid:0c0ffee0-0000-4000-8000-000000000004 absent',
     'minified_source url ~/gone.js absent',
     'source_map debug-id urn:uuid:0c0ffee0-0000-4000-8000-000000000004 absent',
     'source_map url ~/gone.js.map absent'], '... that were not');
is_deeply(explanations('https://example.com/old.js', 1, 14)->[-1],
    "the source map is of another build: its debug id is $OLD, wanted is " . $ID =~ s/1$/8/r,
    '... a map of another build');
is_deeply(explanations('https://example.com/plain.js', 1, 14)->[-1],
    'the script names no source map (sourceMappingURL), and neither it nor the request names a debug id',
    '... a script without a map');
is_deeply(explanations("$site/app.min.js", 7, 1)->[-1],
    'line 7: the source map has nothing for this line; its last line is 1', '... a line after the end');

# --- a stack as text ---

my $server = 'http://' . $t->address . '/symbolicate';
write_file("$dir/trace.txt", <<"END");
Error: 1
    at a ($site/app.min.js:1:14)
    at https://example.com/gone.js:1:1
END
my $p = $t->loader->run('symbolicate', '--server', $server, '--explain', "$dir/trace.txt");
is($p->{out} =~ s/absent: .*/absent/gr, <<"END", 'symloader symbolicate asks a server');
Error: 1
    at readCart (../src/cart.ts:2:3)
    at https://example.com/gone.js:1:1

$site/app.min.js
    minified_source by url, ~/static/app.min.js: found
    source_map by url, ~/static/maps/app%20.map: found

https://example.com/gone.js
    minified_source by url, ~/gone.js: absent
    source_map by url, ~/gone.js.map: absent
END
is($p->{code}, 1, '... and a frame was not found');

$t->loader_stop;
is(ask("$site/app.min.js", 1, 14), "readCart https://example.com/static/src/cart.ts:2:3 [  throw 1;]",
   'what was fetched is in the store');
$t->loader_start;

is($t->end, '', 'a clean log');
done_testing();
