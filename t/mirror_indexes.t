#!/usr/bin/perl

# `symloader mirror` reads the indexes of RPM, Arch and Alpine as their tools write
# them, and gets the packages from where that tool's clients would.  An index cannot
# make it ask elsewhere, and what a list of indexes names is checked before it is read.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Digest::SHA qw(sha1_base64 sha256_hex);
use File::Copy qw(copy);
use File::Path qw(make_path);
use Test::More;

use SymElf qw(output run_ok);
use SymLoader qw(read_file write_file);
use SymPackage;
use SymTest;
use SymUpload;

my $t = SymUpload->new(layout => 'unified')->start;
my $dir = $t->{dir};
my $repo = "$dir/repo";
make_path($repo);
my $web = SymTest->new->conf(locations => "location / { root $repo; }")->start;
my $url = 'http://' . $web->address;

# --- a program and its package of each kind ---

my (%id, %main);

sub package_of {
    my ($kind, $how, $name, %o) = @_;
    write_file("$dir/$name.c", "int $name(int n) { return n * 3; }\nint main(int n, char **v) { (void) v; return $name(n); }\n");
    run_ok('gcc', '-g', '-O0', '-Wl,--build-id', '-o', "$dir/$name", "$dir/$name.c");
    run_ok('objcopy', '--only-keep-debug', "$dir/$name", "$dir/$name.debug");
    ($id{$name}) = output('eu-readelf', '-n', "$dir/$name") =~ /Build ID: ([0-9a-f]{40})/ or die;
    ($main{$name}) = map { /^(\w+) T \Q$name\E$/ ? hex $1 : () } split /\n/, output('nm', "$dir/$name");
    return SymPackage->new("$dir/packages/$name",
        { 'usr/lib/debug/.build-id/' . $id{$name} =~ s{^..\K}{/}r . '.debug' => read_file("$dir/$name.debug") },
        name => "$name-debug", %o)->make($kind, $how);
}

sub function_at {
    my ($name) = @_;
    my $r = $t->post_json('/symbolicate/v5', { memoryMap => [[ $name, uc $id{$name} ]],
        stacks => [[[ 0, $main{$name} ]]] });
    return $r->{json}{results}[0]{stacks}[0][0]{function} // 'unknown';
}

sub mirror {
    return $t->loader->run({ no_store => 1, env => { SYMBOLICATE_API_KEY => 'ci-secret' } },
        'mirror', '--server', $t->url('/upload/'), @_);
}

sub counts {
    my ($r) = @_;
    return $r->{out} =~ /^(\d+ sent, \d+ same, \d+ refused, \d+ failed, \d+ done before); /m ? $1 : "none: $r->{out}";
}

# A first run that sends, and a second one that has nothing to do.
sub is_mirrored {
    my ($index, @names) = @_;
    my $state = "$dir/state." . $index =~ tr{/}{_}r;
    my @run = ('--state', $state, $url, $index);

    is(function_at($_), 'unknown', "$index: $_ is not there before") for @names;
    my $r = mirror(@run);
    my $n = @names;
    is(counts($r), "$n sent, 0 same, 0 refused, 0 failed, 0 done before", '... is read') or diag $r->{err};
    is($r->{code}, 0, '... all is fine');
    is($r->{err}, '', '... and nothing is said');
    is(function_at($_), $_, "... $_ is answered") for @names;
    is(counts(mirror(@run)), "0 sent, 0 same, 0 refused, 0 failed, $n done before", '... and is known the next time');
    return;
}

# --- RPM: repomd.xml and primary.xml by createrepo_c ---

