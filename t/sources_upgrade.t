# A store of the version in which records belonged to nobody: what was loaded by
# hand stays, what was fetched (from which source nobody knows) goes, and one line
# says so.  Nobody's symbols become everybody's.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib qw(crc32);
use SymFetch;
use SymLoader qw(sym_text write_file);
use Test::More;

my $t = SymFetch->new->start;
my @fetched = ('fetched.so', SymFetch::id(1));
my @absent = ('absent.so', SymFetch::id(2));
my @loaded = ('loaded.so', SymFetch::id(3));

sub left {
    return join ' ', sort map {"$_->{name}:$_->{from}"}
        SymLoader::json_lines($t->loader->run('ls', '--json')->{out});
}

$t->fault->script('src', ('ok') x 10);
$t->upload(@fetched);
is($t->found($t->ask(\@fetched), @fetched), 1, 'fetched');
is($t->found($t->ask(\@absent), @absent), 0, 'absent');
my $file = write_file($t->dir . '/loaded.sym', sym_text(@loaded));
is($t->loader->run('load', $t->dir . '/loaded.sym')->{code}, 0, 'loaded');
is(left(), 'absent.so:fault fetched.so:fault loaded.so:local', 'whose they are');

# --- the same store, an older version ---

is($t->loader_stop->{code}, 0, 'the daemon ends');
my $data = $t->store . '/data.mdb';
my $pages = SymTest::slurp($data);
my $one = pack 'Q<', 1;
my $value = $one . pack 'L<', crc32("version$one");
$pages =~ s/version\x02\0{7}.{4}/version$value/gs or die 'no version found';
open my $out, '+<:raw', $data or die "$data: $!";
print $out $pages;
close $out or die "$data: $!";
like($t->loader->run('ls')->{err}, qr/another version/, 'readers refuse it');

$t->loader_start;
like($t->loader_log, qr/ 2 fetched modules are dropped/, 'the daemon tells once');
is(left(), 'loaded.so:local', 'what was loaded by hand is left');
$t->wait_for(sub { ($t->found($t->ask(\@fetched), @fetched) // 0) == 1 },
    'the other is fetched again');
is(left(), 'fetched.so:fault loaded.so:local', '... and has its source');
is($t->loader_stop->{code}, 0, 'the daemon ends');
$t->loader_start;
unlike($t->loader_log, qr/dropped/, 'the next start has nothing to say');

$t->allow(qr/another version|symbol loader|loader/);
is($t->end, '', 'nothing is wrong');

done_testing();
