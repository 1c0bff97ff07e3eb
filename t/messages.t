# Authors of clients debug with these messages, and some clients match them:
# texts and order of the checks are those of the server that we replace
# (Mozilla's Eliot), except for its accidental 500s.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $t = SymTest->new->load(SymTest::symbol_file(
    'overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'))->start;

my $ok = '{"stacks": [[[-1, 0]]], "memoryMap": []}';
my $map = '"memoryMap": [["a.so", "AB"]]';
my $modules = 'job 0 has invalid modules: ';
my $stacks = 'job 0 has invalid stacks: ';
my $json = 'Payload is not valid JSON';

my @v5 = (
    ['', $json],
    ['{', $json],
    ["$ok x", $json],
    ["{\"a\": \"\x01\"}", $json],
    ["{\"a\": \"\xff\xfe\"}", $json],
    ['[' x 5000 . ']' x 5000, $json],
    ['{"stacks": [[[0, 1]]], ' . $map . ', "x": ' . '[' x 5000 . ']' x 5000
        . '}', $json],
    ['null', 'job 0 is invalid'],
    ['7', 'job 0 is invalid'],
    ['"jobs"', 'job 0 is invalid'],
    ['[]', 'job 0 is invalid'],
    ['{"jobs": [3]}', 'job 0 is invalid'],
    ["{\"jobs\": [$ok, []]}", 'job 1 is invalid'],
    ['{"jobs": [{}]}', 'job 0 is invalid: no stacks specified'],
    ['{"memoryMap": []}', 'job 0 is invalid: no stacks specified'],
    ['{"stacks": 1}', 'job 0 is invalid: no memoryMap specified'],
    ['{"stacks": 1, "memoryMap": {}}', $modules . 'modules must be a list'],
    ['{"stacks": 1, "memoryMap": [["a", "1"], ["a"]]}',
        $modules . 'module index 1 does not have a debug_filename and debug_id'],
    ['{"stacks": 1, "memoryMap": ["ab"]}',
        $modules . 'module index 0 does not have a debug_filename and debug_id'],
    ['{"stacks": 1, "memoryMap": [["a/b", "zz"]]}',
        $modules . 'module index 0 has an invalid debug_filename'],
    ['{"stacks": 1, "memoryMap": [[1, "1"]]}',
        $modules . 'module index 0 has an invalid debug_filename'],
    ['{"stacks": 1, "memoryMap": [["a", "1"], ["a b.so", "xyz"]]}',
        $modules . 'module index 1 has an invalid debug_id'],
    ['{"stacks": {}, ' . $map . '}', $stacks . 'stacks must be a list of lists'],
    ['{"stacks": [], ' . $map . '}', $stacks . 'no stacks specified'],
    ['{"stacks": [[], 1], ' . $map . '}', $stacks . 'stack 1 is not a list'],
    ['{"stacks": [[[0, 1], [0]]], ' . $map . '}',
        $stacks . 'stack 0 frame 1 is not a list of two items'],
    ['{"stacks": [[], [[0, 1, 2]]], ' . $map . '}',
        $stacks . 'stack 1 frame 0 is not a list of two items'],
    ['{"stacks": [[["0", 1]]], ' . $map . '}',
        $stacks . 'stack 0 frame 0 has an invalid module_index'],
    ['{"stacks": [[[1.0, 1]]], ' . $map . '}',
        $stacks . 'stack 0 frame 0 has an invalid module_index'],
    ['{"stacks": [[[1, 1]]], ' . $map . '}',
        $stacks . "stack 0 frame 0 has a module_index that isn't in modules"],
    ['{"stacks": [[[-2, 1]]], ' . $map . '}',
        $stacks . "stack 0 frame 0 has a module_index that isn't in modules"],
    ['{"stacks": [[[0, -2]]], ' . $map . '}',
        $stacks . 'stack 0 frame 0 has an invalid module_offset'],
    ['{"stacks": [[[0, 1.5]]], ' . $map . '}',
        $stacks . 'stack 0 frame 0 has an invalid module_offset'],
    ['{"stacks": [[[0, null]]], ' . $map . '}',
        $stacks . 'stack 0 frame 0 has an invalid module_offset'],
    # all modules are checked before any stack
    ['{"stacks": 1, "memoryMap": [["a", "1"], 2]}',
        $modules . 'module index 1 does not have a debug_filename and debug_id'],
    ["{\"jobs\": [$ok, $ok, {\"stacks\": [[7]], \"memoryMap\": []}]}",
        'job 2 has invalid stacks: stack 0 frame 0 is not a list of two items'],
);

for (@v5) {
    my ($body, $title) = @$_;
    my $name = length $body > 60 ? substr($body, 0, 57) . '...' : $body;
    $name =~ s/[^\x20-\x7e]/?/g;
    my $r = $t->post('/symbolicate/v5', $body);
    is($r->{status}, 400, "400: $name");
    is($r->{body}, $t->json($title) =~ s/^(.*)$/{"title": $1}/sr, "says: $title");
    is($r->{headers}{vary}, 'Accept', 'Vary');
}

# --- requests that look wrong and are served ---

for my $body ('{"jobs": []}', $ok, '{"stacks": [[]], "memoryMap": []}',
    '{"stacks": [[[true, false]]], "memoryMap": [["a", "1"], ["b", "2"]]}',
    '{"stacks": [[[0, 18446744073709551615]]], ' . $map . '}',
    '{"stacks": [[[0, -0]]], "memoryMap": [["", ""]]}',
    '{"jobs": [{"stacks": [[[0, 1]]], "memoryMap": [["a +~@<>{}.-_", "aF"]]}],'
        . ' "version": "none", "x": [NaN, -Infinity]}',
    " \n$ok\t ")
{
    my $r = $t->post('/symbolicate/v5', $body);
    is($r->{status}, 200, "200: $body") or diag($r->{body});
}

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
