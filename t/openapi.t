# Authors of clients use docs/use/openapi.json: a server has all of its routes
# and no others, answers each with each of its statuses and the documented
# content type, and refuses all other methods.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(write_file);
use SymRoutes;
use Test::More;

my @FORM = ('Content-Type' => 'multipart/form-data; boundary=b');
my $FORM = join "\r\n", '--b', 'Content-Disposition: form-data; name="apple_crash_report"', '', '', '--b--', '';
my $DUMP = $FORM =~ s/apple_crash_report/upload_file_minidump/r;
my @JSON = ('Content-Type' => 'application/json');
my $UUID = '0123456789abcdef0123456789abcdef';
my $JS = '{"source": {"id": "a", "url": "http://127.0.0.1:1/", "token": "t"}, "stacktraces": []}';
my $ANY = '{"symbolicate": {"type": "applecrashreport", "storage_url": "http://127.0.0.1:1/"}}';
my $NATIVE = '{"stacktraces": [{"frames": [{"instruction_addr": "0x1004", '
    . '"addr_mode": "rel:0"}]}], "modules": [{"type": "elf", "debug_file": '
    . '"a.so", "debug_id": "00000000-0000-0000-0000-000000000003"}]}';

my $t = SymRoutes->new(workers => 1);
$t->fault->script('bad', 'status/500');
$t->fault->file('a.pdb/' . uc($UUID) . '1/a.pdb', 'a file');
my $ELF_ID = "${UUID}ee";
$t->fault->file("$UUID/debuginfo", 'a file');
$t->fault->file("$ELF_ID/executable", SymTest::slurp('/bin/true'));
$t->start;

sub module_text {
    my (@module) = @_;
    return $t->json({ memoryMap => [[@module]], stacks => [[[0, 0x1004]]] });
}

sub module {
    my ($status) = @_;
    return module_text("m$status.so", SymFetch::id(3));
}

# A mapping of a file with that build id, and its two strings.
sub profile {
    my ($name, $id) = @_;
    return join '', "\x1a\x06\x08\x01\x28\x01\x30\x02", map { "\x32" . chr(length) . $_ } '', $name, $id;
}

# So that the store has this module.
my $KNOWN = SymFetch::id(4);
$t->fault->file("known.so/$KNOWN/known.so.sym", SymLoader::sym_text('known.so', $KNOWN));
is($t->post('/symbolicate/v5', module_text('known.so', $KNOWN))->{status}, 200, 'symbols of a module');

# The question of another node; the reference has a debug id and a name.
sub artifact {
    my ($name) = @_;
    my $ref = "02010031031500" . "01${UUID}00000001" . '06' . unpack('H*', pack('v/a', $name));
    return "/peer/artifact?source=fault&path=$name/" . uc($UUID)
        . "1/$name.sym&kind=symcache&oldest=1&version=9&ref=$ref";
}

