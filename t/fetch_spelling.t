# An id in an odd spelling (no age, lower case, age 00, 40 digits) must not hide
# its module from clients that spell it like the source, nor vice versa.  A
# source is tried with the canonical spelling and with the one that was sent,
# and each absence is recorded separately.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text write_file);
use Test::More;

my $t = SymFetch->new(sources => <<'CONF', how => <<'HOW')->start;
        location /src/ { internal; alias %%DIR%%/symbols/; log_not_found off; }
CONF
            symbolicate_source folder uri=/src/;
            symbolicate_negative_ttl absent=1h;
HOW

my $n = 0;

sub put {
    my ($name, $id, $folder) = @_;
    write_file($t->dir . "/symbols/$name/$folder/$name.sym",
        sym_text($name, $id));
    return;
}

sub found {
    my ($name, $id) = @_;
    return $t->found($t->ask([$name, $id]), $name, $id) ? 'found' : 'absent';
}

# Canonical ids, and other spellings in use.
my $head = 'ABCDEF0123456789ABCDEF01234567';
my @odd = (
    ['lower case', sub { lc $_[0] }],
    ['age 00', sub { $_[0] =~ s/0\z/00/r }],
    ['no age', sub { $_[0] =~ s/0\z//r }],
    ['40 digits', sub { $_[0] =~ s/0\z/00000000/r }],
);

for my $odd (@odd) {
    my ($what, $spell) = @$odd;
    my $canonical = sprintf "$head%02X0", ++$n;
    my $sent = $spell->($canonical);

    my $name = "first$n.so";
    put($name, $canonical, $canonical);
    is(found($name, $sent), 'found', "$what: the canonical path is requested");

    $name = "poison$n.so";
    is(found($name, $sent), 'absent', "$what: not there");
    put($name, $canonical, $canonical);
    is(found($name, $canonical), 'absent', '... nor under the canonical one');
    is($t->loader->run('rm', "$name/$canonical")->{code}, 0, '... forgotten');
    is(found($name, $canonical), 'found', '... then it is');

    $name = "sent$n.so";
    put($name, $canonical, $sent);
    is(found($name, $canonical), 'absent', 'a file at the odd path only');
    is(found($name, $sent), 'found', '... is found with this spelling');
    is(found($name, $canonical), 'found', '... and then with any');

    $name = "both$n.so";
    is(found($name, $sent), 'absent', "$what: both are absent");
    put($name, $canonical, $sent);
    is(found($name, $sent), 'absent', '... which is recorded');
    is($t->loader->run('rm', "$name/$canonical")->{code}, 0, '... both forgotten');
    is(found($name, $sent), 'found', '... and there it is');
}

is($t->end, '', 'nothing is wrong');

# A build id with zeros after its 32nd digit has a path only in the spelling
# that was sent.  If the source fails there, that is recorded like any failure.

$t = SymFetch->new(how => <<'HOW')->start;
            symbolicate_source fault uri=/src/ layout=debuginfod;
            symbolicate_negative_ttl failed=1h;
HOW
$t->fault->script('src', 'status/503');
my $build_id = lc($head) . 'ff00001234';
is($t->ask([ 'a.so', $build_id ])->{status}, 503, 'a failure under the spelling');
my $gets = $t->fault->count;
isnt($gets, 0, '... of the source');
is($t->ask([ 'a.so', $build_id ])->{status}, 503, '... is kept');
is($t->fault->count, $gets, '... the source is not tried again');
is($t->end, '', 'nothing is wrong');

done_testing();
