#!/usr/bin/perl

# Compact unwind of arm64 and i386 that LLVM writes for Apple's systems: the rules of each
# function are what its first instructions do.  No linker for i386 is available, so the test
# builds its file, with the encodings of the compiler.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(output);
use SymLoader qw(read_file write_file);
use SymRules qw(rules_of rule_at);

my $t = SymLoader->new;
my $source = $t->dir . '/a.c';
write_file($source, <<'END');
extern void use(void *);
extern double d(double);
extern int g(int);
int leaf(int a) { return a + 1; }
int leaf_stack(int a) { volatile int x[40]; x[a] = a; return x[3]; }
int one(int a) { return g(a) + a; }
int two(int a, int b) { int r = g(a); return g(r + b) + b + a; }
int many(int a, int b, int c, int e, int f, int h)
{
    int r = g(a);
    r += g(b) * a; r += g(c) * b; r += g(e) * c; r += g(f) * e; r += g(h) * f;
    return r + h + a + b + c + e;
}
double floats(double a, double b) { double r = d(a); r += d(b) * a; return r + b * a; }
int both(int a, double b) { int r = g(a); double q = d(b); return r + a + (int) (q * b); }
int big(int a) { char x[5000]; use(x); return x[a] + g(a); }
int dynamic(int n) { char x[n]; use(x); return x[0] + g(n); }
__attribute__((noreturn)) void never(int a) { for (;;) g(a); }
#ifdef __aarch64__
int leaf_saves(int *p, int n) { __asm__ volatile("" ::: "x19", "x20", "x21", "x26"); return p[0] + n; }
#endif
END

sub compile {
    my ($target, $to, @flags) = @_;
    system('clang', '-target', $target, '-fno-stack-protector', @flags, '-c', '-o', $to, $source) == 0 or die "clang failed\n";
    return;
}

# { name, at, code => [instructions] } of each function.
sub functions_of {
    my ($file) = @_;
    my @functions;
    for my $line (split /\n/, output('llvm-objdump-19', '-d', '--no-show-raw-insn', $file)) {
        if ($line =~ /^([0-9a-f]+) <_([a-z]\w*)>:/) {
            push @functions, { at => hex $1, name => $2, code => [] };
        } elsif ($line =~ /^Disassembly of section (?!__TEXT,__text)/) {
            last;
        } elsif (@functions && $line =~ /^\s*[0-9a-f]+:\s+(\S.*)/) {
            push @{ $functions[-1]{code} }, $1 =~ s/\s+/ /gr;
        }
    }
    return @functions;
}

sub number { my ($text) = @_; return $text =~ /^0x/ ? hex $text : $text }
sub relative { my ($register, $by) = @_; return $by ? "$register $by +" : $register }
sub at_cfa { return ".cfa $_[0] + ^" }

# --- arm64: places relative to the CFA, which is sp at first ---

