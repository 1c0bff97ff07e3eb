#!/usr/bin/perl

# Frames in Sentry's native API, by the rules of its documentation and of
# Symbolicator's code: which members a frame keeps, which frames are omitted,
# their order, and addresses outside of all modules.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP;
use Test::More;

use SymTest;

my $id = '00112233445566778899AABBCCDDEEFF0';
my $t = SymTest->new;
my $file = $t->dir . '/app.sym';
open my $out, '>', $file or die "$file: $!";
print $out <<"SYM";
MODULE Linux x86_64 $id app
FILE 0 /src/../src/a/main.c
FILE 1 inline.h
INLINE_ORIGIN 0 inlined
FUNC 1000 100 0 main
INLINE 0 7 0 0 1010 10
1000 10 5 0
1010 10 70 1
1020 e0 9 0
FUNC 2000 10 0 _start
2000 10 1 0
PUBLIC 3000 0 _ZN3foo3barEi
SYM
close $out;
$t->load($file)->conf(locations => <<'CONF')->start;
        location /plain  { symbolicate sentry; }
        location /slices { symbolicate sentry; symbolicate_slice 1; }
CONF

my $base = 0x400000;
my %module = (type => 'elf', debug_id => '00112233-4455-6677-8899-aabbccddeeff',
              debug_file => '/usr/lib/app', code_file => '/usr/bin/app',
              image_addr => sprintf('0x%x', $base), image_size => 0x10000);

# The answer is the same in slices of any size.
sub ask {
    my ($request) = @_;
    my @answers = map { $t->post_json("/$_/symbolicate", $request,
        'Content-Type' => 'application/json') } 'plain', 'slices';

    is($answers[0]{body}, $answers[1]{body}, 'slices make no difference');
    return $answers[0]{json};
}

sub frames {
    my ($frames, %more) = @_;
    return ask({ modules => [ \%module ], stacktraces => [ { frames => $frames } ],
                 %more })->{stacktraces}[0]{frames};
}

sub at { return sprintf '0x%x', $base + $_[0] }

# --- a frame that is found ---

my %kept = (platform => 'native', trust => 'fp', function_id => '0x7',
            adjust_instruction_addr => JSON::PP::false);
my %common = (status => 'symbolicated', original_index => 0, %kept,
              instruction_addr => at(0x1015), package => '/usr/bin/app');
is_deeply(frames([ { instruction_addr => $base + 0x1015, %kept, function_id => 7,
        package => 'other', function => 'sent', in_app => JSON::PP::true,
        filename => 'sent.c', abs_path => '/sent.c', lineno => 3,
        pre_context => ['sent'], source_link => 'http://sent/' } ]), [
    { %common, symbol => 'inlined', function => 'inlined', lineno => 70,
      filename => 'inline.h', abs_path => 'inline.h' },
    { %common, symbol => 'main', function => 'main', lineno => 7,
      filename => 'main.c', abs_path => '/src/a/main.c', sym_addr => at(0x1000) },
], 'an inlined call, and kept and dropped members of the request');

is_deeply(frames([ { instruction_addr => at(0x3001), filename => 'sent.c' } ]), [
    { status => 'symbolicated', original_index => 0, instruction_addr => at(0x3001),
      package => '/usr/bin/app', symbol => '_ZN3foo3barEi',
      function => 'foo::bar(int)', sym_addr => at(0x3000), filename => 'sent.c',
      lineno => 0 },
], 'a symbol without a line: its name is demangled, the file is the one sent');

# --- frames that are not found ---

my %sent = (function => '_ZN3foo3barEi', in_app => JSON::PP::false, lineno => 12,
            vars => { x => [ 1, { y => undef } ] }, pre_context => ['a'],
            context_line => "\x{e4}\"\\", post_context => ['b'], lang => 'cpp',
            source_link => 'http://x/', sym_addr => '0x10', platform => 'native',
            trust => 'context', filename => 'f', abs_path => '/f', package => 'p');
is_deeply(frames([ { instruction_addr => '16', %sent } ]), [
    { status => 'unknown_image', original_index => 0, instruction_addr => '0x10',
      %sent, function => 'foo::bar(int)', symbol => '_ZN3foo3barEi' },
], 'a frame without a module keeps the sent values, and its name is demangled');
is_deeply(frames([ { instruction_addr => at(0x500), package => 'p',
                     function => 'f', symbol => '_Z1gv' } ]), [
    { status => 'missing_symbol', original_index => 0, instruction_addr => at(0x500),
      package => '/usr/bin/app', function => 'f', symbol => '_Z1gv' },
], 'one of a module has its package; two names are unchanged');

