#!/usr/bin/perl

# A fetched module with IL2CPP's runtime has C# lines if the source has its map;
# without one it has the lines of the generated C++.  No map is requested for
# other modules.

use strict;
use warnings;

use Cpanel::JSON::XS ();
use FindBin;
use JSON::PP qw(decode_json);
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymLoader qw(read_file write_file);

my $t = SymFetch->new(how => 'symbolicate_source maps uri=/maps/ layout=unified;',
                      sources => <<'CONF');
        location /admin {
            symbolicate;
            symbolicate_admin on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source maps uri=/maps/ layout=unified;
        }
        location /maps/ { internal; proxy_pass http://%%FAULT%%/as/maps/; }
CONF

# --- two modules; the second does not have the runtime ---

my $cpp = '/build/il2cppOutput/Game.cpp';
my $build_id = '1f' x 20;
my $other_id = '2e' x 20;

sub path { return join '/', unpack('a2 a*', $_[0]), $_[1] }

sub build {
    my ($id, @more) = @_;
    my $file = $t->dir . "/$id";
    my $source = write_file($t->dir . '/game.c', <<"C");
#line 1 "$cpp"
int il2cpp_init(const char *name) { return name != 0; }
#line 300 "$cpp"
int update(int x) { return x * 7; }
C
    system('gcc', '-g', '-O1', '-shared', '-fPIC', "-Wl,--build-id=0x$id", @more,
           '-o', $file, $source) == 0 or die "gcc: $?";
    $t->fault->file(path($id, 'debuginfo'), read_file($file));
    my ($at) = map {/^([0-9a-f]+) T update$/} `nm $file`;
    return hex $at;
}

# A build id's first 16 bytes are a GUID.
sub debug_id {
    my ($id) = @_;
    my @parts = unpack 'V v v H16', pack 'H32', $id;
    return sprintf '%08X%04X%04X%s0', @parts[ 0 .. 2 ], uc $parts[3];
}

my $at = build($build_id);
my $other_at = build($other_id, '-Dil2cpp_init=init');
$t->start;

sub frame {
    my ($id, $offset) = @_;
    my $r = $t->post_json('/symbolicate/v5',
        { memoryMap => [[ 'libil2cpp.so', $id ]], stacks => [[[ 0, $offset ]]] });
    my $f = $r->{json}{results}[0]{stacks}[0][0];
    return join ' ', map { $_ // '-' } @$f{qw(function file line)};
}

my $module = 'libil2cpp.so/' . debug_id($build_id);

sub incomplete {
    return decode_json($t->request('GET', "/admin/explain/$module")->{body})->{incomplete};
}

sub asked { return $t->fault->count('/as/maps/' . path($_[0], 'il2cpp')) }

is(frame($build_id, $at), "update $cpp 300", 'no map: C++ is shown');
like(incomplete(), qr/its map of C# lines is not here/, '... explain says why');
is(frame($other_id, $other_at), "update $cpp 300", 'another module');
is($t->loader->run('rm', $module)->{code}, 0, 'the module is removed');

$t->fault->file(path($build_id, 'il2cpp'), '{"a.cpp": {"a.cs": {"1": "x"}}}');
is(frame($build_id, $at), "update $cpp 300",
    'a file that is not a map: C++ is shown');
like(incomplete(), qr/its map of C# lines: malformed/, '... explain says why');
is($t->loader->run('rm', $module)->{code}, 0, 'the module is removed');

$t->fault->file(path($build_id, 'il2cpp'),
           Cpanel::JSON::XS->new->encode({ $cpp => { 'Assets/Game.cs' => { 290 => 41 } } }));
is(frame($build_id, $at), 'update Assets/Game.cs 41', 'with the map: C# is shown');
is(incomplete(), '', '... and nothing is missing');

is(asked($build_id), 3, 'the map was requested, once each time');
is(asked($other_id), 0, '... but not for the module without the runtime');

my $stats = $t->loader->stats;
is($stats->{conversions_running}, 0, 'no converter waits');
is($stats->{fetches_running}, 0, 'nothing runs');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'a clean log');

done_testing();
