#!/usr/bin/perl

# A new kind is a folder and a row: the example of docs/design/adding.md, added to a
# copy of the tree with its format and its API, is built.  Its files are loaded, all
# commands know its artifacts, and a worker answers from them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymExample qw(build_examples adding_section);
use SymLoader qw(json_lines);
use SymTest;

local $ENV{SYM_BUILD} = build_examples();
my ($example) = adding_section('A kind') =~ /^((?:    .*\n)+)/m or die 'no example';
$example =~ s/^    //mg;

my $MODULE = 'shop.jar/00112233445566778899AABBCCDDEEFF1';
my $t = SymLoader->new;
my $r = $t->run('load', $t->file('map', $example));
is($r->{code} . $r->{err}, '0', 'a file of the kind loads');
like($r->{out}, qr{: \Q$MODULE\E: renames, }, '... and its quality is shown');
is($t->verify, 'sound', 'the store is sound');

# --- commands ---

is_deeply([ map { "$_->{kind} $_->{quality}" } json_lines($t->run('ls', '--json')->{out}) ],
          ['renames renames'], 'ls lists it');
my ($shown) = json_lines($t->run('show', '--json', $MODULE)->{out});
is($shown->{renames}, 2, 'show has its facts');
my $all = "a.b.c:1-9 -> shop.Cart.add:40\na.b.c:10-12 -> shop.Cart.check:7\n";
is($t->run('dump', '--kind=renames', $MODULE)->{out}, $all, 'dump out of the store');
is($t->run('dump', '--kind=renames', "$t->{dir}/map")->{out}, $all, '... and out of the file');
$r = $t->run('dump', '--kind=renames', '--format=json', $MODULE);
is($r->{code}, 2, 'a format that the kind does not have');
like($r->{err}, qr/kind renames has no format json$/, '... is named');
is($t->run('dump', '--kind=renames', '--path=a', $MODULE)->{code}, 2,
    'it has no source text');
like($t->run('dump', "$t->{dir}/map")->{err},
     qr/no artifact of kind symcache in it, but one of kind renames$/, 'no symbols in the file');

is($t->run('lookup', '--kind=renames', $MODULE, 'a.b.c:7', 'a.b.c:12')->{out},
   "shop.Cart.add:46\nshop.Cart.check:9\n",
       'lookup answers lookups of the kind');
$r = $t->run({ stdin => "a.b.c:1\nnonsense\n  a.b.d:1 \n" }, 'lookup', '--kind=renames',
             $MODULE, '-');
is($r->{out}, "shop.Cart.add:40\n??:0\n??:0\n", '... of standard input, each with its answer');
like($r->{err}, qr/line 2: not CLASS\.METHOD:LINE, like a\.b\.c:7: nonsense$/,
     '... and names an invalid one');
is($t->run('lookup', '--kind=renames', $MODULE, 'a.b.c')->{code}, 2, '... of the command line, too');
is($t->run('lookup', '--kind=what', $MODULE, 'a.b.c:1')->{code}, 2, 'no such kind');

$r = $t->run('load', $t->file('bad', "${example}a.b d 9 1 x 1\n"));
is($r->{code}, 1, 'a file that breaks the rules of its format');
like($r->{err}, qr/malformed: not a range of lines \(line 4/, '... is refused');

# --- a worker ---

my $w = SymTest->new->load("$t->{dir}/map")->conf(locations => <<'CONF')->start;
    location /x/ { symbolicate original; }
CONF

sub ask {
    return $w->request('POST', '/x/original', body => $_[0],
                       headers => [ 'Content-Type' => 'text/plain' ])->{body};
}

my $object = $MODULE =~ tr{/}{ }r;
is(ask("$object a.b c 7"), qq({"function": "shop.Cart.add", "line": 46}\n), 'a worker answers');
is(ask("$object a.b c 13"), qq({"function": null}\n), '... no line');
is(ask("other.jar 00112233445566778899AABBCCDDEEFF2 a.b c 7"), qq({"function": null}\n),
   '... no object');
like(ask("$object a.b c"), qr/not NAME ID CLASS METHOD LINE/, '... no question');
is($w->stop->log_trouble, '', 'nothing is wrong');

is($t->run('rm', $MODULE)->{out}, "$MODULE: removed: renames\n", 'rm removes it');

done_testing();
