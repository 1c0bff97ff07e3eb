#!/usr/bin/perl

# Symbol servers have files packed in many ways.  All of them must give the same
# symbols as the plain file.  A packed file can be cut, damaged, or made to fill
# a disk; each of these ends with an error that says so, and where, and nothing
# is stored.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Compress::Gzip qw(gzip);
use Test::More;
use Time::HiRes qw(time);

use SymFixtures qw(fixtures);
use SymLoader qw(json_lines module_line read_file root sym_text);

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymLoader->new;

# Standard output of a program.
sub output {
    my (@command) = @_;
    my $out = $t->dir . '/output';

    my $pid = fork() // die;
    if ($pid == 0) {
        open(STDOUT, '>', $out) or die;
        exec(@command) or die "$command[0]: $!\n";
    }
    waitpid($pid, 0);
    die "@command failed" if $?;
    return read_file($out);
}

sub pipe_through {
    my ($text, @command) = @_;
    my $in = $t->file('input', $text);
    return output('sh', '-c', 'exec "$@" <"$0"', $in, @command);
}

sub pack_input {
    my ($text, $kind, @names) = @_;
    @names = 'm.sym' unless @names;
    return pipe_through($text, 'python3', root() . '/t/lib/pack_input.py',
                        $kind, @names);
}

# Output of a program that needs files: @command, the archive, the files.
sub archive {
    my ($end, $command, %files) = @_;
    my $path = $t->dir . "/archive.$end";

    unlink $path;
    $t->file("in/$_", $files{$_}) for keys %files;
    output('sh', '-c', 'cd "$0" && exec "$@" >/dev/null', $t->dir . '/in',
           @$command, $path, sort keys %files);
    return read_file($path);
}

# With a name that needs extra headers, and folders in front of it.
sub pack_tar {
    my ($text, @how) = @_;
    my $name = join '/', 'd', 'long-' x 15, 'long-' x 15 . "\xc3\xa4.sym";

    $t->file("tar/$name", $text);
    return output('tar', @how, '-C', $t->dir . '/tar', '-cf', '-', 'd');
}

sub gz {
    my ($text) = @_;
    gzip(\$text => \my $packed) or die;
    return $packed;
}

sub skippable { return pack('VVa*', 0x184D2A50 + $_[0], length $_[1], $_[1]) }

# All that the store shows of the module, except when and from where it came.
sub told {
    my ($u, $name) = @_;
    my $shown = $u->run('show', '--json', "$name/$ID")->{out};
    my ($o) = json_lines($shown) or return 'nothing';

    delete @$o{qw(file stored_at used_at)};
    my @addrs = map { sprintf '%x', 0x1000 + 0x18 * $_ } 0 .. 99;
    return { show => $o,
             lookup => $u->run('lookup', "$name/$ID", @addrs)->{out} };
}

# Loads bytes into the store; { code, err, seconds }.
my $files = 0;
sub load {
    my ($bytes, @options) = @_;
    my $start = time;
    my $r = $t->run('load', @options,
                    $t->file(sprintf('packed/%d', $files++), $bytes));
    return { %$r, seconds => time - $start };
}

sub fails {
    my ($what, $bytes, $error, @options) = @_;
    my $r = load($bytes, @options);

    is($r->{code}, 1, "$what: fails");
    like($r->{err}, $error, '... for that reason');
    return $r;
}

# --- the same symbols in every packing ---

# Runs of one letter, which a packer encodes as matches.
my $small = module_line('m', $ID) . "FILE 0 /src/m.c\n" . join '',
    map { sprintf "FUNC %x 40 0 %s%d\n%x 40 %d 0\n", 0x1000 + $_ * 64,
          'f' x ($_ % 40), $_, 0x1000 + $_ * 64, $_ + 1 } 0 .. 299;
my $large = sym_text('m', $ID, functions => 20000, lines => 1);

