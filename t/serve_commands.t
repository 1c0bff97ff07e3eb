#!/usr/bin/perl

# While a daemon has the store, `symloader load` and `rm` use the daemon: it
# need not be stopped to load a file or to remove a module.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixture_modules fixtures);
use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new->serve('--jobs', 2);

# --- load ---

my %want = fixture_modules();
my $r = $t->run('load', fixtures('symbols'));
is($r->{code}, 0, 'load of the fixtures');
is_deeply([ $t->modules ], [ sort keys %want ], '... loads all of them');
like($r->{out}, qr/^\d+ files?, \d+ modules? stored, .*, 0 failed$/m,
     '... says so');

# The result equals that of a loader without a daemon.
my $alone = SymLoader->new;
$alone->run('load', '--quiet', fixtures('symbols'));
my @fields = qw(name id bytes quality file file_bytes);
my @both = map {
    [ map { my $m = $_; { map { $_ => $m->{$_} } @fields } }
        SymLoader::json_lines($_->run('ls', '--json')->{out}) ]
} $t, $alone;
is_deeply($both[0], $both[1], '... as without a daemon');

my $good = $t->file('a/good.sym', sym_text('good.so', $ID, lines => 1));
my $bad = $t->file('a/bad.sym', 'nonsense');
$r = $t->run('load', "$t->{dir}/a");
is($r->{code}, 1, 'one of two files is bad');
like($r->{err}, qr/^symloader: \Q$bad\E: malformed: /m, '... told which');
like($r->{out}, qr/^\Q$good\E: good\.so\/$ID: lines, \S+ \w+ from \S+ \w+$/m,
     '... the other is stored');

my $poor = $t->file('poor.sym', sym_text('good.so', $ID, prefix => 'poor'));
$r = $t->run('load', $poor);
is($r->{code}, 0, 'a poorer file of the same module');
like($r->{out}, qr/not stored: the store has better symbols/,
    '... is not accepted');
is($t->run('load', '--force', $poor)->{code}, 0, '... except by force');
like($t->run('lookup', "good.so/$ID", '1000')->{out}, qr/^poor0$/m, '... it is');

# The last of equal files on the command line wins, whichever is converted
# first.
my @equal = map { $t->file("equal$_.sym",
    sym_text('equal.so', $ID, prefix => "e$_",
             functions => $_ == 1 ? 30000 : 3)) } 1 .. 2;
is($t->run('load', '--jobs', 2, @equal)->{code}, 0, 'two equal files at once');
like($t->run('lookup', "equal.so/$ID", '1000')->{out}, qr/^e20$/m,
     '... the last one named wins');

my $misplaced = $t->file('tree/wrong.so/' . $ID . '/wrong.sym',
                         sym_text('right.so', $ID));
$r = $t->run('load', "$t->{dir}/tree");
like($r->{err}, qr/warning: the folders differ.*right\.so\/$ID/,
     'the warning about a wrong folder is the same');

$r = $t->run({ stdin => sym_text('pipe.so', $ID) }, 'load', '/dev/stdin');
is($r->{code}, 0, 'standard input from a file');
my $p = $t->start('load', '/dev/stdin');
print { $p->{in} } sym_text('pipe.so', $ID);
close($p->{in});
$r = $t->wait($p);
is($r->{code}, 1, 'a pipe');
like($r->{err}, qr/cannot read a pipe; write it to a file/,
    '... and the error says what to do');

# --- a file that requests wait for ---

# At three sources: by debug id twice, and by build id.
my $build_id = '33221100554477668899aabbccddeeff01020304';
(my $debug_id = $ID) =~ s/1$/0/;
my %waited = (one => $debug_id, two => $debug_id, three => $build_id);
my %client = map { $_ => $t->client } keys %waited;
for my $scope (sort keys %waited) {
    $client{$scope}->send(ENSURE => ticket => 1, scope => $scope, key => "waited.so/$waited{$scope}");
    is($client{$scope}->recv->{type}, 'FETCH', "a module that is missing at $scope");
}
my $text = sym_text('waited.so', $debug_id) =~ s/\n/\nINFO CODE_ID \U$build_id waited.so\n/r;
is($t->run('load', $t->file('waited.sym', $text))->{code}, 0, 'is loaded by hand');
is_deeply($client{$_}->recv, { type => 'READY', ticket => 1, flags => 0 },
    "READY to the client that waits at $_") for sort keys %waited;
is($t->stats->{lease_bytes}, 0, 'no lease is left');
my $c = $client{one};

# --- rm ---

is($t->run('rm', "good.so/$ID")->{code}, 0, 'rm');
is($t->run('show', "good.so/$ID")->{code}, 1, '... it is gone');
$r = $t->run('rm', "good.so/$ID");
is($r->{code}, 1, 'rm of a module that is not stored');
like($r->{err}, qr/not in the store/, '... says so');
$r = $t->run('rm', "no.so/$ID", "equal.so/$ID");
is($r->{code}, 1, 'one of two is not stored');
is($t->run('show', "equal.so/$ID")->{code}, 1, '... the other is gone');

# --- a socket elsewhere ---

$t->stop;
$t->{socket} = "$t->{dir}/else where.sock";
$t->serve('--socket', $t->{socket});
is($t->run('rm', "waited.so/$debug_id")->{code}, 4, 'rm does not find the daemon');
is($t->run('rm', '--socket', $t->{socket}, "waited.so/$debug_id")->{code}, 0,
   '... unless given its socket');
is($t->run('load', '--socket', $t->{socket}, $good)->{code}, 0, 'load, too');

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
