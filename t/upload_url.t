#!/usr/bin/perl

# Mozilla's build machines do not send an archive but its URL: it is fetched from hosts
# that the operator names, and then uploaded.  Statuses and texts are Tecken's.  A client
# must not make the server connect to other hosts, also not by a redirect.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);

use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new(limit => '1m', url => [ qw(http://files.test http://*.cdn.test http://inner.test),
    qw(http://both.test only.test) ],
    how => 'symbolicate_fetch_timeout 30s;',
    tokens => {
        ci  => { secret => '0123456789abcdef' },
        try => { secret => 'fedcba9876543210', rest => 'rights=try' },
    })->start;
my $dir = $t->{dir};
my $port = $t->{ports}{port};
my $base = "http://files.test:$port";
my @auth = ('-H', 'auth-token: 0123456789abcdef');
my $n = 0;

$t->given(names => { 'files.test' => [['127.0.0.1']], 'a.cdn.test' => [['127.0.0.1']],
    'other.test' => [['127.0.0.1']], 'inner.test' => [['127.0.0.2', '10.0.0.1', '169.254.169.254']],
    'only.test' => [['127.0.0.1']], 'both.test' => [['127.0.0.1']] });

# An archive of one file, on disk.
sub archive {
    my ($prefix) = @_;
    my $id = SymFolder::id(++$n);
    system("rm -rf $dir/in $dir/$prefix.zip && mkdir -p $dir/in/m/$id") == 0 or die;
    write_file("$dir/in/m/$id/m.sym", sym_text('m', $id, prefix => $prefix));
    system("cd $dir/in && zip -qr $dir/$prefix.zip .") == 0 or die;
    return ("$dir/$prefix.zip", $id);
}

sub route {
    my ($path, %o) = @_;
    $t->given(route => { path => $path, %o });
    return;
}

sub upload {
    my ($url, @more) = @_;
    return $t->curl(@auth, @more ? @more : (), '--data-urlencode', "url=$url", $t->url('/upload/'));
}

sub paths { return map { $_->{target} } @{ $t->given('requests') } }

# --- what is uploaded ---

my ($zip, $id) = archive('first');
route('/d/symbols.zip', file => $zip);
my $r = upload("$base/d/symbols.zip");
is($r->{status}, 201, 'a URL, in an urlencoded form') or diag $r->{body};
my $upload = $r->{json}{upload};
is_deeply([ @$upload{qw(size filename download_url redirect_urls try_symbols user)} ],
    [ -s $zip, 'symbols.zip', "$base/d/symbols.zip", [], JSON::PP::false(), 'ci' ], '... as Tecken says it');
like($t->function($t->ask([ 'm', $id ])), qr/^first/, '... its symbols answer');
is_deeply([ paths() ], ['/d/symbols.zip'], '... by one request');

$r = $t->curl(@auth, '-F', "url=$base/d/symbols.zip", $t->url('/upload/'));
is_deeply([ $r->{status}, $r->{json}{upload}{skipped_keys} ], [ 201, ["m/$id/m.sym"] ],
    'again, in a multipart form: it is skipped') or diag $r->{body};

($zip, $id) = archive('second');
route('/end.zip', file => $zip);
route('/one', status => 302, headers => { Location => "http://a.cdn.test:$port/two" });
route('/two', status => 301, headers => { Location => '/end.zip' });
route('/start.zip', status => 307, headers => { Location => '/one' });
$r = upload("$base/start.zip?signature=x");
is($r->{status}, 201, 'redirects') or diag $r->{body};
is_deeply([ @{ $r->{json}{upload} }{qw(filename download_url redirect_urls)} ],
    [ 'start.zip', "$base/start.zip?signature=x", [ '/one', "http://a.cdn.test:$port/two", '/end.zip' ] ],
    '... are listed');
like($t->function($t->ask([ 'm', $id ])), qr/^second/, '... its symbols answer');

# --- try uploads ---

($zip, $id) = archive('third');
route('/try.zip', file => $zip);
$r = upload("$base/try.zip", '-d', 'try=1');
is_deeply([ $r->{status}, $r->{json}{upload}{try_symbols} ], [ 201, JSON::PP::true() ], 'the field `try`');
is_deeply([ $t->files("$dir/try") ], ["m/$id/m.sym"], '... has its own folder');
is($t->function($t->ask([ 'm', $id ])), 'false', '... others do not see it');
@auth = ('-H', 'auth-token: fedcba9876543210');
is(upload("$base/try.zip")->{json}{upload}{try_symbols}, JSON::PP::true(), 'a token for try uploads');
is(upload("$base/try.zip", '-d', 'try=')->{status}, 403, '... may not upload others');
@auth = ('-H', 'auth-token: 0123456789abcdef');

# --- refused uploads: nothing is requested, except where the answer is the reason ---

sub refused {
    my ($what, $url, $status, $text, $requests) = @_;
    $t->given(forget => {});
    my $got = upload($url);
    is_deeply([ $got->{status}, $got->{json} ], [ $status, { error => $text } ], $what) or diag $got->{body};
    is(scalar(paths()), $requests // 0, '... requests');
    return;
}

refused('no URL', 'http://', 400, 'Enter a valid URL.');
refused('another scheme', 'ftp://files.test/a.zip', 400, 'Insecure URL');
refused('http where https is asked for', 'http://only.test/a.zip', 400, 'Insecure URL');
refused('an unknown host', 'https://other.test/a.zip', 400, "Not an allowed domain ('other.test') to download from.");
refused('... without a scheme', 'other.test/a.zip', 400, "Not an allowed domain ('other.test') to download from.");
refused('a host that looks alike', "http://files.test\@other.test:$port/a.zip", 400, 'Insecure URL');
refused('an address', "https://127.0.0.1:$port/a.zip", 400, "Not an allowed domain ('127.0.0.1') to download from.");
refused('no zip', "$base/a.tar.gz", 400, 'Unrecognized archive file extension ".gz"');
refused('a private address', "http://inner.test:$port/a.zip", 400,
    "Not an allowed domain ('inner.test') to download from.");
refused('not there', "$base/none.zip", 400, "$base/none.zip can't be found (404)", 1);
route('/secret.zip', status => 403);
refused('not allowed', "$base/secret.zip", 400, "$base/secret.zip can't be found (403)", 1);
route('/ill.zip', status => 503);
refused('an error', "$base/ill.zip", 500, "$base/ill.zip errored (503)", 1);
route('/ever.zip', status => 500);
my $began = clock_gettime(CLOCK_MONOTONIC);
refused('an error again and again', "$base/ever.zip", 500, "RetryError trying to open $base/ever.zip", 3);
cmp_ok(clock_gettime(CLOCK_MONOTONIC) - $began, '>=', 0.75, '... with growing pauses');
route('/no_content.zip', status => 206, body => 'x');
refused('another status', "$base/no_content.zip", 400,
    "non-200 status code when retrieving $base/no_content.zip", 1);
refused('no host', 'http://none.cdn.test/a.zip', 500, 'ConnectionError trying to open http://none.cdn.test/a.zip');
refused('no server', 'http://files.test:1/a.zip', 500, 'ConnectionError trying to open http://files.test:1/a.zip');
route('/text.zip', body => 'not a zip');
refused('no zip inside', "$base/text.zip", 400, 'File is not a zip file', 1);
route('/empty.zip', body => '');
refused('nothing inside', "$base/empty.zip", 400, 'File is not a zip file', 1);
route('/cut.zip', body => 'PK', length => 100);
refused('a body that is cut', "$base/cut.zip", 500, "ConnectionError trying to open $base/cut.zip", 1);

for my $case ([ "http://other.test:$port/end.zip", 'other.test' ], [ "http://127.0.0.1:$port/end.zip", '127.0.0.1' ],
    [ "http://inner.test:$port/end.zip", 'inner.test' ])
{
    my ($to, $host) = @$case;
    route('/away.zip', status => 302, headers => { Location => $to });
    my $text = $host eq 'inner.test' ? "Not an allowed domain ('$host') to download from." : 'Insecure URL';
    refused("a redirect to $to", "$base/away.zip", 400, $text, 1);
}
route('/away.zip', status => 302, headers => { Location => "https://other.test:$port/end.zip" });
refused('a redirect to a secure one', "$base/away.zip", 400,
    "Not an allowed domain ('other.test') to download from.", 1);
route('/away.zip', status => 302, headers => { Location => "http://only.test:$port/end.zip" });
refused('a redirect to http', "$base/away.zip", 400, 'Insecure URL', 1);
route('/loop.zip', status => 302, headers => { Location => '/loop.zip' });
refused('a loop', "$base/loop.zip", 400, "Too many redirects trying to open $base/loop.zip", 6);

# --- sizes and times ---

route('/large.zip', body => 'PK', length => 10 << 30, stall => JSON::PP::true());
$r = upload("$base/large.zip");
is($r->{status}, 413, 'a file of 10 GB: at its header') or diag $r->{body};

# more than it says: the rest is not read
($zip, $id) = archive('longer');
route('/longer.zip', body => SymTest::slurp($zip) . 'more', length => -s $zip);
is(upload("$base/longer.zip")->{status}, 201, 'a body that is longer than it says');

# A stalled source: others go on, and its client may leave.
route('/stall.zip', body => 'PK', length => 1000, stall => JSON::PP::true());
$t->given(forget => {});
my @stalled = map {
    my $s = $t->connect;
    my $body = "url=$base/stall.zip";
    $t->send_all($s, "POST /upload/ HTTP/1.1\r\nHost: a\r\nAuth-Token: 0123456789abcdef\r\n"
        . 'Content-Type: application/x-www-form-urlencoded' . "\r\nContent-Length: " . length($body)
        . "\r\n\r\n$body");
    $s;
} 1 .. 4;
$t->wait_for(sub { paths() == 4 });
like($t->function($t->ask([ 'm', $id ])), qr/^longer/, 'answers go on beside stalled downloads');
is(upload("$base/longer.zip")->{status}, 429, '... which count as uploads of their token');
close $_ for @stalled;
$t->wait_for(sub { upload("$base/longer.zip")->{status} == 201 });
pass('... until their clients leave');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

# its time is limited
$t = SymUpload->new(url => ['http://files.test'], how => 'symbolicate_fetch_timeout 1s;',
    tokens => { ci => { secret => '0123456789abcdef' } })->start;
$t->given(names => { 'files.test' => [['127.0.0.1']] });
$base = "http://files.test:$t->{ports}{port}";
route('/stall.zip', body => 'PK', length => 1000, stall => JSON::PP::true());
$r = upload("$base/stall.zip");
is_deeply([ $r->{status}, $r->{json} ],
    [ 500, { error => "ConnectionError trying to open $base/stall.zip" } ], 'a source that stalls');
is($t->end, '', 'nothing is wrong');
done_testing();
