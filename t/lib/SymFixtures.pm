package SymFixtures;

# SymFixtures - files that tests read and cannot make.
#
#     my $debug = fixtures('elf/crash.debug');       a file or a folder
#     my $windows = need_fixtures('windows');        the whole test needs it
#     SKIP: { my $fat = fixtures('macho/crash'); ... }
#
# The fixtures are real files, made by other people's compilers, and answers of
# other servers; they are not in this repository.  In a clone without them `make
# unit` makes some of them (made_fixtures.py), which are enough for tests that
# are not about foreign files.  A test of any other file is skipped there.
#
# Environment:
#   SYM_FIXTURES=FOLDER      default ../shared/fixtures

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Spec ();
use Test::More ();

our @EXPORT_OK = qw(fixtures need_fixtures have_fixtures fixture_modules);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $given = $ENV{SYM_FIXTURES};
my $real = $given || "$root/../shared/fixtures";
my $build = File::Spec->rel2abs($ENV{SYM_BUILD} || 'build', $root);
my $folder = abs_path(-d "$real/symbols" ? $real : "$build/t/fixtures");

die "no fixtures in $given\n" if $given && !-d "$given/symbols";

# Are these the real ones?
sub have_fixtures { return -d "$real/symbols" }

sub _why {
    my ($what) = $_[0] =~ m{^((?:sentry/)?[^/]+)};
    return "no fixtures: $what";
}

sub _is_there {
    my ($name) = @_;
    return 1 if -e "$folder/$name";
    die "no $folder/$name\n" if have_fixtures();
    return 0;
}

# Outside of a SKIP block, the test dies if the file is missing.
sub fixtures {
    my ($name) = @_;
    Test::More::skip(_why($name), 1) if !_is_there($name);
    return "$folder/$name";
}

# Before the first test of a file, all of which is then skipped.
sub need_fixtures {
    my ($name) = @_;
    Test::More::plan(skip_all => _why($name)) if !_is_there($name);
    return "$folder/$name";
}

# NAME/ID => [files], of every symbol file.
sub fixture_modules {
    my %modules;

    for my $path (sort glob "$folder/symbols/*/*/*.sym") {
        my ($name, $id) = $path =~ m{([^/]+)/([^/]+)/[^/]+$};
        push @{ $modules{"$name/$id"} }, $path;
    }
    return %modules;
}

1;
