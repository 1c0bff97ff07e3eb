#!/usr/bin/perl

# Portable PDBs: `symloader load` keeps the lines of .NET methods and the
# sources of an object as two artifacts, from the file itself or from the
# assembly that has it inside, and `lookup --kind=ppdb` answers a method and an
# IL offset.  Expected results are from Sentry's symbolicator (cases of
# fixtures/sentry) and from the compiler that made the sources.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;

use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(json_lines read_file write_file);
use SymServe;
use SymTools;

my $PPDB = need_fixtures('ppdb');
my $CASE = fixtures('sentry/cases') . '/dotnet';
my $OBJECT = fixtures('sentry/symbols/integration.pdb/0C1033F78632492E91C6C314B72E1920ffffffff/integration.pdb');
my $ID = '0C1033F78632492E91C6C314B72E1920E60B819D';

# --- the answers of Sentry's symbolicator ---

my $t = SymLoader->new;
my $r = $t->run('load', $OBJECT);
is($r->{code}, 0, 'a portable PDB loads') or diag($r->{err});
like($r->{out}, qr/: integration\.pdb\/$ID: lines, /, '... under its GUID and stamp');

my $json = JSON::PP->new;
my @asked = @{ $json->decode(read_file("$CASE.request.json"))
        ->{stacktraces}[0]{frames} };
my @frames = @{ $json->decode(read_file("$CASE.response.json"))
        ->{stacktraces}[0]{frames} };
my $n_found = 0;
for my $i (0 .. $#asked) {
    defined $asked[$i]{function_id} or next;
    my $question = sprintf '%x+%x', @{ $asked[$i] }{ 'function_id', 'instruction_addr' };
    my $frame = $frames[$i];
    $r = $t->run('lookup', '--kind=ppdb', '--json', $ID, $question);
    my ($got) = json_lines($r->{out});
    if ($frame->{status} eq 'symbolicated') {
        is_deeply([ @$got{qw(file line lang)} ],
                  [ @$frame{qw(abs_path lineno lang)} ], "$question as recorded");
        is($r->{code}, 0, '... and all are found');
        $n_found++;
    } else {
        is_deeply([ sort keys %$got ], [qw(il_offset method)],
                  "$question has no line, as recorded");
        is($r->{code}, 1, '... and that is reported');
    }
}
is($n_found, 5, 'five frames have lines');

# --- forms of the command ---

is($t->run('lookup', '--kind=ppdb', $ID, '0x6000006+0xa')->{out},
   "/Users/swatinem/Coding/sentry-dotnet/samples/foo/Program.cs:55\n",
   'a method by its token');
$r = $t->run({ stdin => "6+a\n\n63+1\nnonsense\n 5+6\n" }, 'lookup', '--kind=ppdb', $ID, '-');
is($r->{out}, "/Users/swatinem/Coding/sentry-dotnet/samples/foo/Program.cs:55\n"
       . "??:0\n??:0\n"
       . "/Users/swatinem/Coding/sentry-dotnet/samples/foo/Program.cs:48\n",
   'lookups from standard input, each with its answer');
like($r->{err}, qr/line 4: not METHOD\+OFFSET, like 6000012\+1a: nonsense$/,
    '... a wrong one is reported');
is($r->{code}, 1, '... in the exit code, too');
for my $wrong ('6', '6+', '+a', '6+g', '100000006+a', '0x+1') {
    $r = $t->run('lookup', '--kind=ppdb', $ID, $wrong);
    is($r->{code}, 2, "'$wrong' is not a lookup");
    like($r->{err}, qr/not METHOD\+OFFSET, like 6000012\+1a$/,
        '... and the error shows the form');
}
$r = $t->run('lookup', '--kind=sources', $ID, '6+a');
is($r->{code}, 2, 'sources are not looked up');
$r = $t->run('lookup', $ID, '10');
like($r->{err}, qr/not in the store$/, 'it has no addresses');
$r = $t->run('lookup', '--kind=ppdb', '00' x 16 . '1', '6+a');
like($r->{err}, qr/not in the store$/, 'another object is not found');
like($t->run('dump', '--kind=ppdb', $ID)->{out},
     qr{^0x6000001\+0x0 /Users/\S+/Program\.cs:12$}m, 'dump has a line for each point');
my @points = json_lines($t->run('dump', '--kind=ppdb', '--format=json', $ID)->{out});
is(scalar(grep { $_->{lang} eq 'csharp' } @points), scalar @points,
   '... with languages, as JSON');

# --- sources ---

my $SOURCES = "$PPDB/Sentry.Samples.Console.Basic.pdb";
my $LINKS = "$PPDB/source-links-only.pdb";
$r = $t->run('load', $SOURCES, $LINKS);
is($r->{code}, 0, 'others load') or diag($r->{err});
like($r->{out}, qr/, 4 modules stored, /, '... each as two artifacts');
my ($show) = grep { $_->{kind} eq 'ppdb' }
    json_lines($t->run('show', '--json', '526F365F4D8D4FA8B370EAE9A9136DE4A39453E5')->{out});
