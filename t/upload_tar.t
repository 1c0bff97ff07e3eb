#!/usr/bin/perl

# A CI job posts what `tar` writes, plain or packed by gzip, xz or zstd: each file in it
# is stored, links and folders are skipped, and hostile tars are refused as a whole.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use POSIX qw(mkfifo);
use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new->start;
my $dir = $t->{dir};
my @token = $t->bearer('ci-secret');
my $n = 0;

sub next_id { return SymFolder::id(++$n) }

sub post {
    my ($file, @more) = @_;
    return $t->curl(@token, @more ? @more : ('--data-binary', "\@$file"), $t->url('/upload/'));
}

sub states { return { map { $_->{file} => $_->{state} } @{ $_[0]{json}{files} // [] } } }

# A folder of symbols: two files, one of them with a long name.
my $long = join '/', ('folder') x 40;

sub folder {
    my ($prefix) = @_;
    my @id = (next_id(), next_id());
    system("rm -rf $dir/in && mkdir -p $dir/in/$long $dir/in/empty") == 0 or die;
    write_file("$dir/in/a.sym",       sym_text('a', $id[0], prefix => $prefix));
    write_file("$dir/in/$long/b.sym", sym_text('b', $id[1], prefix => $prefix));
    system("cd $dir/in && ln -s a.sym symbolic && ln a.sym hard") == 0 or die;
    return @id;
}

# --- what GNU tar writes ---

for my $case (
    [ gnu    => '--format=gnu',            'cat' ],
    [ posix  => '--format=posix',          'cat' ],
    [ gzip   => '--format=gnu',            'gzip -c' ],
    [ xz     => '--format=gnu',            'xz -c' ],
    [ zstd   => '--format=posix',          'zstd -qc' ],
    [ record => '--format=posix -b 2000 ', 'gzip -c' ])
{
    my ($name, $options, $pack) = @$case;
    my @id = folder($name);
    system("cd $dir/in && tar --sort=name $options -cf - . | $pack > $dir/$name.tar") == 0 or die;
    my $r = post("$dir/$name.tar");
    is_deeply([ $r->{status}, states($r) ],
        [201, { 'a.sym' => 'stored', "$long/b.sym" => 'stored' }], "$name: its files, without links")
        or diag $r->{body};
    like($t->function($t->ask([ 'b', $id[1] ])), qr/^$name/, '... answer');
    is(SymTest::slurp("$dir/symbols/a/$id[0]/a.sym"), SymTest::slurp("$dir/in/a.sym"),
        '... are as they were');
}

my @id = folder('ustar');
system("cd $dir/in && tar --format=ustar -cf $dir/ustar.tar a.sym && tar -C $dir/in -czf - a.sym > $dir/u.tgz") == 0
    or die;
my $r = post("$dir/ustar.tar");
is_deeply([ $r->{status}, states($r) ], [201, { 'a.sym' => 'stored' }], 'ustar');
$r = post(undef, '-F', "one=\@$dir/u.tgz", '-F', "two=\@$dir/in/$long/b.sym");
is_deeply([ $r->{status}, states($r) ], [201, { 'a.sym' => 'same', 'b.sym' => 'stored' }],
    'a tar and a file, as a form') or diag $r->{body};

# as a CI job does, without a file and a length
@id = folder('piped');
$r = { code => system "cd $dir/in && tar czf - . | curl -sS --max-time 60 -o $dir/answer "
    . "-w '%{http_code}' -H 'Authorization: Bearer ci-secret' --data-binary \@- "
    . $t->url('/upload/') . " > $dir/status" };
is(SymTest::slurp("$dir/status"), 201, 'a pipe into curl');
like($t->function($t->ask([ 'a', $id[0] ])), qr/^piped/, '... answers');

# PUT is one file: what is stored is the tar's only one
@id = folder('put');
system("cd $dir/in && tar -czf $dir/put.tgz a.sym") == 0 or die;
$r = $t->curl(@token, '-T', "$dir/put.tgz", $t->url("/upload/a/$id[0]/a.sym"));
is($r->{status}, 201, 'PUT of a tar with one file') or diag $r->{body};
like($t->function($t->ask([ 'a', $id[0] ])), qr/^put/, '... answers');

# --- hostile ones, made by python ---

my @before = $t->files;

sub hostile {
    my ($name, $want, $code, $mode) = @_;
    my $file = "$dir/hostile.tar";
    unlink $file;
    system('python3', '-c', "import io, sys, tarfile\nt = tarfile.open(sys.argv[1], sys.argv[2])\n"
        . "good = open(sys.argv[3], 'rb').read()\n"
        . "def add(name, data, **more):\n"
        . "    i = tarfile.TarInfo(name); i.size = len(data)\n"
        . "    [setattr(i, k, v) for k, v in more.items()]\n"
        . "    t.addfile(i, io.BytesIO(data))\n"
        . "$code\nt.close()", $file, $mode // 'w', "$dir/in/a.sym") == 0 or die 'python3';
    my $got = post($file);
    is($got->{status}, 400, $name) or diag $got->{body};
    like($got->{body}, $want, '... says why');
    is_deeply([ $t->files ], \@before, '... and nothing is stored');
    return;
}

@id = folder('hostile');
for my $bad ('../a.sym', '/a.sym', 'a/../../b.sym', 'a\\\\b.sym', 'a\\nb.sym', 'a//b.sym', '') {
    hostile("a name: $bad", qr/leads out/, "add('ok.sym', good); add('$bad', b'x')");
}
hostile('very many files', qr/10000 files/, "add('ok.sym', good)\nfor i in range(10001): add(str(i), b'')", 'w:gz');
hostile('a bomb', qr/too many bytes|1000 times/, "add('ok.sym', good)\nadd('a', bytes(600 << 20))", 'w:gz');
hostile('a sparse file', qr/sparse/,
    "add('ok.sym', good)\nadd('a', b'x', pax_headers={'GNU.sparse.major': '1'})");
mkfifo("$dir/pipe", oct 600) or die "mkfifo: $!";
system("cd $dir && ln -s /etc/passwd out && tar -cf links.tar pipe out") == 0 or die;
$r = post("$dir/links.tar");
is_deeply([ $r->{status}, $r->{json}{files} ], [ 200, [] ], 'a pipe and a link have no file')
    or diag $r->{body};
system("cd $dir/in && tar -cf $dir/whole.tar a.sym $long/b.sym && head -c 1000 $dir/whole.tar > $dir/cut.tar"
    . " && gzip -c $dir/whole.tar | head -c 150 > $dir/cut.tgz && gzip -c $dir/whole.tar > $dir/sum.tgz") == 0 or die;
{
    my $bytes = SymTest::slurp("$dir/sum.tgz");
    substr($bytes, -8, 1) ^= "\xff";
    write_file("$dir/sum.tgz", $bytes);
}
for my $cut (qw(cut.tar cut.tgz sum.tgz)) {
    $r = post("$dir/$cut");
    is($r->{status}, 400, $cut) or diag $r->{body};
    is_deeply([ $t->files ], \@before, '... and nothing is stored');
}

is(post("$dir/whole.tar")->{status}, 201, 'the tar itself');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
