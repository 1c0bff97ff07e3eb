#!/usr/bin/perl

# A stack trace of a browser has offsets in the module's file.  They are
# answered as Sentry answers them, also if the DWARF is in another file, as
# written by emcc -gseparate-dwarf.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file);
use SymSentry qw(recorded answers_as_recorded);

my $wasm = need_fixtures('wasm');
my $simple = 'simple.wasm/BDA18FD85D4A4EB893022D6BFAD846B10';
my $index = 'index.wasm/10DA03EB5D63D750FAAB0FB8E7CC12A10';

my $t = SymLoader->new;

{
    my $r = $t->run('load', $wasm);
    is($r->{code}, 0, 'loaded');
    like($r->{out}, qr{^\Q$wasm\E/simple\.wasm: \Q$simple\E: lines, }m,
         'named by its file and build_id');
    my %known = recorded('wasm', 'rel:0', 0);
    is(answers_as_recorded($t, $simple, %known), 1, '... one address has a name');
    %known = recorded('wasm', 'rel:1', 0);
    is(answers_as_recorded($t, $index, %known), 5, '... five have one');
    like($t->run('show', $index)->{out}, qr/\bwasm32\b/,
        'show has the machine');
    my ($ids) = $t->run('dump', "$wasm/index.wasm")->{out} =~ /\A(.*\n.*\n)/;
    is($ids, "MODULE wasm wasm32 10DA03EB5D63D750FAAB0FB8E7CC12A10 index.wasm\n"
           . "INFO CODE_ID 10DA03EB5D63D750FAAB0FB8E7CC12A1C3\n",
         'dump has the ids');
}

# --- the DWARF in another file ---

sub leb {
    my ($n) = @_;
    my $bytes = '';
    do {
        my $byte = $n & 0x7f;
        $n >>= 7;
        $bytes .= chr($n ? $byte | 0x80 : $byte);
    } while ($n);
    return $bytes;
}

sub custom {
    my ($name, $data) = @_;
    my $text = leb(length $name) . $name . $data;
    return "\0" . leb(length $text) . $text;
}

# [kind, name of a custom one, all its bytes], of each section.
sub sections {
    my ($file) = @_;
    my ($at, @sections) = (8);
    my $number = sub {
        my ($n, $shift) = (0, 0);
        while (1) {
            my $byte = ord substr $file, $at++, 1;
            $n |= ($byte & 0x7f) << $shift;
            $shift += 7;
            return $n if $byte < 0x80;
        }
    };
    while ($at < length $file) {
        my $begin = $at;
        my $kind = ord substr $file, $at++, 1;
        my $size = $number->();
        my $end = $at + $size;
        my $name = $kind == 0 ? substr $file, $at + 1, ord substr $file, $at, 1 : '';
        push @sections, [ $kind, $name, substr $file, $begin, $end - $begin ];
        $at = $end;
    }
    return @sections;
}

my $whole = read_file("$wasm/index.wasm");
my @all = sections($whole);
my $head = substr $whole, 0, 8;

# Without the debug companion's sections, but with its name.
sub stripped {
    my ($name) = @_;
    return join '', $head, (map { $_->[2] } grep { $_->[1] !~ /^\.debug|^name/ } @all),
        custom('external_debug_info', leb(length $name) . $name);
}

my %recorded = recorded('wasm', 'rel:1', 0);
for my $name ('index.debug.wasm', 'https://example.com/build/index.debug.wasm') {
    my $own = SymLoader->new;
    $own->file('tree/index.wasm', stripped($name));
    $own->file('tree/index.debug.wasm', $whole);
    is($own->run('load', $own->dir . '/tree/index.wasm')->{code}, 0,
       "loaded with its companion, $name");
    answers_as_recorded($own, $index, %recorded);
}

{
    my $own = SymLoader->new;
    $own->file('index.wasm', stripped('index.debug.wasm'));
    (my $other = $whole) =~ s/\x10\xda\x03\xeb/\x10\xda\x03\xec/ or die 'no id';
    $own->file('index.debug.wasm', $other);
    my $r = $own->run('load', $own->dir . '/index.wasm');
    is($r->{code}, 0, 'a companion of another build: loaded without it');
    like($r->{err}, qr/index\.debug\.wasm is of another build/, '... with a warning');
    like($r->{out}, qr/\Q$index\E: publics, /, '... with names of exports');
}

done_testing();
