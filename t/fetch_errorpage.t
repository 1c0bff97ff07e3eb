# A source's error with a long page is an error like any other: its page is not
# read to the end, and the worker survives.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(write_file);
use Test::More;

my $t = SymFetch->new(sources => <<'SOURCES')->conf(http => <<'CONF');
        location /src/ { internal; proxy_pass http://unix:%%DIR%%/s:/; }
SOURCES
    server {
        listen unix:%%DIR%%/s;
        root %%DIR%%;
        location / { error_page 404 =500 /page; try_files /none =404; }
        location = /page { }
    }
CONF
write_file($t->dir . '/page', 'sorry ' x 50_000);
$t->start;

for my $n (1 .. 3) {
    my @module = ("m$n.so", SymFetch::id($n));
    my $r = $t->ask([@module]);
    is($r->{status}, 503, 'answered: 503');
    like($t->reasons($r)->{join '/', @module}, qr/an error: 500/, '... why');
}

is($t->end, '', 'nothing is wrong');

done_testing();
