#!/usr/bin/perl

# Hostile uploads and accidents: archive bombs, names that lead out of the archive,
# files that share bytes, incomplete and slow uploads, a full disk, a killed loader.
# No acknowledged file is lost, no other file is visible, and requests are answered.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use IO::Select;
use POSIX qw(mkfifo);
use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new(tokens => { ci => { secret => 's', rest => 'at_once=20' } })->start;
my $dir = $t->{dir};
my @token = $t->bearer('s');
my $n = 0;

sub next_id { return SymFolder::id(++$n) }

sub post {
    my ($file) = @_;
    return $t->curl(@token, '--data-binary', "\@$file", $t->url('/upload/'));
}

# A zip made by python: code that gets `z`, an open ZipFile.
sub archive {
    my ($code, @args) = @_;
    my $file = "$dir/a.zip";
    unlink $file;
    system('python3', '-c', 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], "w", '
        . 'zipfile.ZIP_DEFLATED); ' . $code . '; z.close()', $file, @args) == 0 or die 'python3';
    return $file;
}

my $id = next_id();
write_file("$dir/good", sym_text('good', $id, prefix => 'good'));
is(post("$dir/good")->{status}, 201, 'a file that is good');
my @good = $t->files;

sub refused {
    my ($file, $want, $name) = @_;
    my $r = post($file);
    is($r->{status}, 400, $name) or diag $r->{body};
    like($r->{body}, $want, '... says why');
    is_deeply([ $t->files ], \@good, '... and nothing is stored');
    return;
}

# --- forms ---

sub form {
    my @fields = @_;
    my @args = map { ('-F', $_) } @fields;
    return $t->curl(@token, @args, '-F', "x=\@$dir/good", $t->url('/upload/'));
}

my $value = 'v' x 4096;
my $r = form(map {"f$_=$value"} 1 .. 64);
is_deeply([ $r->{status}, scalar keys %{ $r->{json}{fields} } ], [ 200, 64 ], 'a form with 64 fields of 4096 bytes')
    or diag $r->{body};
for ([ 'one more field', qr/more than 64 fields: f65 /, map {"f$_=v"} 1 .. 65 ],
    [ 'one more byte', qr/the field long has more than 4096 bytes/, 'a=b', "long=v$value" ],
    [ 'a long name', qr/name of a field has more than \d+ bytes: nnn/, 'n' x 5000 . '=v' ],
    [ 'a long name of a file', qr/file name of the field file has more than \d+ bytes/,
        "file=\@$dir/good;filename=" . 'n' x 20000 ])
{
    my ($name, $want, @fields) = @$_;
    $r = form(@fields);
    is($r->{status}, 400, "a form with $name") or diag $r->{body};
    like($r->{body}, $want, '... says why');
}

# --- archives ---

for my $bad ('../a.sym', '/a.sym', 'a/../../b.sym', 'a\\b.sym', "a\nb.sym", 'a//b.sym') {
    refused(archive('z.writestr("ok.sym", open(sys.argv[3]).read()); z.writestr(sys.argv[2], "x")',
        $bad, "$dir/good"), qr/leads out/, "a name: $bad" =~ s/\n/\\n/r);
}
refused(archive('[z.writestr("%d.sym" % i, bytes(200 << 20)) for i in range(2)]'),
    qr/too many bytes/, 'an archive bomb');
refused(archive('[z.writestr("%d" % i, "") for i in range(10001)]'),
    qr/10000 files/, 'an archive of very many files');
my $overlap = archive('z.writestr("a.sym", b"x" * 70000); z.writestr("b.sym", b"x" * 70000)');
{
    # both entries of the directory lead to the first file
    my $bytes = SymTest::slurp($overlap);
    my $second = rindex $bytes, "PK\1\2";
    substr $bytes, $second + 42, 4, pack 'V', 0;
    write_file($overlap, $bytes);
}
refused($overlap, qr/./, 'files that share bytes');
my $cut = SymTest::slurp(archive('z.writestr("a.sym", open(sys.argv[2]).read())', "$dir/good"));
write_file("$dir/cut.zip", substr $cut, 0, -10);
refused("$dir/cut.zip", qr/./, 'an archive without its end');
substr($cut, 60, 1) ^= "\xff";
write_file("$dir/damaged.zip", $cut);
refused("$dir/damaged.zip", qr/./, 'damaged bytes in an archive');
system("dd if=/dev/zero bs=1M count=600 status=none | gzip -1 > $dir/bomb.gz") == 0 or die;
refused("$dir/bomb.gz", qr/too many bytes/, 'a bomb of gzip');
refused(archive('z.writestr("a", "")'), qr/empty/, 'an empty file in an archive');

# --- the request ---

$r = $t->curl(@token, '-F', 'x=@' . "$dir/good", '-H', 'Content-Type: multipart/form-data; boundary=zz',
    $t->url('/upload/'));
is($r->{json}{files}[0]{state}, 'same', 'another boundary in the header: the body has its own');
$r = $t->request('POST', '/upload/', body => "--b\r\nno headers", headers => [
    Authorization => 'Bearer s', 'Content-Type' => 'multipart/form-data; boundary=b' ]);
is($r->{status}, 400, 'a form that does not end');
$r = $t->request('PUT', '/upload/../../x/1/x', body => 'x', headers => [ Authorization => 'Bearer s' ]);
ok($r->{status} >= 400, 'a path that leads out');
is_deeply([ $t->files ], \@good, '... and nothing is stored');

