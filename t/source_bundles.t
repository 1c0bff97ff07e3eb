#!/usr/bin/perl

# Sentry's source bundles: `symloader load` stores the texts of an object's
# sources next to its symbols, as an artifact of its own that is listed,
# verified, evicted and removed like any other, and `symloader dump` writes each
# text byte for byte.  Expected texts are those that Python's zipfile reads from
# the bundle.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;

use SymFixtures qw(need_fixtures);
use SymLoader qw(json_lines read_file write_file);
use SymServe;
use SymTools;

my $FOLDER = need_fixtures('sourcebundles');
my $BUNDLE = "$FOLDER/883fcdc55336d0a809b0150f09500b.src.zip";
my $DEBUG = "$FOLDER/883fcdc55336d0a809b0150f09500b.debug";
my $ID = '7F883FCDC55336D0A809B0150F09500B0';
my $NAME = "sentry_example/$ID";

# path -> text, of files of type `source` in a bundle
sub sources_of {
    my ($file) = @_;
    my $script = <<'END';
import json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
files = json.loads(z.read('manifest.json'))['files']
json.dump({key: z.read(name).decode('latin-1')
           for name, file in files.items() if file.get('type') == 'source'
           for key in (file.get('path'), file.get('url')) if key}, sys.stdout)
END
    open(my $fh, '-|', 'python3', '-c', $script, $file) or die "python3: $!";
    local $/;
    my $texts = JSON::PP->new->decode(scalar <$fh>);
    close($fh) or die "python3 cannot read $file";
    return %$texts;
}

