# iOS crash reports are full of addresses, and their readers know atos's lines,
# byte by byte.  The lines here are those of the article that describes the API,
# and of atos(1).

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP;
use SymFixtures qw(fixtures);
use SymMetrics qw(parse_page);
use SymTest;
use Test::More;

my $uuid = '2556F151-5A40-3847-BE6C-E2C1B5BE4DF8';
(my $id = "${uuid}0") =~ tr/-//d;

# the article's line range and symbol; also an inlined call and a C++ name
my $symbols = <<"SYM";
MODULE mac arm64 $id AwemeDylib
FILE 0 /Users/a/SSZipArchive.m
FILE 1 /Users/a/geometry.h
FILE 2 /Users/a/view.m
INLINE_ORIGIN 0 NSMakeRect
FUNC 300500 200 0 +[SSZipArchive _dateWithMSDOSFormat:]
300500 7c 960 0
30057c 18 965 0
300594 16c 966 0
FUNC 400000 100 0 -[SKTGraphic drawHandlesInView:]
INLINE 0 42 2 0 400010 20
400000 10 40 2
400010 20 110 1
400030 d0 43 2
PUBLIC 56c1dc 0 ff_stream_add_bitstream_filter
PUBLIC 600000 0 _ZN4base5Value3GetEi
SYM

my $t = SymTest->new;
my $file = $t->dir . '/AwemeDylib.sym';
open my $out, '>', $file or die "$file: $!";
print $out $symbols;
close $out;

my $debug = fixtures('elf/crash.debug');
$t->load($file, $debug)->conf(locations => <<'CONF')->start;
        location /atos   { symbolicate atos; symbolicate_slice 2; }
        location = /one  { symbolicate atos; symbolicate_max_frames 2;
                           symbolicate_max_modules 1; }
        location ~ ^/re/ { symbolicate atos; }
        location /metrics { symbolicate_metrics; }
CONF

my %image = (uuid => $uuid, image => 'AwemeDylib', arch => 'arm64');

sub ask {
    my ($addresses, %more) = @_;
    return $t->post_json('/atos', { %image, load_address => '0x10005d000',
        addresses => $addresses, %more });
}

sub texts {
    my ($addresses, %more) = @_;
    my $r = ask($addresses, %more);
    is($r->{status}, 200, 'answered');
    return [map { $_->{text} } @{$r->{json}{results}}];
}

# --- the example ---

my $r = ask(['0x000000010035d580']);
is($r->{status}, 200, 'the example: answered');
is($r->{headers}{'content-type'}, 'application/json', '... as JSON');
is($r->{headers}{vary}, 'Accept', '... selected by Accept');
is_deeply($r->{json}, { results => [{
    address => '0x000000010035d580', offset => '0x300580', status => 'dwarf',
    text => '+[SSZipArchive _dateWithMSDOSFormat:] (in AwemeDylib) '
        . '(SSZipArchive.m:965)',
    frames => [{ function => '+[SSZipArchive _dateWithMSDOSFormat:]',
        file => 'SSZipArchive.m', line => 965 }],
}] }, '... equal to that of the article');

$r = $t->post_json('/atos', { %image, offset => JSON::PP::true,
    addresses => ['0x56C1DE'] });
is_deeply($r->{json}{results}[0], {
    address => '0x56C1DE', offset => '0x56c1de', status => 'symbol_table',
    text => 'ff_stream_add_bitstream_filter (in AwemeDylib) + 2',
    frames => [{ function => 'ff_stream_add_bitstream_filter',
        function_offset => '0x2' }],
}, 'from the symbol table: with the offset');

# the whole range, and not a byte more
is_deeply(texts(['0x10035d57b', '0x10035d57c', '0x10035d593', '0x10035d594']),
    [map { "+[SSZipArchive _dateWithMSDOSFormat:] (in AwemeDylib) "
        . "(SSZipArchive.m:$_)" } 960, 965, 965, 966], 'the range of a line');

is(texts(['0x10065d000'])->[0],
    'base::Value::Get(int) (in AwemeDylib) + 0', 'names are demangled');

# --- addresses ---

