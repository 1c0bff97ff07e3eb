# Requests generated from docs/use/openapi.json, good ones and broken ones, get
# the documented answers, with their statuses, content types and structures;
# none is answered with a 5xx other than 503, and none harms the server.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SymRoutes;
use Test::More;

my $bin = SymTest::root() . '/var/clients/python/bin';
my $examples = $ENV{SYM_EXAMPLES} || 30;
my $seed = $ENV{SYM_SEED} || 1 + int rand 1_000_000;
diag("SYM_SEED=$seed, $examples examples of each operation");

# Each runs under its own time limit, in addition to that of the tools.
sub run {
    my ($seconds, @command) = @_;
    local $ENV{SYM_TOOL_SECONDS} = $seconds + 60;
    open my $out, '-|', 'timeout', $seconds, @command or die "@command: $!";
    my @said = <$out>;
    close $out;
    return ($?, @said);
}

my ($code, @said) = run(60, "$bin/openapi-spec-validator", SymRoutes::file());
is($code, 0, 'the document is valid OpenAPI') or diag(@said);

my $t = SymRoutes->new(workers => 2);
$t->load(SymTest::root() . '/samples')->start;

$ENV{SCHEMATHESIS_HOOKS} = "$FindBin::Bin/hooks.py";
chdir $t->dir;
# t/openapi.t sends all other methods; nginx itself answers TRACE
($code, @said) = run(1800, "$bin/schemathesis",
    '--config-file', "$FindBin::Bin/schemathesis.toml", 'run', SymRoutes::file(),
    '--url', 'http://' . $t->address, '--max-examples', $examples,
    '--seed', $seed, '--phases', 'examples,coverage,fuzzing',
    '--exclude-checks', 'unsupported_method', '--request-timeout', 60,
    '--warnings', 'off');
is($code, 0, 'schemathesis finds nothing') or diag(@said);
my ($cases) = map { /(\d+) generated/ ? $1 : () } @said;
cmp_ok($cases // 0, '>', 300, 'it has sent ' . ($cases // 'no') . ' requests');

# some requests must have reached names
my $asked = $t->access_log;
my $frames = 0;
$frames += $1 while $asked =~ /status=ok frames=(\d+)/g;
cmp_ok($frames, '>', 100, "$frames frames were answered");

is($t->stop->log_trouble, '', 'the log is clean');
chdir '/';

done_testing();
