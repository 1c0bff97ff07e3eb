#!/usr/bin/perl

# The lines of Apple's crash reports, one rule of their format after the other: sections,
# headers, frames, registers, images.  The rules are those of Symbolicator's parser (crate
# apple-crash-report-parser) and of its answers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use SymGiven;
use Test::More;

my $t = SymGiven->new(at => '/')->start;

sub answer {
    my ($text) = @_;
    my $r = $t->form('/applecrashreport', sources => '[]', apple_crash_report => $text);
    return $r->{status} == 200 ? JSON::PP::decode_json($r->{body}) : {};
}

my $uuid = 'c0f62cd2-9b37-4c4d-a2dc-e0a8bd3c5a0f';
my $text = <<"END";
Incident Identifier: 5C32DF84-31A0-43E7-87D0-239F7F594940
Process:             Demo [123]
Code Type:           X86-64 (Native)
Date/Time:           2019-01-09 17:44:22 +0100
OS Version:          Mac OS X 10.14.0 (18A391)
Report Version:      12
Exception Type:        EXC_CRASH (SIGABRT)
Exception Codes:       0x0000000000000000, 0x0000000000000000
Exception Message:     the message

Application Specific Information:
first line
second line  

Thread 0 name:  first thread
Thread 0:
0   libsystem_kernel.dylib        	0x00007fff61bc6c2a 0x7fff61bb1000 + 89130
1   Demo                          	0x000000010d2b5b9e 0x10d2b4000 + 7070
2   ???                           	0x0000000000000010 0 + 16

Thread 1 Crashed:
0   Demo                          	0x000000010d2b5b9e start + 3 (main.m:16)

Thread 1 crashed with X86 Thread State (64-bit):
  rax: 0x20261bb4775b008f  rbx: 0x0000000000000000
  rip: 0x00007fff61bc6c2a

Binary Images:
       0x10d2b4000 -        0x10d2b9fff +Demo x86_64 (1.0 - 1) <$uuid> /Applications/Demo.app/Demo
    0x7fff61bb1000 -     0x7fff61bd8ff7  libsystem_kernel.dylib x86_64 (4903) <3853C4AE-9C5C-37A2-B99A-F3C8C9A5A2F4> /usr/lib/system/libsystem_kernel.dylib

VM Region Summary:
END

my $got = answer($text);
is($got->{status}, 'completed', 'a report');
is($got->{timestamp}, 1547052262, 'time, with its zone');
is($got->{crash_reason}, 'EXC_CRASH (SIGABRT)', 'Exception Type is the reason');
is($got->{crash_details}, "first line\nsecond line", 'application specific information is in the details, line by line');
is_deeply($got->{system_info}, { os_name => 'macOS', os_version => '10.14.0', os_build => '18A391',
    cpu_arch => 'x86_64', device_model => '' }, 'the system: a Mac has three parts');

my @stacks = @{ $got->{stacktraces} };
is(join(' ', map { $_->{thread_id} } @stacks), '0 1', 'threads');
is(join(' ', map { $_->{is_requesting} ? 1 : 0 } @stacks), '0 1', 'the crashed one');
is_deeply([map { $_->{instruction_addr} } @{ $stacks[0]{frames} }], [qw(0x7fff61bc6c2a 0x10d2b5b9e 0x10)], 'frames');
is_deeply($stacks[0]{registers} // {}, {}, 'registers belong to the crashed thread');
is_deeply($stacks[1]{registers}, { rax => '0x20261bb4775b008f', rbx => '0x0', rip => '0x7fff61bc6c2a' }, '... only');

my ($demo) = grep { $_->{code_file} =~ /Demo/ } @{ $got->{modules} };
is("$demo->{type} $demo->{image_addr} $demo->{image_size} $demo->{debug_id} $demo->{debug_file}",
   "macho 0x10d2b4000 " . 0x5fff . " $uuid /Applications/Demo.app/Demo", 'an image');
is(scalar @{ $got->{modules} }, 2, 'images, until a line is not one');

# --- what is missing, or wrong ---

is(answer($text =~ s/^Application Specific.*?\n\n//msr)->{crash_details}, 'the message', 'else Exception Message');
is(answer($text =~ s/^Application Specific.*?\n\n//msr =~ s/^Exception Message.*\n//mr)->{crash_details},
   '0x0000000000000000, 0x0000000000000000', 'else Exception Codes');
is(answer($text =~ s/^Code Type.*\n//mr)->{system_info}{cpu_arch}, 'x86_64', 'else the architecture of an image');
is(answer($text =~ s/^OS Version:.*/OS Version:          iPhone OS 12.1 (16B92)/mr)->{system_info}{os_name},
   'iPhone OS 12.1 (16B92)', 'other systems are one name');

for (['Incident Identifier: x'], ['Date/Time:           yesterday'], ['Report Version:      x']) {
    my ($line) = @$_;
    my ($key) = $line =~ /^([^:]+):/;
    is(answer($text =~ s/^\Q$key\E:.*/$line/mr)->{status}, 'failed', "no report: $line");
}
is(answer($text =~ s/<$uuid>/<c0f62cd2>/r)->{status}, 'failed', 'no report: an id that is no UUID');

# --- what the parser's regular expressions say of lines that are rare ---

is(answer($text =~ s/\+0100/+01:00/r)->{timestamp}, 1547052262, 'a zone with a colon');
is(answer($text =~ s/\(18A391\)/(1) x/r)->{system_info}{os_name}, 'Mac OS X 10.14.0 (1) x',
   'a name with more after the build is not split');
is(answer($text =~ s/10\.14\.0/10.14/r)->{system_info}{os_name}, 'Mac OS X 10.14 (18A391)', '... nor with two numbers');
is(answer($text =~ s/^second line.*\n/$&\n/mr)->{crash_details}, "first line\nsecond line\n",
   'of two empty lines after the information one belongs to it');
is(answer($text =~ s/^VM Region Summary:/Application Specific Information:\nthird/mr)->{crash_details},
   "first line\nsecond line\n\nthird", 'information in two places is one text');
is(scalar @{ answer($text =~ s/^1   Demo/ 1   Demo/mr)->{stacktraces}[0]{frames} }, 1, 'an indented frame ends its thread');
is(answer($text =~ s/^Thread 0:$/Thread 0: other/mr)->{stacktraces}[0]{thread_name}, 'first thread',
   'the line with the name wins');
is_deeply(answer($text =~ s/rbx: 0x0000000000000000/rbx:0x7 esr: 0x1 (Data Abort) rax: 0x2/r)->{stacktraces}[1]{registers},
          { rax => '0x2', esr => '0x1', rip => '0x7fff61bc6c2a' },
          'registers are found anywhere in a line; of two values the last counts');

my $over = '0x1ffffffffffffffff';
for (['number of a thread', 'Thread 1 Crashed:', 'Thread 99999999999999999999 Crashed:'],
     ['address of a frame', '0x000000010d2b5b9e start', "$over start"],
     ['register', '0x00007fff61bc6c2a$', $over], ['image', '0x10d2b9fff', $over])
{
    my ($what, $from, $to) = @$_;
    is(answer($text =~ s/$from/$to/mr)->{status}, 'failed', "no report: a $what of more than 64 bits");
}
is(answer($text =~ s/0x10d2b9fff/0x10d2b3fff/r)->{status}, 'failed', 'no report: an image that ends before it begins');

# iOS 10 to 14 write a line of JSON before the text; it is not a line of a report.
is_deeply(answer(qq({"app_name":"Demo","bug_type":"109"}\n$text)), $got, 'a text after a line of JSON');

is($t->end, '', 'a clean log');
done_testing;
