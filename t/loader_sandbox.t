#!/usr/bin/perl

# A symbol file that takes over its converter must gain nothing but its own
# failure: no file, socket, process or signal, no memory or time beyond the
# limits, and no false result that the loader accepts.  The converter is a test
# build that misbehaves on command, inside the sandbox of the real one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);

my $GOOD_ID = 'ABCDEF0123456789ABCDEF01234567890';
my @limits = ('--convert-cpu', 1, '--convert-memory', '128m');

my %want = (
    (map { $_ => qr/forbidden system call|system call was refused/ }
        qw(open create socket fork exec ptrace kill rlimit sigaction code share
           thread write prctl)),
    hang => qr/over its CPU time/,
    stall => qr/made no progress/,
    crash => qr/crashed: SIG(?:SEGV|ABRT)|ended without/,
    shrunk => qr/became shorter/,
    hide => qr/ended without an answer/,
    'path-name' => qr/name in the MODULE line/,
    'bad-id' => qr/id in the MODULE line/,
    'bad-text' => qr/malformed: \?+ \(A+,/,
    (map { $_ => qr/broke the protocol/ }
        qw(no-module two-modules long-name high-number same-number hole
           wrong-count nothing wrong-quality unknown-type short-packet
           long-packet)),
);

# Under AddressSanitizer there is no memory cap (loader/converter/sandbox.h), and it takes
# the signal.
my $is_sanitized = ($ENV{SYM_BUILD} // '') =~ /asan/;
$want{memory} = qr/memory was refused/ unless $is_sanitized;
$want{shrunk} = $want{crash} if $is_sanitized;

my $t = SymLoader->new(faults => 1);
my $n = 0;

for my $fault (sort keys %want) {
    my $bad = $t->file("bad/$fault.sym", "FAULT $fault\n");
    my $good = $t->file("good/$fault.sym", sym_text("good$n", $GOOD_ID));
    my $r = $t->run('load', '--jobs', 1, @limits, '--convert-stall',
                    $fault eq 'stall' ? 1 : 60, $bad, $good);

    is($r->{code}, 1, "$fault: one file failed");
    like($r->{err}, $want{$fault}, "$fault: the reason");
    like($r->{err}, qr/^symloader: \Q$bad\E: /m, "$fault: the file");
    unlike($r->{err}, qr/escaped/, "$fault: nothing left the sandbox");
    like($r->{out}, qr/^\Q$good\E: good$n\//m, "$fault: the next file is loaded");
    $n++;
}

my @modules = $t->modules;
is(scalar(@modules), $n, 'every good file is in the store');
is(scalar(grep { !/^good/ } @modules), 0, '... and nothing else');
is($t->verify, 'sound', 'the store is sound');

# In parallel: the failure of one converter does not affect another.
my $r = $t->run('load', '--jobs', 4, @limits, '--convert-stall', 1, "$t->{dir}/bad",
                "$t->{dir}/good");
is($r->{code}, 1, 'all of them at once, four at a time');
like($r->{out}, qr/, $n modules? stored, .*, \d+ failed$/m,
     '... the good ones are loaded');

# The shipped loader has no such commands.
my $real = SymLoader->new;
$r = $real->run('load', "$t->{dir}/bad/open.sym");
is($r->{code}, 1, 'for the real loader it is just not a symbol file');
unlike($r->{err}, qr/system call|escaped/, '... and not a command');

done_testing();
