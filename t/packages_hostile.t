#!/usr/bin/perl

# A package comes from outside.  One that is cut, damaged, made to lead out of
# its folder or to fill a disk ends with an error that says so, and nothing of it
# is stored; one with other things than files is read without them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(output run_ok);
use SymLoader qw(read_file root write_file);
use SymPackage;

my $dir = SymElf::folder();
write_file("$dir/a.c", "int main(void) { return 0; }\n");
run_ok('gcc', '-g', '-Wl,--build-id', '-o', "$dir/a", "$dir/a.c");
my $elf = read_file("$dir/a");
my $package = SymPackage->new("$dir/packages", { 'usr/bin/a' => $elf, 'usr/share/doc/a' => "text\n" });
my $number = 0;

sub load {
    my ($bytes, $ending, @options) = @_;
    my $t = SymLoader->new;
    my $file = write_file("$dir/case" . $number++ . ".$ending", $bytes);
    my $r = $t->run('load', @options, $file);
    return { %$r, modules => [ -e $t->store ? $t->modules : () ], t => $t };
}

sub refused {
    my ($what, $bytes, $why, $ending, @options) = @_;
    my $r = load($bytes, $ending // 'deb', @options);
    is($r->{code}, 1, "$what: refused") or diag explain $r;
    like($r->{err}, $why, '... says why');
    is_deeply($r->{modules}, [], '... and nothing is stored');
    return;
}

# A deb, or a package of Arch, made by Python: `files` is Python's code that adds
# to the tar `t`; A is the bytes of a program.
sub crafted {
    my ($kind, $files, $how) = @_;
    my $out = "$dir/crafted";
    write_file("$dir/craft.py", <<"PYTHON" . $files . <<'PYTHON');
import io, sys, tarfile
A = open(sys.argv[2], "rb").read()
body = io.BytesIO()
t = tarfile.open(fileobj=body, mode="w:${\($how // 'gz')}", compresslevel=1, format=tarfile.PAX_FORMAT)
def add(name, data=b"", **o):
    i = tarfile.TarInfo(name)
    i.size = len(data)
    for k, v in o.items(): setattr(i, k, v)
    t.addfile(i, io.BytesIO(data))
PYTHON
t.close()
def member(name, data):
    return b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"100644", len(data)) + data + b"\n" * (len(data) % 2)
body = body.getvalue()
if sys.argv[1] == "deb":
    body = b"!<arch>\n" + member(b"debian-binary", b"2.0\n") + member(b"control.tar", b"") + member(b"data.tar.gz", body)
open(sys.argv[3], "wb").write(body)
PYTHON
    run_ok('python3', "$dir/craft.py", $kind, "$dir/a", $out);
    return read_file($out);
}

# --- what is fine ---