my $atos_image = qq("uuid": "$UUID", "image": "a");
my %tecken = (
    200 => { body => module(200) },
    400 => { body => '{' },
    413 => { body => 'x' x 300_000 },
    415 => { body => '{}', headers => ['Content-Encoding' => 'br'] },
    503 => { body => module(503), source => 'status/500' },
);
my %requests = (
    404 => { path => "/requests/00000000-0000-4000-8000-000000000000" },
    400 => { path => "/requests/00000000-0000-4000-8000-000000000000?timeout=x" },
    200 => { of_pending => 1 },
);
my %proxy = (
    200 => { path => "/proxy/a.pdb/" . uc($UUID) . '1/a.pdb' },
    404 => { path => "/proxy/b.pdb/${UUID}1/b.pdb" },
    500 => { path => "/proxy/c.pdb/${UUID}1/c.pdb", source => 'status/500' },
    503 => { path => "/proxy/d.pdb/${UUID}1/d.pdb", stalled => 1 },
);
my %buildid = (
    200 => { path => "/buildid/$UUID/debuginfo" },
    406 => { path => "/buildid/$UUID/debuginfo", headers => ['X-DEBUGINFOD-MAXSIZE', 1] },
    416 => { path => "/buildid/$UUID/debuginfo", headers => ['Range', 'bytes=100-'] },
    404 => { path => "/buildid/${UUID}00/debuginfo" },
);
$t->fault->file("$ELF_ID/source/usr/src/a.c", 'a file');
my %source = (
    200 => { path => "/buildid/$ELF_ID/source/usr/src/a.c" },
    404 => { path => "/buildid/$ELF_ID/source/usr/src/none.c" },
);
my %section = (
    200 => { path => "/buildid/$ELF_ID/section/.text" },
    404 => { path => "/buildid/$ELF_ID/section/.none" },
);
my %symbols = (
    200 => { path => "/symbols/a.pdb/" . uc($UUID) . '1/a.pdb' },
    404 => { path => "/symbols/b.pdb/${UUID}1/b.pdb" },
    500 => { path => "/symbols/c.pdb/${UUID}1/c.pdb", source => 'status/500' },
    503 => { path => "/symbols/d.pdb/${UUID}1/d.pdb", stalled => 1 },
);
my %syminfo = (
    200 => { path => "/api/syminfo/known.so/$KNOWN" },
    404 => { path => '/api/syminfo/b.exe/5CF2591C6859000' },
    500 => { path => '/api/syminfo/c.exe/5CF2591C6859000', source => 'status/500' },
    503 => { path => '/api/syminfo/d.exe/5CF2591C6859000', stalled => 1 },
);
my %page = (
    200 => { path => '/page/' },
    301 => { path => '/page' },
    304 => { path => '/page/', of_etag => 1 },
    404 => { path => '/page/none' },
);

