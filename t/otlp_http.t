#!/usr/bin/perl

# `POST /symbolicate/profile` takes a profile of OTLP like one of pprof, also as JSON.  An
# executable with two ids is fetched by its build id, and by its FileID only if no source
# has the build id.  The answer does not depend on where it is cut, and is that of
# `symloader profile`.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use Test::More;

use SymElf qw(run_ok);
use SymFetch;
use SymLoader qw(read_file write_file);
use SymMetrics qw(parse_page);
use SymProfile qw(profile differences loads otlp otlp_json to_json to_protobuf);

my $t = SymFetch->new(sources => <<'CONF')->start;
        location /elves/ { internal; proxy_pass http://%%FAULT%%/ok/; }
        location /ids/ { internal; proxy_pass http://%%FAULT%%/ok/ids/; }
        location = /symbolicate/profile {
            symbolicate profile;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source elves uri=/elves/ layout=debuginfod;
            symbolicate_source ids uri=/ids/ layout=breakpad;
            client_max_body_size 16m;
            client_body_buffer_size 1k;
        }
        location = /metrics { symbolicate_metrics; }
CONF
my $url = '/symbolicate/profile';
my $own = SymLoader->new;
my $out = $t->dir . '/out.otlp';

sub shown_answer {
    my ($r) = @_;
    return otlp_json('json', write_file($out, $r->{body}));
}

sub memory {
    my ($what) = @_;
    my ($worker) = $t->workers;
    my ($kb) = read_file("/proc/$worker/status") =~ /^$what:\s+(\d+) kB/m;
    return $kb << 10;
}

# --- by the build id ---

my $p = profile($own, 'lld', 'clang', '-O2', '-fuse-ld=lld-19');
my $file_id = otlp('fileid', $p->{program}) =~ s/\s+//r;
my $in = "$p->{program}.otlp";
my @elf = 'lld.elf=' . loads($p);
run_ok('objcopy', '--only-keep-debug', $p->{program}, "$p->{program}.debug");
otlp('make', $p->{file}, $in, "lld.gnu=$p->{id}", "lld.htlhash=$file_id", @elf);
my $body = read_file($in);

$t->fault->file("$p->{id}/debuginfo", read_file("$p->{program}.debug"));
my $r = $t->post($url, $body);
is($r->{status}, 200, 'a profile of OTLP') or diag $r->{body};
is($r->{headers}{'content-type'}, 'application/octet-stream', '... its type');
is($t->fault->count("/ok/$p->{id}/debuginfo"), 1, '... symbols were fetched by the build id');
unlike(join("\n", keys %{ $t->fault->stats->{paths} }), qr/\Q$file_id\E/i, '... and not looked for by the FileID');
my $shown = shown_answer($r);
is_deeply([ differences($p, $shown) ], [], "... answers are LLVM's");

$own->run('load', "$p->{program}.debug");
$own->run('profile', $in, "$out.local");
is_deeply($shown, otlp_json('json', "$out.local"), "... and symloader's");

my %same = (
    'packed' => [ body => do { gzip(\$body, \my $packed); $packed } ],
    'in chunks' => [ chunks => [ unpack '(a700)*', $body ] ],
    'packed for HTTP' => [ body => do { gzip(\$body, \my $packed); $packed }, headers => [ 'Content-Encoding' => 'gzip' ] ],
);
for my $name (sort keys %same) {
    my $again = $t->request('POST', $url, @{ $same{$name} });
    is($again->{status}, 200, $name) or diag $again->{body};
    ok($again->{body} eq $r->{body}, '... the same answer');
}

# --- as JSON ---

my $text = read_file(to_json($in, "$out.json"));
my $as_json = $t->post($url, $text);
is($as_json->{status}, 200, 'JSON') or diag $as_json->{body};
is($as_json->{headers}{'content-type'}, 'application/json', '... its type');
is_deeply(otlp_json('json', to_protobuf(write_file("$out.named", $as_json->{body}), "$out.pb")), $shown,
          '... the same answer');
{
    my %ways = ('packed' => [ body => do { gzip(\$text, \my $packed); $packed } ],
                'in chunks' => [ chunks => [ unpack '(a700)*', $text ] ]);
    for my $name (sort keys %ways) {
        my $again = $t->request('POST', $url, @{ $ways{$name} }, headers => [ 'Content-Type' => 'application/json' ]);
        is($again->{status}, 200, "JSON, $name") or diag $again->{body};
        ok($again->{body} eq $as_json->{body}, '... the same answer');
    }
}

# --- by the FileID, which is in Breakpad's form ---

{
    my $q = profile($own, 'other', 'gcc', '-O2');
    my $id = otlp('fileid', $q->{program}) =~ s/\s+//r;
    my $sym = $own->run({ no_store => 1 }, 'dump', '--format=breakpad', $q->{program})->{out};
    $sym =~ s/^(MODULE \S+ \S+) \S+/$1 \U$id\E0/;
    $t->fault->file("ids/other/\U$id\E0/other.sym", $sym);
    otlp('make', $q->{file}, "$out.in", "other.gnu=$q->{id}", "other.htlhash=$id", 'other.elf=' . loads($q));
    my $answer = $t->post($url, read_file("$out.in"));
    is($answer->{status}, 200, 'only the FileID is known') or diag $answer->{body};
    is_deeply([ differences($q, shown_answer($answer)) ], [], "... answers are LLVM's");
}

# --- nobody has it; refusals ---

otlp('make', $p->{file}, "$out.in", 'lld.gnu=' . 'ab' x 20, 'lld.htlhash=' . 'cd' x 16);
$r = $t->post($url, read_file("$out.in"));
is($r->{status}, 200, 'a module that nobody has');
is_deeply(shown_answer($r), otlp_json('json', "$out.in"), '... the profile stays as it is');

my %bad = ('before the dictionary' => [ "\x0a\x04\x12\x02\x12\x00", 'no dictionary' ],
           'half' => [ substr($body, 0, -20), 'past their container, at byte' ]);
for my $name (sort keys %bad) {
    my $answer = $t->post($url, $bad{$name}[0]);
    is($answer->{status}, 400, "$name: refused");
    like($answer->{body}, qr/\Q$bad{$name}[1]\E/, '... and says why');
}

# --- 100,000 locations ---

otlp('many', $in, "$out.many", 100_000);
my $before = memory('VmRSS');
$r = $t->post($url, read_file("$out.many"));
is($r->{status}, 200, '100,000 locations');
# the body, a part of the answer, and what the request keeps; not the memory of a
# sanitizer or valgrind
cmp_ok(memory('VmHWM') - $before, '<', 64 << 20, '... in memory of a limit') if !$t->is_slow;
is(scalar @{ shown_answer($r)->{locations} }, 100_000 + scalar @{ $shown->{locations} }, '... are answered');

$text = read_file(to_json("$out.many", "$out.json"));
$before = memory('VmRSS');
$r = $t->post($url, $text);
is($r->{status}, 200, 'the same as JSON');
cmp_ok(memory('VmHWM') - $before, '<', 64 << 20, '... in memory of a limit') if !$t->is_slow;
is_deeply(otlp_json('json', to_protobuf(write_file("$out.named", $r->{body}), "$out.pb"))->{locations},
          shown_answer($t->post($url, read_file("$out.many")))->{locations}, '... are answered as in protobuf');

# --- bodies that are made to cost time ---

my $size = 15 << 20;
my $text_of = sub { my ($unit, $n) = @_; return substr $unit x ($size / length($unit)), 0, $size - $size % length $unit };
my $attributes = join ',', ('{"attributeIndices":[' . join(',', 0 .. 99) . ']}') x 10_000;
my $attribute = '{"keyStrindex":1,"value":{"stringValue":"' . '\u0061' x 150 . '"}}';
my %costly = (
    'one string of escapes' => [ 200, '{"dictionary":{"stringTable":["' . $text_of->('\u00e9') . '"]}}' ],
    'many strings' => [ 200, '{"dictionary":{"stringTable":["' . $text_of->('","') . '"]}}' ],
    'many members' => [ 200, '{"dictionary":{},"x":{"' . $text_of->('":0,"') . '":0}}' ],
    'deep' => [ 400, $text_of->('{"x":[') ],
    'only white space' => [ 400, '{' . ' ' x $size ],
    'many locations' => [ 400, '{"dictionary":{"locationTable":[{}' . $text_of->(',{"lines":[]}') . ']}}' ],
    'attributes of many mappings' => [ 200, qq({"dictionary":{"mappingTable":[$attributes],"attributeTable":[)
        . join(',', ($attribute) x 100) . '],"stringTable":["","process.executable.build_id.gnu"]}}' ],
);
for my $name (sort keys %costly) {
    my $answer = $t->post($url, $costly{$name}[1]);
    is($answer->{status}, $costly{$name}[0], $name) or diag substr $answer->{body}, 0, 200;
    ok($answer->{body} eq $costly{$name}[1], '... stays') if $answer->{status} == 200;
}
my ($value) = parse_page($t->request('GET', '/metrics')->{body});
is($value->{'turn_seconds_bucket{le=0.1}'}, $value->{turn_seconds_count}, 'no turn was long') if !$t->is_slow;

is($t->end, '', 'nothing is wrong');
done_testing();
