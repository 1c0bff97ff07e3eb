#!/usr/bin/perl

# A real debuginfod server as a source: a request with a build id gets
# functions, lines and inlines from the debug file that the server has.  The
# server cannot look up a debug id, so it gets no request for one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymDebuginfod;
use SymElf qw(output run_ok);
use SymLlvm ();

my $dir = SymElf::folder();
my $files = "$dir/files";
mkdir $files;

SymLoader::write_file("$dir/app.c", <<'END');
#include <stdlib.h>

static inline __attribute__((always_inline)) int
twice(const char *s)
{
    return 2 * atoi(s);
}

__attribute__((noinline)) int
sum(const char *a, const char *b)
{
    return twice(a)
           + twice(b);
}

int
main(int argc, char **argv)
{
    return argc > 2 ? sum(argv[1], argv[2]) : 0;
}
END

# read as a debug id it has a leading zero in its age
my $any = join '', map { sprintf '%x', rand 16 } 1 .. 32;
run_ok('gcc', '-g', '-O2', "-Wl,--build-id=0x${any}04e009a4", '-o', "$dir/app",
       "$dir/app.c");
run_ok('objcopy', '--only-keep-debug', "$dir/app", "$files/app.debug");
run_ok('strip', '-o', "$files/app", "$dir/app");

my ($build_id) = output('eu-readelf', '-n', "$dir/app")
    =~ /Build ID: ([0-9a-f]{40})/;
my ($addr) = output('nm', "$dir/app") =~ /^([0-9a-f]+) T sum$/m;
my ($size) = output('nm', '-S', "$dir/app") =~ /^[0-9a-f]+ ([0-9a-f]+) T sum$/m;

# LLVM's answer for each byte of sum(): frames, innermost first.
my @addrs = map { hex($addr) + $_ } 0 .. hex($size) - 1;
my @want = map {
    my @line = split /\n/;
    [ map { "$line[2 * $_] " . $line[2 * $_ + 1] =~ s/:\d+\z//r }
        0 .. @line / 2 - 1 ];
} split /\n\n/, output(SymLlvm::symbolizer(), "--obj=$dir/app", '--inlines',
                       map { sprintf '0x%x', $_ } @addrs);
ok(scalar(grep { @$_ > 1 && grep {/^twice /} @$_ } @want),
   'some of it is inlined');

my $server = SymDebuginfod->new($files)->start($build_id);
my $t = $server->nginx;

sub ask {
    my ($id) = @_;
    return $t->post_json('/symbolicate/v5', { jobs => [{
        memoryMap => [[ 'app', $id ]], stacks => [[map { [0, $_] } @addrs]] }] });
}

sub frames {
    my ($r) = @_;
    return map {
        [ map { "$_->{function} $_->{file}:$_->{line}" }
            @{ $_->{inlines} // [] }, $_ ];
    } @{ $r->{json}{results}[0]{stacks}[0] };
}

my $debug_id = '0123456789ABCDEF0123456789ABCDEF0';
my $r = ask($debug_id);
is($t->found($r, 'app', $debug_id), 0, 'a debug id: not available from it');
like($t->request('GET', "/admin/explain/app/$debug_id")->{body},
     qr/"outcome": "skipped".*"url": "needs a code id"/, '... explain says why');

$r = ask($build_id);
is($t->found($r, 'app', $build_id), 1, 'a build id: found');
is_deeply([ frames($r) ], \@want, '... lines and inlines are LLVM\'s');
like($t->request('GET', "/admin/explain/app/$build_id")->{body},
     qr{"url": "http://[^"]*/buildid/$build_id/debuginfo"},
     '... from its debug file');
is_deeply(ask($build_id)->{json}, $r->{json}, 'the same again');

my $unknown = 'ab' x 20;
is($t->found(ask($unknown), 'app', $unknown), 0,
    'a build id that it does not know');

is($t->loader->verify, 'sound', 'the store is sound');
$server->stop;
is($t->end, '', 'nothing is wrong');

done_testing();
