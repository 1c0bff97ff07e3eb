package SymDump;

# Minidumps for tests: threads that share registers and stack, and modules.  cpu: x64, or
# x86 with the registers eip, esp and ebp.
#
#     my $bytes = minidump(os => 'windows',
#         registers => { rip => 0x140001000, rsp => 0x1000 }, stack => $words,
#         modules => [{ at => 0x140000000, size => 0x9000, name => 'C:\\a.exe',
#                       time => 0x5c9e0959, codeview => $record }]);
#
# stack: bytes from rsp on; threads: how many, numbered from 1 on.  streams => { TYPE => sub },
# further ones: sub gets a function that adds bytes and returns their place, and returns
# the bytes of the stream.  Layout: Microsoft's minidumpapiset.h.

use strict;
use warnings;

use Exporter 'import';
our @EXPORT_OK = qw(minidump);

# Where CONTEXT of x86 has registers.
my %X86 = (ebp => 180, eip => 184, esp => 196);

my %OS = (windows => 2, linux => 0x8201, macos => 0x8101);

# In the order of CONTEXT, from byte 120 on.
my @REGISTERS = qw(rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip);

sub context {
    my ($cpu, $registers) = @_;
    my $bytes = "\0" x ($cpu eq 'x86' ? 716 : 1232);
    if ($cpu eq 'x86') {
        substr($bytes, 0, 4) = pack 'V', 0x1003f;
        substr($bytes, $X86{$_}, 4) = pack 'V', $registers->{$_} for keys %$registers;
    } else {
        substr($bytes, 48, 4) = pack 'V', 0x10000b;
        substr($bytes, 120, 17 * 8) = pack 'Q<17', map { $registers->{$_} // 0 } @REGISTERS;
    }
    return $bytes;
}

sub minidump {
    my (%o) = @_;
    my $cpu = $o{cpu} // 'x64';
    my %further = %{ $o{streams} // {} };
    my $n = 3 + keys %further;
    my $out = "\0" x (32 + 12 * $n);
    my $put = sub { my $at = length $out; $out .= $_[0]; return $at };

    my $system = $put->(pack('v3CCV5v2', $cpu eq 'x86' ? 0 : 9, 6, 0, 1, 1, 10, 0, 0, $OS{ $o{os} }, 0, 0, 0) . "\0" x 24);
    my $records = '';
    for my $m (@{ $o{modules} }) {
        my $text = join '', map { "$_\0" } split //, $m->{name};
        my $name = $put->(pack('V/a*', $text) . "\0\0");
        my $codeview = $m->{codeview} // '';
        my $id = $put->($codeview);
        $records .= pack('Q<V4', $m->{at}, $m->{size}, 0, $m->{time} // 0, $name) . "\0" x 52
            . pack('VV', length $codeview, length $codeview ? $id : 0) . "\0" x 24;
    }
    my $modules = $put->(pack('V', scalar @{ $o{modules} }) . $records);

    my $context = context($cpu, $o{registers});
    my ($context_at, $stack_at) = ($put->($context), $put->($o{stack}));
    my $n_threads = $o{threads} // 1;
    my $threads = $put->(pack('V', $n_threads) . join '', map {
        pack('V4Q<2V4', $_, 0, 0, 0, 0, $o{registers}{rsp} // $o{registers}{esp}, length $o{stack}, $stack_at, length $context, $context_at)
    } 1 .. $n_threads);

    substr($out, 0, 16) = 'MDMP' . pack 'V3', 0xa793, $n, 32;
    my @further = map {
        my $bytes = $further{$_}->($put);
        ($_, length $bytes, $put->($bytes));
    } sort { $a <=> $b } keys %further;
    substr($out, 32, 12 * $n) = pack 'V*', 7, 56, $system,
        4, 4 + 108 * @{ $o{modules} }, $modules, 3, 4 + 48 * $n_threads, $threads, @further;
    return $out;
}

1;
