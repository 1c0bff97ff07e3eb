#!/usr/bin/perl

# A dump is answered in whatever form a client uploads it.  Crashpad sends its form in
# chunks, compressed by gzip, with annotations and attachments as further parts
# (crash_report_upload_thread.cc, http_multipart_builder.cc); Breakpad uses libcurl on
# Linux, and writes the form itself on Windows and macOS (http_upload.cc,
# HTTPMultipartUpload.m).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use IO::Compress::Gzip qw(gzip $GzipError);
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymTest;

my $LIMIT = 4 << 20;
my $t = SymGiven->new(at => '/', more => "client_max_body_size $LIMIT;")->start;
my $file = need_fixtures('dumps/linux.dmp');
my $dump = SymTest::slurp($file);

my $plain = $t->form('/minidump', sources => '[]', upload_file_minidump => $dump);
is($plain->{status}, 200, 'a plain form is answered');
like($plain->{body}, qr/"crash_reason": "SIGSEGV /, '... with the crash');

sub part {
    my ($name, $value, $more) = @_;
    return qq(Content-Disposition: form-data; name="$name") . ($more // '') . "\r\n\r\n$value\r\n";
}

sub file_part {
    my ($name, $file_name, $bytes) = @_;
    return part($name, $bytes, qq(; filename="$file_name"\r\nContent-Type: application/octet-stream));
}

sub body {
    my ($boundary, @parts) = @_;
    return join '', map({ "--$boundary\r\n$_" } @parts), "--$boundary--\r\n";
}

sub zipped {
    my ($bytes) = @_;
    gzip(\$bytes, \my $out) or die $GzipError;
    return $out;
}

sub send_form {
    my ($path, $boundary, $body, @headers) = @_;
    return $t->request('POST', $path, (ref $body ? 'chunks' : 'body') => $body,
        headers => ['Content-Type' => "multipart/form-data; boundary=$boundary", @headers]);
}

sub same {
    my ($r, $what) = @_;
    is($r->{status}, 200, "$what: an answer") or diag $r->{body};
    ok($r->{body} eq $plain->{body}, '... as to the plain form') or diag $r->{body};
    return;
}

sub refused {
    my ($r, $status, $message, $what) = @_;
    is($r->{status}, $status, $what);
    like($r->{body}, $message, '... with the reason');
    return $r;
}

# --- Crashpad ---

my $boundary = '---MultipartBoundary-0aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQ0k---';
my $form = body($boundary,
    part(guid => '01010101-0101-0101-0101-010101010101'),
    part(list_annotations => "one\ntwo\r\nthree"),
    part(plat => 'Linux'), part(prod => 'Demo'), part(ptype => 'browser'), part(sources => '[]'),
    part('with%22quote' => ''),
    file_part('__sentry-event', '__sentry-event', "\x83\xa5level\r\n--$boundary"),
    file_part('view.png', 'view.png', join '', map { chr($_ % 256) } 1 .. 100_000),
    file_part(upload_file_minidump => 'e1ebc13c-de07-4b37-ab2d-7e791899901d.dmp', $dump));
my $path = '/minidump?product=Demo&version=1.0%2B&guid=01010101-0101-0101-0101-010101010101';

my $zip = zipped($form);
my @gzip = ('Content-Encoding' => 'gzip');
same(send_form($path, $boundary, $form), 'Crashpad, --no-upload-gzip');
same(send_form($path, $boundary, [$zip =~ /(.{1,2281})/gs], @gzip), 'Crashpad: gzip in chunks');
same(send_form($path, $boundary, $zip, @gzip), 'gzip with a length');
same(send_form($path, $boundary, zipped(substr $form, 0, 1000) . zipped(substr $form, 1000), @gzip),
    'gzip of two members');
same(send_form("$path&timeout=600", $boundary, $zip, @gzip), 'gzip, for a client that waits');

refused(send_form($path, $boundary, $form, @gzip), 400, qr/no form/, 'announced as gzip, but plain');
refused(send_form($path, $boundary, substr($zip, 0, -9), @gzip), 400, qr/no form/, 'gzip that ends early');
refused(send_form($path, $boundary, zipped('no form'), @gzip), 400, qr/no form/, 'gzip of something else');
my $r = refused(send_form($path, $boundary, $form, 'Content-Encoding' => 'br'), 415, qr/gzip or none/,
    'another encoding');
is($r->{headers}{'accept-encoding'}, 'gzip', '... and which it may be');

my $bomb = body($boundary, file_part(upload_file_minidump => 'a.dmp', $dump . "\0" x $LIMIT));
refused(send_form($path, $boundary, zipped($bomb), @gzip), 413, qr/length limit exceeded/, 'gzip of more than may be sent');

# --- Breakpad ---

my $answer = $t->dir . '/answer';
system('curl', '-sS', '-f', '-o', $answer, '-H', 'Expect:', '-A', 'Breakpad/1.0 (Linux)',
    '-F', 'prod=Demo', '-F', 'ver=1.0', '-F', 'sources=[]', '-F', "upload_file_minidump=\@$file",
    'http://' . $t->address . '/minidump') == 0 or die "curl failed\n";
ok(SymTest::slurp($answer) eq $plain->{body}, 'Breakpad on Linux: as to the plain form');

$boundary = ('-' x 27) . '0123ABCD4567CDEF';
same(send_form('/minidump', $boundary, body($boundary, part(prod => 'Demo'), part(sources => '[]'),
    file_part(upload_file_minidump => 'C:\\Dumps\\a.dmp', $dump))), 'Breakpad on Windows');
same(send_form('/minidump', $boundary,
    "--$boundary\r\n" . part(sources => '[]') . "--$boundary\r\n"
    . file_part(upload_file_minidump => 'a.dmp', $dump) . "\r\n--$boundary--\r\n"), 'Breakpad on macOS');

is($t->end, '', 'nothing is wrong');
done_testing();
