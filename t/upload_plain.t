#!/usr/bin/perl

# curl uploads a file, an archive and a form: the answer says which ids each file
# gave, requests get the symbols at once, and the files are at the source.  A
# refused file says why, and a poorer one does not replace a better one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new->start;
my $dir = $t->{dir};
my @token = $t->bearer('ci-secret');
my @id = map { SymFolder::id($_) } 0 .. 9;

sub file {
    my ($name, $id, %o) = @_;
    write_file("$dir/file.sym", $o{text} // sym_text($name, $id, %o));
    return "$dir/file.sym";
}

sub states { return [ map { $_->{state} } @{ $_[0]{json}{files} } ] }

# --- PUT ---

is($t->function($t->ask(['a', $id[1]])), 'false', 'nobody has it yet');

my $file = file('a', $id[1], prefix => 'first');
my $text = SymTest::slurp($file);
my $r = $t->curl(@token, '-T', $file, $t->url("/upload/a/$id[1]/a.sym"));
is($r->{status}, 201, 'PUT of a .sym: created');
is_deeply($r->{json}{files}[0]{modules},
    [{ name => 'a', debug_id => $id[1], kinds => ['symcache'] }],
    '... the answer has its ids') or diag $r->{body};
is($r->{json}{files}[0]{path}, "a/$id[1]/a.sym", '... and its path');
is(SymTest::slurp("$dir/symbols/a/$id[1]/a.sym"), $text,
    '... the file is at the source');
like($t->function($t->ask(['a', $id[1]])), qr/^first/, '... a request gets its symbols');

$r = $t->curl(@token, '-T', $file, $t->url("/upload/a/$id[1]/a.sym"));
is_deeply([$r->{status}, states($r)], [200, ['same']], 'the same again: nothing to do');

# --- the path names nothing: the file does ---

$r = $t->curl(@token, '--data-binary', '@' . file('b', $id[2], prefix => 'second'),
    $t->url('/upload/'));
is_deeply([$r->{status}, states($r)], [201, ['stored']], 'POST of a file');
ok(-e "$dir/symbols/b/$id[2]/b.sym", '... is placed by its own name and id');

# --- an archive ---

mkdir "$dir/in";
mkdir "$dir/in/deep";
write_file("$dir/in/deep/c.sym", sym_text('c', $id[3], prefix => 'third'));
write_file("$dir/in/d.sym",      sym_text('d', $id[4], prefix => 'fourth'));
write_file("$dir/in/notes.txt",  "not a symbol file\n");
is(system("cd $dir/in && zip -qr ../set.zip ."), 0, 'zip');
$r = $t->curl(@token, '--data-binary', "\@$dir/set.zip", $t->url('/upload/'));
is($r->{status}, 201, 'POST of a zip');
is_deeply({ map { $_->{file} => $_->{state} } @{ $r->{json}{files} } },
    { 'deep/c.sym' => 'stored', 'd.sym' => 'stored', 'notes.txt' => 'refused' },
    '... each file has its own result') or diag $r->{body};
like((grep { $_->{file} eq 'notes.txt' } @{ $r->{json}{files} })[0]{reason}, qr/./,
    '... the refused one says why');
like($t->function($t->ask(['c', $id[3]])), qr/^third/, '... and requests get the others');

# --- a form ---

$r = $t->curl(@token, '-F', 'one=@' . file('e', $id[5], prefix => 'fifth'),
    '-F', 'note=hello', $t->url('/upload/'));
is_deeply([$r->{status}, states($r), $r->{json}{fields}],
    [201, ['stored'], { note => 'hello' }], 'POST of a form') or diag $r->{body};

# --- what is refused ---

write_file("$dir/bad", "MODULE Linux x86_64 nonsense\n");
$r = $t->curl(@token, '--data-binary', "\@$dir/bad", $t->url('/upload/'));
is_deeply([$r->{status}, states($r)], [400, ['refused']], 'a malformed file: 400');
like($r->{json}{files}[0]{reason}, qr/id/, '... with the reason');

$r = $t->curl(@token, '-X', 'POST', $t->url('/upload/'));
is($r->{status}, 400, 'no body: 400');
is($t->curl(@token, $t->url('/upload/a'))->{status}, 405, 'GET: 405');

# --- a poorer file ---

$file = file('a', $id[1], text => "MODULE Linux x86_64 $id[1] a\nPUBLIC 1000 0 poor\n");
$r = $t->curl(@token, '-T', $file, $t->url("/upload/a/$id[1]/a.sym"));
is_deeply([$r->{status}, states($r)], [200, ['kept']], 'a poorer file is left out')
    or diag $r->{body};
is(SymTest::slurp("$dir/symbols/a/$id[1]/a.sym"), $text, '... the better one is there');
like($t->function($t->ask(['a', $id[1]])), qr/^first/, '... and answers');

# the store has forgotten what is there
$t->forget('a', $id[1]);
$r = $t->curl(@token, '-T', $file, $t->url("/upload/a/$id[1]/a.sym"));
is_deeply([$r->{status}, states($r)], [200, ['kept']],
    '... also if the store does not know the better one') or diag $r->{body};
is(SymTest::slurp("$dir/symbols/a/$id[1]/a.sym"), $text, '... it is there');
like($t->function($t->ask(['a', $id[1]])), qr/^first/, '... and answers');

# --- a better file ---

$file = file('a', $id[1], prefix => 'newer');
$r = $t->curl(@token, '-T', $file, $t->url("/upload/a/$id[1]/a.sym"));
is_deeply([$r->{status}, states($r)], [201, ['stored']], 'an equally good one replaces it');
like($t->function($t->ask(['a', $id[1]])), qr/^newer/, '... and answers');

is_deeply([ grep {/\.symloader/} $t->files ], [], 'no temporary file is left');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

done_testing();
