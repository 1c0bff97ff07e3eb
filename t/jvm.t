#!/usr/bin/perl

# Users with a folder or bucket of mappings can retrace stacks over HTTP: a
# source with layout `unified` has a mapping under its UUID.  Several mappings
# are tried in order, and a stack of hostile depth is answered within bounds.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Zip qw(zip $ZipError);
use JSON::PP ();
use SymGiven;
use Test::More;

my $t = SymGiven->new->start;
my $asked = $t;
my %source = $t->source('/maps', layout => { type => 'unified' },
                         filters => { filetypes => ['proguard'] })->%*;

sub guid { return sprintf '%08x-0000-5000-8000-000000000000', $_[0] }

sub mapping {
    my ($n, $text) = @_;
    (my $id = guid($n)) =~ tr/-//d;
    $t->route('/maps/' . substr($id, 0, 2) . '/' . substr($id, 2) . '/proguard',
              body => $text);
    return;
}

sub ask {
    my ($ids, %more) = @_;
    my $r = $asked->request('POST', '/symbolicate-jvm',
        headers => ['Content-Type' => 'application/json'],
        body => JSON::PP::encode_json({
            sources => [\%source],
            modules => [map { { uuid => guid($_), type => 'proguard' } } @$ids],
            %more }));
    return $r->{status} == 200 ? JSON::PP::decode_json($r->{body}) : $r;
}

sub frames {
    my (@frames) = @_;
    my $i = 0;
    return (stacktraces => [{ frames =>
        [map { { module => $_->[0], function => $_->[1], lineno => $_->[2],
                 index => $i++ } } @frames] }],
        options => { frame_order => 'callee_first' });
}

sub names {
    my ($got) = @_;
    return join ' ', map { "$_->{module}.$_->{function}:$_->{lineno}" }
        @{ $got->{stacktraces}[0]{frames} };
}

mapping(1, "a.Main -> x:\n    1:2:void run():10:11 -> a\na.Both -> z:\n    1:1:void f():3:3 -> a\n");
mapping(2, "b.Main -> y:\n    1:2:void go():20:21 -> a\nb.Both -> z:\n    1:1:void g():4:4 -> a\n");
mapping(3, "text\n");

my $got = ask([1, 2], frames(['x', 'a', 2], ['y', 'a', 1], ['z', 'a', 1], ['w', 'a', 1]));
is(names($got), 'a.Main.run:11 b.Main.go:20 a.Both.f:3 w.a:1',
   'mappings in a folder by their UUIDs, in order');
is_deeply($got->{errors}, [], '... without errors');

$got = ask([2, 1], frames(['z', 'a', 1]));
is(names($got), 'b.Both.g:4', 'the other order');

$got = ask([3, 4], frames(['x', 'a', 1]), classes => ['x']);
is(names($got), 'x.a:1', 'neither mapping can be used: the frame stays');
is_deeply($got->{errors}, [{ uuid => guid(3), type => 'invalid' },
                           { uuid => guid(4), type => 'missing' }],
          '... and the answer says why');

# each frame has 30,000 inlined calls
mapping(5, "a.B -> x:\n" . "    1:9:void a.C.f():3:3 -> a\n" x 30_000);
$got = ask([5], frames((['x', 'a', 1]) x 200));
my $n = @{ $got->{stacktraces}[0]{frames} || [] };
ok($got->{status} ne 'completed' || ($n > 200 && $n < 2_000_000),
   'a hostile mapping is answered within bounds') or diag $n;
is(names(ask([1], frames(['x', 'a', 1]))), 'a.Main.run:10',
    '... and nginx keeps running');

for my $case (
    ['null', '{"sources": null}', 422], ['no JSON', '{"sources": [}', 400],
    ['a list', '[]', 422], ['twice', '{"sources": [], "sources": []}', 422],
    ['index', '{"sources":[],"stacktraces":[{"frames":[{"module":"a","function":"b","index":-1}]}]}', 422],
    ['lineno', '{"sources":[],"stacktraces":[{"frames":[{"module":"a","function":"b","index":1,"lineno":4294967296}]}]}', 422],
    ['uuid', '{"sources":[],"modules":[{"uuid":"x","type":"proguard"}]}', 422],
    ['more', '{"sources": []} x', 400])
{
    my ($name, $body, $status) = @$case;
    my $r = $t->request('POST', '/symbolicate-jvm', body => $body,
        headers => ['Content-Type' => 'application/json']);
    is($r->{status}, $status, "$name: $status") or diag $r->{body};
}

# --- a bundle of sources of another build ---

my $manifest = '{"debug_id": "' . guid(12) . '", "files": {"a": {"type": "source", "url": "~/a/Main.jvm"}}}';
zip(\$manifest => \my $bundle, Name => 'manifest.json') or die $ZipError;
for my $n (11, 12) {
    $t->route('/sentry?debug_id=' . guid($n), body => '[{"id": "' . $n . '", "symbolType": "sourcebundle"}]');
    $t->route("/sentry?id=$n", body => "SYSB\2\0\0\0$bundle");
}
$got = ask([], sources => [{ id => 's', type => 'sentry', token => 't', url => 'http://' . $t->address_of_servers . '/sentry' }],
    modules => [map { { uuid => guid($_), type => 'source' } } 11, 12], options => { explain => JSON::PP::true });
is_deeply([map {"$_->{file} $_->{uuid} $_->{result}"} @{ $got->{explanations} }],
    ['source ' . guid(11) . ' malformed', 'source ' . guid(12) . ' found'], 'a bundle that names another debug id is not used');
like($got->{explanations}[0]{reason}, qr/wrong module: its id is 0{7}C0{4}50{3}80{16}, requested was 0{7}B/, '... and explained');

$asked = SymGiven->new(more => 'symbolicate_slice 1;')->start;
is(names(ask([1, 2], frames(['x', 'a', 2], ['y', 'a', 1]))),
   'a.Main.run:11 b.Main.go:20', 'a frame in each turn');
is($asked->end, '', '... with a clean log');

is($t->end, '', 'a clean log');
done_testing();