# How to get each status: the request, and the preparation for it.
my %recipes = (
    'POST /symbolicate/v5' => \%tecken,
    'POST /symbolicate/v4' => \%tecken,
    'POST /symbolicate/bulk' => {
        %tecken,
        400 => { body => 'x', headers => ['Content-Encoding' => 'gzip'] },
        503 => { body => module(200), storeless => 1 },
    },
    'POST /' => \%tecken,
    'POST /atos' => {
        %tecken,
        200 => { body => qq({$atos_image, "addresses": []}) },
        503 => { body => qq({$atos_image, "addresses": ["0x1"]}),
                 source => 'status/500' },
    },
    'GET /atos' => {
        200 => { path => "/atos?uuid=$UUID&image=b&address=0x1" },
        400 => { path => '/atos' },
        503 => { path => "/atos?uuid=$UUID&image=c&address=0x1",
                 source => 'status/500' },
    },
    'POST /source/v1' => {
        %tecken,
        200 => { body => qq({"debugName": "a", "debugId": "${UUID}1", )
                     . '"moduleOffset": "0x1", "file": "a.c"}' },
        503 => { body => qq({"debugName": "b", "debugId": "${UUID}1", )
                     . '"moduleOffset": "0x1", "file": "a.c"}',
                 storeless => 1 },
    },
    'POST /asm/v1' => {
        %tecken,
        200 => { body => '{"startAddress": "0x1", "size": "0x1"}' },
        503 => { body => '{"startAddress": "0x1", "size": "0x1"}',
                 storeless => 1 },
    },
    'POST /symbolicate/profile' => {
        %tecken,
        200 => { body => profile('m200.so', 'ab' x 20) },
        503 => { body => profile('m503.so', 'ab' x 20), source => 'status/500' },
    },
    'GET /peer/artifact' => {
        200 => { path => artifact('p.so') },
        400 => {},
        503 => { path => artifact('q.so'), source => 'status/500' },
    },
    'POST /symbolicate' => {
        200 => { body => $NATIVE, headers => \@JSON },
        400 => { body => '{', headers => \@JSON },
        413 => { body => 'x' x 300_000, headers => \@JSON },
        415 => { body => '{}' },
        422 => { body => '[]', headers => \@JSON },
        503 => { body => $NATIVE, headers => \@JSON, storeless => 1 },
    },
    'POST /symbolicate-jvm' => {
        200 => { body => '{"sources": []}', headers => \@JSON },
        400 => { body => '{', headers => \@JSON },
        413 => { body => 'x' x 300_000, headers => \@JSON },
        415 => { body => '{}' },
        422 => { body => '{"modules": 1}', headers => \@JSON },
        503 => { body => '{"sources": []}', headers => \@JSON, storeless => 1 },
    },
    'POST /symbolicate-js' => {
        200 => { body => $JS, headers => \@JSON },
        400 => { body => '{', headers => \@JSON },
        413 => { body => 'x' x 300_000, headers => \@JSON },
        415 => { body => '{}' },
        422 => { body => '{"modules": 1}', headers => \@JSON },
        503 => { body => $JS, headers => \@JSON, storeless => 1 },
    },
    'POST /symbolicate-any' => {
        200 => { body => $ANY, headers => \@JSON },
        400 => { body => '{', headers => \@JSON },
        413 => { body => 'x' x 300_000, headers => \@JSON },
        415 => { body => '{}' },
        422 => { body => '{}', headers => \@JSON },
        503 => { body => $ANY, headers => \@JSON, storeless => 1 },
    },
    'POST /minidump' => {
        200 => { body => $DUMP, headers => \@FORM },
        400 => { body => 'x', headers => \@FORM },
        413 => { body => 'x' x 300_000, headers => \@FORM },
        503 => { body => $DUMP, headers => \@FORM, storeless => 1 },
    },
    'POST /applecrashreport' => {
        200 => { body => $FORM, headers => \@FORM },
        400 => { body => 'x', headers => \@FORM },
        413 => { body => 'x' x 300_000, headers => \@FORM },
        415 => { body => '{}', headers => \@JSON },
        503 => { body => $FORM, headers => \@FORM, storeless => 1 },
    },
    'GET /requests/{request_id}' => \%requests,
    'HEAD /requests/{request_id}' => \%requests,
    'GET /healthcheck' => { 200 => {} },
    'HEAD /healthcheck' => { 200 => {} },
    'GET /proxy/{name}/{signature}/{file}' => \%proxy,
    'HEAD /proxy/{name}/{signature}/{file}' => \%proxy,
    'GET /buildid/{id}/{type}' => \%buildid,
    'HEAD /buildid/{id}/{type}' => { map { $_ => $buildid{$_} } 200, 404 },
    'GET /buildid/{id}/section/{name}' => \%section,
    'HEAD /buildid/{id}/section/{name}' => \%section,
    'GET /buildid/{id}/source/{path}' => \%source,
    'HEAD /buildid/{id}/source/{path}' => \%source,
    'HEAD /symbols/{name}/{id}/{file}' => \%symbols,
    'GET /metadata' => {
        200 => { path => '/metadata?key=glob&value=/usr/lib/lib*' },
        400 => { path => '/metadata?key=name&value=a' },
        503 => { path => '/metadata?key=file&value=a', storeless => 1 },
    },
    'GET /api/syminfo/{name}/{id}' => \%syminfo,
    'HEAD /api/syminfo/{name}/{id}' => \%syminfo,
    'HEAD /pingme.txt' => { 200 => {} },
    'GET /pingme.txt' => { 200 => {} },
    'GET /symbols/{name}/{id}/{file}' => \%symbols,
    'GET /__lbheartbeat__' => { 200 => {} },
    'GET /__heartbeat__' => { 200 => {}, 503 => { storeless => 1 } },
    'GET /__version__' => { 200 => {} },
    'GET /page/{file}' => \%page,
    'HEAD /page/{file}' => \%page,
    'GET /metrics' => { 200 => {} },
    'HEAD /metrics' => { 200 => {} },
    'DELETE /admin/cache/{name}/{id}' => {
        200 => { path => "/admin/cache/a.so/${UUID}1" },
        400 => { path => '/admin/cache/a.so/x' },
        403 => { path => "/admin/cache/a.so/${UUID}1",
                 headers => ['Sec-Fetch-Site' => 'cross-site'] },
        404 => { path => '/admin/cache/a.so' },
        503 => { path => "/admin/cache/a.so/${UUID}1", loaderless => 1 },
    },
    'GET /admin/explain/{name}/{id}' => {
        200 => { path => '/admin/explain/m200.so/' . SymFetch::id(3) },
        400 => { path => "/admin/explain/a.so/${UUID}1?source=nowhere" },
        404 => { path => "/admin/explain/unasked.so/${UUID}1" },
        503 => { path => "/admin/explain/a.so/${UUID}1", storeless => 1 },
    },
    'GET /admin/modules' => {
        200 => { path => '/admin/modules?q=m' },
        400 => { path => '/admin/modules?after=x' },
        503 => { storeless => 1 },
    },
    'GET /admin/missing' => {
        200 => {},
        400 => { path => '/admin/missing?sort=size' },
        404 => { path => '/bare/missing' },
        503 => { ledger => 'of nothing' },
    },
    'POST /admin/events' => {
        200 => { body => '{"Event": "s3:TestEvent"}' },
        400 => { body => '{}' },
        403 => { body => '{}', headers => ['Origin' => 'http://elsewhere'] },
        413 => { body => 'x' x 300_000 },
        415 => { body => '{}', headers => ['Content-Encoding' => 'br'] },
        503 => { body => event(), loaderless => 1 },
    },
);

# Statuses that no request can cause.
my %by_faults_only = (500 => 'out of memory', 421 => 'a server in a fleet asks itself');

sub event {
    return '{"detail-type": "Object Created", "detail": {"bucket": {"name": "b"}, '
        . '"object": {"key": "a.so/' . uc($UUID) . '1/a.so.sym"}}}';
}

# --- each status of each operation ---

sub without_store {
    my ($ask) = @_;
    my $store = $t->store;

    rename $store, "$store.away" or die "$store: $!";
    my $r = $t->wait_for(sub {
        my $answer = $ask->();
        return ($answer->{status} // 0) == 503 && $answer;
    }, 'the store is gone');
    rename "$store.away", $store or die "$store: $!";
    $t->wait_for(sub { $t->request('GET', '/__heartbeat__')->{status} == 200 },
        'the store is back');
    return $r;
}

sub with_ledger {
    my ($ask, $text) = @_;
    my $file = $t->store . '/missing';
    my $was = SymTest::slurp($file);

    # the loader may write its own list meanwhile
    my $r = $t->wait_for(sub {
        write_file($file, $text);
        my $answer = $ask->();
        return ($answer->{status} // 0) == 503 && $answer;
    }, 'a list that cannot be read');
    $was ne '' ? write_file($file, $was) : unlink $file;
    return $r;
}

# Four files are being fetched, which is the limit.
sub with_downloads {
    my ($ask) = @_;

    $t->fault->close_gate('g');
    $t->fault->script('src', 'gate/g/ok');
    my @waiting = map {
        my $socket = $t->connect;
        $t->send_all($socket, $t->request_text('GET',
            "/proxy/s$_.pdb/${UUID}1/s$_.pdb"));
        $socket;
    } 1 .. 4;
    $t->fault->wait(undef, now => 4);
    my $r = $ask->();
    $t->fault->open_gate('g');
    is($t->response($_)->{status}, 404, '... one of the others') for @waiting;
    $t->fault->script('src', 'ok');
    return $r;
}

sub pending {
    my $r = $t->post('/symbolicate?timeout=0', $NATIVE, @JSON);
    return "/requests/$r->{json}{request_id}" if $r->{json}{request_id};
    return '/requests/none';
}

sub answer {
    my ($operation, $recipe) = @_;
    my $path = $recipe->{path} // $operation->{path};
    my @headers = @{ $recipe->{headers} // [] };
    my $ask = sub {
        return $t->request($operation->{method}, $path, body => $recipe->{body},
            headers => [@headers]);
    };

    @headers = ('If-None-Match' => $ask->()->{headers}{etag})
        if $recipe->{of_etag};
    $path = pending() if $recipe->{of_pending};
    return without_store($ask) if $recipe->{storeless};
    return with_downloads($ask) if $recipe->{stalled};
    return with_ledger($ask, $recipe->{ledger}) if $recipe->{ledger};
    if ($recipe->{loaderless}) {
        $t->loader_stop;
        my $r = $ask->();
        $t->loader_start;
        return $r;
    }
    if ($recipe->{source}) {
        $t->fault->script('src', $recipe->{source});
        my $r = $ask->();
        $t->fault->script('src', 'ok');
        return $r;
    }
    return $ask->();
}

my %described;
for my $operation ($t->operations) {
    my $name = "$operation->{method} $operation->{path}";
    my $recipes = $recipes{$name} // {};
    $described{ $operation->{path} }{ $operation->{method} } = 1;

    is_deeply([grep { !$recipes->{$_} } sort keys %{ $operation->{responses} }],
        [grep { !$recipes->{$_} && $operation->{responses}{$_} }
            sort keys %by_faults_only],
        "$name: all other statuses are reachable");

    for my $status (sort keys %$recipes) {
        my $types = $operation->{responses}{$status};
        ok($types, "$name: $status is described") or next;

        my $r = answer($operation, $recipes->{$status});
        is($r->{status}, $status, '... and answered') or diag($r->{body});
        if (%$types) {
            ok(exists $types->{ $r->{headers}{'content-type'} // '' },
                '... with a content type that is described')
                or diag($r->{headers}{'content-type'});
        } else {
            is($r->{body}, '', '... without a body');
        }
        like($r->{headers}{'retry-after'}, qr/^\d+$/, '... and when to retry')
            if $status == 503;
    }
}
is_deeply([grep { !/ (\S+)$/ || !$described{$1} } keys %recipes], [],
    'the document has every path of this test');

# --- all other methods ---

for my $path (sort keys %described) {
    my @served = sort keys %{ $described{$path} };
    my $url = $path =~ s/\{request_id\}/00000000-0000-4000-8000-000000000000/r
        =~ s/\{\w+\}/${UUID}1/gr;

    for my $method (grep { !$described{$path}{$_} }
                        qw(GET HEAD POST PUT PATCH DELETE)) {
        my $r = $t->request($method, $url, body => '');
        is($r->{status}, 405, "$method $path is not served");
        is_deeply([sort grep { $_ ne 'OPTIONS' }
                       split /, /, $r->{headers}{allow} // ''], \@served,
            '... and these are');
    }
}

# --- no other route, no other status, according to the sources ---

sub sources {
    my ($pattern) = @_;
    my @files = glob(SymTest::root() . "/$pattern");
    ok(scalar @files, "$pattern: such files exist");
    return join "\n", map { SymTest::slurp($_) } @files;
}

my $module = sources('ngx_symbolicate_module/*/*.c');
my ($admin) = $module =~ /_admin_pages\[\] = \{(.*?)\n\};/s;
my %admin = $admin =~ /ngx_string\("([^"]+)"\), NGX_HTTP_([A-Z]+)/g;
is_deeply(\%admin, { map {
        my ($page) = m{^/admin(/\w+)};
        $page ? ($page => keys %{ $described{$_} }) : ()
    } keys %described }, 'pages of symbolicate_admin');
my ($health) = $module =~ /_symbolicate_pages\[\] = \{(.*?)\n\};/s;
is_deeply([sort $health =~ /ngx_string\("([^"]+)"\)/g],
    [sort grep { /^\/__/ } keys %described], 'pages of symbolicate_health');
is_deeply([sources('ngx_symbolicate_module/*_module.c')
        =~ /ngx_string\("(\w+)"\),(?:(?!ngx_string).)*?\(void \*\) \w+_handler \}/gs],
    [qw(symbolicate symbolicate_health symbolicate_metrics symbolicate_page)],
    'directives that serve something');

my %titles = map { $_ => 1 } $module =~ /SYM_STR\("([45]\d\d) /g;
my %documented = map { $_ => 1 } map { keys %{ $_->{responses} } } $t->operations;
is_deeply([grep { !$documented{$_} && $_ != 405 } sort keys %titles], [],
    'every status of the sources is described');

$t->allow(qr/cannot be opened|No such file/);
is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
