#!/usr/bin/perl

# Crash reports of Apple, as text and as JSON (.ips), are symbolicated with the
# sources of the request; anything that is not a report or a form is refused
# with a reason.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use SymGiven;
use Test::More;

my $t = SymGiven->new(at => '/')->start;
my $source = JSON::PP::encode_json([$t->source('/symbols')]);
$t->symbols('/symbols', 'Demo', 7);
my $uuid = SymGiven::guid(7);

sub report {
    my ($text, %more) = @_;
    my $r = $t->form('/applecrashreport', sources => $source, %more,
                     apple_crash_report => $text);
    return $r->{status} == 200 ? JSON::PP::decode_json($r->{body}) : $r;
}

sub functions {
    my ($stack) = @_;
    return join ' ', map { $_->{function} // $_->{status} } @{ $stack->{frames} };
}

# --- text ---

my $text = <<"END";
Incident Identifier: 5C32DF84-31A0-43E7-87D0-239F7F594940
Hardware Model:      iPhone12,1
Code Type:           ARM-64 (Native)
Date/Time:           2024-02-29 23:30:00.123 -0100
OS Version:          iPhone OS 17.1 (21B74)
Report Version:      104
Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
Exception Codes: 0x1, 0x88
Exception Subtype: KERN_INVALID_ADDRESS at 0x88

Thread 0 name:  main thread Dispatch queue: com.apple.main-thread
Thread 0 Crashed:
0   Demo App              0x0000000104001004 0x104000000 + 4100
1   ???                   0x0000000000000088 0x0 + 0

Thread 0 crashed with ARM Thread State (64-bit):
    x0: 0x0000000000000001   x1: 0x0000000000000002
    pc: 0x0000000104001004

Binary Images:
0x104000000 - 0x10400ffff Demo App arm64  <$uuid> /var/containers/Demo.app/Demo
END
my $got = report($text);
is($got->{status}, 'completed', 'a text') or diag explain $got;
is(functions($got->{stacktraces}[0]), 'f0 unknown_image', '... its frames');
is_deeply($got->{system_info}, { cpu_arch => 'arm64', device_model => 'iPhone12,1', os_build => '',
    os_name => 'iPhone OS 17.1 (21B74)', os_version => '' }, '... the system');
is($got->{timestamp}, 1709253000, '... the time');
is($got->{crash_reason}, 'EXC_BAD_ACCESS (SIGSEGV)', '... the reason');
is($got->{crash_details}, 'KERN_INVALID_ADDRESS at 0x88', '... its details');
is($got->{stacktraces}[0]{thread_name}, 'main thread', '... the thread');

# Apple's documented form of .ips.
sub ips {
    my (%more) = @_;
    return JSON::PP::encode_json({ app_name => 'Demo', bug_type => '309' }) . "\n"
        . JSON::PP::encode_json({
        captureTime => '2024-02-29 23:30:00.1234 -0100', cpuType => 'ARM-64',
        modelCode => 'iPhone12,1', osVersion => { train => 'iPhone OS 17.1', build => '21B74' },
        exception => { type => 'EXC_CRASH', signal => 'SIGABRT', codes => '0x0, 0x0' },
        asi => { 'libsystem_c.dylib' => ['abort() called', 'twice'] },
        faultingThread => 1,
        threads => [{ id => 10, frames => [{ imageIndex => 1, imageOffset => 4 }] },
            { id => 11, triggered => JSON::PP::true, name => 'worker',
              threadState => { flavor => 'ARM_THREAD_STATE64', x => [{ value => 1 }, { value => 2 }],
                               pc => { value => 4362080260 } },
              frames => [{ imageIndex => 0, imageOffset => 0x1004 }] }],
        lastExceptionBacktrace => [{ imageIndex => 0, imageOffset => 0x1004 }],
        usedImages => [{ uuid => $uuid, base => 4362076160, size => 0x10000, name => 'Demo',
                         path => '/var/containers/Demo.app/Demo', arch => 'arm64' },
                       { base => 0, size => 0, source => 'A' }], %more }) . "\n";
}
$got = report(ips());
is($got->{status}, 'completed', 'an .ips') or diag explain $got;
is(join(' ', map { functions($_) } @{ $got->{stacktraces} }), 'f0 unknown_image f0', '... its frames');
is_deeply($got->{stacktraces}[2]{registers}, { x0 => '0x1', x1 => '0x2', pc => '0x104001004' }, '... the registers');
is_deeply([map { $_->{thread_name} } @{ $got->{stacktraces} }],
          ['Last Exception Backtrace', undef, 'worker'], '... the threads');
is_deeply([@{ $got }{qw(crash_reason crash_details timestamp)}],
          ['EXC_CRASH (SIGABRT)', "abort() called\ntwice", 1709253000], '... the reason');
is_deeply($got->{system_info}, { cpu_arch => 'arm64', device_model => 'iPhone12,1', os_build => '21B74',
    os_name => 'iPhone OS', os_version => '17.1' }, '... the system');

$got = report(ips(threads => 'x', usedImages => { a => 1 }, exception => [], osVersion => 7, asi => { a => [1, {}] },
                  captureTime => 1, lastExceptionBacktrace => [[], 1, { imageIndex => -1 }]));
is($got->{status}, 'completed', 'keys of other types are omitted');

# --- neither a report nor a form ---

is_deeply(report($text =~ s/^Report Version: .*/Report Version: x/mr),
          { status => 'failed', message => 'failed to parse apple crash report' }, 'no report');
is(report('{"a":')->{status}, 'failed', 'no JSON');
is(report('')->{status}, 'completed', 'an empty one, as in Symbolicator');

my @cases = (
    ['no report', [], qr/^missing apple crash report$/],
    ['null', [sources => 'null', apple_crash_report => ''], qr/^sources: invalid type: null/],
    ['no JSON', [options => '{', apple_crash_report => ''], qr/JSON/],
    ['another type', [sources => '{}', apple_crash_report => ''], qr/a sequence/],
);
for (@cases) {
    my ($name, $fields, $want) = @$_;
    my $r = $t->form('/applecrashreport', @$fields);
    is($r->{status}, 400, "$name: 400");
    like($r->{body}, $want, '... and why');
}
for (['no boundary', 'multipart/form-data', 'x', qr/has no boundary/],
     ['other boundary', 'multipart/form-data; boundary="b c"', "--b\r\n\r\n", qr/does not have the boundary/],
     ['no end', 'multipart/form-data; boundary=b', "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx", qr/does not end/],
     ['no name', 'multipart/form-data; boundary=b', "--b\r\nA: b\r\n\r\nx\r\n--b--", qr/has no name/],
     ['no headers', 'multipart/form-data; boundary=b', "--b\r\nA: b\r\n--b--", qr/do not end/])
{
    my ($name, $type, $body, $want) = @$_;
    my $r = $t->request('POST', '/applecrashreport', body => $body, headers => ['Content-Type' => $type]);
    is($r->{status}, 400, "$name: 400");
    like($r->{body}, $want, '... and why');
}
is($t->request('POST', '/applecrashreport', body => '{}', headers => ['Content-Type' => 'application/json'])->{status},
   415, 'no form');

is($t->end, '', 'a clean log');
done_testing();
