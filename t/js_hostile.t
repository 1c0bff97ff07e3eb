#!/usr/bin/perl

# Requests for JavaScript and Java that are as expensive as clients can make
# them, and maps, mappings and bundles that were made to cost time or memory:
# each is answered or refused, small requests do not wait, and one worker serves
# all of it within bounds.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use POSIX ();
use SymFolder;
use SymLoader qw(write_file);
use SymTest;
use Test::More;
use Time::HiRes qw(sleep time);

# A sanitizer or valgrind makes everything slower by this factor.
my $SLOW = SymTest::is_slow() ? 20 : 1;
my $SMALL_S = 10 * $SLOW;           # the longest wait of a small request
my $KEPT_KB = 100_000 * $SLOW;      # of the worker, after all of them
my $SIZE = SymTest::is_slow() ? 0.05 : 1;
my $n = sub { int($_[0] * $SIZE) };

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $UUID = '0c0ffee0-0000-5000-8000-00000000000';
my $t = SymFolder->new(workers => 1);
my $dir = $t->dir;
my $socket = $t->loader->socket_path;
$t->conf(locations => <<"CONF");
        location /symbolicate {
            symbolicate sentry;
            symbolicate_admin on;
            symbolicate_loader unix:$socket;
            client_max_body_size 60m;
            symbolicate_source site uri=/_site/ layout=site;
            symbolicate_source maps uri=/_maps/ layout=unified kinds=proguard,sourcebundle;
        }
        location /_site/ { internal; alias $dir/site/; }
        location /_maps/ { internal; alias $dir/maps/; }
CONF

# --- files ---

mkdir "$dir/$_" for qw(site maps maps/0c);
my $map = sub { '{"version":3,"sources":["a.ts"],"names":[],"mappings":"' . $_[0] . '"}' };
my $section = '{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":';
my %maps = (
    good => $map->('AAAA'),
    column => $map->('+/////HAAA'),              # column 4,294,967,295
    tokens => $map->('AAAA' . ',CAAC' x $n->(4_000_000)),
    lines => $map->(';' x $n->(20_000_000) . 'AAAA'),
    deltas => $map->('AAAA' . ',+/////DAAA' x $n->(1_000_000)),    # each adds 2,147,483,647 columns
    sources => $map->('AAAA,C+/////DAA'),
    nested => $section x 2000 . $map->('AAAA') . '}]}' x 2000,
    deep => '{"version":3,"sources":' . '[' x $n->(1_000_000),
    names => '{"version":3,"sources":["../../../../etc/passwd"],"names":[],"mappings":"AAAA"}',
);
for my $name (keys %maps) {
    write_file("$dir/site/$name.js", "function a(){}\n//# sourceMappingURL=$name.js.map\n");
    write_file("$dir/site/$name.js.map", $maps{$name});
}
write_file("$dir/site/scopes.js", 'function a(){' x $n->(200_000) . '}' x $n->(200_000) . "\n//# sourceMappingURL=good.js.map\n");

my @mappings = (
    "a.B -> x:\n    1:1:void " . 'a' x $n->(100_000_000) . "():1:1 -> a\n",    # one line
    "a.B -> x:\n" . "    1:1:void f():1:1 -> a\n" x $n->(1_000_000),
    'a' x $n->(20_000_000),
    "a.B -> x:\n    1:4294967295:void f():1:4294967295 -> a\n",
);
for my $i (0 .. $#mappings) {
    my $folder = "$dir/maps/0c/" . substr "$UUID$i" =~ tr/-//dr, 2;
    mkdir $folder;
    write_file("$folder/proguard", $mappings[$i]);
}
undef @mappings;
undef %maps;

$t->start;
my ($worker) = $t->workers;

sub post {
    my ($api, $body) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', "/symbolicate-$api", body => $body,
        headers => ['Content-Type', 'application/json']));
    my $r = $t->raw_response($socket);
    close $socket;
    return $r;
}

sub js_of {
    my ($name, $line, $column) = @_;
    my $got = eval { $JSON->decode(post("js", $JSON->encode({ options => { apply_source_context => Cpanel::JSON::XS::false }, stacktraces => [{ frames => [
        { abs_path => "http://h/$name.js", lineno => $line, colno => $column }] }] }))->{body}) } or return 'no JSON';
    return join ' ', (map { $_->{data}{symbolicated} ? "$_->{abs_path}:$_->{lineno}" : 'minified' } @{ $got->{stacktraces}[0]{frames} }),
        map { $_->{type} } @{ $got->{errors} };
}

sub jvm_of {
    my ($i, $line) = @_;
    my $got = eval { $JSON->decode(post('jvm', $JSON->encode({ modules => [{ uuid => "$UUID$i", type => 'proguard' }],
        stacktraces => [{ frames => [{ module => 'x', function => 'a', lineno => $line, index => 0 }] }] }))->{body}) } or return 'no JSON';
    my $frames = @{ $got->{stacktraces}[0]{frames} };
    return join ' ', ($frames > 2 ? 'many' : map {"$_->{module}.$_->{function}:$_->{lineno}"} @{ $got->{stacktraces}[0]{frames} }),
        map { $_->{type} } @{ $got->{errors} };
}

