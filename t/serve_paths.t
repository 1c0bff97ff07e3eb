# Outcomes of the paths at a source are recorded by path: absent, failed,
# malformed, and files with the ids of their objects and the kinds made from
# them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $OTHER = '102132435465768798A9BACBDCEDFE0F2';
my ($READ, $ABSENT, $FAILED) = 1 .. 3;
my ($BREAKPAD, $NATIVE) = 0 .. 1;
my $t = SymServe->new->serve('--jobs', 1);
my $c = $t->client;
my $ticket = 0;

# The records whose path begins like that, as t/store/paths.c prints them,
# without the column of checksums.
sub records {
    my ($path) = @_;
    $c->sync;
    my $paths = ($ENV{SYM_BUILD} // 'build') . '/t/paths';
    return grep { index($_, $path) == 0 } map { s/^(\S+) - /$1 /r =~ s/\n//r }
        qx($paths @{[ $t->store ]} s);
}

sub fetch {
    my ($key, %more) = @_;
    $c->send(ENSURE => ticket => ++$ticket, scope => 's', key => $key, layout => $BREAKPAD, %more);
    is($c->recv->{type}, 'FETCH', "$key: FETCH");
    return;
}

sub none {
    my ($state, @places) = @_;
    $c->send(NONE => ticket => $ticket, state => $state, text => 'why', places => \@places,
        ttl => [ 3600, 3600, 3600 ]);
    return;
}

# --- no file ---

fetch("gone.so/$ID");
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'NEGATIVE', 'absent');
is_deeply([ records('gone') ], ["gone.so/$ID/gone.so.sym absent 404 0/0"],
    '... there is a record of its path');

my $lower = lc $ID;
fetch("gone.so/$lower");
none(2, [ 1, $ABSENT, 404 ]);
is($c->recv->{type}, 'NEGATIVE', 'absent in another spelling');
is_deeply([ records('gone') ],
    [ map {"gone.so/$_/gone.so.sym absent 404 0/0"} $ID, $lower ],
    '... there is a record of each path');

fetch("down.so/$ID");
none(3, [ 0, $FAILED, 0, 'timeout' ]);
is($c->recv->{type}, 'NEGATIVE', 'failed');
is_deeply([ records('down') ], ["down.so/$ID/down.so.sym failed 0timeout 0/0"], '... the same');

# --- paths without an outcome ---

my $native = 'app.pdb';
my @files = map {"$native/$ID/app$_"} '.sym', '.pdb', '.pd_';
fetch("$native/$ID", layout => $NATIVE);
none(3, [ 0, $FAILED, 503 ]);
is($c->recv->{type}, 'NEGATIVE', 'the time was over after the first path');
my @got = map { s/ 0\/0$//r } records($native);
is(scalar(grep {/ failed 0untried$/} @got), @got - 1, 'the others have failed, too');
is(scalar(grep {/ failed 503$/} @got), 1, '... and the first has its outcome');
cmp_ok(scalar @got, '>', 1, '... there are others');

# --- files ---

my $id = 'd' . lc(substr $ID, 0, 32) . '00000001';
fetch("good.so/$ID");
$c->send(INGEST => ticket => $ticket, path => $t->file('good', sym_text('good.so', $ID)),
    places => [ [ 0, $READ, 200 ] ]);
is($c->recv->{type}, 'READY', 'a file');
my @kinds = map { hex } ((records('good'))[0] // '') =~ m{ read 200 ([0-9a-f]+)/([0-9a-f]+) $id$};
is($kinds[1], 1 << 1, 'it gave a symcache');
is($kinds[0] & 1 << 2, 1 << 2, '... and sources were tried');

# --- the record of a file lives as long as its artifacts ---

$c->send(INVALIDATE => ticket => 1000, scope => 's', key => "good.so/$ID");
is($c->recv->{type}, 'DONE', 'its module is forgotten');
is_deeply([ records('good') ], [], '... so its path is open');

fetch("moved.so/$ID");
$c->send(INGEST => ticket => $ticket, path => $t->file('moved', sym_text('moved.so', $ID)),
    places => [ [ 0, $READ, 200, '', '', 'http://cdn/moved.sym' ] ]);
is($c->recv->{type}, 'READY', 'a file elsewhere');
like($t->run('show', "moved.so/$ID")->{out}, qr{^file +http://cdn/moved\.sym$}m, '... is shown with its URL');

# --- a path that has changed ---

fetch("old.so/$ID");
$c->send(INGEST => ticket => $ticket, path => $t->file('old', sym_text('old.so', $ID)),
    places => [ [ 0, $READ, 200 ] ]);
is($c->recv->{type}, 'READY', 'a file');
fetch("old.so/$OTHER");
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'NEGATIVE', 'another of its name is absent');
$c->send(CHANGED => ticket => 1000, scope => 's', source => "below/v1/old.so/$ID/old.so.sym");
is_deeply($c->recv, { type => 'DONE', ticket => 1000, flags => 1, scope => 's', key => '', text => '', kind => 1 << 1 },
    'the file at its path has changed');
is_deeply([ records('old') ], ["old.so/$OTHER/old.so.sym absent 404 0/0"], '... clears that path');
unlike($t->run('ls')->{out}, qr{old\.so/$ID}, '... with the artifact');

fetch("other.so/$ID");
$c->send(INGEST => ticket => $ticket, path => $t->file('other', sym_text('other.so', $OTHER)),
    places => [ [ 0, $READ, 200 ] ]);
is($c->recv->{state}, 4, 'a file of another object');
my $other = 'd' . lc(substr $OTHER, 0, 32) . '00000002';
is_deeply([ records('other') ], ["other.so/$ID/other.so.sym read 200 0/0 $other"],
    '... no kind of it was tried');

fetch("bad.so/$ID");
$c->send(INGEST => ticket => $ticket, path => $t->file('bad', "garbage\n"),
    places => [ [ 0, $READ, 200 ] ]);
is($c->recv->{state}, 4, 'garbage');
is_deeply([ records('bad') ], ["bad.so/$ID/bad.so.sym malformed 200 0/0"], '... is malformed');

fetch("late.pdb/$ID", layout => $NATIVE);
$c->send(INGEST => ticket => $ticket, path => $t->file('late', sym_text('late.pdb', $ID)),
    places => [ [ 1, $READ, 200 ] ]);
is($c->recv->{type}, 'READY', 'a file at the second path');
is(scalar(grep {/ absent 0unlisted /} records('late')), 1, 'its index does not list the first');
is(scalar(() = records('late')), 2, '... and later paths are open');

# --- invalidated meanwhile ---

fetch("void.so/$ID");
$c->send(INVALIDATE => ticket => 1000, scope => 's', key => "void.so/$ID");
is($c->recv->{type}, 'DONE', 'forgotten meanwhile');
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'FETCH', '... so it is requested again');
is_deeply([ records('void') ], [], '... and nothing is recorded');
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'NEGATIVE', 'then it is absent');

# --- a path that changes meanwhile ---

sub changed {
    my ($path, $scope) = @_;
    $c->send(CHANGED => ticket => 1000, scope => $scope // 's', source => $path);
    return $c->recv->{flags};
}

# Two of the places are tried, and a third has a record from before.
my @two = map {"two.pdb/$ID/two$_"} '.sym', '.pdb', '.pd_';
fetch("two.pdb/$ID", layout => $NATIVE);
is(changed("x/$two[0]"), 0, 'a file is uploaded while its path is tried');
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'FETCH', '... so all paths are tried again');
is_deeply([ records('two') ], [], '... and none has an outcome');
is(changed($two[0], 'other'), 0, '... not by an event of another source');
is(changed("two.pdb/$ID"), 0, '... of a folder');
is(changed(substr $two[0], 1), 0, '... or of a path that ends alike');
$c->send(INGEST => ticket => $ticket, path => $t->file('two', "garbage\n"), places => [ [ 1, $READ, 200 ] ]);
my $m = $c->recv;
is($m->{type}, 'FETCH', 'a file that cannot be read: the search goes on');
is($m->{bits} & 3, 0, '... at the other places');
is(changed($two[0]), 1, 'the first file is uploaded');
none(2);
is($c->recv->{bits} & 3, 1, '... so its path is tried again, and the unreadable one is not');
$c->send(INGEST => ticket => $ticket, path => $t->file('two', sym_text('two.pdb', $ID)), places => [ [ 0, $READ, 200 ] ]);
is($c->recv->{type}, 'READY', '... where the file is');

# --- a checksum ---

$c->send(ENSURE => ticket => ++$ticket, scope => 's', key => "sum.so/$ID", checksum => 'SHA256:ab',
    layout => $BREAKPAD, files => 1 << 3);
is($c->recv->{type}, 'FETCH', 'with a checksum');
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'NEGATIVE', 'absent');
like((records('sum'))[0], qr{^sum.so/$ID/sum.so.sym [0-9a-f]{16} absent 404 }, '... only for this one');
$c->send(ENSURE => ticket => ++$ticket, scope => 's', key => "sum.so/$ID", checksum => 'SHA256:cd',
    layout => $BREAKPAD, files => 1 << 3);
is($c->recv->{type}, 'FETCH', '... so it is requested with another');
is(changed("sum.so/$ID/sum.so.sym"), 1, 'an event for its path');
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'FETCH', '... makes this search void');
none(2, [ 0, $ABSENT, 404 ]);
is($c->recv->{type}, 'NEGATIVE', '... once');
is(scalar(() = records('sum')), 1, '... and clears the path with any checksum');

# --- several objects in a file ---

SKIP: {
    my $fat = fixtures('macho/Example.framework.dSYM/Contents/Resources/DWARF/Example');
    my @ids = map { tr/-//dr } qx(llvm-dwarfdump --uuid $fat) =~ /^UUID: (\S+)/mg;
    my $none = '0' x 31 . '10';
    for (["$ids[1]0", 'READY', '2'], [$none, 'NEGATIVE', '0']) {
        my ($asked, $answer, $given) = @$_;
        fetch("Fat/$asked");
        $c->send(INGEST => ticket => $ticket, path => $fat, places => [ [ 0, $READ, 200 ] ]);
        is($c->recv->{type}, $answer, "a slice of a fat file: $answer");
        is_deeply([ map { m{ read 200 \w+/$given (.*)} ? sort grep {/^d/} split ' ', $1 : () } records("Fat/$asked") ],
            [ sort map {"d\L$_\E00000000"} @ids ], '... all slices are known');
    }
}

is($t->stop->{code}, 0, 'the daemon ends');
is($t->verify, 'sound', 'the store is sound');
done_testing();
