# A wrong value must make nginx -t fail, and the error must tell the operator
# what to write instead.  Otherwise users find out about a configuration that
# loads but answers 404 or 503 to everything.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $t = SymTest->new;

sub location {
    my ($path, $inside) = @_;
    return SymTest::bare_conf("server { listen %%ADDRESS%%; location $path { $inside } }");
}

my $store = 'symbolicate_store %%STORE%%;';

my @good = (
    ['a store for all', SymTest::bare_conf("$store server { listen %%ADDRESS%%; "
        . 'location /symbolicate { symbolicate; } }')],
    ['a store of a server', SymTest::bare_conf("server { listen %%ADDRESS%%; $store "
        . 'location /symbolicate { symbolicate tecken; } }')],
    ['exact locations', SymTest::bare_conf("server { listen %%ADDRESS%%; $store "
        . 'location = / { symbolicate; } '
        . 'location = /symbolicate/v5 { symbolicate; } }')],
    ['a location by regular expression',
        location('~ ^/x/symbolicate/v[45]$', "$store symbolicate;")],
    ['every number', location('/symbolicate', "$store symbolicate; "
        . 'symbolicate_max_jobs 10; symbolicate_max_stacks 0; '
        . 'symbolicate_max_frames 4294967295; symbolicate_max_modules 5; '
        . 'symbolicate_slice 1; symbolicate_cors off;')],
    ['an answer cache', SymTest::bare_conf("symbolicate_answer_cache 64k; $store "
        . 'server { listen %%ADDRESS%%; location / { symbolicate; } }')],
    ['the largest answer cache', SymTest::bare_conf('symbolicate_answer_cache 4g;')],
    ['no answer cache', SymTest::bare_conf('symbolicate_answer_cache off;')],
    ['names cached or not', SymTest::bare_conf('symbolicate_demangle_cache 64k;'
        . 'symbolicate_demangle off; server { symbolicate_demangle on; '
        . 'location / { symbolicate_demangle off; } }')],
    ['no cache of names',
        SymTest::bare_conf('symbolicate_demangle_cache off;')],
    ['two stores', SymTest::bare_conf("$store server { listen %%ADDRESS%%; "
        . 'location /a { symbolicate; } location /b { symbolicate; '
        . 'symbolicate_store other; } }')],
    ['metrics without a store', location('= /metrics', 'symbolicate_metrics;')],
    ['an if block', location('/symbolicate',
        "$store symbolicate; if (\$arg_x) { set \$y 1; }")],
);

for (@good) {
    my ($name, $text) = @$_;
    my ($code, $said) = $t->check($text);
    is($code, 0, "$name is taken") or diag($said);
}

my $number = qr/a whole number from 0 \(no limit\) to 4294967295/;