sub good_kinds {
    my ($text) = @_;
    my $half = int(length($text) / 2);
    my @zstd = ('zstd', '-q', '-c');
    my @parts = map { pipe_through($_, @zstd) } substr($text, 0, $half),
        substr($text, $half);

    return (
        'gzip' => pipe_through($text, 'gzip', '-c'),
        'zstd' => pipe_through($text, @zstd),
        'zstd -19 --long=27' => pipe_through($text, @zstd, '-19', '--long=27'),
        'zstd without check' => pipe_through($text, @zstd, '--no-check'),
        'zstd, two frames' => join('', @parts),
        'zstd, skippable frames' => join('', skippable(0, ''), $parts[0],
                                         skippable(15, 'x' x 300_000),
                                         $parts[1], skippable(7, 'end')),
        'xz' => pipe_through($text, 'xz', '-c'),
        'xz -9' => pipe_through($text, 'xz', '-9', '-c'),
        'xz, two streams' => join("\0" x 8,
            map { pipe_through($_, 'xz', '-c', '--check=none') }
                substr($text, 0, $half), substr($text, $half)),
        (map { $_ => pack_input($text, $_) }
            qw(zlib zlib-fast zip zip-stored zip-streamed zip-streamed-stored
               zip-comment)),
        'zip, a name in UTF-8' =>
            pack_input($text, 'zip', "\xc3\xa4\xe6\xbc\xa2.sym"),
        'zip, a file in a folder' => pack_input($text, 'zip', 'd/', 'd/m.sym'),
        'zip by zip(1)' => archive('zip', [ 'zip', '-q' ], 'm.sym' => $text),
        'zip through a pipe' => pipe_through($text, 'zip', '-q', '-', '-'),
        'cab' => archive('cab', [ 'gcab', '-c', '-z' ], 'm.sym' => $text),
        'cab, stored' => archive('cab', [ 'gcab', '-c' ], 'm.sym' => $text),
        (map { ("tar.$_" => pack_tar($text, "--$_", '--format=pax')) }
            qw(gzip zstd xz)),
        'tar in zlib' => pack_input(pack_tar($text, '--format=gnu'), 'zlib'),
        'cab, a name in UTF-8' =>
            archive('cab', [ 'gcab', '-c', '-z' ],
                    "\xc3\xa4\xe6\xbc\xa2.sym" => $text),
    );
}

for my $text ($small, $large) {
    my $plain = SymLoader->new;
    is($plain->run('load', $plain->file('m.sym', $text))->{code}, 0, 'plain');
    my $want = told($plain, 'm');
    my %kinds = good_kinds($text);

    # there is no free packer for these, and ours only writes one block
    %kinds = (%kinds, map { $_ => pack_input($text, $_) }
                          qw(cab-lzx cab-lzx-stored)) if $text eq $small;

    for my $kind (sort keys %kinds) {
        my $u = SymLoader->new;
        my $r = $u->run('load', $u->file('any-name', $kinds{$kind}));

        is($r->{code}, 0, "$kind loads") or diag($r->{err});
        is_deeply(told($u, 'm'), $want, '... as the plain file does');
    }
}

# A tar has no checksum of its contents or padding, so it is not in the list
# above.
for my $format ('pax', 'ustar', 'gnu') {
    my $u = SymLoader->new;
    my $plain = SymLoader->new;
    $plain->run('load', $plain->file('m.sym', $small));
    my $r = $u->run('load', $u->file('m.tar', pack_tar($small,
        "--format=$format")));

    is($r->{code}, 0, "tar, $format loads") or diag($r->{err});
    is_deeply(told($u, 'm'), told($plain, 'm'), '... as the plain file does');
}

