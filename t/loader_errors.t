#!/usr/bin/perl

# Users who load thousands of files must learn which one is bad, where, and why,
# and find all the others loaded.  Bad are lines that make the whole file
# untrustworthy (a malformed FUNC, INLINE, INLINE_ORIGIN or line record), and
# files that are not symbol files at all.

use strict;
use warnings;

use FindBin;
use IO::Compress::Gzip qw(gzip);
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha512_hex);
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(sym_text module_line read_file);

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $HEAD = module_line('m', $ID) . "FILE 0 a.c\n";
my $FUNC = "FUNC 1000 40 0 f\n";

# name => [ text before the bad line, the bad line ]
my %bad = (
    'func-address' => [ $HEAD, "FUNC xyz 40 0 f\n" ],
    'func-prefix' => [ $HEAD, "FUNC 0x1000 40 0 f\n" ],
    'func-short' => [ $HEAD, "FUNC 1000\n" ],
    'func-overflow' => [ $HEAD, "FUNC 11112222333344445 40 0 f\n" ],
    'func-utf8' => [ $HEAD, "FUNC 1000 40 0 \xff\xfe\n" ],
    'line-letters' => [ $HEAD . $FUNC, "1000 10 abc 0\n" ],
    'line-short' => [ $HEAD . $FUNC, "1000 10 1\n" ],
    'line-trailing' => [ $HEAD . $FUNC, "1000 10 1 0 9\n" ],
    'line-unknown' => [ $HEAD . $FUNC, "HELLO world\n" ],
    'line-file' => [ $HEAD . $FUNC, "FILE 1 b.c\n" ],
    'inline-short' => [ $HEAD . $FUNC, "INLINE 0 1 0\n" ],
    'inline-hex' => [ $HEAD . $FUNC, "INLINE 0 1 0 0 1000 zz\n" ],
    'origin-number' => [ $HEAD, "INLINE_ORIGIN x name\n" ],
    'last-line' => [ sym_text('m', $ID, functions => 5000, lines => 1),
                     "2000 10 q 0" ],
);

my $t = SymLoader->new;

sub gzipped {
    my ($text) = @_;
    gzip(\$text => \my $packed) or die;
    return $packed;
}

for my $name (sort keys %bad) {
    my ($before, $line) = @{ $bad{$name} };
    my $file = $t->file("bad/$name.sym", $before . $line);
    my $r = $t->run('load', $file);
    my $number = 1 + ($before =~ tr/\n//);

    is($r->{code}, 1, "$name: fails");
    like($r->{err}, qr/^symloader: \Q$file\E: malformed: .*line $number, byte \d+\)$/,
         "... file, reason, line $number");
    my ($byte) = $r->{err} =~ /byte (\d+)\)$/;
    ok(defined $byte && $byte >= length($before)
           && $byte <= length($before . $line),
       '... and a byte of that line');
}

my %not_symbols = (
    empty => '',
    blank => "\n",
    html => "<html><body>404 Not Found</body></html>\n",
    bom => "\xef\xbb\xbf" . $HEAD . $FUNC,
    elf => "\x7fELF" . "\0" x 100,
    zeros => "\0" x 100000,
    'one-long-line' => 'MODULE ' . 'x' x 3_000_000,
    'bad-id' => "MODULE Linux x86_64 123 m\n$FUNC",
    'bad-arch' => "MODULE Linux pdp11 $ID m\n$FUNC",
    'no-id' => "MODULE Linux x86_64\n$FUNC",
);

for my $name (sort keys %not_symbols) {
    my $file = $t->file("bad/$name.sym", $not_symbols{$name});
    my $r = $t->run('load', $file);

    is($r->{code}, 1, "$name: fails");
    like($r->{err}, qr/^symloader: \Q$file\E: [a-z ]+: \S.*\n\z/,
         '... one line with file and reason');
}

# Unsupported files are called by their kind, by load and by dump.
my %foreign = (
    'a minidump, which has no symbols' => "MDMP\x93\xa7\0\0" . "\0" x 24,
    'JSON' => '{"name": "app", "private": true}',
);
for my $what (sort keys %foreign) {
    my $file = $t->file('foreign', $foreign{$what});
    for my $command ('load', 'dump') {
        my $r = $t->run($command, $file);
        is($r->{code}, 1, "$command of $what fails");
        like($r->{err}, qr/^symloader: \Q$file\E: unsupported: \Q$what\E.*; /,
             '... called by its kind');
        like($r->{err}, qr/; Breakpad's \.sym, ELF, Mach-O, PE, PDB, source bundle, portable PDB, WebAssembly, ProGuard mapping, source map, JavaScript, Elastic's symbfile and artifact files are read$/,
             '... with a hint what to load instead');
    }
}

