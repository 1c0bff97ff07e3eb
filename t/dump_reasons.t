#!/usr/bin/perl

# The reasons of EXC_RESOURCE and EXC_GUARD on macOS are fields of bits in two codes: texts
# are those of minidump-stackwalk 0.26.1 (bench/accuracy/minidumps compares random ones).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader;

my $t = SymLoader->new;
is($t->run('init')->{code}, 0, 'a store');

# A minidump of macOS on x64 without threads, and with an exception.
sub dump_with {
    my ($kind, $type, $code, $subcode) = @_;
    my $system = pack('v3CCV4V', 9, 6, 0, 1, 1, 14, 0, 0, 0x8101, 0) . "\0" x 28;
    my $exception = pack('V4Q2V2', 1, 0, $kind, $type << 29, 0, 0x1000, 3, 0)
        . pack('Q3', 0, $code, $subcode) . "\0" x (12 * 8) . pack('V2', 0, 0);
    my ($at, $directory, $data) = (32 + 12 * 4, '', '');
    for ([7, $system], [3, pack('V', 0)], [4, pack('V', 0)], [6, $exception]) {
        $directory .= pack 'V3', $_->[0], length $_->[1], $at + length $data;
        $data .= $_->[1];
    }
    return 'MDMP' . pack('V5Q', 0xa793, 4, 32, 0, 0, 0) . $directory . $data;
}

my ($RESOURCE, $GUARD) = (11, 12);
for ([$RESOURCE, 1, 1 << 58 | 180 << 7 | 5, 7,
      'EXC_RESOURCE / RESOURCE_TYPE_CPU / FLAVOR_CPU_MONITOR interval: 180s CPU limit: 5% CPU consumed: 7%'],
     [$RESOURCE, 2, 1 << 58 | 300 << 20 | 150, 206,
      'EXC_RESOURCE / RESOURCE_TYPE_WAKEUPS / FLAVOR_WAKEUPS_MONITOR interval: 300s wakeups permitted: 150 wakeups observed: 206'],
     [$RESOURCE, 3, 1 << 58 | 2098, 0,
      'EXC_RESOURCE / RESOURCE_TYPE_MEMORY / FLAVOR_HIGH_WATERMARK high watermark limit: 2098MiB'],
     [$RESOURCE, 4, 2 << 58 | 86400 << 15 | 8192, 8193,
      'EXC_RESOURCE / RESOURCE_TYPE_IO / FLAVOR_IO_LOGICAL_WRITES interval: 86400s I/O limit: 8192% I/O observed: 8193%'],
     [$RESOURCE, 5, 1 << 58 | 2048, 0,
      'EXC_RESOURCE / RESOURCE_TYPE_THREADS / FLAVOR_THREADS_HIGH_WATERMARK high watermark limit: 2048'],
     [$RESOURCE, 3, 5 << 58, 1, 'EXC_RESOURCE / RESOURCE_TYPE_MEMORY / 0x1400000000000000 / 0x0000000000000001'],
     [$GUARD, 0, 1, 1, 'EXC_GUARD / GUARD_TYPE_NONE'],
     [$GUARD, 1, 0x20 << 32 | 17, 0, 'EXC_GUARD / GUARD_TYPE_MACH_PORT / GUARD_EXC_IMMOVABLE port name: 17'],
     [$GUARD, 1, 2 << 32 | 17, 9, 'EXC_GUARD / GUARD_TYPE_MACH_PORT / GUARD_EXC_MOD_REFS port name: 17 subcode: 9'],
     [$GUARD, 2, 1 << 32 | 5, 3, 'EXC_GUARD / GUARD_TYPE_FD / GUARD_EXC_CLOSE file descriptor: 5 guard identifier: 3'],
     [$GUARD, 3, 18, 2, 'EXC_GUARD / GUARD_TYPE_USER/ namespace: 18 guard identifier: 2'],
     [$GUARD, 4, 4 << 32 | 99, 2, 'EXC_GUARD / GUARD_TYPE_VN / GUARD_EXC_UNLINK pid: 99 guard identifier: 2'],
     [$GUARD, 5, 1 << 32, 4096, 'EXC_GUARD / GUARD_TYPE_VIRT_MEMORY / GUARD_EXC_DEALLOC_GAP offset: 4096'],
     [$GUARD, 6, 0, 31, 'EXC_GUARD / GUARD_TYPE_REJECTED_SC / GUARD_EXC_MACH_TRAP syscall: 31'],
     [$GUARD, 6, 7 << 32, 31, 'EXC_GUARD / GUARD_TYPE_REJECTED_SC / 0x0000000700000000 / 0x000000000000001f'],
     [$GUARD, 7, 1, 2, 'EXC_GUARD / 0xe0000000'])
{
    my ($kind, $type, $code, $subcode, $want) = @$_;
    my $file = $t->file('reason.dmp', dump_with($kind, $type, $code, $subcode));
    my $r = $t->run('walk', $file);
    my ($reason) = $r->{out} =~ /^Crash reason:\s+(.*)$/m;
    is($reason, $want, $want) or diag $r->{err};
}

done_testing();