{
    my $tar = pack_tar($small);
    my $at = 1536 + int(length($small) / 2);
    my $where = qr/tar file, byte/;

    fails('tar cut in its file', substr($tar, 0, $at),
          qr/truncated: the file ends early \($where $at\)/);
    fails('tar cut in its header', substr($tar, 0, 600),
          qr/truncated: the file ends early \($where 600\)/);
    fails('... packed', gz(substr($tar, 0, $at)),
          qr/truncated: the file ends early \($where $at\)/);

    my $damaged = $tar;
    substr($damaged, 520, 1) ^= "\1";
    fails('tar with a damaged header', $damaged, qr/malformed: damaged \($where/);
    fails('tar in a damaged gzip', do {
        my $z = gz($tar);
        substr($z, -6, 1) ^= "\1";
        $z;
    }, qr/malformed: damaged \(gzip stream, byte/);

    my @in = ('-C', $t->dir . '/in', '-cf', '-');
    $t->file("in/$_", $small) for 'a', 'b';
    fails('tar of two files', output('tar', @in, 'a', 'b'),
          qr/unsupported: it contains more than one file \($where/);
    fails('tar of no file', output('tar', @in, '-T', '/dev/null'),
          qr/malformed/);
    symlink 'a', $t->dir . '/in/link' or die;
    fails('tar of a link', output('tar', @in, 'link'),
          qr/unsupported: its entry is not a file \($where/);
    fails('gzip in tar', pack_tar(gz($small)),
          qr/unsupported: compressed twice \($where/);
    fails('tar in tar', pack_tar($tar), qr/compressed twice \($where/);
    fails('tar in zip', pack_input($tar, 'zip'),
          qr/compressed twice \(zip file/);
}

# Through a pipe, in small pieces: no format may need to seek.
{
    my %kinds = good_kinds($small);

    for my $kind ('zstd', 'xz', 'zlib', 'zip-streamed', 'cab', 'tar.gzip') {
        my $u = SymLoader->new;
        my $p = $u->start('load', '/dev/stdin');

        for my $piece (unpack '(a97)*', $kinds{$kind}) {
            syswrite($p->{in}, $piece);
        }
        close($p->{in});
        my $out = join '', readline($p->{out});
        is($u->wait($p)->{code}, 0, "$kind through a pipe");
        is(told($u, 'm')->{show}{functions}, 300, '... completely');
    }
}

# One converter for all of them: nothing of a file affects the next.
{
    my $u = SymLoader->new;
    my %kinds = good_kinds($small);
    my @paths = map { $u->file("one/$_", $kinds{$_}),
                      $u->file("one/$_-cut", substr($kinds{$_}, 0, -30)) }
        sort keys %kinds;
    my $r = $u->run('load', '--jobs', 1, @paths);
    my $n = keys %kinds;

    like($r->{out}, qr/, $n failed$/m, 'good ones and cut ones in turn');
    is(scalar(() = $r->{err} =~ /-cut: truncated: /g), $n, '... cut ones fail');
}

# Text that begins like zlib.
fails('text that begins with x^', "x^2 + y^2 = z^2\n",
      qr/malformed: (?!.*zlib)/);

# --- archives that are refused ---

fails('zip of two files', pack_input($small, 'zip', 'a', 'b'),
      qr/unsupported: it contains more than one file \(zip file, byte \d+\)/);
fails('zip of no file', pack('a4x18', "PK\5\6"),
      qr/unsupported: there is no file in it \(zip file, byte 0\)/);
fails('zip of folders', pack_input($small, 'zip', 'a/', 'b/'),
      qr/unsupported: it contains only folders \(zip file/);
fails('zip with a password',
      archive('zip', [ 'zip', '-q', '-P', 'secret' ], 'm.sym' => $small),
      qr/unsupported: the file in it is encrypted \(zip file/);
fails('zip by bzip2', pack_input($small, 'zip-bzip2'),
      qr/unsupported: this compression method \(zip file/);
fails('cab of two files',
      archive('cab', [ 'gcab', '-c', '-z' ], a => $small, b => $small),
      qr/unsupported: it contains more than one file \(cab file, byte 0\)/);
{
    my $none = pack_input($small, 'cab-stored');
    substr($none, 28, 2) = "\0\0";
    fails('cab of no file', $none,
          qr/unsupported: there is no file in it \(cab file, byte 0\)/);
}
fails('cab that continues in another one', pack_input($small, 'cab-several'),
      qr/unsupported: it is one of several cabinets \(cab file, byte 0\)/);
fails('cab by Quantum', pack_input($small, 'cab-quantum'),
      qr/unsupported: this compression method \(cab file/);

# --- compressed twice ---

{
    my %kinds = good_kinds($small);

    for my $inner ('gzip', 'zstd', 'xz', 'zlib', 'zip', 'cab') {
        fails("$inner in zip", pack_input($kinds{$inner}, 'zip'),
              qr/unsupported: compressed twice \(zip file, byte \d+\)/);
    }
    fails('gzip in gzip', gz($kinds{gzip}), qr/compressed twice \(gzip stream/);
    fails('zip in zstd', pipe_through($kinds{zip}, 'zstd', '-q', '-c'),
          qr/compressed twice \(zstd stream/);
    fails('zlib in zlib', pack_input($kinds{zlib}, 'zlib'),
          qr/compressed twice \(zlib stream/);
    fails('zip in cab', archive('cab', [ 'gcab', '-c' ], 'm.zip' => $kinds{zip}),
          qr/compressed twice \(cab file/);
}

# --- truncated, extended, damaged ---

{
    my %kinds = good_kinds($small);
    my $u = SymLoader->new;
    $u->run('load', $u->file('m.sym', $small));
    my $want = told($u, 'm');
    my %section = (gzip => 'gzip stream', zstd => 'zstd stream',
                   zlib => 'zlib stream', xz => 'xz stream', zip => 'zip file',
                   'zip-streamed' => 'zip file',
                   'zip-streamed-stored' => 'zip file', cab => 'cab file',
                   'cab, stored' => 'cab file');

    for my $kind (sort keys %section) {
        my $bytes = $kinds{$kind};
        my $len = length($bytes);

        for my $at (9, 20, int($len / 3), $len - 300, $len - 23, $len - 1) {
            fails("$kind cut at $at of $len", substr($bytes, 0, $at),
                  qr/truncated: the file ends early \($section{$kind}, byte $at\)/);
        }

        # gzip(1) takes the rest for padding
        fails("$kind with more after it", "$bytes" . 'more of it',
              qr/malformed: more bytes after the end \($section{$kind}, byte $len\)/)
            unless $kind eq 'gzip';

        my %stored;
        for my $i (0 .. 11) {
            my $damaged = $bytes;
            my $at = 4 + int(($len - 5) * $i / 11);
            substr($damaged, $at, 1) ^= chr(1 << $i % 8);
            my $u = SymLoader->new;
            my $r = $u->run('load', $u->file('m', $damaged));
            my $is_same = $r->{code} == 0
                && told($u, 'm')->{lookup} eq $want->{lookup};
            my $is_clear = $r->{code} == 1
                && $r->{err} =~ /^symloader: \S+: (?:malformed|truncated|unsupported|over a limit):(?: .*, byte \d+\)| unknown format; .*)\n\z/;

            $stored{$at} = 1 if $is_same;
            ok($is_same || $is_clear, "$kind, bit turned at $at")
                or diag($r->{err});
        }
        # names, times and the directory at the end of the file do not protect
        # its contents
        my @inside = grep { $_ > 120 && $_ < $len - 120 } keys %stored;
        is("@inside", '', "$kind: all damage inside the file is detected");
    }
}

# --- bombs ---

{
    my $ratio = qr/over a limit: it expands to more than 1000 times its size/;
    my $head = sym_text('m', $ID);
    # empty lines, because the reader itself rejects an endless line soon
    my $filler = "\n" x (64 << 20);
    my @zstd = ('zstd', '-q', '-c');
    my %bombs = (
        'gzip of 10 GiB' => [ 'gzip stream', gz($head) . gz($filler) x 160 ],
        'zstd of 10 GiB' =>
            [ 'zstd stream', pipe_through($head, @zstd)
                             . pipe_through($filler, @zstd) x 160 ],
        'zlib' => [ 'zlib stream', pack_input($head . $filler x 2, 'zlib') ],
        'zip' => [ 'zip file', pack_input($head . $filler x 2, 'zip') ],
        'zip, streamed' =>
            [ 'zip file', pack_input($head . $filler x 2, 'zip-streamed') ],
    );

    for my $kind (sort keys %bombs) {
        my ($section, $bytes) = @{ $bombs{$kind} };
        my $r = fails("bomb: $kind", $bytes, qr/$ratio \($section, byte \d+\)$/m);
        my ($byte) = $r->{err} =~ /byte (\d+)/;

        cmp_ok($byte, '<', 80_000, '... at the 64 MiB that are free');
        cmp_ok($r->{seconds}, '<', 120, '... soon');
    }

    fails('bomb: xz', pipe_through($head . $filler x 2, 'xz', '-c'),
          qr/$ratio \(xz stream, byte \d+\)$/m);

    # 10 GiB of zeros, in a tar of some kilobytes
    $t->file('tar/sparse', '');
    truncate($t->dir . '/tar/sparse', 10 << 30) or die;
    my $sparse = output('tar', '-S', '-C', $t->dir . '/tar', '-cf', '-',
                        'sparse');
    fails('bomb: sparse file in a tar', $sparse, qr/malformed: |$ratio/);
    fails('bomb: tar.gz, beside the file',
          pipe_through(pack_tar($head . $filler x 2), 'gzip', '-c'),
          qr/$ratio \(gzip stream, byte \d+\)$/m);

    my $zeros = output('sh', '-c', 'head -c 1G /dev/zero | zstd -q -c');
    my $r = fails('zeros: zstd of 10 GiB', $zeros x 10, qr/malformed: /);
    cmp_ok($r->{seconds}, '<', 120, '... soon');
}

{
    my %kinds = good_kinds($large);
    my $u = SymLoader->new;

    for my $kind ('gzip', 'zstd', 'xz', 'zlib', 'zip-stored', 'cab') {
        fails("$kind, --max-expanded", $kinds{$kind},
              qr/over a limit: it expands to more than --max-expanded allows \(.*, byte \d+\)$/m,
              '--max-expanded', '500k');
        is($u->run('load', '--max-expanded', length($large),
                   $u->file('m', $kinds{$kind}))->{code}, 0,
           '... not below its size');
    }
    is($u->run('load', '--max-expanded', 1, $u->file('m', $small))->{code}, 0,
       'plain text has no such limit');
    is($u->run('load', '--max-expanded', 0, $u->file('m', $small))->{code}, 2,
       'a limit of 0 makes no sense');
}

# --- an xz dictionary ---

fails('xz with a dictionary of 256 MiB',
      pipe_through($small, 'xz', '-c', '--lzma2=dict=256MiB'),
      qr/over a limit: it needs more than 128 MiB to unpack .*\(xz stream, byte \d+\)/);

# --- windows of zstd: memory that a file requires ---

{
    # a frame of one raw block; the window is 2^(10 + n)
    my $frame = sub {
        my ($n) = @_;
        my $block = length($small) << 3 | 1;
        return "\x28\xb5\x2f\xfd\0" . chr($n << 3)
            . substr(pack('V', $block), 0, 3) . $small;
    };

    fails('zstd with a window of 256 MiB', $frame->(18),
          qr/over a limit: it needs a window of more than 128 MiB .*\(zstd stream, byte \d+\)/);

    my $u = SymLoader->new;
    is($u->run('load', $u->file('m', $frame->(17)))->{code}, 0,
       'a window of 128 MiB is fine');

    # sanitizers take more memory than any cap
    if (($ENV{SYM_BUILD} // '') !~ /asan/) {
        fails('... unless there is no memory for it', $frame->(17),
              qr/out of memory: no memory for zstd/, '--convert-memory', '100m');
    }
}

is($t->run('ls', '--json')->{out}, '', 'none of them is in the store');
is($t->verify, 'sound', 'the store is sound');

done_testing();
