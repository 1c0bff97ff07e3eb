# A file that was invalidated while it was downloaded does not come back if the
# loader dies meanwhile: the next loader does not know that download, and drops
# its result.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $t = SymFetch->new->start;
my @module = ('m.so', SymFetch::id(1));
$t->upload(@module, prefix => 'old', functions => 100)->fault->script('src', 'drip/200', 'ok');
my ($worker) = $t->workers;

# The worker sleeps while the loader dies, another starts, and the file changes.
my $socket = $t->begin([@module]);
$t->fault->wait('/as/src/' . SymFetch::path(@module), count => 1);
kill 'STOP', $worker;
$t->loader_stop('KILL');
$t->loader_start;
my $file = $t->fault->folder . '/' . SymFetch::path(@module);
unlink $file or die "$file: $!";    # the response in progress does not change
$t->upload(@module, prefix => 'new');
my $r = $t->loader->run('rm', '--source', 'fault', join '/', @module);
like($r->{code}, qr/^[01]\z/, 'it is invalidated');
kill 'CONT', $worker;

is($t->function($t->response($socket), 0), 'new0', 'the answer: the new file');
is($t->function($t->ask([@module]), 0), 'new0', '... and the next one, too');
is($t->gets(@module), 2, 'the old download was dropped');
is($t->end, '', 'nothing is wrong');

done_testing();
