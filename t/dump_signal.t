#!/usr/bin/perl

# A program that crashes in the handler of a signal: the walk goes through the frame of the
# signal to the function that was interrupted.  Its address is that of an instruction, not
# of a return: here it is the function's first, before which is another function.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use File::Path qw(make_path);
use SymElf qw(output);
use SymLoader qw(read_file);

plan skip_all => 'the program knows the registers of x86_64' if output('uname', '-m') !~ /x86_64/;

my ($source, $client) = map { "$FindBin::Bin/lib/crash/$_.c" } 'program', 'own_dump';
my $t = SymLoader->new;
my ($symbols, $program) = map { $t->dir . "/$_" } 'symbols', 'program';

my (%line, $n);
for my $text (split /\n/, read_file($source)) {
    $n++;
    $line{$1} = $n if $text =~ m{/\* here: (\w+) \*/};
}

for my $flags ('-O2 -fomit-frame-pointer', '-O0') {
    system('gcc', '-g', split(/ /, $flags), '-Wl,--build-id=sha1', '-o', $program, $source,
        $client) == 0 or die;
    my ($libc) = output('ldd', $program) =~ m{(/\S+/libc\.so\S*)} or die;
    for my $file ($program, $libc) {
        my ($at, $rest) = output('readelf', '-nW', $file) =~ /Build ID: (\w\w)(\w+)/ or die;
        make_path("$symbols/$at");
        symlink $file, "$symbols/$at/$rest";
    }

    system($program, "$program.dmp", 'signal') == 0 or die "no dump\n";
    my $r = $t->run({ no_store => 1 }, 'walk', '--format=json', "--symbols=native:$symbols", "$program.dmp");
    my $stack = Cpanel::JSON::XS->new->decode($r->{out})->{stacktraces}[0];
    my @frames = grep { ($_->{package} // '') eq $program } @{ $stack->{frames} };
    is(join(' ', map { "$_->{function}:$_->{lineno}:$_->{trust}" } @frames[1 .. 4]),
       "deepest:$line{deepest}:context handle:$line{handle}:cfi interrupted:$line{interrupted}:cfi "
       . "main:$line{main_interrupted}:cfi", "$flags: from the crash to main")
        or diag explain $stack->{frames};
    my ($interrupted) = grep { $_->{function} eq 'interrupted' } @frames;
    is($interrupted->{instruction_addr}, $interrupted->{sym_addr}, '... its address is not adjusted');
    ok(!$interrupted->{adjust_instruction_addr}, '... which the frame says');
}

done_testing;