is_deeply([ @$show{qw(has_sources methods documents)} ], [ 'yes', 1, 1 ],
          'show lists the artifacts');
my $path = 'C:\\dev\\sentry-dotnet\\samples\\Sentry.Samples.Console.Basic\\Program.cs';
$r = $t->run('dump', '--kind=sources', '--path', $path, $SOURCES);
like($r->{out}, qr/^\x{ef}\x{bb}\x{bf}?using |SentrySdk/, 'an embedded text')
    or diag($r->{err});
is($t->run('dump', '--kind=sources', '--path', $path =~ tr{\\}{/}r,
           '526F365F4D8D4FA8B370EAE9A9136DE4A39453E5')->{out},
   $r->{out}, '... from the store, with other slashes');

my $linked = 'C:\\dev\\DOTNET\\samples\\Sentry.Samples.Console.Basic\\Program.cs';
my $base = 'https://raw.githubusercontent.com/getsentry';
$r = $t->run('dump', '--kind=sources', '--path', $linked, $LINKS);
is($r->{code}, 1, 'a linked source has no text');
like($r->{err}, qr{its text lies at \Q$base\E/sentry-dotnet/b31b62192e6934ea04396456461f430e143cf4f9/samples/Sentry\.Samples\.Console\.Basic/Program\.cs$}m,
     '... but its URL is shown, in any case');
my @links = json_lines($t->run('dump', '--kind=sources', '--format=json', $LINKS)->{out});
is(scalar @links, 4, 'four links');
is($links[-1]{paths_below}, 'C:\\dev\\dotnet\\', '... the shortest is tried last');
like($links[-1]{link}, qr{^\Q$base\E/sentry-dotnet/[0-9a-f]{40}/\*$}, '... with its URL');

my %kinds = map { $_->{kind} => $_->{quality} }
    grep { $_->{name} eq 'source-links-only.pdb' } json_lines($t->run('ls', '--json')->{out});
is_deeply(\%kinds, { ppdb => 'lines', sources => 'source links' },
    'ls lists both');
is($t->verify, 'sound', 'the store is sound');
like($t->run('stat')->{out}, qr/^kind +ppdb: 3$/m, 'stat counts them');
is($t->run('rm', "source-links-only.pdb/0C380A12822140698565BEE6B3AC196EA596286E")->{out},
   "source-links-only.pdb/0C380A12822140698565BEE6B3AC196EA596286E: removed: sources, ppdb\n",
   'rm removes both');
like($t->run('evict', '--to', '1')->{out}, qr/^3 modules evicted \(sources 1, ppdb 2\)$/,
     'evict removes them');

# --- inside an assembly ---

my $EMBEDDED = "$PPDB/Sentry.Samples.Console.Basic-embedded-ppdb-with-sources.dll";
my $in = SymLoader->new;
$r = $in->run('load', $EMBEDDED);
is($r->{code}, 0, 'an assembly with its PDB inside loads') or diag($r->{err});
like($r->{out}, qr{: Sentry\.Samples\.Console\.Basic\.pdb/[0-9A-F]{40}: lines, },
     '... under the name and id of the PDB');
like($r->{out}, qr{: sources, }, '... with its sources');
like($in->run('dump', '--kind=ppdb', $EMBEDDED)->{out},
     qr/^0x6000001\+0x0 \Q$path\E:3$/m, '... and its lines');
$r = $in->run('load', "$PPDB/Sentry.Samples.Console.Basic.dll");
is($r->{code}, 1, 'one without has nothing to load');
like($r->{err}, qr/the file names no functions: its PDB does$/,
    '... and the reason is reported');

# For a file with several artifacts, the requested one is written.
like($in->run('dump', "$PPDB/portable.pdb")->{err},
     qr/no artifact of kind symcache in it, but one of kind ppdb$/, 'no symbols');
like($in->run('dump', '--kind=sources', "$PPDB/portable.pdb")->{err},
     qr/no artifact of kind sources in it, but one of kind ppdb$/, 'no sources');
like($in->run('dump', '--kind=sources', "$FindBin::Bin/bad/ppdb/text_damaged/input")->{err},
     qr/malformed: packed bytes are damaged/, 'damaged sources');
is($in->run('dump', '--kind=ppdb', "$FindBin::Bin/bad/ppdb/text_damaged/input")->{out},
   "0x6000001+0x0 /src/a.cs:10\n0x6000001+0x4 /src/a.cs:12\n0x6000001+0x9 /src/a.cs:15\n"
       . "0x6000003+0x0 /src/a.cs:7\n0x6000003+0x9 /src/b.fs:3\n",
   '... do not take the lines with them');

# --- with a daemon ---

my $s = SymServe->new->serve('--jobs', 2);
$r = $s->run('load', $SOURCES);
is($r->{code}, 0, 'a daemon loads it') or diag($r->{err});
is($s->run('lookup', '--kind=ppdb', '526F365F4D8D4FA8B370EAE9A9136DE4A39453E5',
           '1+0')->{out}, "$path:3\n", '... and lookups are answered');
$s->stop;

done_testing();
