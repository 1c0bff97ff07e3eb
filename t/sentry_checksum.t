#!/usr/bin/perl

# The checksum of a module's debug file is sent as a header of the requests for
# it, as NuGet's symbol server requires it, and is always exactly one header.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

my $t = SymGiven->new(
    types => 'http gcs storage=http://%%HTTP%%/',
    more => 'symbolicate_source nuget uri=/nuget/ layout=native kinds=breakpad;',
    sources => <<'CONF')->start;
        location /nuget/ { internal; proxy_pass http://%%HTTP%%/conf/; }
CONF

my $SUM = 'SHA256:0f5e8f0b9c7a4d1e2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192';
my $n = 0;

# The header that the server received for a module with this checksum.
sub seen {
    my ($base, $sources, $sum) = @_;
    my $name = 'c' . ++$n . '.pdb';
    $t->forget->symbols($base, $name, $n);
    my $asked = JSON::PP::decode_json($t->body($sources, [$name, $n]));
    $asked->{modules}[0]{debug_checksum} = $sum if defined $sum;
    my $r = $t->post('/symbolicate', $t->json($asked), 'Content-Type' => 'application/json');
    is($t->function_of($r, 0), 'f0', "module $n: found") or diag $r->{body};
    my @requests = $t->requests;
    return map { $_->{headers} } @requests;
}

for my $from ([ '/conf', undef, 'a configured source' ],
              [ '/sym', [ $t->source('/sym') ], 'a source of the request' ])
{
    my ($base, $sources, $title) = @$from;
    is((seen($base, $sources, $SUM))[-1]{symbolchecksum}, $SUM, "$title: the checksum");
    is((seen($base, $sources))[-1]{symbolchecksum}, undef, '... none of a module without one');
    is((seen($base, $sources, 'x' x 256))[-1]{symbolchecksum}, 'x' x 256, '... the longest');
    for my $bad ('', 'x' x 257, "x\r\nX-Evil: 1", "x\ty", "x y", "x\x7f", "\x{e9}") {
        my ($headers) = seen($base, $sources, $bad);
        is($headers->{symbolchecksum}, undef,
            '... not one that is invalid in a header');
        is($headers->{'x-evil'}, undef, '... nor a part of it');
    }
}

# --- another origin ---

my $name = 'led.pdb';
my $path = SymGiven::path_of($name, ++$n);
$t->forget->symbols('/moved', $name, $n)->names('sym.test' => [['127.0.0.1']]);
$t->route("/from/$path", status => 302,
    headers => { Location => "http://sym.test:$t->{ports}{port}/moved/$path" });
my $asked = JSON::PP::decode_json($t->body([ $t->source('/from') ], [$name, $n]));
$asked->{modules}[0]{debug_checksum} = $SUM;
my $r = $t->post('/symbolicate', $t->json($asked), 'Content-Type' => 'application/json');
is($t->function_of($r, 0), 'f0', 'a redirect');
my @hops = $t->requests;
is_deeply([ map { $_->{headers}{symbolchecksum} } @hops ], [ $SUM, undef ],
    '... to another origin does not have it');

# --- storage ---

($path = 'v1/' . SymGiven::path_of('g.pdb', ++$n)) =~ s{/}{%2F}g;
$t->forget->route("/storage/v1/b/sym-1/o/$path?alt=media", body => SymGiven::text_of('g.pdb', $n));
$asked = JSON::PP::decode_json($t->body([ { id => 'gcs', type => 'gcs', bucket => 'sym-1',
    prefix => 'v1', bearer_token => 'x', filters => { filetypes => ['breakpad'] } } ], ['g.pdb', $n]));
$asked->{modules}[0]{debug_checksum} = $SUM;
$r = $t->post('/symbolicate', $t->json($asked), 'Content-Type' => 'application/json');
is($t->function_of($r, 0), 'f0', 'an object of a storage');
is(($t->requests)[-1]{headers}{symbolchecksum}, undef,
    '... is requested without it');

is($t->end, '', 'nothing else');
done_testing();
