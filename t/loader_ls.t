#!/usr/bin/perl

# A list of thousands of modules is unreadable: `ls PATTERN` shows those that
# match any part of name or id, in aligned columns, however long the names of
# sources are.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymServe;
use Test::More;

my $id = 'BBA6FA10B8AAB33D0000000000000000';
my %modules = map { ("m_$_->[0].sym" => SymLoader::sym_text(@$_)) }
    ['libxul.so', "${id}1"], ['xul.pdb', "${id}2"],
    ['firefox', '44E4EC8C2F41492B9369D6B9A059577C2'], ['XUL', "${id}3"];

my $t = SymLoader->new;
$t->run('load', '--quiet', map { $t->file($_, $modules{$_}) } sort keys %modules);

for my $case (['xul' => ['XUL', 'libxul.so', 'xul.pdb']],
              ['XUL' => ['XUL', 'libxul.so', 'xul.pdb']],
              ['*.pdb' => ['xul.pdb']],
              ['44e4*' => ['firefox']],
              ['44e4ec8c' => ['firefox']],
              ['xul/bba6' => ['XUL']],
              ['?ul*/*[23]' => ['XUL', 'xul.pdb']],
              ['xul.pdb' => ['xul.pdb']]) {
    my ($pattern, $expected) = @$case;
    my $r = $t->run('ls', '--json', $pattern);
    is_deeply([map { $_->{name} } SymLoader::json_lines($r->{out})], $expected,
              "ls '$pattern'");
    is($r->{code}, 0, '... succeeds');
    my @rows = split /\n/, $t->run('ls', $pattern)->{out};
    is(scalar @rows, 1 + @$expected,
        '... the same as text, with a header line');
}

my $r = $t->run('ls', 'nightly');
is($r->{code}, 1, 'a pattern that no module matches');
like($r->{err}, qr/^symloader: nightly: no module matches$/m, '... says so');
is($t->run('ls', '--source', 'other', 'xul')->{code}, 1,
    'none from that source');

# --- columns ---

my $d = SymServe->new->serve;
my $c = $d->client;
for my $source ('s', 'a-rather-long-name-of-a-source') {
    $c->send(ENSURE => ticket => 1, scope => $source, key => "libxul.so/${id}1");
    is($c->recv->{type}, 'FETCH', "asks source $source");
    $c->send(NONE => ticket => 1, state => 2, text => 'no');
    is($c->recv->{type}, 'NEGATIVE', '... which does not have it');
}
my ($head, @rows) = split /\n/, $d->run('ls')->{out};
is(scalar @rows, 2, 'modules of two sources');
my ($from, $module) = map { index $head, $_ } qw(SOURCE MODULE);
is(substr($_, $from - 2, 2), '  ', 'SOURCE begins in its column') for @rows;
like(substr($_, $module), qr{^libxul\.so/}, 'MODULE begins in its column')
    for @rows;
$d->stop;

done_testing();
