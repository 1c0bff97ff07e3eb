#!/usr/bin/perl

# A request's source with an index (000Admin of a symstore) gets requests only
# for listed files, and none if the index cannot be read.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymLoader qw(read_file write_file);
use Test::More;

use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $dir = tempdir('symtest-XXXXXX', TMPDIR => 1, CLEANUP => 1);
chmod 0755, $dir;
my $t = SymGiven->new(workers => 1, types => "http filesystem=$dir")->start;

my $ID = '3249D99D0C4049318610F4E4FB0B69361';
my $PDB = need_fixtures("sentry/symbols/crash.pdb/$ID/crash.pdb");
my $LINE = qq("crash.pdb\\$ID","x"\r\n);

# A module with two ids; only the first one has a file.
sub body_of {
    my ($sources, %o) = @_;
    my $id = $o{other} ? '11111111-0c40-4931-8610-f4e4fb0b6936-1' : '3249d99d-0c40-4931-8610-f4e4fb0b6936-1';
    return $t->json({
        sources => $sources,
        modules => [ { type => 'pe', code_id => '5ab380779000', code_file => 'crash.exe',
            debug_id => $id, debug_file => 'crash.pdb',
            image_addr => '0x100000000', image_size => 36864 } ],
        stacktraces => [ { frames => [ { instruction_addr => '0x100001000' } ] } ],
        options => { apply_source_context => JSON::PP::false },
    });
}

sub ask {
    my ($sources, %o) = @_;
    $t->forget if !$o{remember};
    my $r = $t->post('/symbolicate', body_of($sources, %o), 'Content-Type' => 'application/json');
    return $t->status_of($r, 0);
}

sub source {
    my ($base, %o) = @_;
    return { id => 'src', type => 'http', url => 'http://' . $t->address_of_servers . $base,
             layout => { type => 'symstore' }, has_index => JSON::PP::true, %o };
}

# A store at a path, with the given texts in 000Admin.
sub serve {
    my ($base, %admin) = @_;
    $t->route("$base/crash.pdb/$ID/crash.pdb", file => $PDB);
    $t->route("$base/000Admin/$_", ref $admin{$_} ? %{ $admin{$_} } : (body => $admin{$_}))
        for keys %admin;
    return;
}

sub targets {
    my ($base) = @_;
    my @requests = $t->requests;
    return [ map { $_->{target} =~ s{^\Q$base\E/}{}r } @requests ];
}

# --- listed files ---

serve('/one', 'lastid.txt' => "0000000002\r\n", '0000000001' => qq("a.dll\\1",\n), '0000000002' => $LINE);
is(ask([ source('/one', headers => { 'X-Key' => 'k' }) ]), 'found', 'a file that the index lists');
is_deeply(targets('/one'), [ map({"000Admin/$_"} qw(lastid.txt 0000000001 0000000002)), "crash.pdb/$ID/crash.pdb" ],
    '... is the only request after the index');
my @requests = $t->requests;
is_deeply([ map { $_->{headers}{'x-key'} } @requests ], [ ('k') x 4 ], '... with the headers of the source');
is(ask([ source('/one', headers => { 'X-Key' => 'k' }) ], other => 1), 'missing',
    'a file that it does not list');
is_deeply(targets('/one'), [],
    '... is not requested; nor the index, which is cached');
is(ask([ source('/one') ]), 'found', 'the same without the header');
is(scalar(@{ targets('/one') }), 4, '... is another source, with an index of its own');

serve('/long', 'lastid.txt' => '1', '0000000001' => qq("a.dll\\1",\n) x 20_000 . $LINE);
is(ask([ source('/long') ]), 'found', 'a text of many lines');
serve('/hollow', 'lastid.txt' => '2', '0000000001' => '', '0000000002' => $LINE);
is(ask([ source('/hollow') ]), 'found', 'a text that is empty');
serve('/led', 'lastid.txt' => { status => 302, headers => { Location => '/one/000Admin/lastid.txt' } },
    '0000000001' => $LINE, '0000000002' => '');
