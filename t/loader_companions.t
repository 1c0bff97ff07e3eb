#!/usr/bin/perl

# Debug information that lies in several files is put together again: that of a
# stripped executable (.gnu_debuglink, .build-id), what dwz took out, split
# units (.dwo, .dwp).  A file of another build is never believed, and what a
# hostile file says leads nowhere but into the folders that were meant.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymCompanions qw(companion_cases);
use SymLoader;

companion_cases(SymLoader->new);
done_testing();
