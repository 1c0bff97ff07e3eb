# The configurations that people copy must load, and the minimal one must serve
# unchanged.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');

# Replaces machine-specific values; everything else is unchanged.
sub example {
    my ($t, $name) = @_;
    my $text = SymTest::slurp(SymTest::root() . "/conf.example/$name");
    ok($text, "$name is there");
    my %own = (
        'load_module modules/ngx_http_symbolicate_module.so;' =>
            'load_module %%MODULE%%;',
        'listen 127.0.0.1:8000;' => 'listen %%ADDRESS%%;',
        '/var/lib/symbolicate;' => '%%STORE%%;',
    );
    for my $part (sort keys %own) {
        my $n = $text =~ s/\Q$part\E/$own{$part}/g;
        ok($n, "$name has $part");
    }
    # additions for the test
    $text = <<'CONF' . $text;
daemon off;
error_log %%DIR%%/logs/error.log info;
pid %%DIR%%/nginx.pid;
CONF
    $text =~ s/^user .*$//m;
    $text = "user root;\n$text" if $> == 0;
    $text =~ s{^http \{}{http \{
    client_body_temp_path %%DIR%%/tmp/body;
    proxy_temp_path       %%DIR%%/tmp/proxy;
    fastcgi_temp_path     %%DIR%%/tmp/fastcgi;
    uwsgi_temp_path       %%DIR%%/tmp/uwsgi;
    scgi_temp_path        %%DIR%%/tmp/scgi;}m or die 'no http block';
    $text =~ s{/var/log/nginx/}{%%DIR%%/logs/}g;
    return $text;
}

for my $name ('minimal.conf', 'full.conf') {
    my $t = SymTest->new->load(SymTest::symbol_file(@module));
    my $text = example($t, $name);
    my ($code, $said) = $t->check($text);
    is($code, 0, "$name: nginx -t") or diag($said);

    $t->spawn($text);
    my %body = (stacks => [[[0, 4096]]], memoryMap => [[@module]]);
    my $r = $t->post_json('/symbolicate/v5', \%body);
    is($r->{status}, 200, "$name: v5");
    ok($r->{json}{results}[0]{found_modules}{join '/', @module},
        "$name: with symbols");
    is($t->post_json('/symbolicate/v4', \%body)->{status}, 200, "$name: v4");
    is($t->request('GET', '/__heartbeat__')->{status}, 200,
        "$name: heartbeat");
    is($t->stop->log_trouble, '', "$name: the log is clean");
}

my $minimal = SymTest::slurp(SymTest::root() . '/conf.example/minimal.conf');
my $lines = grep { /\S/ && !/^\s*#/ } split /\n/, $minimal;
cmp_ok($lines, '<=', 16, "the minimal one is short: $lines lines");

# every directive of the module is shown
my $source = join '', map {
    SymTest::slurp(SymTest::root() . "/ngx_symbolicate_module/$_.c")
} qw(ngx_http_symbolicate_module ngx_http_symbolicate_variables);
my $full = SymTest::slurp(SymTest::root() . '/conf.example/full.conf');
my $docs = SymTest::slurp(SymTest::root() . '/docs/use/directives.md');
my @names = $source =~ /ngx_string\("(symbolicate[a-z_]*)"\),\s*NGX_HTTP_/g;
my @variables = $source =~ /ngx_string\("(symbolicate[a-z_]*)"\), NULL/g;
cmp_ok(scalar @names, '>', 5, 'directives were found in the source');
cmp_ok(scalar @variables, '>', 3, 'and variables');
for my $name (@names) {
    like($full, qr/\b$name\b[^_]/, "full.conf shows $name");
    like($docs, qr/^#+ $name$/m, "docs/use/directives.md describes $name");
}
for my $name (@variables) {
    like($full, qr/\$$name\b/, "full.conf shows \$$name");
    like($docs, qr/\$$name\b/, "docs/use/directives.md describes \$$name");
}

done_testing();
