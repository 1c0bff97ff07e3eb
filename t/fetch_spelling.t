# An id in an odd spelling (no age, lower case, age 00, 40 digits) must not hide its
# module from those who write it as the source does, nor the other way round: a
# source is asked for the path of the canonical spelling and for the one that was
# sent, and the absence of each is kept by itself.

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

# Canonical ids, and how some write them.
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
    is(found($name, $sent), 'found', "$what: the canonical path is asked for");

    $name = "poison$n.so";
    is(found($name, $sent), 'absent', "$what: not there");
    put($name, $canonical, $canonical);
    is(found($name, $canonical), 'absent', '... nor under the canonical one');
    is($t->loader->run('rm', "$name/$canonical")->{code}, 0, '... forgotten');
    is(found($name, $canonical), 'found', '... then it is');

    $name = "sent$n.so";
    put($name, $canonical, $sent);
    is(found($name, $canonical), 'absent', 'a file at the odd path alone');
    is(found($name, $sent), 'found', '... is found by who writes it so');
    is(found($name, $canonical), 'found', '... and then by all');

    $name = "both$n.so";
    is(found($name, $sent), 'absent', "$what: both are absent");
    put($name, $canonical, $sent);
    is(found($name, $sent), 'absent', '... which is kept');
    is($t->loader->run('rm', "$name/$canonical")->{code}, 0, '... both forgotten');
    is(found($name, $sent), 'found', '... and there it is');
}

is($t->end, '', 'nothing is wrong');

# A build id with zeros behind its 32nd digit has a path in the spelling that was
# sent only.  If the source fails there, that is kept as any failure is.

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
is($t->fault->count, $gets, '... the source is not asked again');
is($t->end, '', 'nothing is wrong');

done_testing();