# 0x10005d000 + 3147136, as reports write it
for (['slide', '0x10005d000', 'the slide of an image linked at 0'],
     ['load_address', '10005d000', 'hexadecimal without 0x'],
     ['load_address', 0x10005d000, 'a JSON number']) {
    my ($key, $value, $name) = @$_;
    $r = $t->post_json('/atos', { %image, $key => $value,
        addresses => ['0x10035d580', '4298495360', 4298495360] });
    is_deeply([map { $_->{offset} } @{$r->{json}{results}}],
        ['0x300580', '0x300580', '0x300580'], $name);
    is($r->{json}{results}[2]{address}, '4298495360', '... the address as sent');
}

$r = ask(['0x10005cfff', '0xffffffffffffffff', '0x10005d000']);
is_deeply($r->{json}{results}, [
    { address => '0x10005cfff', status => 'gap', frames => [],
      text => '0x10005cfff (in AwemeDylib)' },
    { address => '0xffffffffffffffff', offset => '0xfffffffefffa2fff',
      status => 'gap', frames => [],
      text => '0xffffffffffffffff (in AwemeDylib)' },
    { address => '0x10005d000', offset => '0x0', status => 'gap', frames => [],
      text => '0x10005d000 (in AwemeDylib)' },
], 'before the image, far after it, in no function: no overflow');

$r = $t->post_json('/atos', { %image, uuid => '0' x 32, addresses => ['0x10'],
    load_address => '0x8' });
is_deeply($r->{json}{results}, [{ address => '0x10', offset => '0x8',
    status => 'missing', text => '0x10', frames => [] }],
    'missing symbols: the address');

for my $form ($uuid, lc $uuid, $id, substr($id, 0, 32)) {
    $r = $t->post_json('/atos', { %image, uuid => $form, offset => JSON::PP::true,
        addresses => ['0x300580'] });
    is($r->{json}{results}[0]{status}, 'dwarf', "uuid $form");
}

$r = ask(['0x10035d580'], image => '/Applications/A.app/AwemeDylib');
is($r->{json}{results}[0]{status}, 'dwarf', 'an image by its path');

# a renamed binary: a debug file is found by its UUID alone
my $renamed = 'C0BCC3F1-9827-FE65-3058-404B2831D9E6';    # eu-readelf -n
my $base = 0x400000;    # readelf -l: the first LOAD
my ($main) = qx(nm $debug) =~ /^(\w+) T main$/m;
$r = $t->post_json('/atos', { uuid => $renamed, image => 'Renamed',
    offset => JSON::PP::true, addresses => [hex($main) - $base] });
like($r->{json}{results}[0]{text}, qr/^main \(in Renamed\) \(\w+\.\w+:\d+\)$/,
    'a renamed binary is found by its UUID');
$r = $t->post_json('/atos', { uuid => $id, image => 'Renamed',
    offset => JSON::PP::true, addresses => ['0x300580'] });
is($r->{json}{results}[0]{status}, 'missing', '... but not a .sym file');

# a call is the instruction before its return address
is_deeply(texts([('0x10035d594') x 2, '0x1005c91dd'],
    return_addresses => JSON::PP::true),
    ['+[SSZipArchive _dateWithMSDOSFormat:] (in AwemeDylib) '
        . '(SSZipArchive.m:966)',
     '+[SSZipArchive _dateWithMSDOSFormat:] (in AwemeDylib) '
        . '(SSZipArchive.m:965)',
     'ff_stream_add_bitstream_filter (in AwemeDylib) + 1'],
    'return addresses, all but the first');

# --- inlined calls ---

my $inner = 'NSMakeRect (in AwemeDylib) (geometry.h:110)';
my %want = (
    outer => '-[SKTGraphic drawHandlesInView:] (in AwemeDylib) (view.m:42)',
    decl => 'NSMakeRect (in AwemeDylib) (view.m:42)',
    line => '-[SKTGraphic drawHandlesInView:] (in AwemeDylib) (geometry.h:110)',
);
$want{all} = "$inner\n$want{outer}";

for my $mode (sort keys %want) {
    # the second time with entries cached by the first
    is_deeply(texts([('0x10045d010') x 3], inline => $mode),
        [($want{$mode}) x 3], "inline: $mode") for 1 .. 2;
}
is(texts(['0x10045d010'])->[0], $want{outer}, 'inline: outer by default');

