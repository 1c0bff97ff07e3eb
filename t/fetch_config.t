# The configuration decides which statuses mean "absent", whether failures may
# answer in part, and which source is tried when.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text);
use Test::More;

my $t = SymFetch->new(tls => 1, sources => <<'SOURCES', how => <<'CONF');
        location /a/    { internal; proxy_pass http://%%FAULT%%/as/a/; }
        location /b/    { internal; proxy_pass http://%%FAULT%%/as/b/; }
        location /s3/ { internal; proxy_pass http://unix:%%DIR%%/s3.sock:/; }
        location /s3d/ { internal; proxy_pass http://unix:%%DIR%%/s3d.sock:/; }
        location /none/ { internal; proxy_pass http://127.0.0.1:1/; }
        location /tls/  {
            internal;
            proxy_pass https://%%FAULTTLS%%/ok/;
            proxy_ssl_verify on;
            proxy_ssl_trusted_certificate %%DIR%%/other.pem;
        }
        location /folder/ { internal; alias %%DIR%%/symbols/; }

        location /two   { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source a uri=/a/; symbolicate_source b uri=/b/; }
        location /strict { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source strict uri=/a/ absent=404,410; }
        location /teapot { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source teapot uri=/a/ absent=418; }
        location /partial { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_on_failure partial;
            symbolicate_source a uri=/a/; }
        location /refused { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source none uri=/none/; }
        location /untrusted { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source tls uri=/tls/; }
        location /upper { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source upper uri=/a/ ids=upper; }
        location /aliased { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source f uri=/folder/; symbolicate_source a uri=/a/; }
        location /wrong { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source s3 uri=/s3/; }
        location /denied { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source s3d uri=/s3d/; }
SOURCES
            symbolicate_source a uri=/a/;
CONF

# S3's 403 answers (API reference, "Error responses").
sub s3 {
    my ($socket, $code) = @_;
    return <<"CONF";
    server {
        listen unix:%%DIR%%/$socket;
        default_type application/xml;
        return 403 '<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>$code</Code><Message>m</Message></Error>';
    }
CONF
}
$t->conf(http => s3('s3.sock', 'SignatureDoesNotMatch')
    . s3('s3d.sock', 'AccessDenied'));

# A certificate that is not the server's.
my ($cert) = SymFault->new(tls => 1)->certificate;
SymLoader::write_file($t->dir . '/other.pem', SymLoader::read_file($cert));
$t->start;

my $fault = $t->fault;
my $n = 0;

sub module {
    my @module = ('m' . ++$n . '.so', SymFetch::id($n + 0xABC00));
    $t->upload(@module);
    return @module;
}

sub at {
    my ($where, @module) = @_;
    return $t->post("/$where/v5", $t->question([@module]));
}

sub count {
    my ($script, @module) = @_;
    return $fault->count("/as/$script/" . SymFetch::path(@module));
}

# --- statuses ---

my @m = module();
$fault->script('a', 'status/403');
is(at('strict', @m)->{status}, 503, '403, not among absent=: failed');
@m = module();
$fault->script('a', 'status/418');
is($t->found(at('strict', @m), @m), 0, '418: no error of the source');
@m = module();
is($t->found(at('teapot', @m), @m), 0, '418 as absent=418: absent');
@m = module();
$fault->script('a', 'status/404');
is($t->found(at('teapot', @m), @m), 0, '404, not among absent=: nor is that');

@m = module();
is($t->found(at('denied', @m), @m), 0, 'AccessDenied of S3: absent');
@m = module();
my $r = at('wrong', @m);
is($r->{status}, 503, 'SignatureDoesNotMatch of S3: failed');
like($t->reasons($r)->{join '/', @m}, qr/it answered with an error: 403/,
    '... and why');

# --- failures ---

@m = module();
$fault->script('a', 'status/500');
$r = at('partial', @m);
is($r->{status}, 200, 'partial: 200');
is($t->found($r, @m), 0, '... with false');
like($r->{headers}{'retry-after'}, qr/^\d+$/, '... and when to retry');

@m = module();
$r = at('refused', @m);
is($r->{status}, 503, 'connection refused: failed');
like($t->reasons($r)->{join '/', @m}, qr/source "none": no connection/,
    '... and why');
@m = module();
$r = at('untrusted', @m);
is($r->{status}, 503, 'a certificate that is not trusted: failed');
is($fault->count('/ok/' . SymFetch::path(@m)), 0, '... no request is sent');

# --- sources in order ---

@m = module();
$fault->script('a', 'ok')->script('b', 'ok');
is($t->found(at('two', @m), @m), 1, 'the first has it');
is(count('b', @m), 0, '... the second is not tried');

@m = module();
$fault->script('a', 'status/404');
is($t->found(at('two', @m), @m), 1, 'the second has it');
is(count('a', @m), 1, '... after the first was tried');

@m = module();
$fault->script('a', 'status/500');
is($t->found(at('two', @m), @m), 1, 'the first fails, the second has it');

@m = module();
$fault->script('b', 'status/404');
$r = at('two', @m);
is($r->{status}, 503, 'the first fails, the second does not have it: failed');
like($t->reasons($r)->{join '/', @m}, qr/source "a": .*: 500/, '... why');

@m = module();
$fault->script('a', 'status/404');
is($t->found(at('two', @m), @m), 0, 'neither has it: absent');

# --- the case of ids ---

@m = module();
$fault->script('a', 'ok');
my @lower = ($m[0], lc $m[1]);
is($t->found(at('upper', @lower), @lower), 1, 'ids=upper finds it');
is(count('a', @m), 1, '... by the id in upper case');

# --- a folder ---

@m = module();
SymLoader::write_file($t->dir . '/symbols/' . SymFetch::path(@m),
    sym_text(@m, prefix => 'folder_'));
$r = at('aliased', @m);
is($t->function($r, 0), 'folder_0', 'a file in a folder');
is(count('a', @m), 0, '... first');
@m = module();
is($t->found(at('aliased', @m), @m), 1, 'not in the folder: the next source');

# --- packed ---

for my $how (qw(gzip gzipbare chunked close)) {
    @m = module();
    $fault->script('a', $how);
    is($t->found($t->ask([@m]), @m), 1, $how);
}

is($t->end, '', 'nothing is wrong');

done_testing();
