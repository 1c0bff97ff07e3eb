#!/usr/bin/perl

# Streams that no walk needs are shown to people, and stacks that a client has walked
# replace ours.  Layouts: Crashpad's minidump_extensions.h, Breakpad's minidump_format.h,
# Mozilla's for macOS, Sentry's client-side stacks.  A stream that is damaged costs nothing
# but itself.

use strict;
use warnings;
no warnings 'portable';

use Cpanel::JSON::XS ();
use Encode qw(encode);
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymDump qw(minidump);
use SymLoader;

my ($COMMENT, $COMMENT_WIDE, $MISC, $NAMES) = (10, 11, 15, 24);
my ($ASSERTION, $CPUINFO, $STATUS, $LSB, $COMMAND, $AUXV, $MAPS)
    = (0x47670002, 0x47670003, 0x47670004, 0x47670005, 0x47670006, 0x47670008, 0x47670009);
my ($CRASHPAD, $MAC_CRASH, $MAC_BOOT, $CLIENT) = (0x43500001, 0x4d7a0001, 0x4d7a0002, 0x53790001);

my $t = SymLoader->new;
my ($sp, $code) = (0x7f0000000000, 0x401000);

sub walk {
    my ($format, %o) = @_;
    my $file = $t->file('streams.dmp', minidump(os => 'linux', stack => pack('Q<4', (0) x 4),
        registers => { rip => $code, rsp => $sp, rbp => 0 },
        modules => [{ at => 0x400000, size => 0x100000, name => '/usr/bin/demo' },
                    { at => 0x600000, size => 0x100000, name => '/usr/lib/library.so' }], %o));
    my $r = $t->run({ no_store => 1 }, 'walk', "--format=$format", '--symbols=native:' . $t->dir, $file);
    is($r->{err}, '', 'a walk') if $r->{err} ne '';
    return $r->{out};
}

