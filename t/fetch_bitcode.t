#!/usr/bin/perl

# Names of a recompiled app are shown if the source also has its maps: the
# worker that fetched the dSYM fetches the map of UUIDs and then the symbol map.
# Without them the module is made nevertheless and stays unchanged while it is
# stored, and explain says what is missing.  An event for the map that is missing
# ends that.

use strict;
use warnings;

use File::Copy qw(copy);
use File::Path qw(make_path);
use FindBin;
use JSON::PP qw(decode_json);
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymFixtures qw(need_fixtures);
use SymLoader qw(write_file);
use SymTest;

my $uuid = '2d10c42f-591d-3265-b147-78ba0868073f';
my $symbols = need_fixtures("sentry/symbols/$uuid.plist") =~ s{/[^/]+$}{}r;
my $original = 'c8374b6d-6e96-34d8-ae38-efaa5fec424f';
my $id = uc($uuid =~ tr/-//dr) . '0';
my $plain = '67E9247C814E392BA027DBDE6748FCBF0';

my $t = SymFetch->new(how => 'symbolicate_source maps uri=/maps/ layout=unified;',
                      sources => <<'CONF');
        location /admin {
            symbolicate;
            symbolicate_admin on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source maps uri=/maps/ layout=unified;
        }
        location /maps/ { internal; alias %%DIR%%/maps/; log_not_found off; }
CONF

sub place {
    my ($from, $of, $file) = @_;
    my $digits = $of =~ tr/-//dr;
    my $folder = $t->dir . '/maps/' . substr($digits, 0, 2) . '/' . substr $digits, 2;
    make_path($folder);
    copy($from, "$folder/$file") or die "$from: $!";
    return "$folder/$file";
}

place("$symbols/$uuid.dwarf-hidden", $uuid, 'debuginfo');
place("$symbols/67E9/247C/814E/392B/A027/DBDE6748FCBF",
      '67e9247c814e392ba027dbde6748fcbf', 'debuginfo');
$t->start;

sub frame {
    my ($module, $at) = @_;
    my $r = $t->post_json('/symbolicate/v5',
        { memoryMap => [[ 'Sentry', $module ]], stacks => [[[ 0, $at ]]] });
    my $f = $r->{json}{results}[0]{stacks}[0][0];
    return ($f->{function} // '') . ' ' . ($f->{file} // '');
}

sub incomplete {
    return decode_json($t->request('GET', "/admin/explain/Sentry/$id")->{body})->{incomplete};
}

like(frame($plain, 0xae07), qr/UTF16ToUTF8/, 'a module without hidden names');
is(frame($id, 0x5a75), '__hidden#0_ __hidden#41_/__hidden#42_', 'no maps: hidden names');
like(incomplete(), qr/names are hidden: its map of UUIDs is not here/, '... explain says why');

place("$symbols/$uuid.plist", $uuid, 'uuidmap');
place("$symbols/$original.bcsymbolmap", $original, 'bcsymbolmap');
is(frame($id, 0x5a75), '__hidden#0_ __hidden#41_/__hidden#42_', '... as long as it is stored');
is($t->loader->run('rm', "Sentry/$id")->{code}, 0, 'the module is removed');
is(frame($id, 0x5a75), '-[SentryMessage initWithFormatted:] '
       . '/Users/philipphofmann/git-repos/sentry-cocoa/Sources/Sentry/SentryMessage.m',
   'with maps at the source: the names of the app');
is(incomplete(), '', '... and nothing is missing');

# --- one of them comes later, with an event ---

sub event {
    my ($of, $file) = @_;
    my $digits = $of =~ tr/-//dr;
    my $key = join '/', substr($digits, 0, 2), substr($digits, 2), $file;
    my $r = $t->post_json('/admin/events', { Records => [{ eventName => 'ObjectCreated:Put', s3 => { object => { key => $key } } }] });
    is($r->{status}, 200, "an event for $file") or diag $r->{body};
    return;
}

$t->loader_stop; # it keeps maps for other modules
sub remove { unlink glob $t->dir . "/maps/*/*/$_[0]" or die; return }
remove('bcsymbolmap');
is($t->loader->run('rm', "Sentry/$id")->{code}, 0, 'the module is removed');
$t->loader_start;
is(frame($id, 0x5a75), '__hidden#0_ __hidden#41_/__hidden#42_', 'without the symbol map');
place("$symbols/$original.bcsymbolmap", $original, 'bcsymbolmap');
event($original, 'bcsymbolmap');
like(frame($id, 0x5a75), qr/^-\[SentryMessage initWithFormatted:\]/, '... the module is made again');
is(incomplete(), '', '... with it');

# another symbol map replaces it
write_file(place("$symbols/$original.bcsymbolmap", $original, 'bcsymbolmap'), "BCSymbolMap Version: 2.0\nother\n");
event($original, 'bcsymbolmap');
like(frame($id, 0x5a75), qr/^other /, 'a map that is replaced: the module is made again');

my $stats = $t->loader->stats;
is($stats->{conversions_running}, 0, 'no converter waits');
is($stats->{fetches_running}, 0, 'nothing runs');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'a clean log');

done_testing();
