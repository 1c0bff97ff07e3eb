# A file may be replaced while the old one is being fetched: who forgets it then
# must not find the old symbols in the store a moment later.  What is under way
# is dropped and fetched again, and whoever waited gets the new.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Socket::UNIX;
use SymFolder;
use SymLoader qw(sym_text);
use Test::More;

# The source is this test: it answers when it wants to.
my $t = SymFolder->new(workers => 2);
my $path = "$t->{dir}/source";
my $source = IO::Socket::UNIX->new(Local => $path, Listen => 16) or die $!;
chmod 0777, $path;
$t->{parts}{locations} =~ s{alias [^;]*;}{proxy_pass http://unix:$path:/;};
$t->start;

# The next request that comes to the source.
sub asked {
    my ($what) = @_;
    if (!IO::Select->new($source)->can_read($SymTest::PATIENCE)) {
        fail("$what: the source is asked");
        return;
    }
    my $socket = $source->accept;
    my $head = '';
    while ($head !~ /\r\n\r\n/) {
        sysread $socket, $head, 4096, length $head or last;
    }
    pass("$what: the source is asked");
    return $socket;
}

sub answer {
    my ($socket, $text) = @_;
    my $length = length $text;
    syswrite $socket,
        "HTTP/1.1 200 OK\r\nContent-Length: $length\r\n\r\n$text";
    close $socket;
}

sub ask {
    my (@module) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
        body => $t->question(\@module)));
    return $socket;
}

# --- while it is downloaded ---

my @module = ('a.so', SymFolder::id(0xf1));
my @asking = map { ask(@module) } 1 .. 3;
my $first = asked('a miss');

is_deeply($t->forget(@module)->{json}, { removed => JSON::PP::false },
    'forgotten in flight: the store had nothing');
answer($first, sym_text(@module, prefix => 'old'));
answer(asked('once more'), sym_text(@module, prefix => 'new'));

is($t->function($t->response($_)), 'new0', 'who waited gets the new')
    for @asking;
is($t->function($t->ask(\@module)), 'new0', 'so does who comes later');

# --- the same by an event, with an answer that there is no such file ---

my @late = ('late.so', SymFolder::id(0xf2));
my $asking = ask(@late);
$first = asked('a miss');
my $r = $t->post_json('/admin/events', { Records => [{
    eventName => 'ObjectCreated:Put', s3 => { bucket => { name => 'symbols' },
        object => { key => SymFolder::path(@late) } } }] });
is($r->{json}{modules}, 1, 'uploaded meanwhile');
syswrite $first, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
close $first;
answer(asked('once more'), sym_text(@late));
is($t->function($t->response($asking)), 'f0', 'who waited gets it');

# --- twice in flight, and nobody waits any more ---

my @twice = ('twice.so', SymFolder::id(0xf3));
$asking = ask(@twice);
$first = asked('a miss');
$t->forget(@twice) for 1 .. 2;
answer($first, sym_text(@twice, prefix => 'old'));
my $second = asked('once more');
$t->forget(@twice);
answer($second, sym_text(@twice, prefix => 'older'));
answer(asked('and again'), sym_text(@twice, prefix => 'new'));
is($t->function($t->response($asking)), 'new0', 'forgotten again and again');

ok(!IO::Select->new($source)->can_read(0), 'the source is not asked for more');

is($t->end, '', 'the logs are clean');

done_testing();
