package SymLlvm;

# LLVM's symbolizer's answers for a debug file, in the form in which `symloader
# lookup --json` is compared with them: for each address a list of [function,
# file, line], innermost first.

use strict;
use warnings;

use Exporter 'import';
use SymLoader qw(json_lines);

our @EXPORT_OK = qw(llvm_cxxfilt llvm_frames loader_frames frame_differences);

# Debian 12's own LLVM 14 cannot read sections packed with zstd.
sub symbolizer { return 'llvm-symbolizer-19' }

# Nor do older ones read all names of C++20.
sub llvm_cxxfilt { return 'llvm-cxxfilt-19' }

# Addresses are the file's own; $options go to the program.
sub llvm_frames {
    my ($t, $file, $options, @addr) = @_;
    my $in = $t->file('addresses', join '', map { sprintf "0x%x\n", $_ } @addr);
    my @answers = split /\n\n/, qx(${\symbolizer()} --obj=$file --no-demangle \\
        --inlines --functions=linkage $options <$in);
    return map {
        my @line = split /\n/;
        [ map {
            my ($path, $number) = $line[2 * $_ + 1] =~ /^(.*):(\d+):\d+$/;
            # from the symbol table LLVM knows a file, but no line in it
            [ $line[ 2 * $_ ], $number ? $path : '??', $number ];
        } 0 .. @line / 2 - 1 ];
    } @answers;
}

# Addresses are relative to the image base.
sub loader_frames {
    my ($t, $module, @addr) = @_;
    my $r = $t->run('lookup', $module, '--json', '--no-demangle',
                    map { sprintf '%x', $_ } @addr);
    return map {
        my $frame = $_;
        [ map { [ $_->{function}, $_->{file} // '??', $_->{line} // 0 ] }
            @{ $frame->{inlines} // [] }, $frame ];
    } json_lines($r->{out});
}

# Without a linkage name LLVM writes f where we write space::f.
sub is_name {
    my ($ours, $theirs) = @_;
    return defined $ours && $ours =~ /(?:^|::)\Q$theirs\E$/;
}

sub frame_differences {
    my ($ours, $theirs) = @_;
    my @bad;
    for my $i (0 .. $#$theirs) {
        my ($o, $l) = ($ours->[$i], $theirs->[$i]);
        my $same = @$o == @$l
            && !grep { !is_name($o->[$_][0], $l->[$_][0])
                       || $o->[$_][1] ne $l->[$_][1]
                       || $o->[$_][2] != $l->[$_][2] } 0 .. $#$l;
        push @bad, join(' < ', map {"@$_"} @$o) . ' but LLVM '
            . join(' < ', map {"@$_"} @$l) if !$same;
    }
    return @bad;
}

1;
