#!/usr/bin/perl

# Agents that profile a machine ask for frames by return address.  A return pad
# has the frames of each call: the calls are those that llvm-objdump finds in the
# code, and their frames those of our own symcache and of llvm-symbolizer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(read_file write_file);

my $t = SymLoader->new;
my $dir = $t->dir;
my $compare = "$FindBin::Bin/lib/returnpads_compare.py";
my $reader = "$FindBin::Bin/lib/symbfile.py";
my $build = $ENV{SYM_BUILD} // 'build';
my $file_id = '77efa716a912a49217445787329fd29a';

write_file("$dir/a.c", <<'END');
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
extern int own(int (*f)(const char *), int n);
static inline int twice(int n) { return puts("a") + puts("b") * n; }
__attribute__((noinline)) int own(int (*f)(const char *), int n)
{
    return f("c") + twice(n) + twice(n + 1);
}
int main(int argc, char **argv)
{
    (void) argv;
    return own(argc > 1 ? puts : NULL, argc);
}
END

write_file("$dir/bare.c", <<'END');
int write_to(int fd, const void *data, unsigned long len);
static inline __attribute__((always_inline)) long call(long n, long a)
{
#ifdef __aarch64__
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8));
    return x0;
#else
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a) : "rcx", "r11");
    return r;
#endif
}
__attribute__((noinline)) int leaf(int n) { return n * 3; }
__attribute__((noinline)) int twice(int (*f)(int), int n) { return f(n) + leaf(n); }
/* bytes that are no instruction, between two calls on lines of their own */
__attribute__((noinline)) int odd(int n)
{
    n = leaf(n);
#ifdef __aarch64__
    __asm__ volatile("b 1f\n .word 0xffffffff\n 1:");
#else
    __asm__ volatile("jmp 1f\n .byte 0x06\n 1:");
#endif
    n += leaf(n);
    return n;
}
void _start(void)
{
    call(93, twice(leaf, odd(1)));
}
END

write_file("$dir/c.cc", <<'END');
#include <map>
#include <string>
#include <vector>
#include <iostream>
int main(int argc, char **argv)
{
    std::map<std::string, int> seen;
    for (const std::string &s : std::vector<std::string>(argv, argv + argc)) {
        seen[s]++;
    }
    for (const auto &[name, n] : seen) {
        std::cout << name << ' ' << n << std::endl;
    }
    return 0;
}
END

write_file("$dir/g.go", <<'END');
package main
import ("fmt"; "os"; "sort"; "strings")
func join(a []string) string { sort.Strings(a); return strings.Join(a, ",") }
func main() {
    done := make(chan bool)
    go func() { fmt.Println(join(os.Args)); done <- true }()
    <-done
}
END

sub built {
    my ($name, $command) = @_;
    $command .= " -o $name" if $command !~ /go build/;
    my $said = qx(cd '$dir' && $command 2>&1);
    is($?, 0, $command) or BAIL_OUT($said);
    return "$dir/$name";
}

sub pads_of {
    my ($file, @options) = @_;
    my $r = $t->run({ no_store => 1 }, 'dump', '--format=returnpads', '-o', "$dir/pads", @options, $file);
    return $r;
}