# The same in a container, and others that are made here.
{
    my $object = $t->file('a.o', '');
    my $archive = $t->dir . '/lib.a';
    system("cd '${\$t->dir}' && ar rc lib.a a.o") == 0 or die 'ar failed';
    my %made = (
        $archive => 'an archive of object files',
        $t->file('web.sym', "<!DOCTYPE html>\n") => 'a web page',
        $t->file('plain.txt', "hello\n") =>
            'text that does not begin with a MODULE record',
        $t->file('bom.sym', "\xef\xbb\xbf$HEAD") =>
            'text with a byte order mark before MODULE',
        $t->file('zeros', "\0" x 1000) => 'unknown format',
        $object => 'the file is empty',
        $t->file('packed.gz', gzipped('MDMP' . "\0" x 60)) => 'a minidump',
    );
    for my $file (sort keys %made) {
        like($t->run('load', $file)->{err},
             qr/^symloader: \Q$file\E: (?:unsupported|malformed): \Q$made{$file}\E/,
             $made{$file});
    }
}

my $r = $t->run('ls', '--json');
is($r->{out}, '', 'none of them is in the store');

$r = $t->run('load', $t->dir . '/bad', fixtures('symbols'));
is($r->{code}, 1, 'bad and good together');
my $n_bad = keys(%bad) + keys(%not_symbols);
like($r->{out}, qr/, 0 failed|, $n_bad failed$/m, '... only the bad ones fail');
is(scalar(() = $r->{err} =~ /^symloader: .*\/bad\//mg), $n_bad,
   '... each is named');
is(scalar($t->modules), 9, '... and the good ones are there');

# A name that tries to manipulate a terminal.
my $trick = $t->file("bad/\e[31m.sym", "nothing\n");
$r = $t->run('load', $trick);
unlike($r->{err}, qr/\e/, 'no control characters in messages');
$r = $t->run('load', $t->file('trick.sym', sym_text("\e[31mred", $ID)));
is($r->{code}, 0, 'a module may have any name');
unlike($r->{out} . $t->run('ls')->{out}, qr/\e/,
    '... terminals get it escaped');

# --- special files ---

$r = $t->run('load', '/dev/null');
is($r->{code}, 1, 'a device is not a symbol file');
like($r->{err}, qr{/dev/null: unsupported: not a file}, '... is said');

{
    my $secret = $t->file('secret.sym', sym_text('s', $ID));
    chmod 0, $secret;
    my $u = SymLoader->new;
    # root may read everything, unless it drops that right
    $u->without('dac_override', 'dac_read_search') if $> == 0;
    $r = $u->run('load', $secret);
    is($r->{code}, 1, 'a file without permission');
    like($r->{err}, qr/secret\.sym: .*Permission denied/, '... is said');
}

# --- memory: exceeding the limit is the file's failure ---

# sanitizers take more memory than any cap
if (($ENV{SYM_BUILD} // '') !~ /asan/) {
    my $large = $t->file('large.sym', module_line('large', $ID) . join('',
        map { sprintf "PUBLIC %x 0 %s\n", $_ * 16,
                  join '', map { sha512_hex($_) } $_ .. $_ + 3 }
            1 .. 200_000));
    my $good = $t->file('good.sym', sym_text('good', $ID));
    $r = $t->run('load', '--jobs', 1, '--convert-memory', '64m', $large, $good);
    is($r->{code}, 1, 'a file that needs more memory than is allowed');
    like($r->{err}, qr/large\.sym: out of memory/, '... fails for that reason');
    like($r->{out}, qr/good\.sym: good/, '... and the next is loaded');
}

# --- the reader of the output may exit ---

for my $stream ('out', 'err') {
    pipe(my $read, my $write) or die;
    close($read);
    $r = $t->run({ "${stream}_fd" => fileno($write) }, 'load',
                 $t->dir . '/bad', fixtures('symbols'));
    is($r->{code}, 1, "load with std$stream closed at the other end goes on");
    $r = $t->run({ "${stream}_fd" => fileno($write) }, 'ls');
    is($r->{code}, 0, "... and ls is quiet about it");
}

open(my $full, '>', '/dev/full') or die;
$r = $t->run({ out_fd => fileno($full) }, 'ls');
is($r->{code}, 5, 'output that cannot be written');
like($r->{err}, qr/cannot write the output: No space left/, '... is said');

done_testing();