# Half uploads, which their clients drop; and slow ones, while others go on.
$id = next_id();
my $text = sym_text('half', $id, prefix => 'half');
my @slow = map {
    my $s = $t->connect;
    $t->send_all($s, "PUT /upload/half/$id/half.sym HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\n"
        . 'Content-Length: ' . length($text) . "\r\n\r\n" . substr $text, 0, length($text) / 2);
    $s;
} 1 .. 10;
like($t->function($t->ask(['good', $good[0] =~ m{/([^/]+)/}])), qr/^good/, 'answers go on beside slow uploads');
close shift @slow for 1 .. 9;
$t->send_all($slow[0], substr $text, length($text) / 2);
is($t->response($slow[0])->{status}, 201, 'a slow upload that ends');
is(scalar(grep {/^half/} $t->files), 1, '... is there; half ones are not');

# --- accidents ---

# The status of a request that is repeated while the loader is away, as clients do.
sub stored {
    my ($code) = @_;
    my $r;
    $t->wait_for(sub { $r = $code->(); return $r->{status} != 503 });
    return $r->{status};
}

# A folder that cannot be written to, as on a full disk.
$id = next_id();
write_file("$dir/full", sym_text('full', $id, prefix => 'full'));
write_file("$dir/symbols/full", 'a file in the place of the folder');
$r = post("$dir/full");
is_deeply([$r->{status}, $r->{json}{files}[0]{state}], [503, 'failed'], 'the file cannot be placed: 503')
    or diag $r->{body};
like($r->{json}{files}[0]{reason}, qr/cannot place the file: Not a directory/, '... says why');
$t->loader->stop;
unlink "$dir/symbols/full";
$t->loader_start;
is(stored(sub { post("$dir/full") }), 201, '... the next try stores it');
like($t->function($t->ask(['full', $id])), qr/^full/, '... and answers');

# The loader is killed while it works on uploads: those that were answered are there.
my %sent;
my @waiting;
for (1 .. 12) {
    $id = next_id();
    my $s = $t->connect;
    $text = sym_text("k$_", $id, prefix => "kept$_");
    $sent{ fileno $s } = [ $s, "k$_", $id, $text, "kept$_" ];
    $t->send_all($s, "PUT /upload/k$_/$id/k$_.sym HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\n"
        . 'Content-Length: ' . length($text) . "\r\n\r\n$text");
    push @waiting, $s;
}
my @answered = map { $t->response($_) } shift @waiting;
kill KILL => $t->loader->pid;
$t->loader->wait_end;
$t->loader_start;
push @answered, map { $t->response($_) } @waiting;
my @ok = grep { $_->{status} == 201 } @answered;
ok(@ok >= 1, 'the loader was killed; ' . @ok . ' uploads were acknowledged');
is(scalar(grep { $_->{status} != 201 && $_->{status} != 503 } @answered), 0, '... others got 503');
my $i = 0;
for my $s (map { $sent{$_} } sort { $sent{$a}[1] =~ s/k//r <=> $sent{$b}[1] =~ s/k//r } keys %sent) {
    my ($socket, $name, $module, $bytes, $prefix) = @$s;
    my $answer = $answered[$i++];
    my $there = SymTest::slurp("$dir/symbols/$name/$module/$name.sym");
    if ($answer->{status} == 201) {
        is($there, $bytes, "$name was acknowledged: it is there");
        like($t->function($t->ask([$name, $module])), qr/^$prefix/, '... and answers');
    } else {
        ok($there eq '' || $there eq $bytes, "$name was not: it is there as a whole, or not at all");
        like(stored(sub { $t->request('PUT', "/upload/$name/$module/$name.sym", body => $bytes,
            headers => [ Authorization => 'Bearer s' ]) }), qr/^20[01]$/, '... a second try stores it');
    }
}
# It is killed between the commit of an artifact and the file: another upload keeps
# the placer waiting, because its chunk is a pipe.
mkdir "$dir/symbols/.chunks";
mkfifo("$dir/symbols/.chunks/" . 'ab' x 20, 0600) or die "mkfifo: $!";
sub assemble {
    my $json = '{"' . 'cd' x 20 . '": {"name": "x", "chunks": ["' . 'ab' x 20 . '"]}}';
    return "POST /api/0/projects/o/p/files/difs/assemble/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\n"
        . "Content-Type: application/json\r\nContent-Length: " . length($json) . "\r\n\r\n$json";
}
my $blocked = $t->connect;
$t->send_all($blocked, assemble());
$t->wait_for(sub {
    my $s = $t->connect;
    $t->send_all($s, assemble());
    return $t->response($s)->{body} =~ /assembling/;
}, 'the placer waits');
$id = next_id();
$text = sym_text('between', $id, prefix => 'between');
my $put = $t->connect;
$t->send_all($put, "PUT /upload/between/$id/between.sym HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\n"
    . 'Content-Length: ' . length($text) . "\r\n\r\n$text");
$t->wait_for(sub { $t->function($t->ask([ 'between', $id ])) =~ /^between/ }, 'the artifact is committed');
kill KILL => $t->loader->pid;
$t->loader->wait_end;
is($t->response($put)->{status}, 503, 'killed between the commit and the file: not acknowledged');
is($t->response($blocked)->{status}, 503, '... nor the other upload');
ok(!-e "$dir/symbols/between/$id/between.sym", '... the file is not there');
unlink "$dir/symbols/.chunks/" . 'ab' x 20;
$t->loader_start;
like(stored(sub { $t->request('PUT', "/upload/between/$id/between.sym", body => $text,
    headers => [ Authorization => 'Bearer s' ]) }), qr/^20[01]$/, '... a second try stores it');
is(SymTest::slurp("$dir/symbols/between/$id/between.sym"), $text, '... as a whole');
like($t->function($t->ask([ 'between', $id ])), qr/^between/, '... and it answers');

is_deeply([ grep {/\.symloader/} $t->files ], [], 'no temporary file is left');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
