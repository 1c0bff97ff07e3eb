#!/usr/bin/perl

# Crash reports of Apple as JSON: the keys are those of "Interpreting the JSON format of
# a crash report" in Apple's documentation, and of reports of iOS 16 and 17, macOS 12 to 26
# and simulators: what each key adds to the answer, and what a report may be without.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use SymGiven;
use Test::More;

my $t = SymGiven->new(at => '/')->start;
$t->symbols('/symbols', 'Demo', 7);
my ($JSON, $uuid) = (JSON::PP->new->canonical, SymGiven::guid(7));
my $source = $JSON->encode([$t->source('/symbols')]);

sub answer {
    my ($text) = @_;
    my $r = $t->form('/applecrashreport', sources => $source, apple_crash_report => $text);
    return $r->{status} == 200 ? $JSON->decode($r->{body}) : $r;
}

my %summary = (app_name => 'Demo', bug_type => '309', os_version => 'macOS 13.0 (22A380)',
               timestamp => '2022-10-31 16:23:41.00 -0300');
my @images = ({ source => 'P', arch => 'arm64', base => 0x104000000, size => 0x10000, uuid => $uuid,
                path => '/Applications/Demo.app/Demo', name => 'Demo' },
              { source => 'A', base => 0, size => 0, uuid => '00000000-0000-0000-0000-000000000000' },
              { base => 0x180000000, size => 0x1000, path => '/usr/lib/libobjc.A.dylib', name => 'libobjc.A.dylib' });

