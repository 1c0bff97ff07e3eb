#!/usr/bin/perl

# A new format is one folder and one row: the example of docs/design/adding.md,
# added to a copy of the tree, is built, and its files are loaded like others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymExample qw(build_examples adding_section);
use SymFixtures qw(fixtures);
use SymLoader qw(json_lines);
use SymServe;

my $build = build_examples();
my ($example) = adding_section('A format') =~ /^((?:    .*\n)+)/m or die 'no example';
$example =~ s/^    //mg;

local $ENV{SYM_BUILD} = $build;
my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymLoader->new;
my $r = $t->run('load', $t->file('app.flat', $example));
is($r->{code} . $r->{err}, '0', 'a file of the format loads');
like($r->{out}, qr{\bapp/$ID: publics, }, '... and the result is reported');

my %at = (1000 => 'main', '101f' => 'main', 1020 => 'two words', 1028 => undef,
          'fff' => undef);
for my $addr (sort keys %at) {
    my $said = $t->run('lookup', "app/$ID", "0x$addr")->{out};
    my $name = $at{$addr};
    defined $name ? like($said, qr/\b\Q$name\E\b/, "0x$addr is in $name")
                  : unlike($said, qr/main|words/, "0x$addr is in no function");
}
is($t->verify, 'sound', 'the store is sound');

$r = $t->run('load', $t->file('bad.flat', "${example}10 x y\n"));
is($r->{code}, 1, 'a file that breaks the rules');
like($r->{err}, qr/malformed: not ADDRESS SIZE NAME \(line 4/,
     '... is refused, with the line');
$r = $t->run('load', $t->file('other', 'a file of no format'));
like($r->{err}, qr/ and flat files are read$/,
     'an unknown file: the list of readable formats has it');
is($t->run('load', fixtures('symbols'))->{code}, 0, 'other files load as before');

my $s = SymServe->new->serve;
is($s->run('load', "$t->{dir}/app.flat")->{code}, 0, 'a daemon takes such files');
is_deeply([ map { $_->{name} } json_lines($s->run('ls', '--json')->{out}) ],
          [ 'app' ], '... and stores their artifacts');
is($s->stats->{conversions_flat_ready}, 1, '... and counts them by format');
$s->stop;

done_testing();
