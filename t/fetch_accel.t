# A source that answers with X-Accel-Redirect directs nginx to any location of
# the server, internal ones too.  The source has no right to their contents:
# their answers are not read as the module, and the fetch fails.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader;
use Test::More;

my $t = SymFetch->new(sources => <<'SOURCES')->start;
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /_files/ { internal; alias %%FILES%%/; }
        location /_proxy/ { internal; proxy_pass http://%%FAULT%%/ok/; }
        location /_return/ { internal; return 200 "MODULE Linux x86_64"; }
        location /_missing/ { internal; error_page 404 = @named; return 404; }
        location @named { internal; root %%FILES%%; rewrite ^/[^/]*/(.*) /$1 break; }
        location /open/ { proxy_pass http://%%FAULT%%/ok/; }
SOURCES

my $n = 0;
for my $to ('_files', '_proxy', '_return', '_missing', '@named', 'open', 'src') {
    my @module = ('m' . ++$n . '.so', SymFetch::id($n));
    $t->upload(@module);
    $t->fault->script('src', "accel/$to");
    my $r = $t->ask([@module]);
    is($r->{status}, 503, "to $to: failed");
    like($t->reasons($r)->{ join '/', @module },
        qr/source "fault": it answered with X-Accel-Redirect/, '... why');
    is($t->fault->count('/ok/' . SymFetch::path(@module)), 0,
        '... no request goes there');
}

# the same modules are there for clients that request them directly
$t->fault->script('src', 'ok');
my @good = ('good.so', SymFetch::id(100));
$t->upload(@good);
is($t->found($t->ask([@good]), @good), 1, 'an ordinary answer: found');

is($t->end, '', 'nothing is wrong');

done_testing();
