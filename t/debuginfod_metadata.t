#!/usr/bin/perl

# elfutils' clients ask a debuginfod server which build ids a file name has.  We know
# the ELF files from which requests got symbols: by name or by pattern, whatever the
# folder, and say when the list is not complete.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use JSON::PP ();
use Test::More;

use SymElf qw(output run_ok);
use SymFetch;
use SymLoader qw(read_file write_file);

my $dir = SymElf::folder();

sub put {
    my ($file, $path) = @_;
    make_path("$dir/builds/$path" =~ s{/[^/]*$}{}r);
    run_ok('cp', $file, "$dir/builds/$path");
    return;
}

# { file => build id }: two builds of a library, and a program without lines.
my %id;
for my $name (qw(one/libdemo.so.1 two/libdemo.so.1 demo)) {
    my $n = 1 + keys %id;
    write_file("$dir/$n.c", "int number(void) { return $n; }\nint main(void) { return number(); }\n");
    run_ok('gcc', ($name eq 'demo' ? () : '-g'), '-Wl,--build-id=sha1', '-o', "$dir/$n", "$dir/$n.c");
    ($id{$name}) = output('eu-readelf', '-n', "$dir/$n") =~ /Build ID: ([0-9a-f]{40})/;
    put("$dir/$n", substr($id{$name}, 0, 2) . '/' . substr($id{$name}, 2)
        . ($name eq 'demo' ? '' : '.debug'));
}

my $t = SymFetch->new;
my $SOURCES = 'symbolicate_loader unix:%%LOADER%%; symbolicate_source builds uri=/builds/ layout=native;'
    . ' symbolicate_source crash uri=/src/ layout=breakpad;';
$t->conf(locations => <<"CONF");
        location / { symbolicate files; symbolicate_proxy on; $SOURCES }
        location /private/ {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source other uri=/builds/ layout=native;
        }
        location /off/ { symbolicate files; $SOURCES }
        location = /symbolicate { symbolicate sentry; $SOURCES }
        location /builds/ { internal; alias $dir/builds/; log_not_found off; }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
CONF
$t->fault->script('src', 'ok');
$t->start;

