# A few bytes of gzip can expand to ten million JSON values, whose tree takes
# gigabytes and seconds.  A body of the usual form needs no tree, whatever its
# length; others have a limit, and the memory is freed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip ();
use SymTest;
use Test::More;

my $MIB = 1 << 20;
my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');
my $LIMIT = 'please send the usual form: a request of another form is limited '
    . 'to 2097152 bytes, 25000 keys and 12582912 bytes of memory';

my $t = SymTest->new->load(SymTest::symbol_file(@module))->conf(
    locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location /atos        { symbolicate atos; }
        location /asm         { symbolicate profiler; }
        location /__          { symbolicate_health; }
CONF
my ($worker) = $t->workers;

sub rss {
    my ($kib) = SymTest::slurp("/proc/$worker/status") =~ /^VmRSS:\s+(\d+) kB/m;
    return $kib / 1024;
}

# Seconds of processor time of the worker.
sub spent {
    my @fields = split ' ', SymTest::slurp("/proc/$worker/stat") =~ s/^.*\) //sr;
    return ($fields[11] + $fields[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

sub post_gzip {
    my ($path, $body) = @_;
    IO::Compress::Gzip::gzip(\$body => \my $packed);
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', $path, body => $packed,
        headers => ['Content-Encoding' => 'gzip']));
    # reading megabytes of JSON takes long
    my $r = $t->raw_response($socket);
    $r->{json} = JSON::PP::decode_json($r->{body}) if length $r->{body} < 1000;
    return $r;
}

my %part = (objects => '{},', lists => '[],', numbers => '0,', texts => '"",',
    reals => '1.5,', booleans => 'true,');
$t->post('/symbolicate/v5', '{"jobs": [ { } ]}');
my $before = rss();
for my $name (sort keys %part) {
    # one that is refused, and one just short enough to be read
    for my $size ($name eq 'objects' ? 30_000_000 : (), 2 * $MIB - 100) {
        my $body = '[' . $part{$name} x ($size / length $part{$name}) . '0]';
        my $started = spent();
        my $r = post_gzip('/symbolicate/v5', $body);
        is($r->{status}, 400, "$name, $size bytes: refused");
        is($r->{json}{title}, $name eq 'booleans' && $size < 2 * $MIB
            ? 'job 0 is invalid' : $LIMIT, '... why');
        next if SymTest::is_slow();
        cmp_ok(spent() - $started, '<', 3, '... in a moment');
    }
    next if SymTest::is_slow();
    my $more = rss() - $before;
    cmp_ok($more, '<', 48, sprintf '... the worker holds %.1f MiB more', $more);
}

# one string, one object of many keys
my $r = post_gzip('/symbolicate/v5', '"' . 'x' x (30 * $MIB) . '"');
is($r->{json}{title}, $LIMIT, 'a long text');
$r = post_gzip('/symbolicate/v5',
    '{' . join(',', map { qq("$_":0) } 1 .. 380_000) . '}');
is($r->{json}{title}, $LIMIT, 'an object of many keys');
# a key with an escape is not the usual form, in which such values are skipped
for my $separator (':', " \t\r\n : ") {
    # three are the request's own
    for my $keys (24_997, 24_998) {
        $r = post_gzip('/symbolicate/v5',
            '{"\u0073tacks":[[[-1,1]]],"memoryMap":[],"other":{'
            . join(',', map { qq("$_"${separator}0) } 1 .. $keys) . '}}');
        is($r->{status}, $keys == 24_997 ? 200 : 400, "$keys keys: the status");
    }
    is($r->{json}{title}, $LIMIT, '... why');
}
$r = post_gzip('/atos', '{' . join(',', map { qq("$_":0) } 1 .. 25_001) . '}');
like($r->{json}{title}, qr/25000 keys/, 'an object of many keys for atos');

# the other API
$r = post_gzip('/atos', '{"addresses":[' . '{},' x 10_000_000 . '{}]}');
is($r->{status}, 400, 'atos: refused');
is($r->{json}{title}, 'please limit the request to 2097152 bytes, '
    . '25000 keys and 12582912 bytes of memory', '... why');

# A long token for which there is no memory left when it is read.
for my $token ('1' x (3 * $MIB / 2), '0.' . '1' x (3 * $MIB / 2), '"' . 'x' x (3 * $MIB / 2) . '"',
    'a' x (3 * $MIB / 2)) {
    for (['/atos', 200_000], ['/asm/v1', 0]) {
        my ($path, $before) = @$_;
        $r = post_gzip($path, '[' . '0,' x $before . "$token]");
        like($r->{json}{title}, qr/^please limit the request/,
            "$path: no memory for " . substr($token, 0, 3) . '...');
    }
}
is("@{[$t->workers]}", $worker, 'the worker is the same');

# the usual form has no such limit; another form is served within it
sub body_of {
    my ($frames, $space) = @_;
    return qq({"memoryMap":[["$module[0]","$module[1]"]],"stacks":[[)
        . join(",$space", map { '[0,' . (4096 + $_ % 5000) . ']' } 1 .. $frames)
        . ']]' . ($space ? ',"other":{"a":1.5}' : '') . '}';
}

my $FRAMES = 20_000;
$r = post_gzip('/symbolicate/v5', body_of(400_000, ''))
    if !SymTest::is_slow();
is($r->{status}, 200, 'five megabytes of the usual form')
    if !SymTest::is_slow();
my ($usual, $other) =
    map { post_gzip('/symbolicate/v5', body_of($FRAMES, $_))->{body} } '', ' ';
ok($usual eq $other, 'another form, within its limits: the same answer');
like($usual, qr/"function"/, '... which has names');

# the tree counts towards the request's share
$t->conf(http => 'symbolicate_memory 20m request=4m;')->write_conf;
$t->reload;
my $body = '{"x":[' . '0,' x 500_000 . '0],"\u0073tacks":[],"memoryMap":[]}';
for my $path ('/symbolicate/v5', '/atos') {
    $r = post_gzip($path, $body);
    is($r->{status}, 413, "$path: a tree larger than a request's share");
    like($r->{json}{description}, qr/more memory than one request may have/, '... why');
}
$r = $t->post('/symbolicate/v5', body_of(10, ' '));
is($r->{status}, 200, 'a small one of another form');

$t->allow(qr{a turn of the event loop took 1\d\d ms});    # a busy machine
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