# --- relative addresses ---

is_deeply([ map { [ @$_{qw(status instruction_addr addr_mode)} ] } @{ frames([
        { instruction_addr => '0x2004', addr_mode => 'rel:0' },
        { instruction_addr => '0x2004', addr_mode => 'rel:1' },
        { instruction_addr => '0x2004', addr_mode => 'rel:18446744073709551615' },
        { instruction_addr => '0xffffffffffffffff', addr_mode => 'rel:0' },
        { instruction_addr => '0x100002004', addr_mode => 'rel:0' } ]) } ], [
    [ 'symbolicated', at(0x2004), undef ],
    [ 'unknown_image', '0x2004', 'rel:1' ],
    [ 'unknown_image', '0x2004', 'rel:18446744073709551615' ],
    [ 'missing_symbol', '0xffffffffffffffff', 'rel:0' ],
    [ 'missing_symbol', '0x100002004', 'rel:0' ],
], 'a module by its index, none, and offsets beyond 32 bits');

# --- frames that are omitted ---

my $main = { instruction_addr => at(0x1030) };
my $start = { instruction_addr => at(0x2005) };
my $garbage = { instruction_addr => '0x10' };
my $scanned = { instruction_addr => '0x20', trust => 'scan' };

sub indexes { return [ map { $_->{original_index} } @{ frames(@_) } ] }

is_deeply(indexes([ $main, $start, $garbage ]), [ 0, 1 ], 'garbage behind _start');
is_deeply(indexes([ $main, $garbage ]), [ 0, 1 ], '... but not after others');
is_deeply(indexes([ $start, $garbage, $garbage ]), [ 0, 1, 2 ],
    '... nor if it is not the last');
is_deeply(indexes([ $main, $start, $scanned, $garbage ]), [ 0, 1 ],
    '... and omitted frames do not count');
is_deeply(indexes([ { %$garbage, function => '_start' }, $garbage ]), [ 0 ],
    '... which may be a sent name');
is_deeply(indexes([ $garbage ]), [ 0 ], 'a single frame stays');
is_deeply(indexes([ $scanned, $main, { %$scanned, instruction_addr => at(0x500) } ]),
    [ 1 ], 'scanned frames without a symbol');

# --- the other order ---

my @order = (options => { frame_order => 'caller_first' });
is_deeply(indexes([ $garbage, $start, $main ], @order), [ 1, 0 ],
    'callers first: the outermost frame is the first, indexes count from the last');
is_deeply([ map { $_->{function} } @{ frames(
        [ $main, { instruction_addr => at(0x1015) } ], @order) } ],
    [ 'main', 'main', 'inlined' ], '... and inlined calls are last');

# --- the stack ---

is_deeply(ask({ signal => 11, platform => undef, stacktraces => [ {
        thread_id => 9, thread_name => 'w', is_requesting => JSON::PP::true,
        registers => { rip => $base + 1, rsp => '0X20' }, frames => [] } ] }),
    { status => 'completed', signal => 11, modules => [], stacktraces => [ {
        thread_id => 9, thread_name => 'w', is_requesting => JSON::PP::true,
        registers => { rip => at(1), rsp => '0x20' }, frames => [] } ] },
    'a stack keeps its thread and registers');

# --- modules ---

is_deeply(ask({ modules => [
        { type => 'macho', debug_id => 'BBA6FA10B8AAB33D0000000000000000', code_id => 'AB-CD',
          image_addr => '0x3000', debug_checksum => 'SHA256:00' },
        { type => 'what', debug_id => 'no id', code_id => '', image_addr => '0x1000' } ] }), {
    status => 'completed', stacktraces => [], modules => [ map { {
        debug_status => 'unused', arch => 'unknown', features => {
            map { $_ => JSON::PP::false } qw(has_debug_info has_unwind_info
                has_symbols has_sources) }, %$_ } }
        { type => 'macho', debug_id => 'bba6fa10-b8aa-b33d-0000-000000000000',
          code_id => 'abcd', image_addr => '0x3000', debug_checksum => 'SHA256:00' },
        { type => 'unknown', image_addr => '0x1000', image_size => 0x2000 } ] },
    'modules: canonical ids, or none; sizes up to the next module');

is($t->log_trouble, '', 'a clean log');
done_testing();
