#!/usr/bin/perl

# A truncated download looks like a smaller symbol file.  `load` warns about it,
# and with --strict the exit code reports it, so that a script that fills the
# store does not mistake a part for the whole.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(json_lines sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $TRUNCATED = 'truncated: its last line has no newline';
my $NONE = 'no symbols: it has neither FUNC nor PUBLIC records';

# As dump_syms writes a large file: origins first, then functions.
my $whole = "MODULE Linux x86_64 $ID big\nFILE 0 a.c\n"
    . join('', map { "INLINE_ORIGIN $_ name_of_an_inlined_function_$_\n" }
               0 .. 14_999)
    . join('', map { sprintf "FUNC %x 10 0 fn_of_module_$_\n%x 10 $_ 0\n",
                     0x1000 + 16 * $_, 0x1000 + 16 * $_ } 0 .. 9_999);
my $in_origins = 500_000;
my $in_name = index($whole, 'fn_of_module_9000') + 5;
my $between = index($whole, 'FUNC', $in_name);

cmp_ok(index($whole, 'FUNC'), '>', $in_origins, 'origins fill the first part');

my $t = SymServe->new;
my $full = $t->file('full.sym', $whole);

sub head {
    my ($name, $bytes) = @_;
    my $path = $t->dir . "/$name.sym";
    system("head -c $bytes '$full' > '$path'") == 0 or die;
    return $path;
}

sub quality {
    return (json_lines($t->run('show', '--json', "big/$ID")->{out}))[0]{quality};
}

# [ description, file, warnings, and the quality of the stored module ]
my @cases = (
    [ 'cut among the origins', head('origins', $in_origins),
      [ $TRUNCATED, $NONE ], 'empty' ],
    [ 'cut between two lines, before any symbol',
      head('start', index($whole, 'INLINE_ORIGIN')), [$NONE], 'empty' ],
    [ 'cut in a name', head('name', $in_name), [$TRUNCATED], 'lines' ],
    [ 'a complete one without its last newline', head('chomped', -1),
      [$TRUNCATED], 'lines' ],
    [ 'a whole one', $full, [], 'lines' ],
);

sub loads_with {
    my ($what, $file, $warnings, $quality) = @_;
    my $said = join '', map { "symloader: $file: warning: $_\n" } @$warnings;

    my $r = $t->run('load', '--force', $file);
    is($r->{err}, $said, "$what: the warnings");
    is($r->{code}, 0, '... it is loaded');
    like($r->{out}, qr/, 0 failed$/, '... and did not fail');
    is(quality(), $quality, "... as $quality");

    $r = $t->run('load', '--force', '--strict', '--quiet', $file);
    is($r->{err}, $said, '... the same with --strict');
    is($r->{code}, @$warnings ? 1 : 0, '... and the exit code');
    return;
}

# --- directly, and through a daemon ---

for my $way ('alone', 'daemon') {
    if ($way eq 'daemon') {
        $t->serve;
    }
    loads_with("$way: $_->[0]", @$_[1 .. 3]) for @cases;
}
is($t->stop->{code}, 0, 'the daemon ends cleanly');

# --- a truncated file and a complete one ---

my $cut = head('name', $in_name);
$t->run('load', '--force', $cut);
like($t->run('show', "big/$ID")->{out}, qr/\Q$TRUNCATED\E/,
     'show says that it was truncated');
is($t->run('load', '--quiet', $full)->{code}, 0,
    'the complete one replaces it');
unlike($t->run('show', "big/$ID")->{out}, qr/last line/, '... in the store');
like($t->run('load', $cut)->{out}, qr/, 1 not needed, 0 failed$/,
     'and is not replaced by it');

# a line that is invalid when truncated fails as usual
my $r = $t->run('load', head('line', index($whole, ' 9000 0') + 2));
like($r->{err}, qr/: malformed: /, 'cut so that a line is invalid');
is($r->{code}, 1, '... is a failure');

my ($bad, $good) = ($t->file('bad.sym', "MODULE Linux x86_64 $ID bad\n"),
                    $t->file('good.sym', sym_text('good', $ID)));
is($t->run('load', '--strict', $bad, $good)->{code}, 1,
   'one of two files warns: --strict tells');
is_deeply([ $t->modules ], [ map { "$_/$ID" } qw(bad big good) ],
          '... and all are loaded');
is($t->verify, 'sound', 'the store is sound');

done_testing();
