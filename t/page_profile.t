# A profile that a user opens has the form of some profiler: the page must count
# its samples like that profiler's own tools.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTools;

my $node = SymTools::path('node');
exec $node, "$FindBin::Bin/page/profile.mjs" or die "node: $!";
