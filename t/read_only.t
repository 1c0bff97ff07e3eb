# A store on a read-only file system (a snapshot, an image, a read-only volume
# of a container) can be read: without writers, LMDB's table of readers is not
# needed, and uses are not recorded.  Commands that write say why they cannot.

use strict;
use warnings;

use Errno qw(EROFS);
use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(json_lines sym_text);
use SymTest;
use SymTools;
use Test::More;

# A read-only mount, visible only to this process: the whole test runs in a
# mount namespace of its own.
if (!$ENV{SYM_READ_ONLY}) {
    plan(skip_all => 'no right to mount (root with CAP_SYS_ADMIN)')
        if $> != 0 || system('unshare --mount mount --bind / / 2>/dev/null') != 0;
    $ENV{SYM_READ_ONLY} = 1;
    exec SymTools::path('unshare'), '--mount', '--propagation', 'private', $^X,
        $0 or die "unshare: $!\n";
}

my $ID = '00112233445566778899AABBCCDDEEFF1';

my $t = SymTest->new;
my $l = SymLoader->new;
$l->{store} = $t->store;
is($l->run('init', '--max-readers', 50)->{code}, 0, 'a store');
is($l->run('load', '--quiet', $l->file('m.sym', sym_text('m', $ID,
    lines => 1)))->{code}, 0, '... with a module');

my $store = $t->store;
for my $options ([ '--bind', $store, $store ],
                 [ '-o', 'remount,ro,bind', $store ]) {
    system('mount', @$options) == 0 or die 'mount';
}
my $is_written = open my $file, '>', "$store/new";
ok(!$is_written && $! == EROFS, '... where nothing can be written');

# --- symloader ---

my $m = "m/$ID";
my $r = $l->run('lookup', $m, '1000', '1040');
is($r->{code}, 0, 'lookup') or diag($r->{err});
is($r->{out}, "f0\n/src/f.c:1\n\nf1\n/src/f.c:2\n\n", '... answers');
$r = $l->run('atos', '-o', $m, '0x1000');
is($r->{code}, 0, 'atos') or diag($r->{err});
is($r->{out}, "f0 (in m) (f.c:1)\n", '... answers, too');
$r = $l->run('ls', '--json');
is($r->{code}, 0, 'ls') or diag($r->{err});
is((json_lines($r->{out}))[0]{name}, 'm', '... shows the module');
$r = $l->run('show', $m);
is($r->{code}, 0, 'show') or diag($r->{err});
like($r->{out}, qr/^functions +3$/m, '... shows it, too');
$r = $l->run('dump', $m);
is($r->{code}, 0, 'dump') or diag($r->{err});
like($r->{out}, qr/^FUNC 1000 40 0 f0$/m, '... writes it');
$r = $l->run('verify');
is($r->{code}, 0, 'verify') or diag($r->{err});
like($r->{out}, qr/^no faults in 1 modules?, /, '... finds it sound');
$r = $l->run('stat', '--json');
is($r->{code}, 0, 'stat') or diag($r->{err});
my ($stat) = json_lines($r->{out});
is($stat->{modules}, 1, '... counts it');
is($stat->{max_readers}, 50, '... and the slots that readers have elsewhere');

for my $args ([ 'rm', $m ], ['init'], [ 'load', $l->dir . '/m.sym' ],
              ['serve'], [ 'evict', '--to', 0 ]) {
    $r = $l->run(@$args);
    is($r->{code}, 3, "$args->[0] is refused");
    like($r->{err}, qr/Read-only file system/, '... for that reason');
}

# --- nginx ---

$t->start;
for my $turn (1 .. 2) {
    $r = $t->post_json('/symbolicate/v5', {
        memoryMap => [ [ 'm', $ID ], [ 'n', $ID ] ],
        stacks => [ [ [ 0, 0x1044 ], [ 1, 0x1000 ] ] ],
    });
    is($r->{status}, 200, 'nginx answers');
    my $found = $r->{json}{results}[0];
    is($found->{stacks}[0][0]{function}, 'f1', '... stored modules');
    is_deeply($found->{found_modules}, {
        $m => JSON::PP::true, "n/$ID" => JSON::PP::false,
    }, '... and that others are absent');
}
is($t->request('GET', '/__heartbeat__')->{status}, 200, '... and is healthy');
is($t->stop->log_trouble, '', 'nothing is wrong');
is(system('umount', $store), 0, 'the folder can be removed');

done_testing();
