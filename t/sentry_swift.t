#!/usr/bin/perl

# Swift names in Sentry's API: `symbol` is the mangled name, `function` the name
# that the demangler gave when the module was compiled; without one both are the
# same.  v5 shows names as in the file, with and without a demangler.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymMacho qw(macho);
use SymSwift qw(swift_library);
use SymTest;

my $t = SymTest->new;
my $library = swift_library($t->dir);
my %id = (with => '00112233445566778899AABBCCDDEEFF0',
          without => '10112233445566778899AABBCCDDEEFF0',
          mach => '20112233445566778899AABBCCDDEEFF0');

sub spurt {
    my ($name, $bytes) = @_;
    open my $out, '>:raw', $t->dir . "/$name" or die "$name: $!";
    print $out $bytes;
    close $out or die "$name: $!";
    return $t->dir . "/$name";
}

sub symbols {
    my ($id) = @_;
    return spurt("$id.sym", <<"SYM");
MODULE mac arm64 $id app
FILE 0 /src/a.swift
INLINE_ORIGIN 0 \$s3app6insideyyF
FUNC 1000 100 0 \$s3app1fyyF
INLINE 0 7 0 0 1010 10
1000 10 5 0
1010 10 70 0
1020 e0 9 0
PUBLIC 2000 0 _\$s3app1"yyF
PUBLIC 3000 0 _ZN3foo3barEi
SYM
}

$t->symloader('load', '--swift-demangler', $library, symbols($id{with}),
    spurt('mach', macho(uuid => substr($id{mach}, 0, 32), symbols => [
        [ '_$s3app1fyyF', 0x100000000 ], [ '__ZN3foo3barEi', 0x100000010 ] ])));
$t->symloader('load', '--swift-demangler', 'off', symbols($id{without}));
$t->conf(locations => <<'CONF')->start;
        location /sentry { symbolicate sentry; }
        location /kept   { symbolicate sentry; symbolicate_demangle off; }
        location /v5     { symbolicate tecken; }
CONF

# [symbol, function] of each frame.
sub frames {
    my ($where, $which, $type, @addresses) = @_;
    my $id = lc $id{$which} =~ s/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/$1-$2-$3-$4-$5/r;
    my $answer = $t->post_json("/$where/symbolicate", {
        modules => [ { type => $type, debug_id => $id, debug_file => 'app' } ],
        stacktraces => [ { frames => [ map { { instruction_addr => sprintf('0x%x', $_),
            addr_mode => 'rel:0' } } @addresses ] } ] },
        'Content-Type' => 'application/json')->{json};
    return [ map { [ @$_{ 'symbol', 'function' } ] }
        @{ $answer->{stacktraces}[0]{frames} } ];
}

my @raw = ('$s3app6insideyyF', '$s3app1fyyF', '_$s3app1"yyF', '_ZN3foo3barEi');
my @at = (0x1012, 0x2002, 0x3002);
for (1 .. 2) {    # and from caches
    is_deeply(frames(sentry => 'with', 'macho', @at),
        [ (map { [ $_, "<$_ 2>" ] } @raw[ 0 .. 2 ]), [ $raw[3], 'foo::bar(int)' ] ],
        'a module with both texts: the function is demangled');
}
is_deeply(frames(kept => 'with', 'macho', @at), [ map { [ $_, $_ ] } @raw ],
    '... but not where demangling is off');
is_deeply(frames(sentry => 'without', 'macho', @at),
    [ (map { [ $_, $_ ] } @raw[ 0 .. 2 ]), [ $raw[3], 'foo::bar(int)' ] ],
    'a module without them');

my $mach = frames(sentry => 'mach', 'macho', 0, 0x12);
is($mach->[0][1], "<$mach->[0][0] 2>", 'a Mach-O file: demangled');
is($mach->[1][1], 'foo::bar(int)', '... as C++ is');

my @v5 = map {
    my $frame = $t->post_json('/v5/symbolicate/v5', { memoryMap => [ [ app => $id{$_} ] ],
        stacks => [ [ map { [ 0, $_ ] } @at ] ] })->{json}{results}[0]{stacks}[0];
    [ map { ((map { $_->{function} } @{ $_->{inlines} // [] }), $_->{function}) } @$frame ]
} qw(with without);
is_deeply(\@v5, [ [ @raw ], [ @raw ] ], 'v5 shows names as in the file');

# A name in the request itself was not compiled.
my $failed = $t->post_json('/sentry/symbolicate', { modules => [], stacktraces => [ {
    frames => [ { instruction_addr => '0x1', function => $raw[1] } ] } ] },
    'Content-Type' => 'application/json')->{json}{stacktraces}[0]{frames}[0];
is_deeply([ @$failed{qw(function symbol)} ], [ $raw[1], undef ],
    'names in a request are unchanged');

$t->stop;
is($t->log_trouble, '', 'the log is clean');
done_testing();
