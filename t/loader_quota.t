#!/usr/bin/perl

# The quota is the share of a disk that an operator grants: data.mdb, its other
# files and the temporary files of fetches stay within it at every moment,
# however much arrives at once.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX qw(WNOHANG);
use Test::More;

use SymLoader qw(sym_text json_lines read_file);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $MIB = 1 << 20;

sub stats { return (json_lines($_[0]->run('stat', '--json')->{out}))[0] }

sub disk_bytes {
    my ($t) = @_;
    my $sum = 0;

    $sum += -s $_ // 0 for glob($t->store . '/*');
    return $sum;
}

# --- many times the quota, files in parallel, readers meanwhile ---

{
    my $t = SymLoader->new;
    my $quota = 24 * $MIB;
    is($t->run('init', '--quota', $quota)->{code}, 0, 'a store of 24 MiB');

    # of 2 MiB each when compiled
    my @files = map {
        $t->file("q$_.sym", sym_text("q$_", $ID, functions => 60000, lines => 1))
    } 1 .. 10;
    my $limit = $quota - $quota / 8;
    my ($most, $samples, $read, $code) = (0, 0, 0, undef);

    for my $round (1 .. 4) {
        # A reader pins the pages of its snapshot, so on a busy machine a file
        # may find none free; without readers there is always room.
        my $has_readers = $round % 2 == 0;
        # the same files under other names: nothing is replaced
        for my $i (1 .. 10) {
            $t->file("q$i.sym", sym_text("r${round}q$i", $ID, functions => 60000,
                                         lines => 1));
        }
        my $p = $t->_spawn({}, 'load', '--quiet', '--jobs', 4, @files);
        until (waitpid($p->{pid}, WNOHANG) == $p->{pid}) {
            my $bytes = disk_bytes($t);
            $most = $bytes if $bytes > $most;
            next if ++$samples % 20 || !$has_readers;
            my ($module) = $t->modules or next;
            my $r = $t->run('lookup', $module, map { sprintf '%x', 0x1000 + 64 * $_ }
                                                   0 .. 999);
            # a module evicted in between is no failure
            $read++ if $r->{code} == 0 && $r->{out} =~ /^f999$/m;
        }
        $code = $? >> 8;
        delete $t->{running}{ $p->{pid} };
        my $failed = read_file("$p->{base}.err");
        $failed =~ s/^symloader: \S+: full: the store's map is full\n//mg
            if $has_readers;
        is($failed, '', "round $round: no file fails for another reason");
        is($code, 0, '... without readers all of them') if !$has_readers;
        my $bytes = disk_bytes($t);
        $most = $bytes if $bytes > $most;
        ok(stats($t)->{live_bytes} <= stats($t)->{live_limit},
           '... live bytes below their limit');
        cmp_ok(stats($t)->{file_bytes}, '<=', stats($t)->{file_limit},
               '... the file below its limit');
        is($t->verify, 'sound', '... the store is sound');
    }
    cmp_ok($samples, '>', 40, "looked often enough ($samples times)");
    cmp_ok($read, '>', 0, 'readers read meanwhile');
    cmp_ok($most, '<=', $limit, 'never more on disk than the quota less the room '
                                . 'for temporary files');
    cmp_ok(stats($t)->{evicted}, '>', 20, 'most of it was evicted');

    # --- a smaller quota: the excess is evicted; the file stays, and that is
    # reported ---

    my $before = -s $t->store . '/data.mdb';
    my $r = $t->run('init', '--quota', 16 * $MIB);
    is($r->{code}, 0, 'a lower quota');
    like($r->{err}, qr/data\.mdb is larger than the quota allows.*never shrink/,
         '... the file does not shrink, and that is reported');
    my $s = stats($t);
    ok($s->{live_bytes} <= $s->{live_limit} && $s->{modules} > 0,
       '... the excess modules are gone at once');
    is($t->run('load', '--quiet', @files)->{code}, 0, '... loading continues');
    is(-s $t->store . '/data.mdb', stats($t)->{file_bytes}, '... stat: the file');
    cmp_ok(-s $t->store . '/data.mdb', '<=', $before + 5 * $MIB,
           '... which grew by no more than deleting needs');
    like($t->run('stat')->{out}, qr/^file bytes +.*never shrinks/m,
         '... stat says why it is so large');
    is($t->verify, 'sound', '... the store is sound');
}

# --- a daemon: leases for temporary files, and the store, together ---

{
    my $t = SymServe->new->serve('--quota', '16m', '--jobs', 2);
    my $text = sym_text('any', $ID, functions => 20000, lines => 1);
    my @c = map { $t->client } 1 .. 6;
    my ($most, $leased, $stored) = (0, 0, 0);

    is($t->stats->{temp_room_bytes}, 1.5 * $MIB, 'three parts in 32 are lent');
    for my $round (1 .. 12) {
        for my $i (0 .. $#c) {
            my $key = "m${round}_$i/$ID";
            $c[$i]->send(ENSURE => ticket => $round, key => $key);
            $t->wait_stat('flights', $i + 1) or die "no fetch for $key";
        }
        my %open = map { $_ => 1 } 0 .. $#c;
        my $patience = time + 120;
        while (%open) {
            # concurrent requests for more room are served in any order
            for my $i (sort keys %open) {
                my $m = $c[$i]->recv(0.02);
                die "nothing for client $i" if time > $patience;
                next if $m->{type} eq 'NOTHING';
                if ($m->{type} eq 'FETCH' && length($text) > $m->{length}) {
                    $c[$i]->send(MORE => ticket => $round,
                                 length => length($text));
                    next;
                }
                if ($m->{type} eq 'FETCH') {
                    my $s = $t->stats;
                    my $sum = disk_bytes($t) + $s->{lease_bytes};
                    $leased = $s->{lease_bytes} if $s->{lease_bytes} > $leased;
                    $most = $sum if $sum > $most;
                    $c[$i]->send(INGEST => ticket => $round, ttl => [ 1, 1, 1 ],
                                 source => 'test',
                                 path => $t->file("tmp$i",
                                     sym_text("m${round}_$i", $ID, lines => 1,
                                              functions => 20000)));
                    next;
                }
                $stored++ if $m->{type} eq 'READY';
                delete $open{$i};
            }
        }
    }
    is($stored, 72, 'all modules are stored');
    cmp_ok($leased, '>', $MIB, 'temporary files were needed');
    cmp_ok($most, '<=', 16 * $MIB, 'with them never more than the quota');
    cmp_ok($most, '>', 12 * $MIB, '... most of which was in use');
    is($t->stop->{code}, 0, 'a clean end');
    cmp_ok(stats($t)->{evicted}, '>', 20, 'most of it was evicted');
    is($t->verify, 'sound', 'the store is sound');
}

done_testing();