sub body { return (usedImages => \@images, @_) }
sub ips { return $JSON->encode(\%summary) . "\n" . $JSON->encode({ body(@_) }) . "\n" }
sub frames { return join ' ', map { $_->{function} // $_->{instruction_addr} } @{ $_[0]{frames} } }

# --- frames ---

my @frames = ({ imageIndex => 2, imageOffset => 24, symbol => 'objc_msgSend', symbolLocation => 8,
                sourceFile => 'msg.s', sourceLine => 12 },
              { imageIndex => 0, imageOffset => 0x1004, symbol => 'theirs()', symbolLocation => 4, inline => JSON::PP::true },
              { imageIndex => 0, imageOffset => 0x1004, symbol => 'wrong()', symbolLocation => 4 },
              { imageIndex => 1, imageOffset => 16 }, { imageOffset => 32 }, { imageIndex => 3, imageOffset => 48 });
my $got = answer(ips(threads => [{ frames => \@frames }]));
my $stack = $got->{stacktraces}[0];
is(frames($stack), 'objc_msgSend f0 0x10 0x20 0x30',
   'names of the report where there are no symbols; an inlined call is at the address of the next frame');
is_deeply([@{ $stack->{frames}[0] }{qw(status package sym_addr filename lineno instruction_addr)}],
          ['unknown_image', 'libobjc.A.dylib', '0x180000010', 'msg.s', 12, '0x180000018'],
          'an image without an id is no module, but has a name and a base');
is_deeply([map { "$_->{code_file} $_->{debug_status}" } @{ $got->{modules} }], ['/Applications/Demo.app/Demo found'],
          'images of no file are no modules');

# --- threads ---

my $state = { flavor => 'x86_THREAD_STATE', rax => { value => 1 }, rip => { value => 4362080260, matchesCrashFrame => 1 },
              r12 => { value => 18446744073709551600 }, rosetta => { tmp0 => { value => 5 } } };
$got = answer(ips(cpuType => 'X86-64', translated => JSON::PP::true, faultingThread => 1, threads => [
    { id => 10, queue => 'com.apple.main-thread', frames => [] }, { name => 'worker', queue => 'q', threadState => $state }]));
is(join(' ', map { "$_->{thread_id}:$_->{thread_name}" } @{ $got->{stacktraces} }), '0:com.apple.main-thread 1:worker',
   'the name, or else the queue');
is(join(' ', map { $_->{is_requesting} ? 1 : 0 } @{ $got->{stacktraces} }), '0 1', 'faultingThread crashed');
is_deeply($got->{stacktraces}[1]{registers}, { rax => '0x1', rip => '0x104001004', r12 => '0xfffffffffffffff0', tmp0 => '0x5' },
          'registers, those of Rosetta as well');
is($got->{system_info}{cpu_arch}, 'x86_64', 'the processor of a translated process');

# --- facts ---

my %exception = (type => 'EXC_CRASH', signal => 'SIGABRT', codes => '0x0, 0x0');
my %termination = (namespace => 'DYLD', indicator => 'Library missing', reasons => ['Library not loaded: a', 'Referenced from: b']);
my @details = (
    [{ exception => \%exception }, '0x0, 0x0', 'codes'],
    [{ termination => \%termination }, "Library not loaded: a\nReferenced from: b", 'reasons of the termination'],
    [{ exception => { %exception, subtype => 'KERN_INVALID_ADDRESS at 0x0' } }, 'KERN_INVALID_ADDRESS at 0x0', 'a subtype'],
    [{ exception => { %exception, subtype => 's', message => 'm' } }, 'm', 'a message'],
    [{ exceptionReason => { name => 'NSRangeException', composed_message => 'index 0 beyond bounds' } },
     'index 0 beyond bounds', 'the exception of Objective-C'],
    [{ asi => { 'libsystem_c.dylib' => ['abort() called', 'twice'] } }, "abort() called\ntwice", 'messages of the application'],
);
my %all;
for (@details) {
    my ($keys, $want, $what) = @$_;
    is(answer(ips(%all = (%all, %$keys)))->{crash_details}, $want, "details: $what, before all above");
}
is(answer(ips(termination => { namespace => 'SIGNAL', indicator => 'Killed: 9' }))->{crash_details}, 'Killed: 9',
   'details: the indicator, if there is nothing else');
is(answer(ips(exception => { type => 'EXC_GUARD' }))->{crash_reason}, 'EXC_GUARD', 'a reason without a signal');
$got = answer(ips());
is_deeply([$got->{timestamp}, $got->{system_info}{os_name}], [1667244221, 'macOS 13.0 (22A380)'],
          'time and system of the line before the report, if the report lacks them');

# --- stacks of exceptions ---

my @asi = (asiBacktraces => ["0   Demo       0x0000000104001004 f + 4\n1   ???        0x10 g + 1\nno frame", 'x']);
is(join('|', map { "$_->{thread_name}: " . frames($_) } @{ answer(ips(@asi))->{stacktraces} }),
   'Application Specific Backtrace: f0 0x10', 'a stack as text');
is(join('|', map { "$_->{thread_name}: " . frames($_) } @{ answer(ips(@asi, lastExceptionBacktrace => [$frames[2]]))->{stacktraces} }),
   'Last Exception Backtrace: f0', 'the stack of the exception is a better one');

# --- forms of the text ---

my $want = answer(ips(threads => [{ frames => \@frames }]));
my $body = $JSON->encode({ body(threads => [{ frames => \@frames }]) });
my $head = $JSON->encode(\%summary);
for (['followed by a description of the system', "$head\n$body\n\nModel: MacBookPro18,3, BootROM 8419\n"],
     ['CRLF and empty lines', "$head\r\n\r\n$body"],
     ['indented', "$head\n" . JSON::PP->new->pretty->encode({ body(threads => [{ frames => \@frames }]) })])
{
    is_deeply(answer($_->[1]), $want, "$_->[0]: the same answer");
}
delete $want->{timestamp};
$want->{system_info}{os_name} = '';
is_deeply(answer($body), $want, 'without the line before it: the same stacks');
is(answer("$head\n{}")->{status}, 'completed', 'an empty report');

# --- sizes ---

# Such a report has 46,000 keys: more than jansson may read in one go.
my @many = map { { id => $_, name => "t$_", threadState => $state,
    frames => [map { { imageIndex => 0, imageOffset => 0x1004, symbol => 'f', symbolLocation => 4 } } 1 .. 20] } } 1 .. 500;
$got = answer(ips(threads => \@many));
is(scalar(grep { frames($_) eq join ' ', ('f0') x 20 } @{ $got->{stacktraces} }), 500, 'a report of 500 threads');

my $deep = '[' x 100_000;
my $large = '{},' x (3 << 19);
for (['a thread of 4.5 MiB', qq({"threads":[{"frames":[$large\{}]}]})],
     ['nested deeply', qq({"threads":[$deep]})], ['nested deeply elsewhere', qq({"a":$deep})],
     ['cut', substr($body, 0, -4)], ['without a comma', '{"threads":[1 2]}'], ['no key', '{"a":1,}'])
{
    is_deeply(answer("$head\n$_->[1]"), { status => 'failed', message => 'failed to parse apple crash report: '
        . 'it is not JSON, or has a value of more than 4 MiB or 64 levels' }, "$_->[0]: failed");
}

for (['70,000 images', { usedImages => [({}) x 70_000] }, qr/more than 65536 images/],
     ['a thread of 8,000 frames with names', { threads => [{ frames => [($frames[0]) x 8000] }] }, qr/too many keys/],
     ['a message of 3 MiB', { asi => { a => ['x' x (3 << 20)] } }, qr/longer than 2 MiB/])
{
    my $r = answer(ips(%{ $_->[1] }));
    is($r->{status}, 413, "$_->[0]: 413");
    like($r->{body}, $_->[2], '... and why');
}

is($t->end, '', 'a clean log');
done_testing();
