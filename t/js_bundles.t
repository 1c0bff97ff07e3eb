#!/usr/bin/perl

# A list of Sentry may name many bundles: files of all of them are used
# (Symbolicator stops at five).  A bundle that has the file under another debug
# id than the request's is explained: it is of another build.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use IO::Compress::Zip qw($ZipError);
use List::Util qw(uniq);
use SymGiven;
use Test::More;

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymGiven->new->start;
my $own = 'http://' . $t->address_of_servers;
my $explain = 1;

sub guid { return sprintf '0c0ffee0-0000-4000-8000-%012x', $_[0] }

# A bundle: name => [type, text, headers]; each has the URL ~/x/NAME.
sub bundle {
    my ($path, %files) = @_;
    my %texts = map { $_ => $files{$_}[1] } keys %files;
    $texts{'manifest.json'} = $JSON->encode({ files => {
        map { $_ => { url => "~/x/$_", type => $files{$_}[0], headers => $files{$_}[2] // {} } } keys %files } });
    my ($bytes, $zip) = '';
    for my $name (sort keys %texts) {
        $zip ? $zip->newStream(Name => $name)
            : ($zip = IO::Compress::Zip->new(\$bytes, Name => $name) or die $ZipError);
        $zip->write($texts{$name});
    }
    $zip->close;
    $t->route($path, body => "SYSB\2\0\0\0" . $bytes);
    return;
}

# Each map has one token: line 2, column 3 of its source.
sub map_of {
    my ($source) = @_;
    return $JSON->encode({ version => 3, sources => [$source], names => [], mappings => 'AACG', sourcesContent => ["one\ntwo\n"] });
}

sub script_and_map {
    my ($name, $n) = @_;
    my %id = $n ? ('Debug-Id' => guid($n)) : ();
    return ("$name.js" => ['minified_source', "f()\n", { Sourcemap => "$name.js.map", %id }],
        "$name.js.map" => ['source_map', map_of("$name.ts"), \%id]);
}

sub list {
    my ($query, @bundles) = @_;
    $t->route("/list?$query", body => $JSON->encode([map { { type => 'bundle', id => $_, url => "$own/$_" } } @bundles]));
    return;
}

# Scripts with debug ids, by their names.
sub ask {
    my ($scripts, %more) = @_;
    my @urls = map {"http://cdn.example/x/$_->[0].js"} @$scripts;
    my $r = $t->request('POST', '/symbolicate-js',
        headers => ['Content-Type' => 'application/json'],
        body => $JSON->encode({
            source => { id => 's', url => "$own/list", token => 'secret' },
            modules => [map { $scripts->[$_][1]
                ? { type => 'sourcemap', code_file => $urls[$_], debug_id => guid($scripts->[$_][1]) } : () } 0 .. $#urls],
            options => { explain => $explain ? Cpanel::JSON::XS::true : Cpanel::JSON::XS::false },
            allow_scraping => Cpanel::JSON::XS::false,
            stacktraces => [{ frames => [map { { abs_path => $_, lineno => 1, colno => 1 } } @urls] }], %more }));
    return eval { $JSON->decode($r->{body}) } // { error => "$r->{status} $r->{body}" };
}

sub sources {
    my ($got) = @_;
    return join ' ', map { $_->{filename} // '-' } @{ $got->{stacktraces}[0]{frames} };
}

# --- twelve bundles ---

my @all = map {"b$_"} 1 .. 12;
bundle("/b$_", script_and_map("s$_")) for 1 .. 12;
list('release=r&url=%2Fx%2Fs1', @all);
$t->forget;
my $got = ask([map { ["s$_"] } 1 .. 12], release => 'r');
is(sources($got), join(' ', map {"s$_.ts"} 1 .. 12), 'files of all twelve bundles') or diag($JSON->encode($got));
is_deeply([uniq sort grep {/^b/} map { $_->{target} =~ s{^/}{}r } $t->requests], [sort @all], '... each of which was downloaded');

bundle("/d$_", script_and_map("d$_", $_)) for 1 .. 12;
list('debug_id=' . guid(1), map {"d$_"} 1 .. 12);
is(sources(ask([map { ["d$_", $_] } 1 .. 12])), join(' ', map {"d$_.ts"} 1 .. 12), '... by debug ids');

# --- another build ---

sub explained {
    my ($result) = @_;
    return [map {"$_->{file} $_->{by} $_->{uri}: $_->{result}"} grep { $_->{file} ne 'list' } @{ $result->{explanations} }];
}

bundle('/other', script_and_map('o', 51));
list('debug_id=' . guid(50), 'other');
$got = ask([['o', 50]]);
is(sources($got), 'o.ts', 'a file of another build is found by its URL, as in Symbolicator');
my $other = guid(51);
is_deeply(explained($got), [
    "minified_source debug-id sentry://project_debug_file/other: has the file with another debug id, $other",
    'minified_source url sentry://project_debug_file/other: found',
    "source_map debug-id sentry://project_debug_file/other: has the file with another debug id, $other",
    'source_map url sentry://project_debug_file/other: found' ], '... and explained');

$got = ask([['gone', 50]]);
is_deeply([grep {/^minified_source debug-id|^minified_source bundle/} @{ explained($got) }],
    ["minified_source bundle sentry://project_debug_file/other: has no such file; its first debug id is $other"],
    'a bundle without the file: the debug id that it has') or diag($JSON->encode($got));
is($got->{errors}[0]{type}, 'scraping_disabled', '... with the error of Symbolicator');

$explain = 0;
is(ask([['o', 50]])->{explanations}, undef, 'no explanation without the option');

is($t->end, '', 'a clean log');
done_testing();