for my $case (
    [good => 1, 1, qr{^http://h/a\.ts:1$}], [column => 1, 4294967295, qr{^minified invalid_location$}],
    [tokens => 1, 3_000_000, qr{^http://h/a\.ts:1$}], [lines => 1, 1, qr{^minified invalid_location$}],
    [deltas => 1, 5, qr{^(?:http://h/a\.ts:1|minified malformed_sourcemap)$}],
    [sources => 1, 5, qr{^minified malformed_sourcemap$}], [nested => 1, 1, qr{^minified malformed_sourcemap$}],
    [deep => 1, 1, qr{^minified malformed_sourcemap$}], [names => 1, 1, qr{^http://h/etc/passwd:1$|^http://h/\.\./}],
    [scopes => 1, 1, qr{^http://h/a\.ts:1$}], [good => 4294967295, 4294967295, qr{^minified invalid_location$}])
{
    my ($name, $line, $column, $want) = @$case;
    my $begin = time;
    like(js_of($name, $line, $column), $want, sprintf '%s:%s:%s, in %.1f s', $name, $line, $column, time - $begin);
}
for my $case ([0, 1, qr/^x\.a:1 invalid$/], [1, 1, qr/^(?:many|x\.a:1 invalid)$/], [2, 1, qr/^x\.a:1 invalid$/],
    [3, 4294967295, qr/^a\.B\.f:4294967295$/])
{
    my ($i, $line, $want) = @$case;
    my $begin = time;
    like(jvm_of($i, $line), $want, sprintf 'mapping %d, in %.1f s', $i, time - $begin);
}

# --- requests ---

my $js = '{"abs_path":"http://h/good.js","lineno":1,"colno":1}';
my $java = '{"module":"x","function":"a","index":0,"lineno":1}';
my %what = (
    'js: frames, 900,000' => ['js', qr/^(?:200|413)\z/, '{"stacktraces":[{"frames":[' . join(',', ($js) x $n->(900_000)) . ']}]}'],
    'js: scripts, 500,000' => ['js', qr/^413\z/, '{"stacktraces":[{"frames":['
        . join(',', map {qq({"abs_path":"http://h/$_.js","lineno":1})} 1 .. 500_000) . ']}]}'],
    'js: modules, 500,000' => ['js', qr/^(?:200|413)\z/, '{"stacktraces":[{"frames":[' . $js . ']}],"modules":['
        . join(',', map {qq({"type":"sourcemap","code_file":"http://h/$_.js","debug_id":"$UUID$_"})} map { $_ % 10 } 1 .. $n->(500_000)) . ']}'],
    'js: a path of 20 MB' => ['js', qr/^(?:200|413|422)\z/, '{"stacktraces":[{"frames":[{"lineno":1,"abs_path":"http://h/' . 'x/' x $n->(10_000_000) . '"}]}]}'],
    'js: depth of 10,000,000' => ['js', qr/^(?:400|413|422)\z/, '{"x":' . '[' x $n->(10_000_000) . ']' x $n->(10_000_000) . '}'],
    'jvm: frames, 900,000' => ['jvm', qr/^(?:200|413)\z/, qq({"modules":[{"uuid":"${UUID}3","type":"proguard"}],"stacktraces":[{"frames":[)
        . join(',', ($java) x $n->(900_000)) . ']}]}'],
    'jvm: modules, 1,000,000' => ['jvm', qr/^(?:200|413)\z/, '{"modules":['
        . join(',', (qq({"uuid":"${UUID}3","type":"proguard"})) x $n->(900_000)) . ']}'],
    'jvm: classes, 2,000,000' => ['jvm', qr/^(?:200|413)\z/, qq({"modules":[{"uuid":"${UUID}3","type":"proguard"}],"classes":[)
        . join(',', map {qq("c$_")} 1 .. $n->(2_000_000)) . ']}'],
    'jvm: a signature of 20 MB' => ['jvm', qr/^(?:200|413|422)\z/, qq({"modules":[{"uuid":"${UUID}3","type":"proguard"}],"stacktraces":[{"frames":[)
        . '{"module":"x","function":"a","index":0,"signature":"(' . '[' x $n->(20_000_000) . 'I)V"}]}]}'],
);

for my $what (sort keys %what) {
    my ($api, $status, $body) = @{ delete $what{$what} };
    my $beside = beside();
    my $begin = time;
    my $r = post($api, $body);
    my $took = time - $begin;
    my ($longest, $good, $all) = @{ ended($beside) };

    like($r->{status} // 'none', $status, sprintf '%s: answered in %.1f s, %d MB', $what, $took, length($body) / 1e6);
    cmp_ok($longest, '<', $SMALL_S, sprintf '... small ones wait at most %.0f ms', 1000 * $longest);
    is($good, $all, '... and are answered');
}

is_deeply([$t->workers], [$worker], 'the same worker serves');
my $kept = $t->wait_for(sub { my $kb = memory_kb($worker); $kb < $KEPT_KB ? $kb : 0 }, 'memory is freed');
note("the worker keeps $kept KB") if $kept;
$t->allow(qr/a turn of the event loop took [1-4]\d\d ms/);    # a busy machine
is($t->end, '', 'a clean log');
done_testing();

sub memory_kb {
    my ($pid) = @_;
    return SymTest::slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+)/m ? $1 : 0;
}

# A process that sends a small request every 20 ms on its own connection.
sub beside {
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $is_told;
        POSIX::sigaction(POSIX::SIGTERM, POSIX::SigAction->new(sub { $is_told = 1 }, POSIX::SigSet->new, POSIX::SA_RESTART));
        my ($longest, $good, $all) = (0, 0, 0);
        do {
            my $begin = time;
            $all++;
            $good++ if js_of('good', 1, 1) eq 'http://h/a.ts:1';
            my $took = time - $begin;
            $longest = $took if $took > $longest;
            sleep 0.02;
        } while (!$is_told);
        print $out "$longest $good $all\n";
        close $out;
        POSIX::_exit(0);
    }
    close $out;
    return { pid => $pid, in => $in };
}

sub ended {
    my ($p) = @_;
    kill 'TERM', $p->{pid};
    my $line = readline($p->{in}) // '';
    waitpid $p->{pid}, 0;
    return [split ' ', $line];
}