$r = ask(['0x10045d010'], inline => 'all', full_path => JSON::PP::true);
is_deeply($r->{json}{results}[0]{frames}, [
    { function => 'NSMakeRect', file => '/Users/a/geometry.h', line => 110 },
    { function => '-[SKTGraphic drawHandlesInView:]',
      file => '/Users/a/view.m', line => 42 },
], 'full paths, the innermost first');

# --- several images ---

$r = $t->post_json('/atos', { images => [
    { %image, load_address => '0x1000' },
    { uuid => 'F' x 32, image => 'gone', load_address => '0x900000' },
    { %image, load_address => '0x2000' } ],
    frames => [[2, '0x302580'], [1, '0x900010'], [0, '0x301580']] });
is_deeply([map { $_->{status} } @{$r->{json}{results}}],
    ['dwarf', 'missing', 'dwarf'], 'frames of several images');
$t->wait_for(sub { $t->access_log =~ /frames=3 modules=2/ }, 'a log line');
like($t->access_log, qr/frames=3 modules=2 missing=1 /,
    '... one of them twice: it counts once');

# --- lines ---

my @accept = (Accept => 'text/plain');
my $body = $t->json({ %image, load_address => '0x10005d000',
    addresses => ['0x10035d580', '0x12', '0x1005c91de'] });
$r = $t->post('/atos', $body, @accept);
is($r->{headers}{'content-type'}, 'text/plain; charset=utf-8', 'lines are text');
is($r->{body}, "+[SSZipArchive _dateWithMSDOSFormat:] (in AwemeDylib) "
    . "(SSZipArchive.m:965)\n0x12 (in AwemeDylib)\n"
    . "ff_stream_add_bitstream_filter (in AwemeDylib) + 2\n",
    'a line for each address, in order');
$r = $t->post('/atos', $t->json({ %image, load_address => '0x10005d000',
    inline => 'all', addresses => ['0x10045d010', '0x12'] }), @accept);
is($r->{body}, "$want{all}\n\n0x12 (in AwemeDylib)\n\n",
    'with inlined calls: an empty line after each address');

is($t->post('/atos', $body, Accept => 'application/json, text/plain')->{headers}
    {'content-type'}, 'application/json', 'JSON if both are accepted');

# --- one address in a link ---

sub get {
    my ($query, @headers) = @_;
    return $t->request('GET', "/atos?$query", headers => [@headers]);
}

my $link = "uuid=$uuid&image=AwemeDylib&load_address=0x10005d000";
$r = get("$link&address=0x10035d580&arch=arm64&unknown=%zz");
is($r->{status}, 200, 'GET');
is($r->{body}, ask(['0x10035d580'])->{body}, '... the same as by POST');
is($r->{headers}{'content-type'}, 'application/json', '... JSON');
is(get("$link&address=0x10035d580", @accept)->{body},
   "+[SSZipArchive _dateWithMSDOSFormat:] (in AwemeDylib) "
   . "(SSZipArchive.m:965)\n", '... or a line');
is(get("address=0x1005c91de&$link&address=%30x12&inline=all&full_path=true"
       . '&return_addresses=false')->{body},
   ask(['0x1005c91de', '0x12'], inline => 'all', full_path => JSON::PP::true)
       ->{body}, 'several addresses, and all parameters');
is(get("uuid=$uuid&image=AwemeDylib&address=0x300580&offset=true")
       ->{json}{results}[0]{status}, 'dwarf', 'an offset');
is(get("uuid=$uuid&image=AwemeDylib&address=0x300590&slide=10")
       ->{json}{results}[0]{offset}, '0x300580', 'a slide');
like(get('uuid=C0BCC3F1-9827-FE65-3058-404B2831D9E6&offset=true'
         . '&image=%2Fa%2Fb+%2B%C3%A4&address=0x7fffffff', @accept)->{body},
     qr/^0x7fffffff \(in b \+\xc3\xa4\)$/,
     'names as forms encode them');
is($t->request('GET', "/atos?$link&address=0x12", body => '{"no": "query"}')
       ->{status}, 200, 'a body is ignored');

