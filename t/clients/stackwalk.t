# Mozilla's minidump-stackwalk (crates.io) with --symbols-url: no source has a .sym file,
# only ELF files and PDBs, from which we make what it asks for.  Functions and lines are
# those of the program's source, and those that it reads in Mozilla's own .sym file.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Path qw(make_path);
use Test::More;

use JSON::PP ();
use SymElf qw(output run_ok);
use SymFetch;
use SymFixtures qw(need_fixtures);
use SymTest;

my $root = SymTest::root();
my $fixtures = need_fixtures('windows') =~ s{/windows$}{}r;
my $stackwalk = "$root/var/clients/cargo/bin/minidump-stackwalk";
my ($source, $client) = map {"$root/t/lib/crash/$_.c"} 'program', 'own_dump';
my $dir = SymElf::folder();

my $t = SymFetch->new;
$t->conf(locations => <<"CONF");
        location / {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source native uri=/native/ layout=native;
            symbolicate_source store uri=/store/ layout=symstore;
        }
        location /native/ { internal; alias $dir/native/; log_not_found off; }
        location /store/ { internal; alias $dir/store/; log_not_found off; }
CONF
$t->start;
my $url = 'http://' . $t->address . '/';

# The frames of the thread that crashed.
sub walk {
    my ($dump, @options) = @_;
    my $json = output($stackwalk, '--json', '--no-interactive', @options, $dump);
    return @{ JSON::PP::decode_json($json)->{crashing_thread}{frames} };
}

# --- ELF ---

my ($n, %line);
for my $text (split /\n/, SymTest::slurp($source)) {
    $n++;
    $line{$1} = $n if $text =~ m{/\* here: (\w+) \*/};
}

my $program = "$dir/program";
run_ok('gcc', '-g', '-O2', '-fomit-frame-pointer', '-Wl,--build-id=sha1', '-o', $program, $source,
       $client);
my ($id) = output('readelf', '-nW', $program) =~ /Build ID: (\w+)/;
my $place = "$dir/native/" . substr($id, 0, 2) . '/' . substr $id, 2;
make_path($place =~ s{/[^/]*$}{}r);
run_ok('objcopy', '--only-keep-debug', $program, "$place.debug");
run_ok('strip', '-o', $place, $program);
run_ok($program, "$program.dmp");

my @frames = grep { ($_->{module} // '') eq 'program' }
    walk("$program.dmp", '--symbols-url', $url, '--symbols-cache', "$dir/cache");
is(join(' ', map {"$_->{function}:$_->{line}:$_->{trust}"} @frames[0 .. 1]),
   "deepest:$line{deepest}:context compare:$line{compare}:cfi", 'an ELF file: functions, lines, rules')
    or diag explain \@frames;
is(join(':', map { $_ // '' } @{ $frames[0]{inlines}[0] }{qw(function line)}), "read_it:$line{inlined}",
   '... an inlined function') or diag explain $frames[0];
@frames = grep { ($_->{module} // '') eq 'program' } walk("$program.dmp");
is($frames[0]{function}, undef, '... none of which it knows by itself');

# --- a PDB ---

my $GUID = '3249D99D0C4049318610F4E4FB0B6936';
make_path("$dir/store/crash.pdb/${GUID}1", "$dir/syms/crash.pdb/${GUID}1");
run_ok('cp', "$fixtures/windows/crash.pdb", "$dir/store/crash.pdb/${GUID}1/crash.pdb");
run_ok('cp', "$fixtures/windows/crash.sym", "$dir/syms/crash.pdb/${GUID}1/crash.sym");

# Readers of PDBs differ in whether they name arguments.
sub where {
    my ($frame) = @_;
    my ($function, $file, $line) = map { $_ // '' } @$frame{qw(function file line)};
    return $function =~ s/\(.*//r . " $file:$line";
}

my $dump = "$fixtures/dumps/windows.dmp";
my ($ours) = walk($dump, '--symbols-url', $url, '--symbols-cache', "$dir/cache");
my ($theirs) = walk($dump, '--symbols-path', "$dir/syms");
like(where($theirs), qr/^main .*main\.cpp:\d+$/, 'the .sym file that dump_syms made of a PDB');
is(where($ours), where($theirs), '... and what we make of it: a function and its line');

is($t->end, '', 'nothing is wrong');
done_testing();
