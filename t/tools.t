# No test hangs, and none passes without the tools that it needs: a tool that
# takes too long is killed, a missing tool is named with its Debian package, and
# both fail the test, whatever it makes of the exit code.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(root read_file write_file);
use SymTest;
use SymTools;
use Test::More;
use Time::HiRes qw(time);

my $dir = tempdir(CLEANUP => 1);
my $tools = "$dir/tools";
my $sh = SymTools::path('sh');
my $path = $ENV{SYM_PATH};

sub tool {
    my ($name, $text) = @_;
    chmod 0755, write_file("$tools/$name", "#!$sh\nPATH=$path\n$text\n") or die;
    return;
}

# Runs a test of these lines like ./dev test: (exit code, all output).
sub test_of {
    my ($text, %env) = @_;
    my $file = write_file("$dir/inner.t", <<"END");
use strict;
use warnings;
use lib '$FindBin::Bin/lib';
use SymTools;
use Test::More;
$text
done_testing();
END
    # nothing of this test's environment except where its tools are
    local @ENV{qw(PATH SYM_TOOL_TROUBLE)} = ($path, undef);
    local @ENV{keys %env} = values %env;
    my $code = SymTest::run_quietly("$dir/said", root() . '/t/tools/run', $file);
    return ($code, read_file("$dir/said"));
}

sub is_gone {
    my ($file, $what) = @_;
    my $pid = read_file($file) + 0;
    return ok(SymTest->wait_for(sub { !kill 0, $pid }, $what), $what);
}

# --- late ---

tool('llvm-dwp', "sleep 300 & echo \$! >$dir/child; echo \$\$ >$dir/pid; wait");
my %late = (SYM_PATH => "$tools:$path", SYM_TOOL_SECONDS => 3);
my $start = time;
my ($code, $said) = test_of('ok(!qx(llvm-dwp 2>/dev/null), "asked");', %late);
isnt($code, 0, 'a tool that hangs fails its test');
like($said, qr/^ok 1 - asked$/m, '... which did not look at its exit code');
like($said, qr/llvm-dwp did not end in 3 s/, '... the tool is named');
cmp_ok(time - $start, '<', 120, '... soon');
is_gone("$dir/pid", '... it is gone');
is_gone("$dir/child", '... so is what it started');

# --- not there ---

mkdir "$dir/none" or die;
my %none = (SYM_PATH => "$dir/none");
($code, $said) = test_of('ok(!qx(dwz one 2>/dev/null), "asked");', %none);
isnt($code, 0, 'a tool that is not installed fails its test');
like($said, qr/dwz is not installed: apt-get install dwz$/m, '... the package');
($code, $said) = test_of('SymTools::path("node"); ok(1);', %none);
isnt($code, 0, 'so does a server');
like($said, qr/node is not installed: apt-get install nodejs$/m,
     '... the package');
tool('unheard-of', 'exit 0');
($code, $said) = test_of('is(system("unheard-of"), 0, "found");', %late);
isnt($code, 0, 'a tool that is not in the table is not found');

# --- transparent otherwise ---

tool('gcc', 'cat; echo "$@" >&2; exit 7');
($code, $said) = test_of(<<'END', SYM_PATH => "$tools:$path");
is(qx(echo in | gcc 'a b' 2>&1), "in\na b\n", 'input, output, arguments');
is($? >> 8, 7, 'exit code');
END
is($code, 0, 'a tool exits as usual') or diag($said);
tool('gcc', 'kill -USR1 $$');
($code, $said) = test_of('is(system("gcc") & 127, 10, "signal");',
                         SYM_PATH => "$tools:$path");
is($code, 0, '... and dies as usual') or diag($said);

# --- a test that hangs ---

($code, $said) = test_of(<<"END", SYM_TEST_SECONDS => 5);
my \$pid = fork // die;
open my \$out, '>', \$pid ? "$dir/pid" : "$dir/child" or die;
print \$out \$\$;
close \$out;
ok(1, 'begun');
sleep 300;
END
is($code, 124, 'a test that hangs is killed');
like($said, qr/did not end in 5 s/, '... which is reported');
is_gone("$dir/pid", '... it is gone');
is_gone("$dir/child", '... so is what it started');

done_testing();
