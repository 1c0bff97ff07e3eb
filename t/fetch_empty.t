#!/usr/bin/perl

# An empty file in a folder means that the source has no symbols, as does one
# from a proxy.  It is not a truncated file, which would be requested again and
# again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;

my $t = SymFetch->new(how => <<'HOW', sources => <<'CONF')->start;
            symbolicate_source folder uri=/folder/;
HOW
        location /folder/ { internal; alias %%FILES%%/; }
CONF
my @module = ('empty.so', '0123456789ABCDEF0123456789ABCDEF0');

$t->fault->file(SymFetch::path(@module), '');
for my $time ('', ' again') {
    my $r = $t->ask([@module]);
    is($r->{status}, 200, "an empty file$time: an answer");
    is($t->found($r, @module), 0, '... absent');
}

$t->upload('full.so', $module[1]);
is($t->found($t->ask(['full.so', $module[1]]), 'full.so', $module[1]), 1,
   'the folder was searched');

is($t->stop->log_trouble, '', 'the log is clean');
done_testing();
