#!/usr/bin/perl

# A Java request without `sources` is answered from the location's own: mappings
# in a folder, by their UUIDs, and those loaded by hand.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use SymFolder;
use SymLoader qw(write_file);
use Test::More;

my $FOLDER = '0c0ffee0-0000-5000-8000-000000000001';

my $t = SymFolder->new;
my $dir = $t->dir;
my $socket = $t->loader->socket_path;

$t->conf(locations => <<"CONF");
        location /symbolicate {
            symbolicate sentry;
            symbolicate_loader unix:$socket;
            symbolicate_source folder uri=/maps/ layout=unified kinds=proguard;
        }
        location /maps/ { internal; alias $dir/maps/; }
CONF

my @explained;

sub ask {
    my ($uuid) = @_;
    my $r = $t->request('POST', '/symbolicate-jvm',
        headers => ['Content-Type' => 'application/json'],
        body => JSON::PP::encode_json({
            modules => [{ uuid => $uuid, type => 'proguard' }],
            options => { explain => JSON::PP::true },
            stacktraces => [{ frames => [{ module => 'x', function => 'a',
                                           lineno => 2, index => 0 }] }] }));
    my $got = eval { JSON::PP::decode_json($r->{body}) } or return $r->{body};
    @explained = @{ $got->{explanations} };
    my $frame = $got->{stacktraces}[0]{frames}[0];
    return join ' ', "$frame->{module}.$frame->{function}:$frame->{lineno}",
        map { $_->{type} } @{ $got->{errors} };
}

my $hex = $FOLDER =~ tr/-//dr;
my $path = "$dir/maps/" . substr($hex, 0, 2);
mkdir for "$dir/maps", $path, "$path/" . substr $hex, 2;
write_file("$path/" . substr($hex, 2) . '/proguard',
           "a.Main -> x:\n    1:2:void run():10:11 -> a\n");
write_file("$dir/mapping.txt", "b.Main -> x:\n    1:2:void go():20:21 -> a\n");

$t->start;
is(ask($FOLDER), 'a.Main.run:11', 'a mapping in a folder, by its UUID');
is_deeply(\@explained, [{ uuid => $FOLDER, file => 'proguard', result => 'found', classes => 1, members => 1 }],
   '... which is explained');
is(ask('0c0ffee0-0000-5000-8000-000000000002'), 'x.a:2 missing',
   '... another UUID is missing');
is($explained[0]{result}, 'absent', '... which is explained, too');

$t->load("$dir/mapping.txt");
my ($loaded) = grep { $_ ne $hex } map { /([0-9A-Fa-f]{32})0/ ? lc $1 : () }
    split /\n/, $t->symloader('ls');
is(ask($loaded =~ s/(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/r), 'b.Main.go:21',
   'a mapping loaded by hand, by its UUID');

is($t->end, '', 'a clean log');
done_testing();
