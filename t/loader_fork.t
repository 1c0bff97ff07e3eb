#!/usr/bin/perl

# The first converter of `symloader load` is forked, which saves another start
# of the program.  So it begins with the loader's memory: the arguments,
# environment and random bytes in it must be erased before it reads a file, and
# its descriptors, session and signals must be those of any other converter.

use strict;
use warnings;
no warnings 'portable';    # addresses have 64 bits

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(read_file sym_text);

my $ID = 'ABCDEF0123456789ABCDEF01234567890';
my $SECRET = 'AKIA-the-secret-of-the-environment';
my $AT_RANDOM = 25;
# it reports to stderr, and has a copy of the environment
my $is_sanitized = ($ENV{SYM_BUILD} // '') =~ /asan/;

my $t = SymLoader->new(faults => 1);
my $file = $t->file('folder-of-a-customer/stalls.sym', "FAULT stall\n");

# The child's only child, once it is in its sandbox and working.
sub converter_of {
    my ($pid) = @_;
    my $end = time + 120;

    while (time < $end) {
        for my $child (split ' ', read_file("/proc/$pid/task/$pid/children")) {
            my $status = eval { read_file("/proc/$child/status") } // '';
            return $child
                if $status =~ /^Name:\s+symconverter$/m && $status =~ /^Seccomp:\s+2$/m
                && -e "/proc/$child/fd/4";
        }
        select(undef, undef, undef, 0.005);
    }
    die "no converter\n";
}

sub memory {
    my ($pid, $at, $len) = @_;
    open(my $in, '<:raw', "/proc/$pid/mem") or die "/proc/$pid/mem: $!";
    sysseek($in, $at, 0) or die "seek: $!";
    sysread($in, my $bytes, $len);
    return $bytes // '';
}

# Memory that it can read and could have been written to.
sub private_memory {
    my ($pid) = @_;
    my $all = '';
    for my $line (split /\n/, read_file("/proc/$pid/maps")) {
        my ($from, $to) = $line =~ /^([0-9a-f]+)-([0-9a-f]+) rw.p/ or next;
        my $len = hex($to) - hex($from);
        $all .= memory($pid, hex($from), $len) if $len < 1 << 27;
    }
    return $all;
}

sub random_bytes {
    my ($pid) = @_;
    my %aux = unpack 'Q*', read_file("/proc/$pid/auxv");
    return memory($pid, $aux{$AT_RANDOM}, 16);
}

my $p = $t->start({ env => { AWS_SECRET_ACCESS_KEY => $SECRET } }, 'load', '--jobs', 1,
                  '--threads', 1, '--convert-stall', 600, $file);
my $pid = converter_of($p->{pid});

is(read_file("/proc/$pid/auxv"), read_file("/proc/$p->{pid}/auxv"),
   'it was forked: the same layout');
isnt(random_bytes($pid), random_bytes($p->{pid}), '... but not the same random bytes');

like(private_memory($p->{pid}), qr/\Q$SECRET/, 'the loader has its environment in memory');
my $memory = private_memory($pid);
unlike($memory, qr/\Q$SECRET/, '... the converter does not') if !$is_sanitized;
unlike($memory, qr/folder-of-a-customer/, '... nor the loader\'s arguments');
unlike(read_file("/proc/$pid/cmdline") . read_file("/proc/$pid/environ"), qr/[^\0]\0+[^\0]/,
       '... and shows only its name');

my %fds = map { /(\d+)$/ => readlink($_) } glob("/proc/$pid/fd/*");
is(join(',', sort keys %fds), '0,1,2,3,4', 'descriptors: standard ones, socket and file');
is($fds{$_}, '/dev/null', "... $_ leads nowhere") for 0 .. ($is_sanitized ? 1 : 2);
like($fds{3}, qr/^socket:/, '... 3 is its socket');
is($fds{4}, $file, '... 4 the file');

my ($session) = read_file("/proc/$pid/stat") =~ /\) \S (?:\d+ ){2}(\d+)/;
is($session, $pid, 'it has a session of its own');
my $status = read_file("/proc/$pid/status");
like($status, qr/^$_:\s+0+$/m, "no signal in $_") for qw(SigBlk SigIgn);

kill 'TERM', $p->{pid};
is($t->wait($p)->{signal}, 15, 'the loader ends');
for (1 .. 12_000) {
    last if !-e "/proc/$pid";
    select(undef, undef, undef, 0.01);
}
ok(!-e "/proc/$pid", '... and so does its converter');

# Settings that the dynamic linker and malloc() read at the start of a program
# would be inherited.
$p = $t->start({ env => { MALLOC_ARENA_MAX => 2 } }, 'load', '--jobs', 1, '--threads', 1,
               '--convert-stall', 600, $file);
$pid = converter_of($p->{pid});
isnt(read_file("/proc/$pid/auxv"), read_file("/proc/$p->{pid}/auxv"),
     'a loader with a tuned malloc() forks none');
kill 'TERM', $p->{pid};
$t->wait($p);

# A dead converter is replaced by a new start of the program.
my $good = $t->file('good.sym', sym_text('good', $ID));
my $bad = $t->file('bad.sym', "FAULT crash\n");
my $r = $t->run('load', '--jobs', 1, $bad, $good);
is($r->{code}, 1, 'a file that ends the forked converter fails');
is_deeply([ $t->modules ], ["good/$ID"], '... and the next file is converted');

done_testing();