my $r = load(crafted('deb', <<'PYTHON'), 'deb');
add("./usr/bin/a", A)
add("usr/lib/link", type=tarfile.SYMTYPE, linkname="/etc/passwd")
add("usr/lib/hard", type=tarfile.LNKTYPE, linkname="usr/bin/a")
add("usr/lib/out", type=tarfile.SYMTYPE, linkname="../../../../etc")
add("usr/lib/out/x", A[:1000] + b"x")
add("dev/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3)
add("dev/sda", type=tarfile.BLKTYPE, devmajor=8)
add("run/fifo", type=tarfile.FIFOTYPE)
add("../../etc/passwd", b"root::0:0\n")
add("inner.deb", b"!<arch>\ndebian-binary   0           0     0     100644  4         `\n2.0\n")
PYTHON
like($r->{out}, qr/, 1 module stored, .*, 2 of other kinds,/,
    'links, devices, other files and packages in it are left out') or diag explain $r;

# --- a file whose first bytes end a piece of the unpacked bytes ---

# An entry of cpio's newc format.
sub entry {
    my ($name, $bytes) = @_;
    my $head = sprintf '070701' . '%08x' x 13, 1, oct 100644, 0, 0, 1, 0, length $bytes, 0, 0, 0, 0, 1 + length $name, 0;
    return join '', map { $_ . "\0" x (-length($_) % 4) } "$head$name\0", $bytes;
}

# An RPM package with two empty headers.
sub rpm_at {
    my ($at) = @_;
    my $before = $at - length(entry('./pad', '')) - length entry('./usr/bin/a', '');
    my $files = entry('./pad', "\0" x $before) . entry('./usr/bin/a', $elf) . entry('TRAILER!!!', '');
    my $file = write_file("$dir/cpio", $files);
    my $header = "\x8e\xad\xe8\1" . "\0" x 12;
    return "\xed\xab\xee\xdb" . "\0" x 92 . $header x 2 . output('gzip', '-c', $file);
}

# The unpacked bytes come in pieces of 256 KiB; a head is 64 bytes.
for my $at (262144 - 64, 262144 - 60) {
    my $loaded = load(rpm_at($at), 'rpm');
    like($loaded->{out}, qr/, 1 module stored,.* 0 failed/, "a program at byte $at of the files: it is loaded")
        or diag explain $loaded;
    like($loaded->{out}, qr{/usr/bin/a: .*: lines}, '... with its lines');
}

# --- names ---

for my $name ('../../../tmp/a', '/usr/bin/a', 'usr/../../a', 'usr//a', "usr/a\\nb", 'a\\\\b') {
    refused("a program named $name", crafted('deb', qq{add("$name", A)\n}), qr/leads out of it/);
}

# --- bombs and absurd sizes ---

refused('a bomb', crafted('deb', <<'PYTHON'), qr/expands to/);
class Zeros(io.RawIOBase):
    def readable(self): return True
    def readinto(self, b):
        b[:] = bytes(len(b)); return len(b)
i = tarfile.TarInfo("usr/share/a"); i.size = 600 << 20
t.addfile(i, io.BufferedReader(Zeros(), 1 << 20))
PYTHON
refused('a bomb that is a debug file', crafted('deb', <<'PYTHON'), qr/expands to/, 'deb', '--max-expanded', '64m');
add("usr/bin/a", A + bytes(100 << 20))
PYTHON
my $good = read_file($package->make('deb', 'gzip'));
{
    my $absurd = $good;
    substr $absurd, 8 + 48, 10, '9999999999';
    refused('an absurd size of a member', $absurd, qr/truncated/);
    substr $absurd, 8 + 48, 10, '-1        ';
    refused('a negative size of a member', $absurd, qr/damaged header/);
}
refused('a name of 100 KB', crafted('deb', qq{add("x" * 100000, A)\n}), qr/extended header/);
{
    my $many = crafted('deb', qq{for i in range(20001): add("f%d" % i, A[:64])\n});
    refused('very many debug files', $many, qr/more than 20000 debug files/);
}

# --- cut and damaged ---

# rpm writes no checksums with xz and zstd
my %whole = (deb => $good, rpm => read_file($package->make('rpm', 'w6.gzdio')),
    apk => read_file($package->make('apk', 'gzip')),
    'pkg.tar.xz' => read_file($package->make('arch', 'xz')));
for my $kind (sort keys %whole) {
    my $bytes = $whole{$kind};
    for my $part (0.05, 0.5, 0.9, 0.999) {
        refused("$kind, its first " . 100 * $part . ' %', substr($bytes, 0, $part * length $bytes), qr/./, $kind);
    }
    my $damaged = $bytes;
    substr($damaged, int(0.9 * length $bytes), 4) ^= "\xff" x 4;
    refused("$kind, damaged", $damaged, qr/./, $kind);
}

# --- headers ---

my $rpm = $whole{rpm};
for my $case ([96 => "\0\0\0\0", qr/damaged header/], [96 + 8 => "\xff\xff\xff\xff", qr/too large/],
    [96 + 12 => "\x0f\xff\xff\xff", qr/truncated/])
{
    my ($at, $bytes, $why) = @$case;
    my $bad = $rpm;
    substr $bad, $at, 4, $bytes;
    refused("an RPM header, byte $at", $bad, $why, 'rpm');
}
refused('files in bzip2', crafted('deb', qq{add("a", A)\n}, 'bz2'), qr/gzip, xz and zstd/);
refused('no data.tar', substr($good, 0, 8 + 60 + 4), qr/no data\.tar/);
refused('no debug files', read_file(SymPackage->new("$dir/empty", { 'usr/share/a' => 'text' })->make('deb', 'xz')),
    qr/no debug file, executable or library/);

# --- a disk that is full ---

my $t = SymLoader->new;
my $file = write_file("$dir/good.deb", $good);
$r = $t->run({ env => { TMPDIR => "$dir/none" } }, 'load', $file);
is($r->{code}, 1, 'no folder for temporary files') or diag explain $r;
like($r->{err}, qr/TMPDIR/, '... names it');

done_testing();
