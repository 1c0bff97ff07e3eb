#!/usr/bin/perl

# Compiled modules move from one store to another as files: `symloader export` writes
# them, `symloader load` reads them on any machine without converting again.  The other
# store answers the same.  A damaged or forged file is refused with a reason.

use strict;
use warnings;

use File::Find qw(find);
use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib qw(crc32);
use SymLoader qw(sym_text json_lines read_file);
use Test::More;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my ($from, $to) = (SymLoader->new, SymLoader->new);
my $folder = $from->dir . '/out';

# Everything that `ls` says of a module, but of its file and times.
sub rows {
    my ($t) = @_;
    my @keys = qw(name id source kind state quality bytes file_bytes);
    return [ sort map { my $m = $_; join '|', map { $m->{$_} // '' } @keys }
        json_lines($t->run('ls', '--json')->{out}) ];
}

sub files {
    my @found;
    find({ no_chdir => 1, wanted => sub { push @found, $_ if -f } }, @_);
    return sort @found;
}

sub export {
    my ($t, @more) = @_;
    my $r = $t->run('export', @more, $folder);
    is($r->{code}, 0, 'export');
    return $r->{out};
}

# --- one store to another ---

my $map = '{"version":3,"sources":["a.ts"],"names":["f"],"mappings":"AAAAA","sourcesContent":["f();"]}';
my @files = (
    $from->file('a.sym', sym_text('a.so', $ID, lines => 1, inlines => 1)),
    $from->file('site/app.js', "function f(){throw 1}f();\n//# sourceMappingURL=app.js.map\n"),
    $from->file('site/app.js.map', $map),
    $from->file('mapping.txt', "a.B -> b:\n    1:2:void c():3:4 -> d\n"),
);
is(system('gcc', '-g', '-x', 'c', '-o', $from->dir . '/prog',
    $from->file('prog.c', "int main(void) { return 0; }\n")), 0, 'a program');
is($from->run('load', '--quiet', '--url-prefix', '~/static/', $from->dir . '/site')->{code}, 0, 'scripts');
is($from->run('load', '--quiet', @files[0, 3], $from->dir . '/prog')->{code}, 0, 'modules');
my $n = @{ rows($from) };
cmp_ok($n, '>', 6, 'artifacts of several kinds');

like(export($from), qr/^$n written \(\d+ bytes\), 0 unchanged, 0 left out$/, '... all are written');
is(scalar(my @out = files($folder)), $n, '... to a file each');
is($to->run('load', '--quiet', $folder)->{code}, 0, 'the other store loads the folder');
is_deeply(rows($to), rows($from), '... and has the same');
is($to->verify, 'sound', '... and is sound');

for my $m (json_lines($from->run('ls', '--json')->{out})) {
    my @of = ("$m->{name}/$m->{id}", '--kind', $m->{kind});
    next if $m->{kind} eq 'jvm';
    is($to->run('dump', @of)->{out}, $from->run('dump', @of)->{out}, "$of[0], $m->{kind}: the same contents");
}
is($to->run('show', '~/static/app.js')->{code}, 0, 'a script is found by its path, too');
like($to->run('lookup', "a.so/$ID", '1000')->{out}, qr/^f_inlined$/m, 'names are there');

# --- again ---

like(export($from), qr/^0 written \(0 bytes\), $n unchanged, 0 left out$/, 'nothing is new');
$from->run('load', '--quiet', '--force', $from->file('a.sym', sym_text('a.so', $ID, prefix => 'new')));
utime(1, 1, grep {/\ba\.so\b/} @out);    # as if exported before that second
like(export($from), qr/^1 written/, 'a module that was loaded again');
is($to->run('load', '--quiet', '--force', $folder)->{code}, 0, '... is loaded');
like($to->run('lookup', "a.so/$ID", '1000')->{out}, qr/^new0$/m, '... with its new names');
like(export($from, '--source', 'other'), qr/^0 written \(0 bytes\), 0 unchanged/, 'a source without modules');

# A symbol file may have any name: it never leads out of the folder.
$from->run('load', '--quiet', $from->file('dots.sym', sym_text('..', $ID)));
like(export($from), qr/, 1 left out$/, 'a module with the name ".." is left out');

# --- without companions ---

# It stays incomplete, with the reason.
{
    my $t = SymLoader->new;
    my $dir = $t->dir;
    $t->file('s.c', "int main(void) { return 0; }\n");
    is(system("cd '$dir' && gcc -g -gsplit-dwarf -o split s.c"), 0, 'a program in parts');
    unlink glob "$dir/*.dwo";
    $t->run('load', '--quiet', "$dir/split");
    my ($m) = json_lines($t->run('ls', '--json')->{out});
    ($m) = json_lines($t->run('show', '--json', "split/$m->{id}")->{out});
    isnt($m->{incomplete}, '', 'a part is missing');
    $t->run('export', "$dir/out");
    my $u = SymLoader->new;
    $u->run('load', '--quiet', "$dir/out");
    my ($copy) = json_lines($u->run('show', '--json', "$m->{name}/$m->{id}")->{out});
    is($copy->{incomplete}, $m->{incomplete}, '... which the other store knows');
}

# --- bad files ---

my ($good) = grep {m{/a\.so/.*symcache}} @out;
my $bytes = read_file($good);

sub refused {
    my ($what, $text, $why) = @_;
    my $t = SymLoader->new;
    my $r = $t->run('load', $t->file('bad.symart', $text));
    is($r->{code}, 1, $what);
    like($r->{err}, $why, '... says why');
    is_deeply(rows($t), [], '... and nothing is stored');
    return;
}

my @reasons;
for my $at (map { int($_ * length($bytes) / 40) } 0 .. 39) {
    my ($t, $cut) = (SymLoader->new, substr $bytes, 0, $at);
    my $flipped = $bytes;
    substr($flipped, $at, 1) ^= "\x10";
    my @bad = ($t->file("cut$at.symart", $cut), $t->file("flip$at.symart", $flipped));
    my $r = $t->run('load', @bad);
    push @reasons, "byte $at" if $r->{code} != 1 || @{ rows($t) } || $r->{err} !~ /cut$at\.symart: / || $r->{err} !~ /flip$at\.symart: /;
}
is_deeply(\@reasons, [], 'truncated at 40 places, and with one bit changed: refused');
refused('more bytes', "$bytes\0", qr/malformed: bytes that are no artifact follow the last one/);
refused('another layout', substr($bytes, 0, 6) . "\4" . substr($bytes, 7),
    qr/an artifact of another version of symloader/);

# Checksums are no secret: a forged file has good ones.

sub forged {
    my (%o) = (kind => 'symcache', version => unpack('V', substr $bytes, 16, 4), quality => 1, flags => 0, features => 0, extents => [], @_);
    my $rest = pack('VVVVQ<VVV(v/a)6', @o{qw(version quality flags)}, $o{n} // scalar @{ $o{extents} }, 1,
        $o{features}, 0, 0, $o{kind}, 'x.so', $ID, '', '', '');
    my $extents = join '', map { pack('VV', length, crc32($_)), $_ } @{ $o{extents} };
    my $head = 'SYMART' . pack('vQ<', 3, $o{length} // 16 + length($rest) + 4 + length $extents) . $rest;
    return $head . pack('V', crc32($head)) . $extents;
}
refused('no extents', forged(), qr/malformed: no artifact has so many extents/);
refused('four billion extents', forged(n => 0xffffffff), qr/malformed: no artifact has so many extents/);
refused('more extents than there are', forged(n => 60_000, extents => ['x']), qr/truncated/);
refused('more bytes than extents', forged(extents => ['x']) =~ s/(.{8}).{8}/$1 . pack('Q<', 1000)/esr . 'x' x 1000,
    qr/bad\.symart: (?:malformed|damaged)/);
refused('an artifact that is shorter than its head', forged(extents => ['x'], length => 40), qr/truncated/);
refused('an artifact of no bytes', forged(extents => ['x'], length => 0), qr/malformed: no artifact is so short/);
refused('an extent of nonsense', forged(extents => [ 'nonsense' x 100 ]), qr/bad\.symart: (?:malformed|damaged|truncated)/);
refused('an unknown kind', forged(kind => 'other', extents => ['x']), qr/unsupported: an unknown kind of artifact/);
refused('another version of its kind', forged(version => 99_999, extents => ['x']),
    qr/an artifact of another version of symloader/);
refused('a quality that no artifact has', forged(quality => 256, extents => ['x']), qr/malformed/);
refused('contents that no file has', forged(features => 1, extents => ['x']), qr/malformed/);
refused('another kind than its extents', forged(kind => 'cfi', version => 1, extents => [ substr $bytes, -200 ]),
    qr/bad\.symart: /);

done_testing();
