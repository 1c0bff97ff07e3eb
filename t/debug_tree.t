#!/usr/bin/perl

# `symloader load /usr/lib/debug` on a machine with -dbg packages; afterwards a
# request with the debug id of a build id gets inlined calls.  The tree here is
# that of distributions: debug files by build id (Debian), or links from there
# to files with names (Fedora), parts that dwz moved to .dwz, kernel modules.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLlvm qw(llvm_frames);
use SymLoader qw(write_file);
use SymTest;

my $loader = SymLoader->new;
my $dir = abs_path($loader->dir);
my $tree = "$dir/debug";

sub run {
    my $out = qx(cd $dir && @_ 2>&1);
    die "@_: $out" if $?;
    return;
}

# --- the machine ---

write_file("$dir/thing.c", <<'END');
static inline __attribute__((always_inline)) int square(int x)
{
    return x * x + START;
}
__attribute__((noinline)) int work(int x)
{
    return square(x) + square(x + 1);
}
int main(int argc, char **argv)
{
    return work(argc);
}
END

# { program => its build id }
my (%id, $start);
for my $program (qw(one two three)) {
    run('gcc -g -O2', '-DSTART=' . ++$start, '-Wl,--build-id=sha1',
        "-o $program thing.c");
    ($id{$program}) = qx(readelf -n $dir/$program) =~ /Build ID: ([0-9a-f]{40})/;
    run("objcopy --only-keep-debug $program $program.debug &&",
        "cp $program.debug $program.whole");
}

# Debian: by build id, and shared parts in .dwz
make_path("$tree/.dwz/x86_64-linux-gnu");
run('dwz -m', "$tree/.dwz/x86_64-linux-gnu/thing.debug",
    '-M /usr/lib/debug/.dwz/x86_64-linux-gnu/thing.debug',
    'one.debug two.debug');

sub by_id {
    my ($program) = @_;
    my ($folder, $file) = $id{$program} =~ /^(..)(.*)/;
    make_path("$tree/.build-id/$folder");
    return "$tree/.build-id/$folder/$file";
}
rename("$dir/$_.debug", by_id($_) . '.debug') or die $! for qw(one two);

# Fedora: a name, and links to it and to the program
make_path("$tree/usr/bin");
rename("$dir/three.debug", "$tree/usr/bin/three.debug") or die $!;
symlink('../../usr/bin/three.debug', by_id('three') . '.debug') or die $!;
symlink('../../../../../usr/bin/three', by_id('three')) or die $!;

# the kernel's
make_path("$tree/lib/modules/6.1/kernel");
run('gcc -g -O2 -DSTART=1 -c -o', "$tree/lib/modules/6.1/kernel/thing.ko",
    'thing.c');
write_file("$tree/README", "text\n");

# --- the user's commands, and their results ---

my $t = SymTest->new;
my $r = $loader->run({ store => $t->store }, 'load', $tree);
my $seen = $r->{out};
is($r->{code}, 0, 'the tree is loaded');
is($r->{err}, '', '... without a warning');
like($seen, qr{: \Q${\substr($id{$_}, 2)}\E/[0-9A-F]+: lines and inlines},
     "... $_, by its build id") or diag($seen) for qw(one two);
like($seen, qr{: three/[0-9A-F]+: lines and inlines}, '... three, by its name');
like($seen, qr{\.dwz/.*/thing\.debug: passed over: .*dwz's},
     '... not the file of shared parts');
like($seen, qr/^4\ files,\ 3\ modules\ stored,\ .*
               \ 1\ without\ symbols,\ 2\ of\ other\ kinds,\ 0\ failed$/mx,
     '... the summary counts it all') or diag($seen);

my $ko = "$tree/lib/modules/6.1/kernel/thing.ko";
$r = $loader->run({ store => $t->store }, 'load', $ko);
isnt($r->{code}, 0, 'a kernel module given by name is refused');
like($r->{err},
     qr/^symloader: \Q$ko\E: unsupported: relocatable file \(kernel module/,
     '... with the reason');

# --- a request ---

$t->conf(location => 'symbolicate;')->start;

# the debug id of a build id: a GUID with little-endian fields, age 0
sub debug_id {
    my ($build_id) = @_;
    my ($x, $y, $z, $rest) = unpack 'H8H4H4H16', pack 'H32', $build_id;
    return uc(join '', map({ join '', reverse /../g } $x, $y, $z), $rest) . '0';
}

for my $program (sort keys %id) {
    my ($at, $size) = `nm -S $dir/$program` =~ /^(\w+) (\w+) T work$/m;
    my @addr = (hex($at) .. hex($at) + hex($size) - 1);
    # from the file as it was before dwz
    my @theirs = llvm_frames($loader, "$dir/$program.whole", '', @addr);
    my $r = $t->post_json('/symbolicate/v5',
        { jobs => [{ memoryMap => [[ "whatever-$program",
                                     debug_id($id{$program}) ]],
                     stacks => [[ map { [ 0, $_ ] } @addr ]] }] });
    my @ours = map {
        my $frame = $_;
        [ map { [ @$_{qw(function file line)} ] }
            @{ $frame->{inlines} // [] }, $frame ]
    } @{ $r->{json}{results}[0]{stacks}[0] };

    cmp_ok(scalar(grep { @$_ == 2 } @theirs), '>', 0,
           "$program has inlined calls");
    is_deeply(\@ours, \@theirs,
        "v5: $program, as LLVM answers for the original");
}

is($t->stop->log_trouble, '', 'nothing is wrong');
done_testing();