my %bad_links = (
    '' => 'the query names no address',
    $link => 'the query names no address',
    'address=0x1' => 'uuid must be 32 hexadecimal digits',
    "$link&address=0x1&uuid=$uuid" => 'uuid is given more than once',
    "$link&address=" => 'address 0: not an address like "0x10035d580"',
    "$link&address=0x1&address=x" =>
        'address 1: not an address like "0x10035d580"',
    "$link&address=%3" =>
        'a % in the query without two digits after it',
    "$link&address=%ff" => 'the query is not UTF-8',
    "$link&address=0x1&full_path=1" => 'full_path must be true or false',
    "$link&address=0x1&offset=true" =>
        'give one of load_address, slide and offset',
    "$link&address=0x1&inline=some" =>
        'inline must be outer, decl, line or all',
);

for my $query (sort keys %bad_links) {
    $r = get($query);
    is($r->{status}, 400, "'$query': 400");
    is($r->{json}{title}, $bad_links{$query}, '... with its error');
}
is($t->request('GET', "/one?$link" . '&address=0x1' x 3)->{json}{title},
   'please limit number of addresses to <= 2', 'limits are those of a POST');

# --- refused requests ---

my %bad = (
    'no JSON' => '{',
    'no object' => '[]',
    'no uuid' => '{"image":"a","addresses":[]}',
    'a short uuid' => '{"uuid":"12","image":"a","addresses":[]}',
    'no image' => '{"uuid":"' . '0' x 32 . '","addresses":[]}',
    'an empty image' => '{"uuid":"' . '0' x 32 . '","image":"","addresses":[]}',
    'no addresses' => $t->json(\%image),
    'an invalid address' => $t->json({ %image, addresses => ['main'] }),
    'a negative address' => $t->json({ %image, addresses => [-1] }),
    'an address of 65 bits' => $t->json({ %image,
        addresses => ['0x10000000000000000'] }),
    'two bases' => $t->json({ %image, addresses => [], slide => '0x0',
        load_address => '0x0' }),
    'an invalid base' => $t->json({ %image, addresses => [], slide => 'x' }),
    'an unknown mode' => $t->json({ %image, addresses => [], inline => 'some' }),
    'an image that does not exist' => $t->json({ images => [\%image],
        frames => [[1, '0x1']] }),
    'no images' => $t->json({ images => [], frames => [[0, '0x1']] }),
    'a key twice' => '{"uuid":"' . '0' x 32 . '","uuid":"' . '1' x 32
        . '","image":"a","addresses":[]}',
);

for my $name (sort keys %bad) {
    $r = $t->post('/atos', $bad{$name});
    is($r->{status}, 400, "$name: 400");
    ok(length $r->{json}{title}, '... and a sentence');
}

is($t->post_json('/one', { %image, addresses => ['0x1', '0x2'] })->{status}, 200,
    'as many addresses as are allowed');
for ({ %image, addresses => ['0x1', '0x2', '0x3'] },
     { images => [\%image, \%image], frames => [] }) {
    $r = $t->post_json('/one', $_);
    is($r->{status}, 400, 'one over the limit');
    like($r->{json}{title}, qr/please limit/, '... a sentence');
}

is($t->post_json($_, { %image, addresses => [] })->{body}, '{"results": []}',
    "$_ is served") for '/atos', '/atos/', '/atos/atos', '/re/any';
is($t->post_json($_, { %image, addresses => [] })->{status}, 404,
    "$_ is not") for '/atosphere', '/atos/v5';
$r = $t->request('PUT', '/atos', body => '{}');
is($r->{status}, 405, 'PUT is not allowed');
is($r->{headers}{allow}, 'GET, POST, OPTIONS',
    '... the answer lists the allowed ones');

my ($value) = parse_page($t->request('GET', '/metrics')->{body});
ok($value->{'requests_total{code=2xx},{dialect=atos},{status=ok},{version=1}'}
    > 20, 'counted as its own API');
is($value->{'requests_total{code=4xx},{dialect=atos},{status=none},'
    . '{version=none}'}, 3, 'requests that are not of the API, too');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
