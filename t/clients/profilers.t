# samply (crates.io) loads a profile and reads symbols from our symbol server: .sym files
# that we make of a PDB, the PDB itself, and debug files by debuginfod's protocol.  The
# Firefox Profiler's profiler-cli (npm) asks our symbolication API.  Functions are those
# that Mozilla's dump_syms wrote, and those of a program's source.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Path qw(make_path);
use HTTP::Tiny;
use Test::More;

use JSON::PP ();
use SymElf qw(output run_ok);
use SymFetch;
use SymFixtures qw(need_fixtures);
use SymLoader qw(write_file);
use SymServer;
use SymTest;

my $clients = SymTest::root() . '/var/clients';
my $windows = need_fixtures('windows');
my $dir = SymElf::folder();
my $GUID = '3249D99D0C4049318610F4E4FB0B6936';

make_path("$dir/store/crash.pdb/${GUID}1");
run_ok('cp', "$windows/crash.pdb", "$dir/store/crash.pdb/${GUID}1/crash.pdb");

# Two functions of the .sym file, by address.
my %function = map { $_->[0] => $_->[1] } map { /^FUNC (?:m )?(\w+) \w+ \w+ ([\w:]+)\(/ ? [hex $1, $2] : () }
    split /\n/, SymTest::slurp("$windows/crash.sym");
my @start = (sort { $a <=> $b } keys %function)[0, 3];
my @want = @function{@start};
my @address = map { $_ + 4 } @start;    # a caller is looked up one byte before
ok(@want == 2, 'the .sym file has functions');

# A program without debug information.
write_file("$dir/app.c", <<'END');
__attribute__((noinline)) static int
twice(int n)
{
    return n + n;
}

int
main(int argc, char **argv)
{
    return twice(argc) + (argv[0] == 0);
}
END
run_ok('gcc', '-g', '-O1', '-Wl,--build-id=sha1', '-o', "$dir/whole", "$dir/app.c");
my ($id) = output('readelf', '-nW', "$dir/whole") =~ /Build ID: (\w+)/;
my ($twice) = output('nm', "$dir/whole") =~ /^0*(\w+) t twice$/m;
my $place = "$dir/native/" . substr($id, 0, 2) . '/' . substr $id, 2;
make_path($place =~ s{/[^/]*$}{}r);
run_ok('objcopy', '--only-keep-debug', "$dir/whole", "$place.debug");
run_ok('strip', '-o', $place, "$dir/whole");

my $t = SymFetch->new;
my $SOURCES = <<'CONF';
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source store uri=/store/ layout=symstore;
            symbolicate_source native uri=/native/ layout=native;
CONF
$t->conf(locations => <<"CONF");
        location / { symbolicate files; symbolicate_proxy on; $SOURCES }
        location /symbolicate { symbolicate; $SOURCES }
        location /store/ { internal; alias $dir/store/; log_not_found off; }
        location /native/ { internal; alias $dir/native/; log_not_found off; }
CONF
$t->start;
my $url = 'http://' . $t->address;

# --- samply ---

# Breakpad's form of a build id.
my $elf_id = uc sprintf '%s%s%s%s0', unpack('H8', pack 'V', hex substr $id, 0, 8),
    unpack('H4', pack 'v', hex substr $id, 8, 4), unpack('H4', pack 'v', hex substr $id, 12, 4),
    substr $id, 16, 16;
my @libs = (
    { name => 'crash.exe', path => 'c:\\crash.exe', debugName => 'crash.pdb', debugPath => 'c:\\crash.pdb',
      breakpadId => "${GUID}1", codeId => undef, arch => 'x86' },
    { name => 'app', path => '/none/app', debugName => 'app', debugPath => '/none/app',
      breakpadId => $elf_id, codeId => $id, arch => 'x86_64' });
write_file("$dir/profile.json", JSON::PP::encode_json({
    meta => { version => 27 }, libs => \@libs, threads => [], processes => [] }));

# Names of functions as samply answers them.
sub samply {
    my ($env, $lib, $addresses, @options) = @_;
    my $port = SymServer::free_port();
    my $server = SymServer->start_deaf('samply', 'sh', '-c', 'exec env "$@" >&2', 'sh', "HOME=$dir/home", @$env,
        "$clients/cargo/bin/samply", 'load', '--no-open', '-P', $port, @options, "$dir/profile.json");
    $server->wait_port($port);
    my $root;
    SymTest->wait_for(sub { ($root) = $server->said =~ m{(http%3A%2F%2F127[^/&\s]*?)%2Fprofile\.json} },
        'samply says where it is');
    $root =~ s/%(\w\w)/chr hex $1/ge;
    my $r = HTTP::Tiny->new(timeout => 60)->post("$root/symbolicate/v5", { content => JSON::PP::encode_json({
        memoryMap => [[ $lib->{debugName}, $lib->{breakpadId} ]],
        stacks => [[ map { [0, $_] } @$addresses ]] }) });
    $server->stop;
    is($r->{status}, 200, 'samply answers') or diag $r->{content};
    my $frames = JSON::PP::decode_json($r->{content})->{results}[0]{stacks}[0];
    return map { ($_->{function} // '') =~ s/\(.*//r } @$frames;
}

is_deeply([ samply([], $libs[0], \@address, '--breakpad-symbol-server', "$url/",
                   '--breakpad-symbol-cache', "$dir/sym-cache") ], \@want, '... by .sym files of ours');
ok(-s "$dir/sym-cache/crash.pdb/${GUID}1/crash.sym", '... which it keeps');
is_deeply([ samply([], $libs[0], \@address, '--windows-symbol-server', "$url/",
                   '--windows-symbol-cache', "$dir/pdb-cache") ], \@want, '... by PDBs');
is_deeply([ samply(['SAMPLY_USE_DEBUGINFOD=1', "DEBUGINFOD_URLS=$url", "DEBUGINFOD_CACHE_PATH=$dir/debug"],
                   $libs[1], [hex $twice]) ], ['twice'], '... by debuginfod');

# --- profiler-cli ---

# Gecko's format of a profile: two frames of the library, which begins at 0x1000.
my %schema = (
    markers => [qw(name startTime endTime phase category data)],
    samples => [qw(stack time eventDelay)],
    frameTable => [qw(location relevantForJS innerWindowID implementation line column category subcategory)],
    stackTable => [qw(prefix frame)]);
my %data = (
    markers => [], samples => [[1, 0, 0], [1, 1, 0]], stackTable => [[undef, 0], [0, 1]],
    frameTable => [map { [$_, JSON::PP::false, 0, undef, undef, undef, 0, 0] } 0, 1]);
my %thread = map {
    my ($table, $n) = ($_, 0);
    $table => { schema => { map { $_ => $n++ } @{ $schema{$table} } }, data => $data{$table} };
} keys %schema;
write_file("$dir/gecko.json", JSON::PP::encode_json({
    meta => { version => 27, startTime => 1.6e12, interval => 1, processType => 0, product => 'Demo', stackwalk => 1,
        abi => 'x86_64-gcc3', platform => 'X11', oscpu => '', misc => '', toolkit => 'gtk', markerSchema => [],
        categories => [{ name => 'Other', color => 'grey', subcategories => ['Other'] }],
        extensions => { schema => { id => 0, name => 1, baseURL => 2 }, data => [] } },
    libs => [{ %{ $libs[0] }, start => 0x1000, end => 0x101000, offset => 0 }],
    pages => [], pausedRanges => [], processes => [],
    threads => [{ %thread, name => 'GeckoMain', processType => 'default', processName => 'Demo', tid => 1,
        pid => 1, registerTime => 0, unregisterTime => undef,
        stringTable => [map { sprintf '0x%x', $_ + 0x1000 } @address] }] }));

my ($node) = glob "$clients/npm/node_modules/node-linux-*/bin/node";
my $cli = "$clients/npm/node_modules/\@firefox-devtools/profiler-cli/dist/profiler-cli.js";
my @cli = ('env', "HOME=$dir/home", $node, $cli);
make_path("$dir/home");
run_ok(@cli, 'load', '--session', 'test', '--symbol-server', $url, "$dir/gecko.json");
my $functions = output(@cli, 'thread', 'functions', '--session', 'test', '--limit', 0);
run_ok(@cli, 'stop', '--all');
like($functions, qr/\Q$_\E/, "profiler-cli: $_") for @want;
unlike($functions, qr/!0x/, '... no address is left') or diag $functions;

is($t->end, '', 'nothing is wrong');
done_testing();