# The lines between the crash and the first thread.
sub notes {
    my ($what, $want, %o) = @_;
    my ($text) = walk('text', %o) =~ /^No crash\n(.*?)\nThread 0/ms;
    is($text // 'nothing', $want, $what);
    return;
}

sub plain { my ($bytes) = @_; return sub { $bytes } }
sub wide { return encode('UTF-16LE', $_[0]) }

# --- Crashpad ---

# MinidumpUTF8String
sub narrow {
    my ($put, $text) = @_;
    return $put->(pack('V/a*', $text) . "\0");
}

# A location: its size, its place.
sub located {
    my ($put, $bytes) = @_;
    return pack 'VV', length $bytes, $put->($bytes);
}

sub dictionary {
    my ($put, %pairs) = @_;
    return pack('V', scalar keys %pairs) . join '', map {
        pack 'VV', narrow($put, $_), narrow($put, $pairs{$_})
    } sort keys %pairs;
}

sub crashpad {
    my ($put) = @_;
    my $texts = pack 'V3', 2, narrow($put, 'dyld: Library not loaded'), narrow($put, 'second');
    # of the types only 1 is a string
    my $objects = pack('V', 2)
        . pack('VvvV', narrow($put, 'user'), 1, 0, narrow($put, 'value'))
        . pack('VvvV', narrow($put, 'binary'), 0x8000, 0, narrow($put, 'hidden'));
    my $module = pack('V', 1) . located($put, $texts)
        . located($put, dictionary($put, channel => 'beta')) . located($put, $objects);
    my $list = pack('VV', 1, 1) . located($put, $module);
    return pack('V', 1) . "\x11" x 32 . located($put, dictionary($put, prod => 'Demo', ver => '1.0'))
        . located($put, $list);
}

notes('annotations of Crashpad', <<'END', streams => { $CRASHPAD => \&crashpad });
crashpad.prod: Demo
crashpad.ver: 1.0
crashpad./usr/lib/library.so: dyld: Library not loaded
crashpad./usr/lib/library.so: second
crashpad./usr/lib/library.so.channel: beta
crashpad./usr/lib/library.so.user: value
END

notes('... more by count than there are', "crashpad.a: b\n", streams => { $CRASHPAD => sub {
    my ($put) = @_;
    my $few = dictionary($put, a => 'b');
    substr($few, 0, 4) = pack 'V', 0xffffffff;
    return pack('V', 1) . "\0" x 32 . located($put, $few) . pack('VV', 0xffffffff, 0xffffff00);
} });

# --- Linux ---

my @maps = map { sprintf "%08x-%08x r-xp 00000000 00:00 0 /usr/bin/demo%d", $_ << 12, ($_ + 1) << 12, $_ } 1 .. 7;
notes('texts of Linux', <<'END', streams => {
lsb_release.id: Debian
lsb_release.release: 12
lsb_release.codename: bookworm
lsb_release.description: Debian GNU/Linux 12
cpuinfo.model_name: A processor @ 2.00GHz
cpuinfo.microcode: 0x42
linux.maps: 7
linux.auxv_bytes: 48
linux.command: /usr/bin/demo
END
    $LSB => plain(qq(DISTRIB_ID=Debian\nDISTRIB_RELEASE="12"\nDISTRIB_CODENAME=bookworm\nDISTRIB_DESCRIPTION="Debian GNU/Linux 12"\n)),
    $CPUINFO => plain("processor\t: 0\nmodel name\t: A processor @ 2.00GHz\nmicrocode\t: 0x42\n\n"
        . "processor\t: 1\nmodel name\t: another\n"),
    $MAPS => plain(join('', map { "$_\n" } @maps)),
    $AUXV => plain(pack 'Q<6', 6, 4096, 3, 0x400040, 0, 0),
    $COMMAND => plain("/usr/bin/demo\0--with\0arguments\0"),
});
notes('... as /etc/os-release has them', <<'END', streams => {
lsb_release.description: Debian GNU/Linux 12 (bookworm)
lsb_release.id: debian
lsb_release.release: 12
cpuinfo.hardware: Board
END
    $LSB => plain(qq(PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n)),
    $CPUINFO => plain("Processor\t: AArch64\nHardware\t: Board\n"),
});

# --- macOS ---

# MDRawMacCrashInfo: type, number of records, where the texts of a record begin.
sub mac_crash {
    my ($put) = @_;
    my $record = pack('Q<4', $MAC_CRASH, 5, 0x103, 0) . join '', map { "$_\0" }
        '/usr/lib/libfoo.dylib', 'abort() called', 'a signature', 'a backtrace', 'a second message';
    my $cut = pack('Q<4', $MAC_CRASH, 5, 0, 0) . "/usr/lib/libbar.dylib\0cut off";
    return pack('V3', $MAC_CRASH, 2, 32) . located($put, $record) . located($put, $cut) . "\0" x (18 * 8);
}

notes('crash information of macOS', <<'END', os => 'macos', streams => {
mac_crash_info.0.module: /usr/lib/libfoo.dylib
mac_crash_info.0.message: abort() called
mac_crash_info.0.signature_string: a signature
mac_crash_info.0.backtrace: a backtrace
mac_crash_info.0.message2: a second message
mac_crash_info.1.module: /usr/lib/libbar.dylib
mac_boot_args: -v debug=0x144
END
    $MAC_CRASH => \&mac_crash,
    $MAC_BOOT => sub { pack 'VQ<', $MAC_BOOT, $_[0]->(pack('V/a*', wide('-v debug=0x144')) . "\0\0") },
});

# --- comments, assertions ---

notes('comments', "comment: plain\ncomment: w\x{c3}\x{a4}it\n", streams => {
    $COMMENT => plain("plain\0rest"), $COMMENT_WIDE => plain(wide("w\x{e4}it\0rest")) });

my @texts = map { my $units = wide($_); $units . "\0" x (256 - length $units) } 'n > 0', 'pop', 'stack.c';
my $assertion = join('', @texts) . pack 'VV', 42, 1;
like(walk('text', streams => { $ASSERTION => plain($assertion) }),
    qr/^Assertion:     n > 0, function pop, file stack\.c, line 42$/m, 'an assertion');
is(decoded(streams => { $ASSERTION => plain($assertion) })->{assertion},
    'n > 0, function pop, file stack.c, line 42', '... in JSON');

# --- stacks of the client ---

sub decoded { return Cpanel::JSON::XS->new->decode(walk('json', @_)) }

# MDRawClientStacks: a header, threads (aligned to 8), frames, texts.
sub client {
    my ($threads, $frames, $texts, %o) = @_;
    my $list = join '', map { pack 'V3', @$_ } @$threads;
    $list .= "\0" x (length($list) % 8);
    my $n = $o{frames} // @$frames;
    my $bytes = pack('V4', $o{version} // 1, scalar @$threads, $n, length $texts)
        . $list . join('', map { pack 'Q<VV', @$_ } @$frames) . $texts
        . ($o{end} // '');
    return { $CLIENT => plain($bytes) };
}

sub frames {
    my ($stack) = @_;
    return join ' ', map {
        join ':', $_->{instruction_addr}, $_->{function} // '', $_->{symbol} // '', $_->{trust}
    } @{ $stack->{frames} };
}

my @frames = ([0x401234, 0, 4], [0x601000, 4, 13], [0x5, 0, 0]);
my $texts = 'main_ZN3foo3barEv';
my @found = ('0x401234:main::prewalked', '0x601000:foo::bar():_ZN3foo3barEv:prewalked', '0x5:::prewalked');
my $ours = '0x401000:::context';

my $got = decoded(threads => 3, streams => client([[3, 0, 3], [1, 1, 1], [77, 0, 3]], \@frames, $texts));
my @stacks = @{ $got->{stacktraces} };
is(frames($stacks[2]), join(' ', @found), 'stacks that the client has walked');
is(frames($stacks[0]), $found[1], '... of another thread');
is(frames($stacks[1]), $ours, '... others are walked');
is($stacks[2]{registers}{rip}, '0x401000', '... registers are those of the thread');

$got = decoded(threads => 2, streams => client([[2, 0, 0], [1, 0, 1]], \@frames, $texts));
is(frames($got->{stacktraces}[1]), $ours, 'an empty list replaces nothing');
is(frames($got->{stacktraces}[0]), $found[0], '... an even number of threads is not padded');

for (['another version', client([[1, 0, 1]], \@frames, $texts, version => 2)],
     ['a text beyond the texts', client([[1, 0, 1]], [[0x401234, 10, 8]], $texts)],
     ['frames beyond the frames', client([[1, 2, 2]], \@frames, $texts)],
     ['more frames than bytes', client([[1, 0, 1]], \@frames, $texts, frames => 0x10000000)],
     ['bytes after the texts', client([[1, 0, 1]], \@frames, $texts, end => 'x')],
     ['an error in the second thread', client([[1, 0, 1], [2, 9, 1]], \@frames, $texts)])
{
    my ($what, $streams) = @$_;
    is(frames(decoded(threads => 2, streams => $streams)->{stacktraces}[0]), $ours, "$what: all are walked");
}

is(frames(decoded(streams => client([[1, 0, 1]], [[0x401234, 0, 2]], "\xff\xfe"))->{stacktraces}[0]),
   '0x401234:::prewalked', 'a name that is not UTF-8 is left out, its frame is not');

# --- threads ---

$got = decoded(threads => 3, streams => { $NAMES => sub {
    my ($put) = @_;
    my $name = sub { $put->(pack('V/a*', wide($_[0])) . "\0\0") };
    return pack('V', 3) . pack('VQ<', 2, $name->('worker')) . pack('VQ<', 3, $name->("t\x{fc}r"))
        . pack('VQ<', 9, $name->('nobody'));
} });
is(join(',', map { $_->{thread_name} // '-' } @{ $got->{stacktraces} }), "-,worker,t\x{fc}r", 'names of threads');
ok(!grep({ exists $_->{is_requesting} } @{ $got->{stacktraces} }), '... none has asked for the dump');

done_testing();
