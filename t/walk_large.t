#!/usr/bin/perl

# `symloader walk` prints stacks as they are walked: a dump of 2,000 threads with as many
# frames as are shown takes little memory, whatever the answer's size.

use strict;
use warnings;
no warnings 'portable';

use Cpanel::JSON::XS ();
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymDump qw(minidump);
use SymLoader qw(write_file);
use SymTest;

my $THREADS = 2000;
my $FRAMES = 256;            # of a thread
my $ALL = 131_072;           # of all threads
my $MEMORY_KIB = SymTest::is_slow() ? 1 << 20 : 64 << 10;    # sanitizers take more

# Frame n has its callee's frame pointer and an address: 300 calls, one above the other.
my ($sp, $code) = (0x7f0000000000, 0x401000);
my $stack = "\0" x 16 . join '', map { pack 'Q<2', $sp + 16 * ($_ + 1), $code + $_ } 1 .. 300;

my $t = SymLoader->new;
my $dump = $t->dir . '/large.dmp';
write_file($dump, minidump(os => 'linux', threads => $THREADS, stack => $stack,
    registers => { rip => $code, rsp => $sp, rbp => $sp + 16 },
    modules => [{ at => 0x400000, size => 0x100000, name => '/usr/bin/large' }]));

# The output, and the most memory that the process had: it waits for the end of its output
# to be read.
sub walk {
    my ($format) = @_;
    my $p = $t->start({ no_store => 1 }, 'walk', "--format=$format", '--symbols=native:' . $t->dir, $dump);
    my ($out, $most) = ('', 0);
    while (sysread $p->{out}, $out, 1 << 16, length $out) {
        my ($kib) = SymTest::slurp("/proc/$p->{pid}/status") =~ /^VmHWM:\s+(\d+)/m;
        $most = $kib if $kib && $kib > $most;
    }
    my $r = $t->wait($p);
    is($r->{err}, '', "$format: nothing is wrong");
    cmp_ok($most, '<', $MEMORY_KIB, sprintf '... %d KiB for %d KiB of output', $most, length($out) >> 10);
    return $out;
}

my $answer = Cpanel::JSON::XS->new->decode(walk('json'));
my @stacks = @{ $answer->{stacktraces} };
is(scalar @stacks, $THREADS, '... all threads');
is(scalar(grep { @{ $_->{frames} } == $FRAMES } @stacks), $ALL / $FRAMES, '... of which some have all frames');
is_deeply([map { hex $_->{instruction_addr} } @{ $stacks[0]{frames} }[0 .. 2]], [map { $code + $_ } 0 .. 2],
    '... where they are') or diag explain [@{ $stacks[0]{frames} }[0 .. 2]];
is(scalar @{ $answer->{modules} }, 1, '... and the module');

my $text = walk('text');
is_deeply([$text =~ /^Thread (\d+)  - tid: \d+$/mg], [0 .. $THREADS - 1], '... all threads');
is(scalar(() = $text =~ /^ *\d+  large \+ 0x1[0-9a-f]{3}$/mg), $ALL, '... and their frames');
like($text, qr/^Loaded modules:\n0x00400000 - 0x004fffff  large  \?\?\?  \(main\)\n/m, '... and the module');

done_testing;
