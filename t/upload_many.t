#!/usr/bin/perl

# An upload of very many files: the loader needs few descriptors and little stack for
# it, because both are for all clients.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new;
$t->loader->limit("-n 128\nulimit -s 2048");
$t->start;
my $dir = $t->{dir};
my @token = $t->bearer('ci-secret');

# --- a zip: all files are unpacked before the first one is read ---

my $id = SymFolder::id(1);
write_file("$dir/good", sym_text('good', $id, prefix => 'good'));
my $many = 600;
system('python3', '-c', <<'END', "$dir/many.zip", $many, "$dir/good") == 0 or die 'python3';
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)
for i in range(int(sys.argv[2])):
    z.writestr('bad%d' % i, 'no symbols, number %d' % i)
z.writestr('good.sym', open(sys.argv[3]).read())
z.close()
END
my $r = $t->curl(@token, '--data-binary', "\@$dir/many.zip", $t->url('/upload/'));
is($r->{status}, 201, 'a zip of more files than the loader may have descriptors') or diag $r->{body};
my @files = @{ $r->{json}{files} };
is(scalar(@files), $many + 1, '... all files are in the answer');
is_deeply([ grep { $_->{state} ne 'refused' } @files[0 .. $many - 1] ], [], '... the bad ones are refused');
is($files[-1]{state}, 'stored', '... the last one is stored');
like($t->function($t->ask(['good', $id])), qr/^good/, '... with its own bytes: it answers');

# --- a form: bad files end at once ---

$many = 10_000;
my $body = join '', map {
    "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"e$_\"\r\n\r\n\r\n"
} 1 .. $many;
$r = $t->request('POST', '/upload/', body => "$body--B--\r\n", headers => [
    Authorization => 'Bearer ci-secret', 'Content-Type' => 'multipart/form-data; boundary=B' ]);
is($r->{status}, 400, 'a form of very many empty files');
is(scalar(@{ $r->{json}{files} }), $many, '... all files are in the answer');
is_deeply([ grep { $_->{state} ne 'refused' } @{ $r->{json}{files} } ], [], '... all are refused');
like($t->loader->wait_log(qr/9900 other files/), qr/ci: /, '... the log has a part of them');
is($t->end, '', 'nothing is wrong');
done_testing();
