# A new API is one folder and one row: the example of docs/design/adding.md, added
# to a copy of the tree, is built and answers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymExample qw(build_examples);
use SymTest;

my $build = build_examples();

my $t = SymTest->new->load_fixtures;
my ($refused, $said);

{
    local $ENV{SYM_BUILD} = $build;
    ($refused, $said) = $t->check(SymTest::bare_conf(
        'server { listen %%ADDRESS%%; location / { symbolicate klingon; } }'));
    $t->conf(locations => <<'CONF')->start;
        location /x/      { symbolicate where; }
        location /metrics { symbolicate_metrics; }
CONF
}

isnt($refused, 0, 'an API that does not exist');
like($said, qr/must be "tecken" or .*or "where"/, '... and the existing ones');

sub ask {
    my ($body, %o) = @_;
    return $t->request($o{method} // 'POST', $o{path} // '/x/where', body => $body,
        headers => ['Content-Type' => $o{type} // 'text/plain; charset=utf-8']);
}

# FUNC 1020 1b 10 wmemcpy_s
my $module = 'test_app.pdb 5A9832E5287241C1838ED98914E9B7FF1';
my $r = ask("$module 1021");
is($r->{status}, 200, 'it answers');
is($r->{headers}{'content-type'}, 'application/json',
    '... as its document says');
is($r->{body}, qq({"function": "wmemcpy_s"}\n), '... the function');
is(ask("$module 0")->{body}, qq({"function": null}\n), 'no function there');
is(ask('none.pdb 5A9832E5287241C1838ED98914E9B7FF1 1021')->{body},
    qq({"function": null}\n), 'no such module');

$r = ask("$module xyz");
is($r->{status}, 400, 'a body that it refuses');
like($r->{body}, qr/not NAME ID ADDRESS/, '... with its error');
is(ask("$module 1021", type => 'application/json')->{status}, 415, 'another content type');
is(ask("$module 1021", type => 'text/plain2')->{status}, 415,
    'a type with the same suffix');
$r = ask("$module 1021", method => 'PUT');
is($r->{status}, 405, 'another method');
is($r->{headers}{allow}, 'POST, OPTIONS', '... and the allowed ones');
is(ask("$module 1021", path => '/x/v5')->{status}, 404, "another API's path");

my $page = $t->request('GET', '/metrics')->{body};
like($page, qr/\{dialect="where",version="1",status="ok",code="2xx"\} 3\n/, 'answers are counted');
like($page, qr/\{dialect="where",version="1",status="unsupported",code="4xx"\} 2\n/,
    'so are refused requests');

is($t->stop->log_trouble, '', 'nothing is wrong');

done_testing();
