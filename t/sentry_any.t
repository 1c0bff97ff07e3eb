#!/usr/bin/perl

# POST /symbolicate-any: a crash report at a URL gets the same answer as in a
# form; if the file cannot be fetched or read, the answer says why.  The token
# goes only to the file's origin, and addresses are checked like those of
# sources.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use SymFixtures qw(fixtures);
use SymGiven;
use SymTest;
use Test::More;

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymGiven->new(at => '/', more => 'client_max_body_size 20m;')->start;
my $server = 'http://' . $t->address_of_servers;
my @sources = $t->source('/symbols');
$t->symbols('/symbols', 'Demo', 7);

sub any {
    my ($path, $type, %o) = @_;
    my $url = $path =~ /^http/ ? $path : "$server$path";
    return $t->request('POST', '/symbolicate-any' . ($o{query} // ''),
        headers => ['Content-Type' => 'application/json'],
        body => $JSON->encode({ sources => \@sources, symbolicate => {
            type => $type, storage_url => $url, storage_token => $o{token},
            rewrite_first_module => [] } }));
}

sub answer_of { return $JSON->decode($_[0]{body}) }

# --- reports of Apple ---

my $uuid = SymGiven::guid(7);
my $text = <<"END";
Incident Identifier: 5C32DF84-31A0-43E7-87D0-239F7F594940
Hardware Model:      iPhone12,1
Code Type:           ARM-64 (Native)
OS Version:          iPhone OS 17.1 (21B74)
Exception Type:  EXC_BAD_ACCESS (SIGSEGV)

Thread 0 Crashed:
0   Demo                  0x0000000104001004 0x104000000 + 4100

Binary Images:
0x104000000 - 0x10400ffff Demo arm64  <$uuid> /var/containers/Demo.app/Demo
END
$t->route('/report?x=1', body => $text);
my $form = answer_of($t->form('/applecrashreport', sources => $JSON->encode(\@sources),
                              apple_crash_report => $text));
is($form->{stacktraces}[0]{frames}[0]{function}, 'f0', 'a form');

sub asked_for { return map { $_->{headers}{authorization} // 'nothing' } grep { $_->{target} eq $_[0] } $t->requests }

$t->forget;
is_deeply(answer_of(any('/report?x=1', 'applecrashreport', token => 'secret')), $form,
          'a report at a URL: the same answer');
is_deeply([asked_for('/report?x=1')], ['Bearer secret'], '... with its token');

$t->forget;
is_deeply(answer_of(any('/report?x=1', 'applecrashreport')), $form, 'without a token');
is_deeply([asked_for('/report?x=1')], ['nothing'], '... none is sent');

$t->route('/there', status => 302, headers => { Location => "http://127.0.0.2:$t->{ports}{port}/report?x=1" });
is(answer_of(any('/there', 'applecrashreport', token => 'x'))->{message},
   'download failed: destination is restricted', 'an address that is not allowed');
$t->names('other.test' => [['127.0.0.1']]);
$t->route('/there', status => 302, headers => { Location => "http://other.test:$t->{ports}{port}/report?x=1" });
$t->forget;
is_deeply(answer_of(any('/there', 'applecrashreport', token => 'x')), $form, 'a redirect');
is_deeply([asked_for('/there'), asked_for('/report?x=1')], ['Bearer x', 'nothing'],
          '... to another host gets no token');

# A client that does not wait gets the answer later, by form and by URL.
for (['a form', sub { $t->form('/applecrashreport?timeout=0', sources => $JSON->encode(\@sources),
                               apple_crash_report => $text) }],
     ['a URL', sub { any('/report?x=1', 'applecrashreport', query => '?timeout=0') }])
{
    my ($name, $ask) = @$_;
    my $pending = answer_of($ask->());
    is($pending->{status}, 'pending', "$name: pending");
    is_deeply(answer_of($t->request('GET', "/requests/$pending->{request_id}?timeout=60")), $form,
              '... and answered later');
}

# --- files that are not there ---

$t->route('/denied', status => 403);
$t->route('/broken', status => 500);
$t->route('/empty', body => '');
$t->route('/no-report', body => 'Report Version: x');
$t->route('/long', body => 'x' x (17 << 20));
$t->route('/large', body => 'x' x (21 << 20));
for (['/none', qr/^not found$/, 1], ['/denied', qr/^permission denied: 403 Forbidden$/, 1],
     ['/broken', qr/^download failed: it answered with an error: 500$/, 3],
     ['/large', qr/^download failed: the file is larger/, 1],
     ['/long', qr/^Header mismatch$/, 1, 'minidump'],    # it is read, although no source file is so long
     ['/no-report', qr/^failed to parse apple crash report$/, 1],
     ['/no-report', qr/^Header mismatch$/, 1, 'minidump'])
{
    my ($path, $want, $times, $type) = @$_;
    $t->forget;
    my $got = answer_of(any($path, $type // 'applecrashreport'));
    is($got->{status}, 'failed', "$path: failed");
    like($got->{message}, $want, '... why');
    is(scalar(grep { $_->{target} eq $path } $t->requests), $times, '... tries');
}

# --- invalid requests ---

my %minidump = (type => 'minidump', storage_url => "$server/x", rewrite_first_module => []);
for (['{', 400, qr/JSON/], ['[]', 422, qr/expected struct/], ['{}', 422, qr/missing field `symbolicate`/],
     [{ symbolicate => 1 }, 422, qr/symbolicate: invalid type: integer `1`/],
     [{ symbolicate => {} }, 422, qr/missing field `type`/],
     [{ symbolicate => { type => 'x' } }, 422, qr/unknown variant/],
     [{ symbolicate => { type => 'minidump' } }, 422, qr/missing field `storage_url`/],
     [{ symbolicate => { %minidump, storage_url => 'x' } }, 422, qr/symbolicate.storage_url: /],
     [{ symbolicate => { %minidump, storage_token => "a\nb" } }, 422, qr/symbolicate.storage_url: control/],
     [{ symbolicate => { type => 'minidump', storage_url => "$server/x" } }, 422,
      qr/missing field `rewrite_first_module`/],
     [{ symbolicate => \%minidump, sources => undef }, 422, qr/sources: invalid type: null/],
     [{ symbolicate => \%minidump, options => 1 }, 422, qr/options: invalid type/])
{
    my ($body, $status, $want) = @$_;
    $body = $JSON->encode($body) if ref $body;
    my $r = $t->request('POST', '/symbolicate-any', body => $body,
                        headers => ['Content-Type' => 'application/json']);
    is($r->{status}, $status, "$body: $status");
    like($r->{body}, $want, '... why');
}
is($t->request('POST', '/symbolicate-any', body => '{}', headers => ['Content-Type' => 'text/plain'])->{status},
   415, 'another type');

# --- minidumps ---

SKIP: {
    my $root = fixtures('dumps') or skip 'no fixtures', 1;
    for my $name (qw(linux macos windows)) {
        my $file = "$root/$name.dmp";
        $t->route("/$name", file => $file);
        my $want = answer_of($t->form('/minidump', sources => $JSON->encode(\@sources),
                                      upload_file_minidump => SymTest::slurp($file)));
        is($want->{status}, 'completed', "$name: a form");
        is_deeply(answer_of(any("/$name", 'minidump')), $want, '... a URL');
        my $pending = answer_of(any("/$name", 'minidump', query => '?timeout=0'));
        is_deeply(answer_of($t->request('GET', "/requests/$pending->{request_id}?timeout=60")), $want,
                  '... later');
    }
}

is($t->end, '', 'nothing is wrong');
done_testing();
