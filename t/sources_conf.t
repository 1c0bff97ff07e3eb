# Within one store a name means one source.  With two definitions, the symbols
# of one would be served to clients of the other, so nginx -t refuses that, and
# names both places.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $t = SymTest->new;

sub check {
    my (%o) = @_;
    my $first = $o{first} // 'symbolicate_source s uri=/s/;';
    my $store = $o{store} // 'symbolicate_store %%STORE%%;';
    my $two = "location /two { symbolicate; $store $o{second} }";
    my $server = $o{server} ? "} server { listen 127.0.0.1:1; server_name b; symbolicate_loader unix:/x;" : '';
    return $t->check(SymTest::bare_conf(<<"CONF"));
    server {
        listen 127.0.0.1:1;
        server_name a;
        symbolicate_loader unix:/x;
        location /s/ { internal; root /; }
        location /one { symbolicate; symbolicate_store %%STORE%%; $first }
        $server
        $two
    }
CONF
}

for my $case (
    ['the same', 'symbolicate_source s uri=/s/;'],
    ['another name', 'symbolicate_source t uri=/t/;'],
    ['with one before it', 'symbolicate_source t uri=/t/; symbolicate_source s uri=/s/;'],
    ['defaults said', 'symbolicate_source s uri=/s/ layout=breakpad absent=404,403,410;'])
{
    my ($code, $said) = check(second => $case->[1]);
    is($code, 0, "$case->[0]: accepted") or diag $said;
}

my ($code, $said) = check(store => 'symbolicate_store /other;',
    second => 'symbolicate_source s uri=/t/;');
is($code, 0, 'on another store: accepted') or diag $said;

for my $case (
    ['uri=', 'symbolicate_source s uri=/t/;'],
    ['layout=', 'symbolicate_source s uri=/s/ layout=native;'],
    ['kinds=', 'symbolicate_source s uri=/s/ layout=native kinds=elf;',
     'symbolicate_source s uri=/s/ layout=native;'],
    ['ids=', 'symbolicate_source s uri=/s/ ids=upper;'],
    ['casing=', 'symbolicate_source s uri=/s/ casing=lowercase;'],
    ['absent=', 'symbolicate_source s uri=/s/ absent=404;'],
    ['public', 'symbolicate_source s uri=/s/ public;'],
    ['symbolicate_negative_ttl',
     'symbolicate_source s uri=/s/; symbolicate_negative_ttl absent=5s;'])
{
    my ($what, $second, $first) = @$case;
    ($code, $said) = check(second => $second, $first ? (first => $first) : ());
    isnt($code, 0, "another $what: refused");
    like($said, qr{source "s" of location "/two" \(\S+nginx\.conf:\d+\) is not that of location "/one" \(\S+nginx\.conf:\d+\): they differ in \Q$what\E;},
        '... with both places');
}

($code, $said) = check(server => 1, second => 'symbolicate_source s uri=/s/;');
isnt($code, 0, 'of another server: refused');
like($said, qr/they differ in the server/, '... and why');

for my $name ('local', '*', 'share', 'peers') {
    ($code, $said) = check(second => "symbolicate_source $name uri=/s/;");
    isnt($code, 0, "a source called $name: refused");
    like($said, qr/is not a name for a source/, '... and why');
}

done_testing();
