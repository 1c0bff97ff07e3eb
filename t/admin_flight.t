# A file may be replaced while the old one is being fetched.  If an operator
# forgets the module then, the old symbols must not appear in the store a moment
# later: the fetch in flight is dropped and repeated, and waiting requests get
# the new file.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymLoader qw(sym_text);
use Test::More;

my $t = SymFolder->new(workers => 2, held => 1)->start;

# --- while it is downloaded ---

my @module = ('a.so', SymFolder::id(0xf1));
my @asking = map { $t->begin(\@module) } 1 .. 3;
my $first = $t->asked;

is_deeply($t->forget(@module)->{json}, { removed => JSON::PP::false },
    'forgotten in flight: the store had nothing');
$t->answer($first, 200, sym_text(@module, prefix => 'old'));
$t->answer($t->asked, 200, sym_text(@module, prefix => 'new'));

is($t->function($t->finish($_)), 'new0', 'a waiting request gets the new file')
    for @asking;
is($t->function($t->ask(\@module)), 'new0', 'so does a later one');

# --- the same with an event, and an answer that the file does not exist ---

my @late = ('late.so', SymFolder::id(0xf2));
my $asking = $t->begin(\@late);
$first = $t->asked;
my $r = $t->post_json('/admin/events', { Records => [{
    eventName => 'ObjectCreated:Put', s3 => { bucket => { name => 'symbols' },
        object => { key => SymFolder::path(@late) } } }] });
is($r->{json}{paths}, 1, 'uploaded meanwhile');
$t->answer($first, 404, 'no');
$t->answer($t->asked, 200, sym_text(@late));
is($t->function($t->finish($asking)), 'f0', 'a waiting request gets it');

# --- twice in flight, without waiting requests ---

my @twice = ('twice.so', SymFolder::id(0xf3));
$asking = $t->begin(\@twice);
$first = $t->asked;
$t->forget(@twice) for 1 .. 2;
$t->answer($first, 200, sym_text(@twice, prefix => 'old'));
my $second = $t->asked;
$t->forget(@twice);
$t->answer($second, 200, sym_text(@twice, prefix => 'older'));
$t->answer($t->asked, 200, sym_text(@twice, prefix => 'new'));
is($t->function($t->finish($asking)), 'new0', 'forgotten again and again');

ok(!$t->is_asked(0), 'the source gets no other requests');

is($t->end, '', 'the logs are clean');

done_testing();
