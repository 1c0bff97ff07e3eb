#!/usr/bin/perl

# Mozilla's clients upload zips of symbol files as to Tecken: the same form, and
# statuses and texts that they know.  The requests are those of upload-symbols
# (header auth-token, one part whose name is the archive's) and of the build
# system's uploader.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new(tokens => {
    ci  => { secret => '0123456789abcdef' },
    try => { secret => 'fedcba9876543210', rest => 'rights=try' },
    only => { secret => '11111111', rest => 'rights=upload expires=2100-12-31 mozilla=2' },
    old => { secret => '00000000', rest => 'expires=2020-01-31' },
})->start;
my $dir = $t->{dir};
my @id = map { SymFolder::id($_) } 0 .. 9;
my @auth = ('-H', 'auth-token: 0123456789abcdef-ci label');
my $url = $t->url('/upload/');

# A zip of files by name, made by python's zipfile, which keeps any name.
sub archive {
    my ($name, @files) = @_;
    my $script = 'import sys, zipfile, warnings; warnings.simplefilter("ignore");'
        . 'z = zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED);'
        . '[z.writestr(sys.argv[i], open(sys.argv[i + 1], "rb").read()) '
        . ' for i in range(2, len(sys.argv), 2)]; z.close()';
    my (@args, $n);
    while (my ($in, $text) = splice @files, 0, 2) {
        my $file = "$dir/in" . $n++;
        write_file($file, $text);
        push @args, $in, $file;
    }
    is(system('python3', '-c', $script, "$dir/$name", @args), 0, "$name is made") or die;
    return "$dir/$name";
}

sub upload {
    my ($file, @more) = @_;
    my ($name) = $file =~ m{([^/]+)\z};
    return $t->curl(@auth, '-F', "$name=\@$file;filename=x", @more, $url);
}

sub sym { return ("$_[0]/$_[1]/$_[0].sym" => sym_text($_[0], $_[1], prefix => $_[2])) }

# --- what is uploaded ---

my $zip = archive('symbols-1.zip', sym('a', $id[1], 'first'), sym('b', $id[2], 'second'),
    'target-symbols.txt' => "a list\n", 'a/.DS_Store' => 'x');
my $r = upload($zip);
is($r->{status}, 201, 'a zip: created') or diag $r->{body};
my $upload = $r->{json}{upload};
is_deeply($upload->{skipped_keys}, [], '... nothing was there');
is_deeply([@$upload{qw(size filename try_symbols user redirect_urls download_url)}],
    [-s $zip, 'symbols-1.zip', JSON::PP::false(), 'ci', [], undef], '... as Tecken says it');
