#!/usr/bin/perl

# Lines of IL2CPP's output are mapped to the C# that it was made from, if a map
# is next to the debug file; functions are unchanged.  The test applies the map
# itself, to the dump of the same file without it.

use strict;
use warnings;
no warnings 'portable';

use Cpanel::JSON::XS ();
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(json_lines read_file write_file);

my $t = SymLoader->new;
my $missing = qr/lines are those of generated C\+\+: its map of C# lines is not here/;

# --- a module according to its dump ---

# Functions; the position of each byte; where each inlined call is.
sub parse {
    my ($text) = @_;
    my (%m, @files);
    for (split /\n/, $text) {
        if (/^FILE (\d+) (.*)/) {
            $files[$1] = $2;
        } elsif (/^FUNC (.*)/) {
            push @{ $m{functions} }, $1;
        } elsif (/^INLINE_ORIGIN (\d+) (.*)/) {
            $m{origins}{$1} = $2;
        } elsif (/^INLINE (\d+) (\d+) (\d+) (\d+) (.*)/) {
            push @{ $m{calls} }, [ "$1 $m{origins}{$4} $5", $files[$3] // '', $2 ];
        } elsif (/^([0-9a-f]+) ([0-9a-f]+) (\d+) (\d+)$/) {
            $m{places}{$_} = [ $files[$4] // '', $3 ] for hex $1 .. hex($1) + hex($2) - 1;
        }
    }
    return \%m;
}

sub moved {
    my ($map, $file, $line) = @_;
    my @found = (undef, -1);
    while (my ($cs, $lines) = each %{ $map->{$file} // {} }) {
        for my $from (keys %$lines) {
            @found = ([ $cs, $lines->{$from} ], $from)
                if $from <= $line && $from > $found[1];
        }
    }
    return @{ $found[0] && $line - $found[1] <= 50 ? $found[0] : [ $file, $line ] };
}

# The module as text, with positions mapped.
sub told {
    my ($m, $map) = @_;
    my %p = %{ $m->{places} };
    return { functions => [ sort @{ $m->{functions} } ],
             calls => [ sort map { join ' ', $_->[0], moved($map, @$_[ 1, 2 ]) }
                        @{ $m->{calls} // [] } ],
             places => { map { $_ => join ' ', moved($map, @{ $p{$_} }) } keys %p } };
}

sub write_map {
    my ($path, $map) = @_;
    return write_file($path, Cpanel::JSON::XS->new->canonical->encode($map));
}

sub dump_of {
    my ($file, $errors, $what) = @_;
    my $r = $t->run('dump', '--no-demangle', $file);
    is($r->{code}, 0, "$what: read");
    like($r->{err}, $errors, '... warnings');
    return parse($r->{out});
}

# --- an ELF file with inlined calls ---

my $dir = $t->dir . '/game';
my $place = "$dir/il2cppOutput/Game.cpp";
write_file($place, <<"CPP");
int il2cpp_init(const char *name) { return name != 0; }
volatile int sink;
#line 100 "$place"
static inline __attribute__((always_inline)) int step(int x)
{
    sink = x;
    sink += 3;
    return sink * 7;
}
#line 153 "$place"
int last_that_moves(int x) { return sink + x; }
int first_that_stays(int x) { return sink - x; }
#line 300 "$place"
int update(int x)
{
    sink = x;
    x = step(x);
    sink++;
    return step(x) + x;
}
#line 400 "$dir/il2cppOutput/Other.cpp"
int other(int x) { return step(x) ^ 5; }
CPP

my $library = "$dir/libil2cpp.so";
sub build {
    my ($file, @more) = @_;
    system('gcc', '-x', 'c', '-g', '-O1', '-shared', '-fPIC', '-Wl,--build-id',
           @more, '-o', $file, $place) == 0 or die "gcc: $?";
    return;
}
build($library);

my %map = (
    '__debug-id__' => { '00000000-0000-0000-0000-000000000000' => {} },
    $place => { 'Assets/Game.cs' => { 101 => 11, 102 => 12, 301 => 21, 303 => 23 },
                'Assets/Step.cs' => { 103 => 5 } },
    'Elsewhere.cpp' => { 'Assets/Elsewhere.cs' => { 1 => 1 } },
);

my $plain = dump_of($library, $missing, 'no map');
cmp_ok(scalar @{ $plain->{calls} }, '>=', 3, '... calls are inlined');

for my $name ('libil2cpp.so.il2cpp.json', 'il2cpp', 'LineNumberMappings.json') {
    my $file = write_map("$dir/$name", \%map);
    my $got = told(dump_of($library, qr/\A\z/, $name), {});
    is_deeply($got, told($plain, \%map), '... functions stay, lines are those of the map');
    unlink $file or die;
}

my %stays = map { $_->[1] => 1 } grep { (moved(\%map, @$_))[0] eq $place }
    values %{ $plain->{places} };
my %moves = map { $_->[1] => 1 } grep { (moved(\%map, @$_))[0] ne $place }
    values %{ $plain->{places} };
ok($moves{153} && $stays{154} && $stays{1},
    '... up to 50 after the last that it has');

# --- in a store ---

is($t->run('load', $library)->{code}, 0, 'loaded without the map');
my ($module) = $t->modules;
my ($at) = grep { $plain->{places}{$_}[1] == 304 } sort { $a <=> $b } keys %{ $plain->{places} };

sub frame {
    my $r = $t->run('lookup', '--json', $module, sprintf '%#x', $at);
    my $f = (json_lines($r->{out}))[0];
    return "$f->{function} $f->{file} $f->{line}";
}

is(frame(), "update $place 304", '... C++ is shown');
write_map("$dir/il2cpp", \%map);
is($t->run('load', $library)->{code}, 0, 'loaded with it');
is(frame(), 'update Assets/Game.cs 23', '... C# is shown');
is((json_lines($t->run('show', '--json', $module)->{out}))[0]{incomplete}, '',
   '... and nothing is missing');

# --- files that are not maps, or not needed ---

write_file("$dir/il2cpp", '[]');
is_deeply(dump_of($library, qr/its map of C# lines: malformed: the map is not an object\n.*$missing/s,
                  'a file that is not a map'), $plain, '... is not used');
write_map("$dir/LineNumberMappings.json", \%map);
is_deeply(told(dump_of($library, qr/the map is not an object\n\z/, '... and another one'), {}),
          told($plain, \%map), '... that is');

build("$dir/native.so", '-Dil2cpp_init=init');
my $native = dump_of("$dir/native.so", qr/\A\z/, 'a module without the runtime');
is_deeply([ grep { $_->[0] =~ /\.cs$/ } values %{ $native->{places} } ], [],
          '... is shown as it is');

# --- a Breakpad file of a Mach-O module, with a map of all of its files ---

SKIP: {
    my $symbols = fixtures('sentry/symbols/67E9/247C/814E/392B/A027/DBDE6748FCBF');
    my $text = $t->run('dump', '--no-demangle', $symbols)->{out};
    my $cocoa = $t->dir . '/cocoa/Sentry.sym';
    write_file($cocoa, $text . "PUBLIC fffffff0 0 il2cpp_init\n");
    my $before = dump_of($cocoa, $missing, 'a large module');

    my (%lines, %all);
    $lines{ $_->[0] }{ $_->[1] } = 1 for grep { $_->[0] ne '' } values %{ $before->{places} };
    for my $file (keys %lines) {
        my @some = grep { $_ % 3 == 0 } sort { $a <=> $b } keys %{ $lines{$file} };
        $all{$file}{"Assets/$_.cs"} = {} for 0 .. 2;
        $all{$file}{ 'Assets/' . $_ % 7 % 3 . '.cs' }{$_} = $_ * 5 + 1 for @some;
    }
    write_map("$cocoa.il2cpp.json", \%all);
    my $after = told(dump_of($cocoa, qr/\A\z/, '... with its map'), {});
    cmp_ok(scalar(grep {/^Assets/} values %{ $after->{places} }), '>', 10_000, '... has moved');
    is_deeply($after, told($before, \%all), '... as the map says');
}

done_testing();
