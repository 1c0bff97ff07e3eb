package SymSymbfile;

# Writes symbfiles, after the format's description.
#
#     $HEADER . range(0x1000, 16, 'main')    a function at an address, of main.c
#     $HEADER . pad(0x1004, 'main')          a return pad, of one frame

use strict;
use warnings;

use parent 'Exporter';

our @EXPORT_OK = qw($HEADER range pad);

sub varint {
    my ($n) = @_;
    my $out = '';
    while ($n >= 0x80) {
        $out .= chr($n & 0x7f | 0x80);
        $n >>= 7;
    }
    return $out . chr $n;
}

sub message { return varint(length $_[1]) . varint($_[0]) . $_[1] }
sub field { return varint($_[0] << 3 | (ref $_[1] ? 2 : 0)) . (ref $_[1] ? varint(length ${ $_[1] }) . ${ $_[1] } : varint($_[1])) }

our $HEADER = 'symbfile' . message(1, '');

sub range {
    my ($addr, $length, $name) = @_;
    return message(2, field(12, $addr) . field(2, $length) . field(3, \$name) . field(4, \"$name.c"));
}

sub pad {
    my ($addr, $name) = @_;
    return message(4, field(1, \$name) . field(1, \"$name.c"))
        . message(3, field(5, $addr) . field(2, \chr 0) . field(3, \chr 1) . field(4, \chr 7));
}

1;
