# A source may redirect to a bucket, as Mozilla's public server does.  nginx
# follows to hosts in redirect=, each through a location of the operator's, so
# that a source cannot lead it elsewhere, and only a few times.  With any other
# redirect the module is absent, and explain says why.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader;
use Test::More;

my $t = SymFetch->new(how => <<'HOW', sources => <<'SOURCES')->start;
            symbolicate_source fault uri=/src/
                redirect=bucket.example.com/_bucket/
                redirect=files.example.com:8080/_files/;
HOW
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /_bucket/ { internal; proxy_pass http://%%FAULT%%/; }
        location /_files/ { internal; alias %%FILES%%/; }
        location /_other/ { internal; alias %%FILES%%/; }
SOURCES

my $n = 0;

sub module {
    my ($behaviour) = @_;
    my @module = ('m+' . ++$n . '.so', SymFetch::id($n));
    $t->upload(@module);
    $t->fault->script('src', $behaviour);
    return @module;
}

sub shown {
    my @module = @_;
    my $r = $t->loader->run('show', '--json', join '/', @module);
    return (SymLoader::json_lines($r->{out}))[0];
}

sub followed {
    my ($behaviour, $what) = @_;
    my @module = module($behaviour);
    my $r = $t->ask([@module]);
    is($r->{status}, 200, "$what: 200");
    is($t->function($r, 0), 'f0', '... its file is read');
    (my $path = '/as/src/' . SymFetch::path(@module)) =~ s/\+/%2B/g;
    is($t->fault->count($path), 1, '... by one GET at the source');
    return shown(@module);
}

sub refused {
    my ($behaviour, $reason) = @_;
    my @module = module($behaviour);
    my $r = $t->ask([@module]);
    is($r->{status}, 200, "$behaviour: 200");
    is($t->found($r, @module), 0, '... not found');
    is(shown(@module)->{reason}, qq{source "fault": $reason}, "... $reason");
    return;
}

my $m = followed('away/bucket.example.com/ok', 'a bucket');
like($m->{file}, qr{^http://127\.0\.0\.1:\d+/ok/m%2B1\.so/},
    '... which is its origin');
followed('away/BUCKET.example.com/away/bucket.example.com/ok', 'twice');
followed('away/files.example.com:8080', 'to a folder');


refused('away/other.example.com/ok',
    'it answered 302 to other.example.com; name it with redirect=');
refused('away/bucket.example.com:8080/ok',
    'it answered 302 to bucket.example.com:8080; name it with redirect=');
refused('away/127.0.0.1/ok',
    'it answered 302 to 127.0.0.1; name it with redirect=');
refused('redirect/302/_other', 'it answered 302, to an unusable address');
refused('away/user@bucket.example.com/ok',
    'it answered 302, to an unusable address');
refused('away/bucket.example.com/' . join('', map {'away/bucket.example.com/'} 1 .. 3)
    . 'ok', 'it answered 302 to bucket.example.com; too many redirects');

# the file may be missing there
my @gone = module('away/bucket.example.com/status/404');
is($t->found($t->ask([@gone]), @gone), 0, 'missing there: not found');
is(shown(@gone)->{reason}, '', '... like anywhere else');

# no way out of a folder
my @out = module('away/files.example.com:8080/x/%2e%2e/%2e%2e');
is($t->found($t->ask([@out]), @out), 0, 'a path with dots: not followed');

# within the source: nginx writes such redirects itself
my @own = module('away/' . $t->fault->address . '/as/src');
$t->fault->script('src', 'away/' . $t->fault->address . '/as/src', 'ok');
is($t->function($t->ask([@own]), 0), 'f0', 'to the same host: followed');

is($t->end, '', 'nothing is wrong');

done_testing();
