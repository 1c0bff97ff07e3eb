#!/usr/bin/perl

# Debug information that is spread over several files is put together: that of a
# stripped executable (.gnu_debuglink, .build-id), shared parts that dwz moved,
# split units (.dwo, .dwp).  A file of another build is never used, and a
# hostile file cannot lead out of the given folders.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymCompanions qw(companion_cases);
use SymLoader;

companion_cases(SymLoader->new);
done_testing();
