package SymTools;

# SymTools - the tools that tests run: LLVM's, elfutils', compilers, python ...
#
# Using this module (as SymTest and SymLoader do) sets PATH to the folder
# build/t/bin, which contains only the tools of the table t/lib/tools.  Each
# runs under a time limit there (t/tools/limit.c).  A tool that is late or not
# installed fails the test at its end, with the name of the Debian package.
#
#     my $file = SymTools::path('node');   the tool itself, for a server that
#                                          runs as long as its test does
#     if (SymTools::has('git')) { ... }    for optional tools
#
# Environment:
#   SYM_PATH=FOLDERS         where tools are; default: Debian's, then PATH
#   SYM_TOOL_SECONDS=N       the limit of each, default 300

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Spec ();
use Test::More ();

my $owner = $$;
my $lib = abs_path(dirname(__FILE__));
my $root = abs_path("$lib/../..");
my $build = File::Spec->rel2abs($ENV{SYM_BUILD} || 'build', $root);
my $trouble = File::Spec->tmpdir . "/symtools.$$";

-e "$build/t/bin/made" || $^C    # perl -c runs nothing
    or die "$build/t/bin is not there: make unit\n";
$ENV{SYM_PATH} //= "/usr/sbin:/usr/bin:/sbin:/bin:$ENV{PATH}";
$ENV{PATH} = "$build/t/bin";
$ENV{SYM_TOOL_TABLE} = "$lib/tools";
$ENV{SYM_TOOL_TROUBLE} = $trouble;
# fetching a debug file from a remote server has no time limit
delete $ENV{DEBUGINFOD_URLS};

sub _find {
    my ($tool) = @_;
    return (grep { -x } map {"$_/$tool"} split /:/, $ENV{SYM_PATH})[0];
}

sub has { return defined _find(@_) }

sub _package {
    my ($tool) = @_;
    open my $table, '<', $ENV{SYM_TOOL_TABLE} or die "$lib/tools: $!\n";
    return (map { /^ *([^#: ]+):.* \Q$tool\E(?: |$)/ ? $1 : () } <$table>)[0]
        // die "$tool is not in $lib/tools\n";
}

sub path {
    my ($tool) = @_;
    return _find($tool)
        // die "$tool is not installed: apt-get install " . _package($tool)
        . "\n";
}

END {
    if ($$ == $owner && open my $said, '<', $trouble) {
        my %line = map { $_ => 1 } <$said>;
        close $said;
        unlink $trouble;
        Test::More::diag("a tool failed: $_") for sort keys %line;
        $? ||= 1;
    }
}

1;
