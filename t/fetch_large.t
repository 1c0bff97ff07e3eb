# Things that do not fit: a module larger than the store is a clear failure, and
# serving continues; a large body passes through a file, not through memory.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(module_line);
use Test::More;

# --- a store that is too small ---

my $t = SymFetch->new(serve => ['--jobs', 1, '--quota', '16m'])->start;
my @large = ('large.so', SymFetch::id(1));
my @small = ('small.so', SymFetch::id(2));

# about 24 MB of text, with names that do not repeat: more than 8 MB compiled,
# and more than the room for temporary files
my $text = '';
srand 7;
for my $i (0 .. 299_999) {
    $text .= sprintf "FUNC %x 10 0 f%s\n", 0x1000 + $i * 16,
        join '', map { chr 97 + rand 26 } 1 .. 60;
}
$t->fault->file(SymFetch::path(@large), module_line(@large) . $text);
$t->upload(@small);
$t->fault->script('src', 'ok');

is($t->found($t->ask([@small]), @small), 1, 'a small one is stored');
my $r = $t->ask([@large]);
is($r->{status}, 200, 'one larger than the store: 200');
is($t->found($r, @large), 0, '... with false');
my ($m) = SymLoader::json_lines(
    $t->loader->run('show', '--json', join '/', @large)->{out});
like($m->{reason}, qr/more than half of the store's quota|larger than all room/,
    "... the reason: $m->{reason}");
my $gets = $t->gets(@large);
is($t->found($t->ask([@large]), @large), 0, '... again');
is($t->gets(@large), $gets, '... it is not downloaded again');
is($t->found($t->ask([@small]), @small), 1, 'the small one is still there');
my @next = ('next.so', SymFetch::id(3));
$t->upload(@next);
is($t->found($t->ask([@next]), @next), 1, 'the next is stored');

# a larger quota: it is tried again
$t->loader_stop;
$t->{serve} = ['--jobs', 1, '--quota', '512m'];
$t->loader_start;
$t->wait_for(sub { ($t->found($t->ask([@large]), @large) // 0) == 1 },
    'a large quota: it is found');
is($t->found($t->ask([@large]), @large), 1, 'a large quota: found');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

# --- a large body ---

my $mb = SymTest::is_slow() ? 30 : 300;
$t = SymFetch->new->start;
my @body = ('body.so', SymFetch::id(4));
my $file = $t->fault->folder . '/' . SymFetch::path(@body);
$t->fault->file(SymFetch::path(@body), module_line(@body)
    . "FUNC 1000 40 0 first\n");
open my $out, '>>:raw', $file or die "$file: $!";
# records that are valid in a symbol file and not needed here
my $line = 'STACK CFI 1004 .cfa: $rsp 16 + .ra: .cfa -8 + ^' . "\n";
my $block = $line x int((1 << 20) / length $line);
print $out $block for 1 .. $mb;
close $out;

# Peak of a process's own memory, in KB.
sub peak {
    my ($pid) = @_;
    my ($kb) = SymTest::slurp("/proc/$pid/status") =~ /^VmHWM:\s*(\d+)/m;
    return $kb;
}

$t->fault->script('src', 'ok');
my @first = ('first.so', SymFetch::id(5));
$t->upload(@first);
$t->ask([@first]);
my ($worker) = $t->workers;
my $before = peak($worker);
$r = $t->ask([@body]);
is($t->function($r, 0), 'first', "a body of $mb MB: answered");
my $more = peak($worker) - $before;
cmp_ok($more, '<', 16 << 10, "... the worker's memory grew by $more KB");
is($t->gets(@body), 1, 'one GET: the lease grew meanwhile');

is($t->end, '', 'nothing is wrong');

done_testing();