{
    make_path("$repo/fedora/os/Packages/a");
    copy(package_of('rpm', 'w9.zstdio', $_), "$repo/fedora/os/Packages/a/") or die for qw(alpha beta);
    for my $how (qw(gz xz)) {
        run_ok('createrepo_c', '-q', "--general-compress-type=$how", "$repo/fedora/os");
        my $primary = (glob "$repo/fedora/os/repodata/*-primary.xml.$how")[0] or die;
        is_mirrored('fedora/os/repodata/repomd.xml', qw(alpha beta)) if $how eq 'gz';
        my $r = mirror('--match', 'alpha*', $repo, 'fedora/os/repodata/' . $primary =~ s{.*/}{}r);
        is(counts($r), '0 sent, 1 same, 0 refused, 0 failed, 0 done before', "primary.xml.$how alone") or diag $r->{err};
        $r = mirror('--match', 'beta*', $repo, 'fedora/os/repodata/repomd.xml');
        is(counts($r), '0 sent, 1 same, 0 refused, 0 failed, 0 done before', "repomd.xml with $how, in a folder") or diag $r->{err};
    }

    # what repomd.xml says of another file
    my $repomd = read_file("$repo/fedora/os/repodata/repomd.xml");
    my ($sha256) = $repomd =~ m{type="primary">\s*<checksum type="sha256">(\w+)} or die;
    for my $case (
        [ 'another checksum', sub { s/\Q$sha256\E(?=<)/reverse $sha256/e }, qr/-primary\.xml\.xz: its SHA-256 is not that in the index/ ],
        [ 'a larger size', sub { s{type="primary">.*?<size>\K(\d+)}{$1 + 1}se }, qr/its size is not that in the index/ ],
        [ 'a smaller size', sub { s{type="primary">.*?<size>\K(\d+)}{$1 - 1}se }, qr/it is larger than it may be/ ],
        [ 'another folder', sub { s{href="repodata/}{href="../../repodata/} }, qr/primary: the index has no valid path/ ],
        [ 'another server', sub { s{href="}{xml:base="http://127.0.0.1:1/" href="} }, qr/primary: the index has no valid path/ ],
        [ 'itself', sub { s{href="repodata/\K[^"]*primary[^"]*}{self.xml}; s{type="primary">\s*<checksum type="sha256">\K\w+}{SELF};
            s{type="primary">.*?<size>\K\d+}{SIZE}s }, qr/self\.xml: it is a list of indexes/ ],
        [ 'no primary', sub { s/type="primary"/type="none"/ }, undef ])
    {
        my ($name, $change, $why) = @$case;
        local $_ = $repomd;
        $change->();
        isnt($_, $repomd, "repomd.xml with $name");
        if (/SELF/) {
            my $self = write_file("$repo/fedora/os/repodata/self.xml", $repomd);
            s/SELF/sha256_hex($repomd)/e;
            s/SIZE/length $repomd/e;
        }
        write_file("$repo/fedora/os/repodata/wrong.xml", $_);
        my $r = mirror($repo, 'fedora/os/repodata/wrong.xml');
        like(counts($r), qr/^0 sent, 0 same, 0 refused, [01] failed/, '... sends nothing');
        is($r->{code}, defined $why ? 1 : 0, '... its exit code');
        like($r->{err}, $why // qr/\A\z/, '... and what it says');
    }
}

# --- Arch: a database by repo-add ---

{
    make_path("$repo/arch/x86_64");
    copy(package_of('arch', 'zstd', $_), "$repo/arch/x86_64/") or die for qw(eta theta);
    for my $how (qw(gz xz zst)) {
        run_ok('sh', '-c', "cd '$repo/arch/x86_64' && repo-add -q $how.db.tar.$how *.pkg.tar.zst 2>/dev/null");
        is_mirrored("arch/x86_64/$how.db.tar.$how", qw(eta theta)) if $how eq 'gz';
        my $r = mirror('--match', 'eta-debug', $url, "arch/x86_64/$how.db");
        is(counts($r), '0 sent, 1 same, 0 refused, 0 failed, 0 done before', "a database with $how") or diag $r->{err};
    }
}

# --- Alpine: as `apk index` and abuild-sign write it (Apk spec), because Debian has
# neither: a gzip of the signature, whose tar has no end, and a gzip of the index ---

my ($noise, %apk) = ("F:usr/lib\np:so:libc.so=1 cmd:P=2\nD:other\n");

sub alpine_index {
    my ($file, $change) = @_;
    my $text = '';
    for my $name (qw(epsilon zeta)) {
        # the checksum is of the part of control data: here any 20 bytes of the package
        my $sum = sha1_base64(read_file($apk{$name})) . '=';
        my $size = -s $apk{$name};
        $text .= "C:Q1$sum\nP:$name-debug\nV:1.0-r0\nA:x86_64\nS:$size\nI:99\nT:debug symbols\n$noise\n";
    }
    $text = $change->($text) if $change;
    write_file("$dir/index/APKINDEX", $text);
    write_file("$dir/index/DESCRIPTION", "v3.20\n");
    write_file("$dir/index/.SIGN.RSA.a.rsa.pub", 'a signature');
    run_ok('sh', '-c', "cd '$dir/index' && tar --format=ustar -b1 -cf ../sig .SIGN.RSA.a.rsa.pub && tar --format=ustar -cf ../tar DESCRIPTION APKINDEX && "
        . "head -c -1024 ../sig | gzip -n > '$file' && gzip -nc ../tar >> '$file'");
    return;
}

make_path("$repo/alpine/x86_64", "$dir/index");
for my $name (qw(epsilon zeta)) {
    my $file = package_of('apk', 'gzip', $name);
    $apk{$name} = "$repo/alpine/x86_64/$name-debug-1.0-r0.apk";
    copy($file, $apk{$name}) or die;
}
alpine_index("$repo/alpine/x86_64/APKINDEX.tar.gz");
is_mirrored('alpine/x86_64/APKINDEX.tar.gz', qw(epsilon zeta));

for my $case (
    [ 'another folder', sub { $_[0] =~ s/^P:\Kzeta-debug/..\/zeta-debug/mr }, qr/\Asymloader: \.\.\/zeta-debug: the index has no valid path of the package\n\z/ ],
    [ 'another size', sub { $_[0] =~ s/^S:\K(\d+)/$1 + 1/mer }, qr/\Asymloader: epsilon-debug: its size is not that in the index\n\z/ ],
    [ 'no checksum', sub { $_[0] =~ s/^C:.*\n//mr }, qr/\Asymloader: epsilon-debug: the index has no valid checksum of the package\n\z/ ])
{
    my ($name, $change, $why) = @$case;
    alpine_index("$repo/alpine/x86_64/wrong.tar.gz", $change);
    my $r = mirror($repo, 'alpine/x86_64/wrong.tar.gz');
    is(counts($r), '0 sent, 1 same, 0 refused, 1 failed, 0 done before', "APKINDEX with $name");
    like($r->{err}, $why, '... says why');
}

# --- archives that are no index ---

run_ok('tar', '-czf', "$repo/other.tar.gz", '-C', $dir, 'index/DESCRIPTION');
my $r = mirror($repo, 'other.tar.gz');
is($r->{code}, 1, 'another archive');
like($r->{err}, qr/^symloader: index: malformed: the archive is not a list of packages/, '... is named');
write_file("$repo/cut.tar.gz", substr read_file("$repo/alpine/x86_64/APKINDEX.tar.gz"), 0, 200);
$r = mirror($repo, 'cut.tar.gz');
is($r->{code}, 1, 'an index that is cut');
like($r->{err}, qr/^symloader: index: .*gzip/, '... is named');

is($web->stop->log_trouble, '', 'nothing is wrong at the source');
is($t->end, '', '... and at the target');
done_testing();
