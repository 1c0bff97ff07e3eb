package SymElf;

# SymElf - what core/formats/elf finds in a file, and what other tools find in
# it.
#
#     my %info = info($path);              build/t/elfdump's lines by their name
#     my $bytes = section($path, '.text'); from elfdump, unpacked
#     my @s = symbols($path);              { addr, size, name }, from image base
#     my @names = symbolizer($path, @addrs);   llvm-symbolizer's, same base
#     my $path = yaml('name', $text);      a file made by yaml2obj
#     run_ok('objcopy', @args);
#
# Files are made in a temporary folder that is removed when the process ends.

use strict;
use warnings;

use Exporter qw(import);
use File::Temp qw(tempdir);
use Test::More ();

use SymLoader qw(root write_file);

our @EXPORT_OK = qw(info section symbols symbolizer symbols_agree crc yaml
                    run_ok output folder error_of);

my $dir = tempdir(CLEANUP => 1);
my $dump = root() . '/' . ($ENV{SYM_BUILD} // 'build') . '/t/elfdump';

sub folder { return $dir }

# Standard output of a command, without its errors.
sub output {
    my @command = @_;

    open(my $fh, '-|', '/bin/sh', '-c', 'exec "$0" "$@" 2>/dev/null', @command)
        or die "sh: $!";
    binmode($fh);
    local $/;
    my $text = <$fh> // '';
    close($fh);
    return $text;
}

sub run_ok {
    my @command = @_;

    system(@command) == 0 or die "@command: ended with $?";
    return;
}

sub info {
    my ($path) = @_;
    return map { my ($name, $value) = split(/ /, $_, 2); $name => $value // '' }
        split(/\n/, output($dump, $path));
}

# The error of elfdump for a file that it refuses.
sub error_of {
    my ($path, $what) = @_;
    my $text = output('/bin/sh', '-c', 'exec "$0" "$@" 2>&1 >/dev/null', $dump,
                      $path, $what // ());

    chomp($text);
    return $text;
}

sub section { return output($dump, @_) }

sub crc {
    my ($path) = @_;
    my $text = output($dump, $path, 'crc');

    chomp($text);
    return $text;
}

sub symbols {
    my ($path) = @_;

    return map {
        my ($addr, $size, $name) = split(/ /, $_, 3);
        { addr => hex($addr), size => hex($size), name => $name };
    } split(/\n/, output($dump, $path, 'symbols'));
}

sub symbolizer {
    my ($path, @addrs) = @_;
    my %info = info($path);
    my $base = hex($info{base});
    my $in = write_file("$dir/addresses",
                        join('', map { sprintf("0x%x\n", $_ + $base) } @addrs));
    my $out = output('/bin/sh', '-c',
                     'exec llvm-symbolizer --obj="$0" --no-demangle '
                         . '--no-inlines <"$1"', $path, $in);

    return map { (split(/\n/, $_))[0] } split(/\n\n/, $out);
}

# The name of each symbol, at its first and last byte, from llvm-symbolizer; of
# several that cover an address the nearest start counts.  Versions are cut from
# its names.
sub symbols_agree {
    my ($path, $least, $name) = @_;
    my @symbols = symbols($path);
    my %at = map { $_->{addr} => $_ } @symbols;
    my %addrs = map { ($_->{addr} => 1, $_->{addr} + $_->{size} - 1 => 1) }
        @symbols;
    my @addrs = sort { $a <=> $b } keys(%addrs);
    my @theirs = symbolizer($path, @addrs);
    my ($bad, $first, $i) = (0, '', -1);

    Test::More::cmp_ok(scalar(@symbols), '>=', $least, "$name: symbols");
    Test::More::is(scalar(@theirs), scalar(@addrs), '... each is looked up');

    for my $n (0 .. $#addrs) {
        my $addr = $addrs[$n];

        $i++ while $i < $#symbols && $symbols[$i + 1]{addr} <= $addr;
        my $k = $i;
        $k-- while $k > 0 && $addr >= $symbols[$k]{addr} + $symbols[$k]{size};

        my $theirs = $theirs[$n] // '';
        $theirs =~ s/(?<=.)@.*//;
        next if $symbols[$k]{name} eq $theirs;
        $first ||= sprintf('%x: %s, not %s', $addr, $theirs, $symbols[$k]{name});
        $bad++;
    }
    return Test::More::is("$bad $first", '0 ',
                          '... llvm-symbolizer has the same names');
}

sub yaml {
    my ($name, $text) = @_;
    my $in = write_file("$dir/$name.yaml", $text);

    run_ok('yaml2obj', $in, '-o', "$dir/$name");
    return "$dir/$name";
}

1;