# The pads of a program are right; returns what was counted.
sub judged {
    my ($what, $file, $base, $least, $named_by) = @_;
    my $store = SymLoader->new;
    my $r = $store->run('load', $named_by // $file);
    my ($module) = $r->{out} =~ m{: (\S+/[0-9A-F]+): } or die "load $file: $r->{out}$r->{err}";
    my @calls = map { hex } split /\n/, qx(python3 '$compare' --calls '$file');
    my $asked = join '', map { sprintf "%x\n", $_ - $base } @calls;

    write_file("$dir/answers", $store->run({ stdin => $asked }, 'lookup', '--json', $module, '-')->{out});
    $r = pads_of($file);
    is($r->{code}, 0, "$what: return pads are written") or diag($r->{err});
    my $counted = Cpanel::JSON::XS::decode_json(qx(python3 '$compare' '$dir/pads' '$file' '$dir/answers'));

    cmp_ok($counted->{calls}, '>=', $least, "... of $counted->{calls} calls");
    for (qw(missing different unlike)) {
        is($counted->{$_}[0], 0, "... $_") or diag(Cpanel::JSON::XS::encode_json($counted->{$_}[1]));
    }
    return $counted;
}

# The pads alone, loaded by FileID, give the frames that they have.
sub answered {
    my ($what) = @_;
    my $store = SymLoader->new;
    my (@at, @want);
    for (split /\n/, qx(python3 '$reader' read '$dir/pads')) {
        my $pad = Cpanel::JSON::XS::decode_json($_)->[1];
        push @at, $pad->{va};
        push @want, join '|', map { "$_->[0] $_->[1]:" . ($_->[1] eq '' ? 0 : $_->[2]) } @{ $pad->{frames} };
    }
    rename "$dir/pads", "$dir/$file_id.symbfile" or die;
    is($store->run('load', "$dir/$file_id.symbfile")->{code}, 0, "$what: its pads are loaded");
    my $r = $store->run({ stdin => join '', map { sprintf "%x\n", $_ } @at }, 'lookup', '--json', $file_id, '-');
    my @got = map {
        my $a = Cpanel::JSON::XS::decode_json($_);
        join '|', map { ($_->{function} // '??') . ' ' . ($_->{file} // '') . ':' . ($_->{line} // 0) }
            $a, reverse @{ $a->{inlines} // [] };
    } split /\n/, $r->{out};
    my @wrong = grep { $got[$_] ne $want[$_] } 0 .. $#want;
    is(scalar @got, scalar @want, '... all are answered');
    is(scalar @wrong, 0, '... with their frames') or diag("$got[$wrong[0]]\n$want[$wrong[0]]");
    return;
}

my $surplus;

$surplus = judged('C', built('c', 'gcc -O2 -g a.c'), 0, 9)->{surplus}[0];
is($surplus, 0, '... and no other pad');
answered('C');
judged('C, at a fixed address', built('c1', 'gcc -O1 -g -no-pie a.c'), 0x400000, 9);
judged('C, static, without lines of its library', built('c2', 'gcc -O2 -g -static a.c'), 0x400000, 4000);
judged('C, no symbol but those of .dynsym', built('c3', 'gcc -O2 -s -rdynamic a.c'), 0, 2);
judged('C++', built('cc', 'g++ -O2 -g c.cc'), 0, 40);
answered('C++');
judged("C and C++ of this project", "$FindBin::Bin/../$build/symloader", 0, 5000);

built('g', "env HOME='$dir' GOCACHE='$dir/gocache' GO111MODULE=off GOFLAGS= go build g.go");
my $counted = judged('Go', "$dir/g", 0x400000, 5000);
my ($exit) = qx(nm '$dir/g') =~ /^(\w+) T runtime\.goexit(?:\.abi0)?$/m;
is($counted->{surplus}[0], 1, '... and one pad that is no call');
is($counted->{surplus}[1][0][0], sprintf('0x%x', hex $exit), '... where goroutines return to');
answered('Go');

for my $arch ('aarch64', 'x86_64') {
    my $file = built("bare.$arch", "clang --target=$arch-linux-gnu -O1 -g -ffreestanding -nostdlib -static"
        . ' -fuse-ld=/usr/bin/ld.lld-19 -Wl,--build-id bare.c');
    my ($base) = qx(readelf -lW '$file') =~ /^\s+LOAD\s+\S+\s+(0x\w+)/m;
    my $n = judged("without a C library, $arch", $file, hex $base, 6);
    is($n->{surplus}[0], 0, '... and no other pad');
}

SKIP: {
    my $crash = fixtures('elf/crash');
    judged('an executable and its debug file', $crash, 0x400000, 1000);
}

# --- files without code ---

system("cd '$dir' && objcopy --only-keep-debug c c.debug") == 0 or die;
my $r = pads_of("$dir/c.debug");
is($r->{code}, 1, 'a debug file');
like($r->{err}, qr/c\.debug: unsupported: it has no code: the calls are in the executable/, '... has no calls');
system("cd '$dir' && strip -o stripped c && objcopy --add-gnu-debuglink=c.debug stripped") == 0 or die;
is(pads_of("$dir/c")->{code}, 0, 'the executable has');
my $whole = read_file("$dir/pads");
is(pads_of("$dir/stripped")->{code}, 0, '... also a stripped one with its debug file');
is(read_file("$dir/pads"), $whole, '... the same');
unlink "$dir/c.debug";
$r = pads_of("$dir/stripped");
is($r->{code}, 1, '... which it needs');
like($r->{err}, qr/no symbols: the file was stripped/, '... and says so');

write_file("$dir/a.sym", "MODULE Linux x86_64 000000000000000000000000000000000 a\nPUBLIC 1 0 a\n");
$r = pads_of("$dir/a.sym");
is($r->{code}, 1, 'a text');
like($r->{err}, qr/return pads are made of ELF files only/, '... has no code');
$r = $t->run('dump', '--format=returnpads', "a/${file_id}0");
is($r->{code}, 2, 'a module of a store');
like($r->{err}, qr/return pads are made of a file/, '... has none');

# --- names ---

is(pads_of("$dir/cc", '--no-demangle')->{code}, 0, 'names of the linker');
like(qx(python3 '$reader' read '$dir/pads'), qr/"_ZNSt/, '... on demand');

done_testing();
