#!/usr/bin/perl

# Few files are archives, and loading libarchive takes half of a converter's
# start time.  So a converter starts without it, and a file that turns out to be
# an archive, at once or inside of a gzip, is read again by a converter with it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use IO::Compress::Zip qw(zip);
use Test::More;

use SymLoader qw(read_file sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new->serve('--jobs', 1);
my $c = $t->client;
my ($n, $idle) = (0);

# A tar of one file, made by hand: POSIX.1-2017, pax, "ustar Interchange
# Format".
sub tar {
    my ($text) = @_;
    my $head = pack 'a100 a8 a8 a8 a12 a12 a8 a1 a100 a6 a2 a247', 'm.sym',
        '0000644', '0000000', '0000000', sprintf('%011o', length $text),
        '00000000000', ' ' x 8, '0', '', "ustar\0", '00', '';
    substr($head, 148, 8) = sprintf "%06o\0 ", unpack '%32C*', $head;
    return $head . $text . "\0" x (-length($text) % 512) . "\0" x 1024;
}

sub pack_with {
    my ($how, $text) = @_;
    my $out;
    return $text if $how eq 'plain';
    return tar($text) if $how eq 'tar';
    zip(\$text => \$out, Name => 'm.sym') or die if $how eq 'zip';
    gzip(\(tar($text)) => \$out) or die if $how eq 'tar.gz';
    return $out;
}

# Whether the converter that waits for the next file has loaded it: in its
# sandbox it cannot load anything else.  One that is exiting has no mappings.
sub has_libarchive {
    my $end = time + 120;
    while (time < $end) {
        my ($pid) = $t->wait_converters(1, $idle // 0);
        my ($status, $maps) = map { eval { read_file("/proc/$pid/$_") } // '' }
                                  qw(status maps);
        if ($status =~ /^Seccomp:\s+2$/m && $maps =~ /libc/) {
            $idle = $pid;
            return $maps =~ /libarchive/ ? 1 : 0;
        }
        select undef, undef, undef, 0.01;
    }
    die "no converter is in its sandbox\n";
}

sub bring {
    my ($how) = @_;
    my $name = 'm' . ++$n;
    $c->ensure($n, "$name.so/$ID", 1)->{type} eq 'FETCH' or die 'no FETCH';
    $c->send(INGEST => ticket => $n,
             path => $t->file($name, pack_with($how, sym_text("$name.so", $ID))));
    return $c->recv->{type};
}

is(has_libarchive(), 0, 'a converter starts without libarchive');
is(bring('plain'), 'READY', 'a plain file');
is(has_libarchive(), 0, '... and so does the next one');
is(bring('zip'), 'READY', 'a zip is read nevertheless');
is(bring('zip'), 'READY', '... also by one that was already running');
is(has_libarchive(), 1, '... and the next file may be one, too');
is(bring($_), 'READY', $_) for qw(tar tar.gz plain zip);
is($t->stats->{conversions_breakpad_ready}, 7, 'each counts once');
is($t->stop->{code}, 0, 'stopped');

# the first archive of a converter is found in a stream
$t->serve('--jobs', 1);
$c = $t->client;
is(bring('tar.gz'), 'READY', 'a tar in a gzip as the first file');
is($t->stop->{code}, 0, 'stopped');
is($t->verify, 'sound', 'the store is sound');

done_testing();