sub arm64 {
    my (@code) = @_;
    my ($sp, $fp, %saved) = (0);
    for my $instruction (@code) {
        if ($instruction =~ /^sub sp, sp, #(\w+)$/ && !defined $fp) { $sp -= number($1) }
        elsif ($instruction =~ /^st[pr] ([xd]\d+)(?:, ([xd]\d+))?, \[sp(?:, #(-?\w+))?\](!?)$/) {
            my ($first, $second, $by, $is_moved) = ($1, $2, $3 // 0, $4);
            my $at = $sp + ($by =~ /^-(.*)/ ? -number($1) : number($by));
            $sp = $at if $is_moved;
            $saved{$first} = $at;
            $saved{$second} = $at + 8 if $second;
        }
        elsif ($instruction =~ /^add x29, sp, #(\w+)$/) { $fp = $sp + number($1) }
        elsif ($instruction eq 'mov x29, sp') { $fp = $sp }
        else { last }
    }
    my %rule = map { $_ => at_cfa($saved{$_}) } grep { /^x(19|2\d|30)$/ } keys %saved;
    $rule{'.cfa'} = defined $fp ? relative(x29 => -$fp) : relative(sp => -$sp);
    $rule{'.ra'} = $rule{x30} // 'x30';
    return \%rule;
}

# --- i386 ---

sub i386 {
    my (@code) = @_;
    my ($bytes, $has_frame, %saved) = (4);
    for my $instruction (@code) {
        if ($instruction =~ /^pushl %(\w+)/) {
            $bytes += 4;
            $saved{$1} = -$bytes if $1 ne 'eax'; # that one only makes room
        }
        elsif ($instruction eq 'movl %esp, %ebp') { $has_frame = 1 }
        elsif ($instruction =~ /^subl \$(\w+), %esp/) { $bytes += number($1); last }
        else { last }
    }
    my %rule = map { ("\$$_" => at_cfa($saved{$_})) } keys %saved;
    $rule{'.cfa'} = $has_frame ? '$ebp 8 +' : "\$esp $bytes +";
    $rule{'.ra'} = at_cfa(-4);
    return \%rule;
}

# MH_EXECUTE with the code at 0x1000, and one page of functions (mach-o/compact_unwind_encoding.h).
sub link_i386 {
    my ($object, $to) = @_;
    my ($code, $entries) = map { "$object.$_" } 'code', 'entries';
    system('llvm-objcopy', '--dump-section', "__TEXT,__text=$code", '--dump-section', "__LD,__compact_unwind=$entries",
        $object, "$object.copy") == 0 or die "llvm-objcopy failed\n";
    my ($at, $text) = (0x1000, read_file($code));
    my @entries = map { [unpack 'V3', $_] } read_file($entries) =~ /(.{20})/gs;
    my $page = pack('Vvv', 2, 8, scalar @entries) . join '', map { pack 'VV', $at + $_->[0], $_->[2] } @entries;
    my $first = 28 + 24;    # the header, two entries of the index
    my $end = $at + length $text;
    my $unwind = pack('V7', 1, 28, 0, 28, 0, 28, 2) . pack('V3', $at + $entries[0][0], $first, $first)
        . pack('V3', $end, 0, $first) . $page;

    my $commands = pack('VVa16V8', 1, 56 + 2 * 68, '__TEXT', 0, 0x4000, 0, 0x4000, 7, 5, 2, 0)
        . pack('a16a16V9', '__text', '__TEXT', $at, length $text, $at, 4, 0, 0, 0x80000400, 0, 0)
        . pack('a16a16V9', '__unwind_info', '__TEXT', 0x3000, length $unwind, 0x3000, 2, 0, 0, 0, 0, 0)
        . pack('VVa16', 0x1b, 24, 'sixteen bytes, 1');
    my $file = pack('V7', 0xfeedface, 7, 3, 2, 2, length $commands, 0x85) . $commands;
    $file .= "\0" x ($at - length $file) . $text;
    $file .= "\0" x (0x3000 - length $file) . $unwind;
    write_file($to, $file . "\0" x (0x4000 - length $file));
    return $at;
}

# --- comparison ---

my $compared = 0;
sub compare {
    my ($what, $file, $moved, $prolog, @functions) = @_;
    my $rows = rules_of($t, $file);
    for my $function (@functions) {
        my $rule = rule_at($rows, $function->{at} + $moved);
        my $want = $prolog->(@{ $function->{code} });
        is_deeply($rule, $want, "$what, $function->{name}")
            or diag explain $rule, $want, [@{ $function->{code} }[0 .. 7]];
        $compared++;
    }
    return;
}

for my $level ('-O0', '-O1', '-O2', '-Os') {
    my ($object, $file) = map { $t->dir . "/arm64$level.$_" } 'o', 'dylib';
    compile('arm64-apple-macos11', $object, $level);
    system('ld64.lld-19', '-arch', 'arm64', '-platform_version', 'macos', '11', '11', '-dylib', '-undefined',
        'dynamic_lookup', '-o', $file, $object) == 0 or die "ld64.lld failed\n";
    compare("arm64 $level", $file, 0, \&arm64, functions_of($file));

    for my $frame ('-fomit-frame-pointer', '-fno-omit-frame-pointer') {
        ($object, $file) = map { $t->dir . "/i386$level.$_" } 'o', 'exe';
        compile('i386-apple-macosx10.13', $object, $level, $frame);
        my $moved = link_i386($object, $file);
        # a leaf without a frame has no entry, and ends that of the one before
        my %has = map { $_ => 1 } output('llvm-objdump-19', '--unwind-info', $object) =~ /start:\s+0x\w+ _(\w+)/g;
        compare("i386 $level $frame", $file, $moved, \&i386, grep { $has{ $_->{name} } } functions_of($object));
    }
}
cmp_ok($compared, '>', 100, "$compared functions");

done_testing();
