#!/usr/bin/perl

# Names that Apple's tools hid in a recompiled app ("__hidden#N_") are replaced
# by those of the developer's symbol map, wherever Xcode and Symbolicator put
# the maps.  Without a map the names stay hidden, a warning and `show` say so,
# and loading the same file again with its map replaces the module.

use strict;
use warnings;
no warnings 'portable';

use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(need_fixtures);
use SymLoader qw(json_lines read_file write_file);

my $t = SymLoader->new;
my ($uuid, $original) = ('2d10c42f-591d-3265-b147-78ba0868073f',
                         'c8374b6d-6e96-34d8-ae38-efaa5fec424f');
my $symbols = need_fixtures("sentry/symbols/$uuid.plist") =~ s{/[^/]+$}{}r;
my $module = 'Sentry/2D10C42F591D3265B14778BA0868073F0';
my $archive = $t->dir . '/App.xcarchive';
my $bundle = "$archive/dSYMs/Sentry.dSYM";
my $resources = "$bundle/Contents/Resources";
my $list = "$symbols/$uuid.plist";
my $map = "$symbols/$original.bcsymbolmap";
my $no_list = qr/names are hidden: its map of UUIDs is not here/;
my $no_map = qr/names are hidden: its symbol map \(BCSymbolMap\) is not here/;

make_path("$resources/DWARF", "$archive/BCSymbolMaps");
copy("$symbols/$uuid.dwarf-hidden", "$resources/DWARF/Sentry") or die;

sub dump_is {
    my ($errors, $what) = @_;
    my $r = $t->run('dump', '--no-demangle', $bundle);
    is($r->{code}, 0, "$what: read");
    like($r->{err}, $errors, '... warnings');
    return $r->{out};
}

# --- the names ---

# The names behind the hidden ones.  An absolute part of a path replaces
# everything before it.
sub plain {
    my ($text, @names) = @_;
    $text =~ s{__hidden#(\d+)_}{$names[$1]}g;
    $text =~ s{^(FILE \d+ ).*/(?=/)}{$1}mg;
    return $text;
}

# Addresses, sizes and names of functions, the names without leading
# underscores: symbols of C have one more than their functions.
sub functions {
    my ($text) = @_;
    return [ map {s/^(\S+ \S+ \S+ )_+/$1/r} $text =~ /^FUNC (.*)/mg ];
}

my $hidden = dump_is($no_list, 'no map');
cmp_ok(() = $hidden =~ /^(?:FUNC|FILE) .*__hidden#/mg, '>', 500, '... names are hidden');

my (undef, @names) = split /\r?\n/, read_file($map);
copy($list, "$resources/" . uc($uuid) . '.plist') or die;
is(dump_is($no_map, 'only a map of UUIDs'), $hidden, '... the same names');

my $upper = "$archive/BCSymbolMaps/" . uc($original) . '.bcsymbolmap';
copy($map, $upper) or die;
my $shown = dump_is(qr/\A\z/, 'both');
unlike($shown, qr/__hidden#/, '... no name is hidden');
is_deeply(functions($shown), functions(plain($hidden, @names)),
          '... functions are the lines of the map');
like($shown, qr/^FUNC 60e4 30 0 addJSONData$/m, '... without the underscore of C');

# Several hidden paths may stand for one path.
sub files {
    my %files = map { s/^FILE \d+ //r => 1 } grep {/^FILE/} split /\n/, $_[0];
    return [ sort keys %files ];
}

is_deeply(files($shown), files(plain($hidden, @names)), '... so are files');

# --- in a store; expected as in Symbolicator's own test ---

sub frame {
    my $r = $t->run('lookup', '--json', $module, '0x5a75');
    my $f = (json_lines($r->{out}))[0];
    return "$f->{function} $f->{file}";
}

unlink $upper or die;
like($t->run('load', $bundle)->{err}, $no_map, 'loaded without the map');
is((json_lines($t->run('show', '--json', $module)->{out}))[0]{incomplete} =~ $no_map, 1,
   '... show says what is missing');
copy($map, $upper) or die;
is($t->run('load', $bundle)->{code}, 0, 'loaded with it');
is(frame(), '-[SentryMessage initWithFormatted:] '
       . '/Users/philipphofmann/git-repos/sentry-cocoa/Sources/Sentry/SentryMessage.m',
   '... names are shown');
is((json_lines($t->run('show', '--json', $module)->{out}))[0]{incomplete}, '',
   '... and nothing is missing');

# --- other paths; files that are not maps ---

for my $place ([ '.', lc $uuid, lc $original ], [ 'BCSymbolMaps', uc $uuid, uc $original ]) {
    my $dir = $t->dir . '/beside';
    remove_tree($dir);
    make_path("$dir/$place->[0]");
    copy("$symbols/$uuid.dwarf-hidden", "$dir/Sentry") or die;
    copy($list, "$dir/$place->[0]/$place->[1].plist") or die;
    copy($map, "$dir/$place->[0]/$place->[2].bcsymbolmap") or die;
    is($t->run('dump', '--no-demangle', "$dir/Sentry")->{out}, $shown, "maps beside the file: $place->[0]");
}

write_file($upper, "BCSymbolMap Version: 3.0\nmain\n");
is(dump_is(qr/its symbol map: malformed: not a BCSymbolMap of version 2.0\n.*$no_map/s,
           'a map of another version'), $hidden, '... is not used');
write_file("$resources/" . uc($uuid) . '.plist', '<plist/>');
is(dump_is(qr/its map of UUIDs: malformed: .*no DBGOriginalUUID\n.*$no_list/s,
           'a list without the UUID'), $hidden, '... is not used');

done_testing();
