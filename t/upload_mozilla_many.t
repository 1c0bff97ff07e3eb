#!/usr/bin/perl

# A build of Mozilla has thousands of symbol files in one zip, so the loader's report of
# them is long.  The answer lists all of them.  Most files of this test are empty,
# because these take no converter and no time.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymTools;
use SymUpload;

my $t = SymUpload->new(tokens => { ci => { secret => 'abc' } })->start;
my $dir = $t->{dir};
my $many = 8000;
my $long = 'a' x 100;
my $id = SymFolder::id(1);

is(system(SymTools::path('python3'), '-c', <<'END', "$dir/many.zip", $many, $long, $id), 0, 'a zip') or die;
import sys, zipfile
zip, many, long, id = sys.argv[1:]
z = zipfile.ZipFile(zip, 'w', zipfile.ZIP_DEFLATED)
z.writestr('app/%s/app.sym' % id, 'MODULE Linux x86_64 %s app\nPUBLIC 10 0 main\n' % id)
for i in range(int(many)):
    z.writestr('%s%d/%033X/%s%d.sym' % (long, i, i + 1, long, i), '')
z.close()
END

sub upload {
    my ($what) = @_;
    my $r = $t->curl('-H', 'Auth-Token: abc', '-F', "many.zip=\@$dir/many.zip", $t->url('/upload/'));
    is($r->{status}, 201, $what) or diag substr $r->{body}, 0, 500;
    return $r->{json}{upload};
}

my $r = upload("a zip of $many files and one");
is_deeply([ @$r{qw(filename size skipped_keys)} ], [ 'many.zip', -s "$dir/many.zip", [] ], '... one is stored');
is_deeply([ $t->files ], ["app/$id/app.sym"], '... in the folder');
my @refused = @{ $r->{refused_keys} };
is(scalar(@refused), $many, '... the others are listed');
is_deeply($refused[-1], { key => sprintf('%s%d/%033X/%s%d.sym', $long, $many - 1, $many, $long, $many - 1),
    reason => 'the file is empty' }, '... to the last one, with its reason');
is_deeply(upload('again')->{skipped_keys}, ["app/$id/app.sym"], '... the one is skipped');
is($t->end, '', 'nothing is wrong');
done_testing();
