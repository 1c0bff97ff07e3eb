# The loader is of the version before, until it is restarted: it ends a connection
# that begins with our HELLO.  Workers greet it again as it expects, and requests
# are answered meanwhile.  The loader is a stranger here, who says what
# docs/formats/loader-protocol.md has of version 2.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymStranger qw(stranger can_read hear welcome say $FEATURES);
use Test::More;

use IO::Select;

my ($HELLO, $ENSURE, $GIVEN) = (1, 2, 11);
my ($WELCOME, $NEGATIVE) = (64, 66);
my ($OLD_ABLE, $ABSENT) = (4, 2);

my $t = SymFolder->new(held => 1);
my $path = $t->dir . '/stranger';
my $listen = stranger($path);
$t->load(SymTest::symbol_file('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'));
my $locations = $t->{parts}{locations}
    =~ s/(symbolicate_loader unix:)[^;]+;/$1$path;/r;
$t->conf(locations => $locations)->SymTest::start;

sub say_absent {
    my ($c, $ticket) = @_;
    say($c, $NEGATIVE, 'VV4v/a*', $ticket, $ABSENT, (1) x 3, 'so it is said');
    return;
}

my $socket = $t->begin(['a.so', SymFolder::id(1)]);
my $c = can_read($listen)->accept;
my ($version, $rest) = hear($c, $HELLO);
is($version, 3, 'HELLO of our version');
is(unpack('V', $rest), $FEATURES, '... with features');
ok(!IO::Select->new($c)->can_read(0.2), '... and nothing before WELCOME');
close $c;

$c = can_read($listen)->accept;
($version, $rest) = hear($c, $HELLO);
is("$version,$rest", '2,', 'HELLO once more, of the version before');
say($c, $WELCOME, 'V', 2);
my ($ticket, $flags) = hear($c, $GIVEN);
is(unpack('V', $flags), $OLD_ABLE, 'that it understands ALSO');
($ticket, $rest) = hear($c, $ENSURE);
like($rest, qr/a\.so/, 'what waited comes now');
say_absent($c, $ticket);
is($t->function($t->finish($socket)), 'false', 'the request is answered');

# --- the loader is restarted: it is of our version now ---

$socket = $t->begin(['b.so', SymFolder::id(2)]);
hear($c, $ENSURE);
close $c;
$c = welcome(can_read($listen)->accept);
($ticket) = hear($c, $ENSURE);
say_absent($c, $ticket);
is($t->function($t->finish($socket)), 'false',
    'greeted in our version, the request is answered');

# --- and then of one that reads code ids: who asked before WELCOME has one, too ---

my $code_id = 'f1c3bcc0279865fe3058404b2831d9e64135386cab';
my $reading = uc substr $code_id, 0, 40;

$socket = $t->begin(['c.so', $code_id]);
($ticket, $rest) = hear($c, $ENSURE);
like($rest, qr/$reading$/, 'no code id without the feature');
close $c;
$c = can_read($listen)->accept;
hear($c, $HELLO);
say($c, $WELCOME, 'VV', 3, 4);
($ticket, $rest) = hear($c, $ENSURE);
is($rest =~ s/^.*$reading//sr, pack('Vv/a*', 0, $code_id),
    'the whole code id with it');
say_absent($c, $ticket);
($ticket) = hear($c, $ENSURE);
say_absent($c, $ticket);
is($t->function($t->finish($socket)), 'false',
    'asked once more as it was sent, the request is answered');

close $c;
is($t->end, '', 'the logs are clean');

done_testing();
