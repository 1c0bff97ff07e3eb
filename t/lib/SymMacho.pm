package SymMacho;

# Writes small Mach-O files with DWARF 4, for cases that no real file has.  The
# numbers are those of Apple's <mach-o/loader.h>, <mach-o/nlist.h> and of the
# DWARF standard, repeated here so that they are independent of the reader.

use strict;
use warnings;
no warnings 'portable';

use Exporter 'import';

our @EXPORT_OK = qw(macho fat dwarf UUID);

use constant UUID => '00112233445566778899AABBCCDDEEFF';

my $SECTION_CODE = 0x80000400;
my $PAGE = 0x1000;

sub _segment {
    my ($bits, $name, $addr, $size, $at, $bytes, @sections) = @_;
    my $body = $bits == 64
        ? pack('a16 Q<4 V4', $name, $addr, $size, $at, $bytes, 7, 5,
               scalar @sections, 0)
        : pack('a16 V8', $name, $addr, $size, $at, $bytes, 7, 5,
               scalar @sections, 0);
    for my $s (@sections) {
        my @f = ($s->{name}, $name, $s->{addr}, $s->{size}, $s->{at}, 0, 0, 0,
                 $s->{flags} // 0, 0, 0);
        $body .= $bits == 64 ? pack('a16 a16 Q<2 V8', @f, 0)
                             : pack('a16 a16 V9', @f);
    }
    return pack('V2', $bits == 64 ? 0x19 : 1, 8 + length $body) . $body;
}

# options: bits, base and text (first and last address + 1 of the code),
# sections (name => bytes of __DWARF), symbols ([name, value, n_type, n_sect]),
# type (default: a dSYM), uuid.
sub macho {
    my (%o) = (bits => 64, base => 0x100000000, sections => {}, symbols => [],
               type => 10, uuid => UUID, @_);
    my ($bits, $at, $data) = ($o{bits}, $PAGE, '');
    my ($low, $high) = @{ $o{text} // [ $o{base}, $o{base} + $PAGE ] };
    my (@dwarf, $strings, $table);

    for my $name (sort keys %{ $o{sections} }) {
        my $bytes = $o{sections}{$name};
        push @dwarf, { name => $name, addr => 0x7000000 + length $data,
                       size => length $bytes, at => $at + length $data };
        $data .= $bytes;
    }

    ($strings, $table) = ("\0", '');
    for (@{ $o{symbols} }) {
        my ($name, $value, $type, $section) = @$_;
        $table .= pack $bits == 64 ? 'V C2 v Q<' : 'V C2 v V', length $strings,
            $type // 0x0f, $section // 1, 0, $value;
        $strings .= "$name\0";
    }

    # a dSYM's code has addresses and no bytes
    my @commands = (
        pack('V2 H32', 0x1b, 24, $o{uuid}),
        pack('V6', 2, 24, $at + length $data, scalar @{ $o{symbols} },
             $at + length($data) + length $table, length $strings),
        _segment($bits, '__TEXT', $o{base}, $high - $o{base}, 0, 0,
                 { name => '__text', addr => $low, size => $high - $low,
                   at => 0, flags => $SECTION_CODE }),
        _segment($bits, '__DWARF', 0x7000000, length $data, $at,
                 length $data, @dwarf),
    );
    my $commands = join '', @commands;
    my ($magic, $cpu, $subtype) = $bits == 64 ? (0xfeedfacf, 0x0100000c, 0)
                                              : (0xfeedface, 12, 9);
    my $head = pack 'V7', $magic, $cpu, $subtype, $o{type}, scalar @commands,
        length $commands, 0;

    $head .= pack 'V', 0 if $bits == 64;
    $head .= $commands;
    return $head . "\0" x ($at - length $head) . $data . $table . $strings;
}

# [cpu, cpu's subtype, bytes], ...
sub fat {
    my ($head, $body) = (pack('N2', 0xcafebabe, scalar @_), '');
    for (@_) {
        my ($cpu, $subtype, $bytes) = @$_;
        $head .= pack 'N5', $cpu, $subtype, $PAGE + length $body,
            length $bytes, 12;
        $body .= $bytes . "\0" x (-length($bytes) % $PAGE);
    }
    return $head . "\0" x ($PAGE - length $head) . $body;
}

sub _uleb { return chr($_[0]) }    # for small numbers

sub _sleb {
    my ($n) = @_;
    my $out = '';
    for (1 .. 4) {
        $out .= chr(0x80 | ($n & 0x7f));
        $n >>= 7;
    }
    return $out . chr($n & 0x7f);
}

# Rows are [address, line, kind]: kind 's' for is_stmt, 'e' for end_sequence.
# Addresses are written absolutely, so that they may go backwards.
sub _line_program {
    my ($size, $files, @rows) = @_;
    my $address = $size == 8 ? 'Q<' : 'V';
    my $tables = pack('C*', 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0,
                      0, 1) . "\0";
    $tables .= "$_\0\0\0\0" for @$files;
    $tables .= "\0";
    my ($line, $is_stmt, $program) = (1, 1, '');

    for (@rows) {
        my ($addr, $to, $what, $file) = @$_;
        my $wants = $what =~ /s/ ? 1 : 0;
        use integer;

        $program .= pack "C3 $address", 0, 1 + $size, 2, $addr;
        $program .= "\x04" . _uleb($file) if $file;
        $program .= "\x03" . _sleb($to - $line);
        $program .= "\x06" if $what !~ /e/ && $wants != $is_stmt;
        $program .= $what =~ /e/ ? "\0\1\1" : "\1";
        ($line, $is_stmt) = $what =~ /e/ ? (1, 1) : ($to, $wants);
    }

    my $body = pack('v V', 4, length $tables) . $tables . $program;
    return pack('V', length $body) . $body;
}

# options: size of an address, functions ([name, first, last + 1]), rows,
# files.  Returns the sections of one unit.
sub dwarf {
    my (%o) = (size => 8, files => ['main.m'], @_);
    my $address = $o{size} == 8 ? 'Q<' : 'V';
    my $abbrev = pack 'C*',
        1, 0x11, 1, 0x03, 0x08, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0, 0,
        2, 0x2e, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0, 0;
    my $dies = "\1main.m\0/src\0" . pack("V $address", 0, 0);

    $dies .= "\2$_->[0]\0" . pack "$address V", $_->[1], $_->[2] - $_->[1]
        for @{ $o{functions} };
    $dies .= "\0";
    my $unit = pack('v V C', 4, 0, $o{size}) . $dies;

    return ('__debug_abbrev' => $abbrev,
            '__debug_info' => pack('V', length $unit) . $unit,
            '__debug_line' => _line_program($o{size}, $o{files},
                                            @{ $o{rows} }));
}

1;