like($upload->{completed_at}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, '... a time');
like($r->{body}, qr/^\{"upload": \{"id": \d+, /, '... with its spaces');
is_deeply([ $t->files ], [ "a/$id[1]/a.sym", "b/$id[2]/b.sym" ], '... files are at the source');
like($t->function($t->ask(['a', $id[1]])), qr/^first/, '... and answer');

$r = upload($zip);
is_deeply([$r->{status}, [ sort @{ $r->{json}{upload}{skipped_keys} } ]],
    [201, [ "a/$id[1]/a.sym", "b/$id[2]/b.sym" ]], 'again: all are skipped');

$r = upload(archive('lower.zip', 'c/' . lc($id[3]) . '/c.sym' => sym_text('c', $id[3], prefix => 'third')));
is($r->{status}, 201, 'an id in lower case');
ok(-e "$dir/symbols/c/$id[3]/c.sym", '... is placed in upper case');

is(upload(archive('empty.zip'))->{status}, 201, 'an empty zip');
is(upload(archive('UPPER.ZIP', sym('d', $id[4], 'fourth')))->{status}, 201, 'ZIP in capitals');
$r = upload(archive('twice.zip', sym('e', $id[5], 'fifth'), sym('e', $id[5], 'sixth')));
is($r->{status}, 201, 'a name twice, of one size');
like($t->function($t->ask(['e', $id[5]])), qr/^sixth/, '... the last one counts');

# --- refused uploads ---

my @before = $t->files;
for my $case (
    [ 'a.tar.gz', 'not a zip', 'Unrecognized archive file extension ".gz"' ],
    [ 'archive', 'not a zip', 'Unrecognized archive file extension ""' ],
    [ 'text.zip', 'not a zip', 'File is not a zip file' ])
{
    my ($name, $text, $want) = @$case;
    write_file("$dir/$name", $text);
    $r = upload("$dir/$name");
    is_deeply([$r->{status}, $r->{json}], [400, { error => $want }], $want);
}
my $unknown = 'Unrecognized file pattern. Should only be <module>/<hex>/<file> or '
    . '<name>-symbols.txt and nothing else. (First unrecognized pattern was \'%s\')';
for my $bad ('f.sym', 'f/xyz/f.sym', 'f/12/34/f.sym', 'f/12/[f].sym', '../12/f.sym', 'f/12/..') {
    $r = upload(archive('bad.zip', sym('f', $id[6], 'x'), $bad => 'x'));
    is_deeply([$r->{status}, $r->{json}], [400, { error => sprintf $unknown, $bad }], $bad);
}
$r = upload(archive('snippet.zip', 'qcom/proprietary/a.sym' => 'x'));
is_deeply([$r->{status}, $r->{json}{error}], [400, 'Content of archive file contains the '
    . "snippet 'qcom/proprietary' which is not allowed"], 'a banned name');
$r = upload(archive('sizes.zip', 'g/12/g.sym' => 'x', 'g/12/g.sym' => 'xyz'));
is_deeply([$r->{status}, $r->{json}{error}], [400, 'The zipfile buffer contains two files both '
    . 'called g/12/g.sym and they have difference sizes (3 != 1)'], 'a name twice, of two sizes');
$r = $t->curl(@auth, '-F', 'other=1', $url);
is_deeply([$r->{status}, $r->{json}{error}], [400,
    'Must be multipart form data with at least one file'], 'a form without a file');
is_deeply([ $t->files ], \@before, 'nothing of these was stored');

# --- who ---

for my $case (
    [ [], 403, 'This requires an Auth-Token to authenticate the request' ],
    [ [ '-H', 'Auth-Token: abc' ], 403, 'API Token not matched' ],
    [ [ '-H', 'Auth-Token: 00000000-x' ], 403, 'API Token found but expired' ])
{
    my ($header, $status, $text) = @$case;
    $r = $t->curl(@$header, '-F', "symbols.zip=\@$zip", $url);
    is_deeply([$r->{status}, $r->{json}], [$status, { error => $text }], $text);
}
$r = $t->curl(@auth, $url);
is_deeply([$r->{status}, $r->{json}], [405, { error => 'Method Not Allowed (GET): /upload/' }], 'GET');
like($r->{head}, qr/^Allow: POST\r$/m, '... says what is allowed');

# --- what a token may do: clients ask before they upload ---

sub about {
    my (@headers) = @_;
    return $t->curl(@headers, '-X', 'POST', $t->url('/upload/auth_info/'));
}

$r = about(@auth);
is($r->{status}, 200, 'auth_info') or diag $r->{body};
ok($r->{json}{user_id} =~ /^\d+$/ && $r->{json}{token_expires_at} > time, '... numbers');
is_deeply([ @{ $r->{json} }{qw(email try_symbols upload_api_version)} ], [ 'ci', JSON::PP::true(), 1 ],
    '... who, what, how');
$r = about('-H', 'Auth-Token: 11111111');
is_deeply([ @{ $r->{json} }{qw(email try_symbols token_expires_at upload_api_version)} ],
    [ 'only', JSON::PP::false(), 4133980800, 2 ], '... of another token, until 2101 begins, with version 2');
is_deeply([ about()->{status}, about('-H', 'Auth-Token: abc')->{json} ],
    [ 403, { error => 'API Token not matched' } ], '... without one');
$r = $t->curl(@auth, $t->url('/upload/auth_info/'));
is_deeply([ $r->{status}, $r->{json} ], [ 405, { error => 'Method Not Allowed (GET): /upload/auth_info/' } ],
    '... GET');

# --- try uploads ---

$zip = archive('try.zip', sym('t', $id[7], 'tried'));
$r = upload($zip, '-F', 'try=0');
is_deeply([$r->{status}, $r->{json}{upload}{try_symbols}], [201, JSON::PP::true()], 'a try upload');
is_deeply([ $t->files("$dir/try") ], [ "t/$id[7]/t.sym" ], '... has its own folder');
is($t->function($t->ask(['t', $id[7]])), 'false', '... others do not see it');
$r = $t->post('/try-symbolicate/v5', $t->question(['t', $id[7]]));
like($t->function($r), qr/^tried/, '... a location of its own does');

@auth = ('-H', 'Auth-Token: fedcba9876543210');
$zip = archive('try2.zip', sym('u', $id[8], 'tried'));
is(upload($zip)->{json}{upload}{try_symbols}, JSON::PP::true(), 'a token for try uploads');
$r = upload($zip, '-F', 'try=');
is_deeply([$r->{status}, $r->{json}], [403, { error => 'Forbidden' }], '... may not upload others');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
