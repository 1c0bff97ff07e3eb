package SymDwz;

# SymDwz - two programs of one package whose debug files share a supplementary
# file, as Debian and Fedora make them.
#
#     my $p = SymDwz->new($folder);
#     $p->{one}, $p->{two}       { whole, debug, id, name }: paths, build id
#     $p->{common}               { debug, id }
#     my @addrs = $p->addresses('one');
#     my @frames = $p->frames('one', @addrs);   LLVM's, as answer() gives them
#     answer($r, 0)              the frames of a v5 answer's first stack
#
# dwz moves these to the supplementary file: names, inlined functions, types of
# whole units.

use strict;
use warnings;

use Digest::SHA qw(sha1_hex);

use Exporter qw(import);

use SymElf qw(output run_ok);
use SymLlvm ();
use SymLoader qw(write_file);

our @EXPORT_OK = qw(answer);

my $SHARED = <<'END';
#include <cstdlib>

namespace space {
struct thing { int value; int twice(int x) const; };
static inline __attribute__((always_inline)) int square_of_a_number(int x)
{
    int y = x * x;
    return y > 9 ? y + __builtin_popcount(x) : y;
}
__attribute__((noinline)) int thing::twice(int x) const
{
    return square_of_a_number(x) + square_of_a_number(value) * 2;
}
}
static __attribute__((noinline)) int helper_without_linkage(int x)
{
    return space::square_of_a_number(x) + std::abs(x);
}
END

my %MAIN = (one => <<'END', two => <<'END');
int main(int argc, char **)
{
    space::thing t{argc};
    return t.twice(argc) + helper_without_linkage(argc);
}
END
__attribute__((noinline)) static int other(int x) { return 3 * x - 1; }
int main(int argc, char **)
{
    space::thing t{argc + 1};
    return other(t.twice(argc) - helper_without_linkage(argc));
}
END

# Always the same ids.  No zero follows the digits of a debug id, because the
# canonical form would drop it, and such an id has two spellings.
sub a_build_id {
    my ($name) = @_;
    return sha1_hex("dwz $name") =~ s/^.{32}\K../1f/r;
}

sub build_id {
    my ($file) = @_;
    return (output('eu-readelf', '-n', $file) =~ /Build ID: ([0-9a-f]{40})/)[0];
}

sub new {
    my ($class, $dir) = @_;
    my $self = bless { dir => $dir }, $class;

    write_file("$dir/shared.h", $SHARED);
    for my $name (sort keys %MAIN) {
        my $debug = "$dir/$name.debug";

        write_file("$dir/$name.cc", qq(#include "shared.h"\n$MAIN{$name}));
        run_ok('g++', '-g', '-O2', '-Wl,--build-id=0x' . a_build_id($name),
               '-o', "$dir/$name", "$dir/$name.cc");
        run_ok('objcopy', '--only-keep-debug', "$dir/$name", $debug);
        $self->{$name} = { name => $name, whole => "$dir/$name",
            debug => $debug, id => build_id("$dir/$name") };
    }
    run_ok('dwz', '-m', "$dir/common.debug", '-M', '/usr/lib/debug/.dwz/common.debug',
           map {"$dir/$_.debug"} sort keys %MAIN);
    $self->{common} = { debug => "$dir/common.debug",
        id => build_id("$dir/common.debug") };
    return $self;
}

# Every third byte of the compiled code, from the image base.
sub addresses {
    my ($self, $name) = @_;
    my @addr;
    for (split /\n/, output('nm', '-S', $self->{$name}{whole})) {
        my ($at, $size) = /^([0-9a-f]+) ([0-9a-f]+) [Tt] (?:main|_Z\S+)$/ or next;
        push @addr, grep { $_ % 3 == 0 } hex($at) .. hex($at) + hex($size) - 1;
    }
    return @addr;
}

# "FUNCTION FILE:LINE", innermost first, for the file before dwz.  LLVM omits
# the namespace of functions without a linkage name: it comes from the source.
sub frames {
    my ($self, $name, @addr) = @_;
    return map {
        my @line = split /\n/;
        [ map { $line[ 2 * $_ ] =~ s/^(?=square_of_a_number$)/space::/r . ' '
                . $line[ 2 * $_ + 1 ] =~ s/:\d+\z//r } 0 .. @line / 2 - 1 ];
    } split /\n\n/, output(SymLlvm::symbolizer(), "--obj=$self->{$name}{whole}", '--inlines',
                           map { sprintf '0x%x', $_ } @addr);
}

sub answer {
    my ($r, $stack) = @_;
    return map {
        [ map { ($_->{function} // '?') . ' ' . ($_->{file} // '??') . ':'
                . ($_->{line} // 0) } @{ $_->{inlines} // [] }, $_ ];
    } @{ $r->{json}{results}[0]{stacks}[$stack] };
}

1;
