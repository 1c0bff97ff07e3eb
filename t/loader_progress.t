#!/usr/bin/perl

# Users who load a hundred gigabytes by hand want to see the progress; readers
# of a log want lines without control characters; and a script wants nothing.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymLoader->new(faults => 1);

# Runs symloader with stderr (and stdout) on a terminal; returns all output.
sub on_terminal {
    my (@args) = @_;
    my $script = $t->file('terminal.py', <<'PYTHON');
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
    open(my $fh, '-|', 'python3', $script, $t->{program}, @args, '--store',
         $t->store) or die;
    local $/;
    my $shown = <$fh>;
    close($fh);
    return ($shown, $? >> 8);
}

# Files that block for a while, before and after a good one: the bar is drawn
# meanwhile, however late the loader gets a processor.
my $good = $t->file('good.sym', sym_text('good', $ID, functions => 3000));
my @still = map { $t->file("still$_.sym", "FAULT stall\n") } 1, 2;
my ($some, $all) = map { sprintf '%.1f KiB', $_ / 1024 }
    (-s $good) + -s $still[0], (-s $good) + 2 * -s $still[0];
my ($shown, $code) = on_terminal('load', '--jobs', 1, '--convert-stall', 4,
                                 $still[0], $good, $still[1]);

is($code, 1, 'on a terminal the exit code is the same');
my @draws = $shown =~ /\r\e\[K(\[[#.]+\] [^\r\n]*)/g;
ok(@draws >= 3, 'a bar is drawn several times') or diag($shown);
# at most the bytes of the blocked file
like($draws[0], qr{^\[\.+\] 0/3 files  (?:0|@{[-s $still[0]]}) B of \Q$all\E},
     'it begins at zero');
like($draws[-1], qr{^\[#{20,}\.*\] 2/3 files  \Q$some\E of \Q$all\E  [\d.]+ (?:[KM]i)?B/s  \d:\d\d left},
     'bytes, rate and time left');
is(scalar(grep { length($_) > 99 } @draws), 0, 'it fits the terminal');
like($shown, qr/\r\e\[Ksymloader: \Q$still[1]\E: .*made no progress/,
     'an error has a line of its own');
like($shown, qr/\n3 files, 1 module stored, .*, 2 failed\r\n\z/,
     'the summary is the last line');

($shown, $code) = on_terminal('load', $good);
like($shown, qr/left\r\e\[K1 file, .*, 0 failed\r\n\z|B\/s  \r\e\[K1 file, .*, 0 failed\r\n\z/,
     '... and replaces the bar');

($shown, $code) = on_terminal('load', '--quiet', $good);
is($shown . $code, '0', 'quiet is quiet on a terminal, too');

my $r = $t->run('load', $good);
unlike($r->{out} . $r->{err}, qr/[\r\e]/, 'no bar in a log');
like($r->{out}, qr/\A\Q$good\E: good.*\n1 file, .*\n\z/, '... lines instead');

done_testing();
