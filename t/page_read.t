# Pasted text has the form of some tool's report: the page must read it as that
# tool means it, and show what it did not understand.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTools;

my $node = SymTools::path('node');
exec $node, "$FindBin::Bin/page/read.mjs" or die "node: $!";