sub is_kept {
    my ($t, $what, $file, $module) = @_;
    my %texts = sources_of($file);
    my @lines = json_lines($t->run('dump', '--kind=sources', '--format=json',
                                   $module)->{out});

    is_deeply([ map { $_->{path} // $_->{url} } @lines ], [ sort keys %texts ],
              "$what: all paths, in order");
    is_deeply({ map { ($_->{path} // $_->{url}) => $_->{bytes} } @lines },
              { map { $_ => length $texts{$_} } keys %texts },
              "$what: their sizes");
    is($t->run('dump', '--kind=sources', $module)->{out},
       join('', map { "$_\n" } sort keys %texts), "$what: the list as text");
    for my $path (sort keys %texts) {
        my $r = $t->run('dump', '--kind=sources', '--path', $path, $module);
        ok($r->{code} == 0 && $r->{out} eq $texts{$path},
           "$what: the text of $path");
    }
    return;
}

my $version = pack 'V', 2;

# A bundle in the form of sentry-cli: zip path => [ attributes, text ]
sub make_bundle {
    my ($file, $attributes, %files) = @_;
    my $script = <<'END';
import json, sys, zipfile
out = sys.argv[1]
attributes, files = json.load(open(sys.argv[2]))
with open(out, 'wb') as f:
    f.write(b'SYSB' + bytes.fromhex(sys.argv[3]))
with zipfile.ZipFile(out, 'a', zipfile.ZIP_DEFLATED) as z:
    for name, (file, text) in files.items():
        z.writestr(name, text)
    attributes['files'] = {name: file for name, (file, _) in files.items()}
    z.writestr('manifest.json', json.dumps(attributes))
END
    write_file("$file.json", JSON::PP::encode_json([ $attributes, \%files ]));
    system('python3', '-c', $script, $file, "$file.json", unpack 'H*', $version) == 0
        or die "python3 cannot make $file";
    return $file;
}

# --- one by hand ---

my $t = SymLoader->new;
my $r = $t->run('load', $BUNDLE, $DEBUG);
is($r->{code} . $r->{err}, '0', 'a bundle and its debug file load');
like($r->{out}, qr/\Q$BUNDLE: $NAME\E: sources, .* from 18\.3 KiB$/m,
     '... and the result of the bundle is reported');
is_kept($t, 'by hand', $BUNDLE, $NAME);
is_kept($t, 'by its id alone', $BUNDLE, $ID);

my @ls = json_lines($t->run('ls', '--json')->{out});
is_deeply([ sort map { $_->{kind} } @ls ], [ qw(sources symcache) ],
          'ls shows the kinds');
like($t->run('ls')->{out}, qr/^ready +sources .*  sources   local  \Q$NAME\E$/m,
     '... as text, too');
my @show = json_lines($t->run('show', '--json', $ID)->{out});
is_deeply([ map { $_->{kind} } @show ], [ qw(symcache sources) ],
          'show has both of the object');
my %texts = sources_of($BUNDLE);
my $bytes = 0;
$bytes += length for values %texts;
is($show[1]{paths}, 4, '... with the number of paths');
is($show[1]{text_bytes}, $bytes, '... and the bytes of all texts');
is($t->verify, 'sound', 'the store is sound');
like($t->run('stat')->{out}, qr/^modules +2 \(ready 2\)$/m, 'stat counts both');
like($t->run('stat')->{out}, qr/^kind +symcache: 1\nkind +sources: 1$/m,
     '... each by its kind');
my $kinds = (json_lines($t->run('stat', '--json')->{out}))[0]{kinds};
is_deeply({ map { $kinds->{$_} ? ($_ => $kinds->{$_}) : () } keys %$kinds },
          { symcache => 1, sources => 1 }, '... in JSON, too');
is($kinds->{ppdb}, 0, '... with the kinds that have none');
like($t->run('dump', $ID)->{out}, qr/^FUNC .* main$/m,
     'symbols are found by the same id');

$r = $t->run('dump', '--kind=sources', '--path', '/no/such.c', $NAME);
is($r->{code}, 1, 'a path that does not exist');
like($r->{err}, qr/no source has this path$/, '... is told');
$r = $t->run('dump', '--kind=sources', $DEBUG);
is($r->{code}, 1, 'a debug file');
like($r->{err}, qr/no artifact of kind sources in it, but one of kind symcache/,
     '... has no sources in it');
$r = $t->run('dump', $BUNDLE);
like($r->{err}, qr/no artifact of kind symcache in it, but one of kind sources/,
     'and the bundle has no symbols');
is($t->run('dump', '--kind=sources', $BUNDLE)->{out},
   join('', map { "$_\n" } sort keys %texts), 'a bundle is dumped without a store');

is($t->run('evict', '--to', '1')->{out},
   "2 modules evicted (symcache 1, sources 1)\n", 'evict');
is($t->run('ls', '--json')->{out}, '', '... drops sources like symbols');
$t->run('load', '--quiet', $BUNDLE, $DEBUG);
is($t->run('rm', $NAME)->{out}, "$NAME: removed: symcache, sources\n",
   'rm of the object');
is($t->run('ls', '--json')->{out}, '', '... removes all of its kinds');

# --- other files in a bundle ---

my $made = make_bundle(
    "$t->{dir}/made.zip", { debug_id => '44e4ec8c-2f41-492b-9369-d6b9a059577c-2',
                            object_name => 'C:\\out\\app.pdb', arch => 'x86' },
    'files/a' => [ { type => 'source', path => 'C:\\src\\a.c',
                     url => 'https://x/a.c' }, "a\r\nb\r\n" ],
    'files/empty' => [ { type => 'source', path => '/src/empty.h' }, '' ],
    'files/long' => [ { type => 'source', path => '/src/long.c' },
                      join '', map { "line $_\n" } 1 .. 30000 ],
    'files/m' => [ { type => 'minified_source', url => '~/m.js' }, 'm' ],
    'files/map' => [ { type => 'source_map', url => '~/m.js.map' }, '{}' ]);
$r = $t->run('load', $made);
is($r->{code}, 0, 'a bundle of many things') or diag($r->{err});
my @made = json_lines(
    $t->run('show', '--json', '44E4EC8C2F41492B9369D6B9A059577C2')->{out});
is($made[0]{left_out}, 2, 'files for JavaScript are counted and omitted');
is_kept($t, 'many things', $made, $made[0]{id});
is($t->run('dump', '--kind=sources', '--path', 'C:/src\\a.c', $made[0]{id})->{out},
   "a\r\nb\r\n", 'a slash is as good as a backslash');
is($t->verify, 'sound', 'the store is sound with it');

# Some tools write no version, and Sentry's reader of bundles does not look at it.
for ('', pack 'V', 99) {
    $version = $_;
    my $other = make_bundle("$t->{dir}/other", { debug_id => '44e4ec8c-2f41-492b-9369-d6b9a0595702' },
        'files/a' => [ { url => '~/io/A.jvm' }, "text\n" ]);
    is($t->run('dump', '--kind=sources', '--path', '~/io/A.jvm', $other)->{out}, "text\n",
       'a bundle ' . ($version ne '' ? 'of another version' : 'without a version'));
}
$version = pack 'V', 2;

# --- files that unpack to far more than their size ---

# the ratio of deflate is at most 1032, and only for long repetitions
my $bomb = make_bundle("$t->{dir}/bomb", { debug_id => '44e4ec8c-2f41-492b-9369-d6b9a0595700',
    object_name => 'a' }, 'files/a' => [ { type => 'source', path => '/a' }, '0' x 40_000_000 ]);
like($t->run('load', $bomb)->{err}, qr/over a limit: the files in it are more than 1,000 times as large as it is/,
    'a bundle that unpacks to more than a thousand times its size');
my $overlap = "$t->{dir}/overlap";
system('python3', "$FindBin::Bin/lib/overlapping_bundle.py", $overlap,
    '44e4ec8c-2f41-492b-9369-d6b9a0595701', 1000, 1_300_000) == 0 or die 'python3';
like($t->run('load', $overlap)->{err}, qr/malformed: files of the zip overlap/,
    'a bundle whose files share their bytes');

# A debug file in a folder is loaded, and so is a bundle, whatever its name.
my $tree = SymLoader->new;
$tree->file("tree/ab/cdef/sourcebundle", read_file($BUNDLE));
$tree->file("tree/ab/cdef/readme", 'no bundle');
$r = $tree->run('load', "$tree->{dir}/tree");
is($r->{code}, 0, 'a folder with a bundle loads');
is_deeply([ map { $_->{kind} } json_lines($tree->run('ls', '--json')->{out}) ],
          [ 'sources' ], '... and the bundle is found in it');

# --- with a daemon ---

my $s = SymServe->new->serve('--jobs', 2);
$r = $s->run('load', $BUNDLE, $DEBUG);
is($r->{code}, 0, 'a daemon takes both') or diag($r->{err});
like($r->{out}, qr/\Q$NAME\E: sources, /, '... and reports the result');
is_kept($s, 'through a daemon', $BUNDLE, $NAME);
is($s->run('rm', $NAME)->{out}, "$NAME: removed: symcache, sources\n",
   'rm through the daemon');
is($s->run('ls', '--json')->{out}, '', '... removes all of its kinds');
$s->stop;

done_testing();