is(ask([ source('/led') ]), 'found', 'a text that is elsewhere');

serve('/plain');
is(ask([ source('/plain', layout => { type => 'native' }) ]), 'found', 'another layout has no index');
is(ask([ source('/plain', has_index => JSON::PP::false) ]), 'found',
    'nor does a source without the option');

# --- unreadable indexes ---

my $n = 0;
for my $bad ([ 'no index', {} ],
    [ 'an index that may not be read', { 'lastid.txt' => { status => 403, body => '1' }, '0000000001' => $LINE } ],
    [ 'a text is missing', { 'lastid.txt' => '2', '0000000001' => $LINE } ],
    [ 'no last number', { 'lastid.txt' => 'x', '0000000001' => $LINE } ],
    [ 'too many texts', { 'lastid.txt' => '10001', '0000000001' => $LINE } ],
    [ 'a last number that is too long', { 'lastid.txt' => '1' . ' ' x 500, '0000000001' => $LINE } ],
    [ 'a text of 9 MiB', { 'lastid.txt' => '1', '0000000001' => $LINE . ' ' x (9 << 20) } ])
{
    my ($title, $admin) = @$bad;
    my $base = '/bad' . ++$n;
    serve($base, %$admin);
    is(ask([ source($base) ]), 'missing', "$title: nothing is there");
    is_deeply([ grep { !m{^000Admin/} } @{ targets($base) } ], [],
        '... and no file is requested');
    is(ask([ source($base) ], other => 1), 'missing', '... again');
    is_deeply(targets($base), [], '... nor is the index, for a while');
}

is(ask([ source('/x', url => 'http://10.0.0.1:1/') ]), 'missing',
    'a reserved address');

# --- a folder ---

make_path("$dir/000Admin", "$dir/crash.pdb/$ID");
write_file("$dir/crash.pdb/$ID/crash.pdb", read_file($PDB));
write_file("$dir/000Admin/lastid.txt", '1');
write_file("$dir/000Admin/0000000001", $LINE);
my %folder = (id => 'f', type => 'filesystem', path => $dir, layout => { type => 'symstore' },
    has_index => JSON::PP::true);
is(ask([ \%folder ]), 'found', 'an index in a folder');
write_file("$dir/000Admin/0000000001", qq("a.dll\\1",\n));
is(ask([ { %folder, is_public => JSON::PP::true } ]), 'missing', '... that does not list the file');

# --- more than a worker keeps ---

serve("/many$_", 'lastid.txt' => '1', '0000000001' => $LINE) for 1 .. 90;
my @status = map { ask([ source("/many$_") ]) } 1 .. 70;
is_deeply(\@status, [ ('found') x 70 ], 'many, one after the other');
is(ask([ source('/many70') ], other => 1), 'missing', 'the last of them');
is_deeply(targets('/many70'), [], '... is known');
is(ask([ source('/many1') ], other => 1), 'missing', 'the first of them');
is_deeply(targets('/many1'), [ '000Admin/lastid.txt', '000Admin/0000000001' ], '... was forgotten');
is(ask([ map { source("/many$_", id => "s$_") } 71 .. 90 ]), 'found', 'many in one request');

# --- sources whose indexes do not arrive ---

# there were 16 slots, and a source without one had no files
my $fault = $t->fault->url('blackhole');
my @slow = map {
    my $socket = $t->connect;
    my $n = $_;
    $t->send_all($socket, $t->request_text('POST', '/symbolicate', headers => [ 'Content-Type' => 'application/json' ],
        body => body_of([ source("/slow$n", url => "$fault/$n/") ])));
    $socket;
} 1 .. 20;
$t->fault->wait(undef, now => 17);
serve('/quick', 'lastid.txt' => '1', '0000000001' => $LINE);
is(ask([ source('/quick') ]), 'found',
    'a source next to 17 whose indexes do not arrive');
close $_ for @slow;

$t->allow(qr/symbol source "given:/);
is($t->end, '', 'nothing else');
done_testing();