my @bad = (
    ['no store', location('/symbolicate', 'symbolicate;'),
        qr{"symbolicate" in location "/symbolicate" needs "symbolicate_store}],
    ['health without a store', location('/__', 'symbolicate_health;'),
        qr{"symbolicate_health" in location "/__" needs "symbolicate_store}],
    ['an empty store', SymTest::bare_conf('symbolicate_store "";'),
        qr/needs the path of a store/],
    ['a variable in the path of the store',
        SymTest::bare_conf('symbolicate_store /x/$host;'),
        qr/takes no variables/],
    ['two stores in one place', SymTest::bare_conf("$store $store"), qr/is duplicate/],
    ['a store without a path', SymTest::bare_conf('symbolicate_store;'),
        qr/invalid number of arguments in "symbolicate_store"/],
    ['an unknown API', location('/x', "$store symbolicate klingon;"),
        qr/unknown API "klingon" in "symbolicate": it must be "tecken" or "atos"/],
    ['symbolicate outside of a location', SymTest::bare_conf("$store symbolicate;"),
        qr/"symbolicate" directive is not allowed here/],
    ['symbolicate twice', location('/x', "$store symbolicate; symbolicate;"),
        qr/is duplicate/],
    ['symbolicate and health',
        location('/x', "$store symbolicate; symbolicate_health;"),
        qr/cannot be next to "symbolicate"/],
    ['health and symbolicate',
        location('/x', "$store symbolicate_health; symbolicate;"),
        qr/cannot be next to "symbolicate_health"/],
    ['metrics and symbolicate',
        location('/x', "$store symbolicate_metrics; symbolicate;"),
        qr/cannot be next to "symbolicate_metrics"/],
    ['health and metrics',
        location('/x', "$store symbolicate_health; symbolicate_metrics;"),
        qr/cannot be next to "symbolicate_health"/],
    ['metrics twice', location('/x', 'symbolicate_metrics; symbolicate_metrics;'),
        qr/is duplicate/],
    ['metrics with a word', location('/x', 'symbolicate_metrics on;'),
        qr/invalid number of arguments/],
    ['metrics outside of a location', SymTest::bare_conf('symbolicate_metrics;'),
        qr/"symbolicate_metrics" directive is not allowed here/],
    ['health with a word', location('/x', "$store symbolicate_health on;"),
        qr/invalid number of arguments/],
    ['an exact location that no client requests',
        location('= /crash', "$store symbolicate;"),
        qr{404 to everything in "location = /crash".*must be "/" or end in "/v4" or "/v5"}],
    ['a negative number', SymTest::bare_conf('symbolicate_max_jobs -1;'),
        qr/"symbolicate_max_jobs -1" is not possible: .*$number/],
    ['a word instead of a number',
        SymTest::bare_conf('symbolicate_max_stacks many;'),
        qr/"symbolicate_max_stacks many" is not possible: .*$number/],
    ['a number past 32 bits', SymTest::bare_conf('symbolicate_max_frames 4294967296;'),
        qr/"symbolicate_max_frames 4294967296" is not possible: .*$number/],
    ['a number past 64 bits',
        SymTest::bare_conf('symbolicate_max_modules 99999999999999999999;'), $number],
    ['a number with a unit', SymTest::bare_conf('symbolicate_max_frames 1m;'), $number],
    ['an empty number', SymTest::bare_conf('symbolicate_max_frames "";'), $number],
    ['a number twice',
        SymTest::bare_conf('symbolicate_max_jobs 1; symbolicate_max_jobs 1;'),
        qr/is duplicate/],
    ['a target that is no bucket', SymTest::bare_conf('symbolicate_upload_target x folder;'),
        qr/"symbolicate_upload_target" directive takes "NAME" or "NAME bucket \[part=SIZE\]"/],
    ['an upload host with a path', SymTest::bare_conf('symbolicate_upload_hosts a.test/b;'),
        qr{"a.test/b" is no host: use HOST or HOST:PORT, or \*.DOMAIN without a port}],
    (map { [ "an upload host that is $_", SymTest::bare_conf("symbolicate_upload_hosts $_;"),
        qr/"\Q$_\E" is no host/ ] } '*', 'http://*', '*:443', '*.', '*.a.test:443', 'http://*.a.test:80', 'a.*.test'),
    ['a bucket with something else', SymTest::bare_conf('symbolicate_upload_target x bucket 5m;'),
        qr/takes "NAME" or "NAME bucket \[part=SIZE\]"/],
    (map { [ "parts of $_", SymTest::bare_conf("symbolicate_upload_target x bucket part=$_;"),
        qr/a size of parts that S3 does not take: it must be from 5m to 5g/ ] } '4m', '6g', 'x'),
    ['empty slices', SymTest::bare_conf('symbolicate_slice 0;'),
        qr/"symbolicate_slice 0" is not possible: .*from 1 to 1000000/],
    ['a slice too large', SymTest::bare_conf('symbolicate_slice 1000001;'),
        qr/from 1 to 1000000/],
    ['a cache too small', SymTest::bare_conf('symbolicate_answer_cache 1k;'),
        qr/"symbolicate_answer_cache 1k" is not possible: .*from 64k/],
    ['too little memory for names',
        SymTest::bare_conf('symbolicate_demangle_cache 1;'),
        qr/"symbolicate_demangle_cache 1" is not possible: .*from 64k/],
    ['demangled how?', SymTest::bare_conf('symbolicate_demangle rust;'),
        qr/invalid value "rust" in "symbolicate_demangle" directive/],
    ['a cache without a size',
        SymTest::bare_conf('symbolicate_answer_cache big;'),
        qr/from 64k to 4g, or "off"/],
    ['a cache twice', SymTest::bare_conf('symbolicate_answer_cache off; '
        . 'symbolicate_answer_cache 1m;'), qr/is duplicate/],
    ['a request with no time',
        location('/x', "$store symbolicate; symbolicate_request_timeout 0;"),
        qr/"symbolicate_request_timeout 0" is not possible/],
    ['a word instead of memory', SymTest::bare_conf('symbolicate_memory much;'),
        qr/"symbolicate_memory" .*must be a size from 2m, or 0 .no limit./],
    ['too little memory', SymTest::bare_conf('symbolicate_memory 1m;'),
        qr/must be a size from 2m/],
    ['memory without a value',
        SymTest::bare_conf('symbolicate_memory 8m all=8m;'),
        qr/may have "request=SIZE" after it/],
    ['a share larger than the whole',
        SymTest::bare_conf('symbolicate_memory 8m request=9m;'),
        qr/may have "request=SIZE" after it, from 1m to that size/],
    ['memory twice', SymTest::bare_conf('symbolicate_memory 8m; symbolicate_memory 8m;'),
        qr/is duplicate/],
    ['a word instead of requests',
        SymTest::bare_conf('symbolicate_max_requests all;'),
        qr/must be a number of requests from 0 .no limit. to 1000000/],
    ['requests without a value',
        SymTest::bare_conf('symbolicate_max_requests 1 per=1;'),
        qr/may have "per_address=NUMBER" after it/],
    ['no room for results', SymTest::bare_conf('symbolicate_results 1k;'),
        qr/"symbolicate_results" .*must be a size from 1m to 1g/],
    ['results kept for no time',
        SymTest::bare_conf('symbolicate_results 1m valid=0;'),
        qr/"valid" that is not a time/],
    ['a proxy without a value', location('/x',
        "$store symbolicate; symbolicate_proxy all;"),
        qr/"symbolicate_proxy" .*must be "off", or "on"/],
    ['a proxy that is off', location('/x',
        "$store symbolicate; symbolicate_proxy off files=1;"),
        qr/"symbolicate_proxy" .*must be "off", or "on"/],
    ['a proxy with no files', location('/x',
        "$store symbolicate; symbolicate_proxy on files=0;"),
        qr/"files" that is not a number from 1 to 1000/],
    ['a proxy with no bytes', location('/x',
        "$store symbolicate; symbolicate_proxy on size=much;"),
        qr/"size" that is not a size/],
    ['a proxy how?', location('/x',
        "$store symbolicate; symbolicate_proxy on slowly;"),
        qr/takes nothing after "on"/],
    ['results how?', SymTest::bare_conf('symbolicate_results 1m 90s;'),
        qr/takes nothing after its size but "valid=TIME"/],
    ['cors neither on nor off', SymTest::bare_conf('symbolicate_cors maybe;'),
        qr/"symbolicate_cors".*it must be "on" or "off"/],
);

for (@bad) {
    my ($name, $text, $sentence) = @$_;
    my ($code, $said) = $t->check($text);
    isnt($code, 0, "$name is refused");
    like($said, $sentence, "$name: the error says why");
}

done_testing();
