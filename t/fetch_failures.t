# Every fault of a source, as the client sees it: absent modules answer 200 with
# false; if a source could not be reached the answer is 503 with the modules, a
# reason and Retry-After.  An answer that is neither a file nor an error makes
# the module absent, and explain shows it.  The worker survives all of them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text);
use Test::More;

my $t = SymFetch->new(how => <<'CONF', sources => <<'SOURCES')->start;
            symbolicate_source fault uri=/src/;
            symbolicate_negative_ttl absent=1h malformed=1h failed=600s;
CONF
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /impatient {
            symbolicate;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source impatient uri=/short/;
            symbolicate_negative_ttl failed=600s;
        }
        location /short/ {
            internal;
            proxy_pass http://%%FAULT%%/as/src/;
            proxy_read_timeout 500ms;
        }
SOURCES

my $n = 0;
my $is_empty = 0;

# A new module of 200 functions: about 5 KB; or an empty file.
sub module {
    my @module = ('m' . ++$n . '.so', SymFetch::id($n));
    $t->upload(@module, functions => 200);
    $t->fault->file(SymFetch::path(@module), '') if $is_empty;
    return @module;
}

sub absent {
    my ($behaviour) = @_;
    my @module = module();
    $t->fault->script('src', $behaviour);
    my $r = $t->ask([@module]);
    is($r->{status}, 200, "$behaviour: 200");
    is($t->found($r, @module), 0, '... with false');
    is($r->{headers}{'retry-after'}, undef, '... no Retry-After');
    kept(@module, 'absent');
    return;
}

# Also absent, and the answer is recorded.
sub odd {
    my ($behaviour, $why) = @_;
    absent($behaviour);
    my $r = $t->loader->run('show', '--json', "m$n.so/" . SymFetch::id($n));
    my ($m) = SymLoader::json_lines($r->{out});
    is($m->{reason}, qq{source "fault": $why}, "... $why");
    return;
}

sub failed {
    my ($behaviour, $why, $where) = @_;
    my @module = module();
    $t->fault->script('src', $behaviour);
    my $r = $t->post(($where // '/symbolicate') . '/v5', $t->question([@module]));
    is($r->{status}, 503, "$behaviour: 503");
    like($r->{headers}{'content-type'}, qr{^application/json}, '... in JSON');
    my $retry = $r->{headers}{'retry-after'} // 0;
    # a quarter more or less, and the current second
    ok($retry >= 449 && $retry <= 750, "... Retry-After: $retry");
    like($t->reasons($r)->{"$module[0]/$module[1]"}, qr/source "\w+": $why/,
        '... the module and why');
    is($t->fault->count('/as/src/' . SymFetch::path(@module)), 1,
        '... one GET');
    kept(@module, 'failed');
    return;
}

sub malformed {
    my ($text, $what) = @_;
    my @module = module();
    $t->fault->file(SymFetch::path(@module), $text)->script('src', 'ok');
    my $r = $t->ask([@module]);
    is($r->{status}, 200, "$what: 200");
    is($t->found($r, @module), 0, '... with false');
    kept(@module, 'malformed');
    return;
}

# The record in the store.
sub kept {
    my ($name, $id, $state) = @_;
    my $r = $t->loader->run('show', '--json', "$name/$id");
    my ($m) = SymLoader::json_lines($r->{out});
    is($m->{state}, $state, "... kept as $state");
    return;
}

absent('ok/nowhere');
absent("status/$_") for 404, 403, 410;

failed('status/500', qr/it answered with an error: 500/);
failed('status/503', qr/it answered with an error: 503/);
failed('status/502', qr/it answered with an error: 502/);
failed('status/429', qr/it answered with an error: 429/);
failed('status/401', qr/it answered with an error: 401/);
failed('status/407', qr/it answered with an error: 407/);
failed('status/408', qr/it answered with an error: 408/);
odd("status/$_", "it answered $_") for 400, 402, 405, 418, 451, 201, 204, 206,
    300;
odd('redirect/302/ok', 'it answered 302, to an unusable address');
odd('away/bucket.example.com/x',
    'it answered 302 to bucket.example.com; name it with redirect=');
failed('hangup', qr/no connection/);
failed('reset/none', qr/no connection/);
failed('garbage', qr/no answer in HTTP\z/);
failed('blackhole', qr/timeout/, '/impatient');
failed('stall/1000', qr/the body was cut short/, '/impatient');
failed('short/10', qr/the body was cut short/);
failed('short/1', qr/the body was cut short/);
failed('reset/3000', qr/the body was cut short/);
failed('chunkcut/3000', qr/the body was cut short/);
failed('bighead/70000', qr/no connection, or no answer in HTTP/);

$is_empty = 1;
odd('ok', 'the object is empty');
odd('chunked', 'the object is empty');
$is_empty = 0;

malformed("this is no symbol file\n", 'no symbol file');
malformed("\x1f\x8b\x08\0\0\0\0\0\0\3 not deflate", 'gzip that is not');
malformed(sym_text('m.so', SymFetch::id(0xdead)), 'another module');
malformed('x' x 100_000, 'a long line');

# Bytes after the announced length are not part of the body.
my @long = module();
$t->fault->script('src', 'long/100');
is($t->found($t->ask([@long]), @long), 1, 'bytes past the length: ignored');

# All together: good files are requested once, and the 503 names only the bad
# ones.
my @good = module();
my @bad = module();
$t->fault->script('src', 'status/500');
is($t->ask([@bad])->{status}, 503, 'one fails');
$t->fault->script('src', 'ok');
my $r = $t->ask([@good], [@bad]);
is($r->{status}, 503, 'one of two failed: 503');
is_deeply([keys %{$t->reasons($r)}], [join '/', @bad],
    '... which names that one');
is($t->found($t->ask([@good]), @good), 1, 'the other is there');

# The same with the store's records: no more requests, the same answers.
my $count = $t->fault->count;
$r = $t->ask([@bad]);
is($r->{status}, 503, 'asked again: 503');
like($t->reasons($r)->{join '/', @bad}, qr/it answered with an error: 500/,
    '... with the reason');
is($t->fault->count, $count, '... and no GET');

is($t->end, '', 'nothing is wrong');

done_testing();