sub metadata {
    my ($query, $where) = @_;
    my $r = $t->request('GET', ($where // '') . "/metadata?$query");
    is($r->{status}, 200, "metadata $query") or diag $r->{body};
    my $json = JSON::PP::decode_json($r->{body});
    is_deeply([sort keys %$json], [qw(complete results)], '... as the client reads it');
    is(ref $json->{complete}, 'JSON::PP::Boolean', '... complete or not');
    return $json;
}

sub found {
    my ($query, @where) = @_;
    my $json = metadata($query, @where);
    ok($json->{complete}, '... complete');
    return join ' ', sort map {"$_->{type}:$_->{file}:$_->{buildid}"} @{ $json->{results} };
}

is(found('key=file&value=/usr/lib/libdemo.so.1'), '', 'a new store knows no file');

# --- records ---

# Breakpad's form of a build id.
sub debug_id {
    my ($id) = @_;
    return join '-', unpack('H8', pack 'V', hex substr $id, 0, 8), unpack('H4', pack 'v', hex substr $id, 8, 4),
        unpack('H4', pack 'v', hex substr $id, 12, 4), substr($id, 16, 4), substr $id, 20, 12;
}

# Asks for a frame in each module: [name, code id, debug id].  Returns the modules' states.
sub states {
    my $n = 0;
    my @modules = map { my $at = ++$n; +{
        type => 'elf', code_file => "/opt/$_->[0]", debug_file => "/opt/$_->[0]", code_id => $_->[1],
        debug_id => $_->[2], image_addr => sprintf('0x%x', 0x10000 * $at), image_size => 0x10000 } } @_;
    my @frames = map { { instruction_addr => sprintf '0x%x', 0x10000 * $_ + 0x1139 } } 1 .. @_;
    my $r = $t->post_json('/symbolicate', { modules => \@modules, stacktraces => [{ frames => \@frames }] },
                          'Content-Type' => 'application/json');
    is($r->{status}, 200, 'a request gets symbols');
    return map { $_->{debug_status} } @{ $r->{json}{modules} };
}

my $text_id = SymFetch::id(7);
$t->upload('text', $text_id);
is(join(' ', states((map { [s{.*/}{}r, $id{$_}, debug_id($id{$_})] } sort keys %id), ['text', 'ab' x 20, $text_id])),
   'found found found found', '... of all modules');

# --- searches ---

my $libraries = join ' ', sort map {"debuginfo:libdemo.so.1:$id{$_}"} grep {/lib/} keys %id;
my $program = "executable:demo:$id{demo}";

is(found('key=file&value=/usr/lib/libdemo.so.1'), $libraries, 'a file: both builds, in any folder');
is(found('value=libdemo%2eso.1&key=file'), $libraries, '... without a folder');
is(found('key=file&value=/opt/demo'), $program, 'a file without debug information');
for my $case (['/usr/*/lib*', $libraries], ['*demo*', join ' ', sort $libraries, $program],
              ['libdem%3f.so.[0-9]', $libraries], ['[!l]*', $program], ['Lib*', ''], ['libdemo.so.1?', ''],
              ['libdemo.so.2*', ''], ['%2Fopt%2Fdemo', $program], ['text*', ''])
{
    is(found("key=glob&value=$case->[0]"), $case->[1], "... what it finds");
}
is(found('key=file&value=*'), '', 'a star in the name of a file');
is(found('key=file&value=/private/demo', '/private'), '', 'files of other sources are not shown');
is(found('key=file&value=' . 'a' x 4_000), '', 'a long name');

for my $query ('', 'key=file', 'key=file&value=', 'value=a', 'key=name&value=a', 'key=globs&value=a',
               'key=glob&value=[a', 'key=glob&value=' . '*' x 300, 'key=file&value=' . 'a' x 5_000)
{
    my $r = $t->request('GET', "/metadata?$query");
    is($r->{status}, 400, 'refused: ' . substr $query, 0, 60);
}
is($t->request('GET', '/off/metadata?key=file&value=demo')->{status}, 404, 'off without symbolicate_proxy');
is($t->request('POST', '/metadata?key=file&value=demo')->{status}, 405, 'a POST');

# --- many ---

# More than one turn reads, and more than one answer may have.
{
    my $first = read_file("$dir/1");
    my @ids = map { sprintf '%08x' x 5, ($_) x 5 } 1 .. 550;
    my $at = index $first, pack 'H*', $id{'one/libdemo.so.1'};
    ok($at > 0, 'the build id in the file');
    for my $id (@ids) {
        substr $first, $at, 20, pack 'H*', $id;
        make_path("$dir/builds/" . substr $id, 0, 2);
        write_file("$dir/builds/" . substr($id, 0, 2) . '/' . substr($id, 2) . '.debug', $first);
    }
    while (my @some = splice @ids, 0, 110) {
        is(scalar(grep { $_ eq 'found' } states(map { ['many', $_, debug_id($_)] } @some)), scalar @some,
           '... of more builds');
    }
}
my $json = metadata('key=glob&value=man*');
is(scalar @{ $json->{results} }, 500, '... of which the answer has five hundred');
ok(!$json->{complete}, '... and says that there are more');
is(found('key=glob&value=*demo*'), join(' ', sort $libraries, $program), 'others are found among them');

# --- the client, where elfutils has it (0.192) ---

if (output('debuginfod-find', '--help') =~ /metadata/) {
    local @ENV{qw(DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH HOME)} = ('http://' . $t->address, "$dir/cache", $dir);
    make_path("$dir/cache");
    my $out = output('debuginfod-find', 'metadata', 'glob', '/usr/lib/lib*');
    my $json = JSON::PP::decode_json($out);
    is(join(' ', sort map {"$_->{type}:$_->{file}:$_->{buildid}"} @{ $json->{results} }), $libraries,
       'debuginfod-find metadata');
    ok($json->{complete}, '... complete');
}

is($t->end, '', 'nothing is wrong');
done_testing();
