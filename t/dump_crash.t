#!/usr/bin/perl

# From the crash of a real program to its functions and lines: the program writes a minidump
# of itself, which is posted; executables and debug files are at a source of the request.  One
# caller is reached through a library that has no frame pointers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use JSON::PP ();
use SymElf qw(output);
use SymGiven;
use SymTest;
use SymTools;

plan skip_all => 'the program knows the registers of x86_64' if output('uname', '-m') !~ /x86_64/;

my ($source, $client) = map { "$FindBin::Bin/lib/crash/$_.c" } 'program', 'own_dump';
my $t = SymGiven->new(at => '/')->start;
my $dir = $t->dir . '/crash';
mkdir $dir or die "$dir: $!";

sub run { system(@_) == 0 or die "@_ failed\n"; return }

sub build_id {
    my ($file) = @_;
    my ($id) = output('readelf', '-nW', $file) =~ /Build ID: ([0-9a-f]+)/ or die "$file has no id";
    return $id;
}

# The lines that the source marks.
my (%line, $n);
for my $text (split /\n/, SymTest::slurp($source)) {
    $n++;
    $line{$1} = $n if $text =~ m{/\* here: (\w+) \*/};
}

sub crash {
    my ($name, @flags) = @_;
    my $program = "$dir/$name";
    run('gcc', '-g', '-Wl,--build-id=sha1', @flags, '-o', $program, $source, $client);
    run('objcopy', '--only-keep-debug', $program, "$program.debug");
    run('strip', '-o', "$program.stripped", $program);
    my $id = build_id($program);
    my $path = '/' . substr($id, 0, 2) . '/' . substr($id, 2);
    $t->route($path, file => "$program.stripped");
    $t->route("$path.debug", file => "$program.debug");

    run($program, "$program.dmp");
    my $r = $t->form('/minidump', upload_file_minidump => SymTest::slurp("$program.dmp"),
        sources => JSON::PP::encode_json([{ id => 'here', type => 'http', layout => { type => 'native' },
            url => 'http://' . $t->address_of_servers . '/' }]));
    is($r->{status}, 200, "$name: an answer") or diag $r->{body};
    my $got = JSON::PP::decode_json($r->{body});
    is($got->{crash_reason}, 'SIGSEGV / SEGV_MAPERR / 0x0', '... with its reason');
    my ($module) = grep { ($_->{code_file} // '') eq $program } @{ $got->{modules} };
    is("$module->{debug_status} $module->{unwind_status}", 'found found', '... its files');

    # qsort() is in the library, which the source does not have
    my @frames = grep { ($_->{package} // '') eq $program } @{ $got->{stacktraces}[0]{frames} };
    is(join(' ', map { "$_->{function}:$_->{lineno}" } @frames[0 .. 2]),
       "read_it:$line{inlined} deepest:$line{deepest} compare:$line{compare}",
       '... its functions and lines') or diag explain $got->{stacktraces}[0]{frames};
    is(join(' ', map { $_->{trust} } @frames[0 .. 2]), 'context context cfi', '... and their trust');
    return @frames[3 .. $#frames];
}

crash('O2', '-O2', '-fomit-frame-pointer');
crash('O0', '-O0');

is($t->end, '', 'nothing is wrong');
done_testing();
