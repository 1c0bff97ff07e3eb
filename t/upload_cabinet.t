#!/usr/bin/perl

# Mozilla's builds upload PDBs in cabinets: NAME.pd_, made by makecab.  They are read,
# answer requests, and are served as clients ask for them, packed or not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(run_ok);
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file);
use SymUpload;

my $windows = need_fixtures('windows');
my $ID = 'F535C5FB2AE84BB8AA206C30BE566C5A1';
my $t = SymUpload->new(layout => 'unified', downloads => 1, tokens => { ci => { secret => 'secret' } })->start;
my $dir = $t->{dir};

my $folder = "CrashWithException.pdb/$ID";
my $cabinet = "$folder/CrashWithException.pd_";
run_ok('mkdir', '-p', "$dir/zip/$folder");
run_ok('sh', '-c', "cd '$windows' && gcab -czn '$dir/zip/$cabinet' CrashWithException.pdb");
run_ok('sh', '-c', "cd '$dir/zip' && zip -qr ../symbols.zip .");

sub upload {
    my $r = $t->curl('-H', 'auth-token: secret', '-F', "symbols.zip=\@$dir/symbols.zip", $t->url('/upload/'));
    is($r->{status}, 201, 'a zip with a cabinet') or diag $r->{body};
    return [ @{ $r->{json}{upload} }{qw(skipped_keys refused_keys)} ];
}

is_deeply(upload(), [ [], [] ], '... is stored');
is_deeply(upload(), [ [$cabinet], [] ], '... is there already');
unlike($t->function($t->ask([ 'CrashWithException.pdb', $ID ])), qr/^(?:false)?$/, '... and answers');

my %want = ("$folder/CrashWithException.pdb" => read_file("$windows/CrashWithException.pdb"),
    $cabinet => read_file("$dir/zip/$cabinet"));
for my $path (sort keys %want) {
    my $r = $t->request('GET', "/files/$path");
    is($r->{status}, 200, $path);
    ok($r->{body} eq $want{$path}, '... its bytes');
}
my $r = $t->request('GET', "/files/$folder/CrashWithException.sym");
like($r->{body}, qr/^MODULE windows x86_64 $ID CrashWithException\.pdb$/m, 'a text is made of it');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
