#!/usr/bin/perl

# Unwind rules of Windows files: after each prolog of an exception table, the
# rules that follow from the codes as llvm-readobj decodes them; for a PDB, the
# rules of the symbol file that Breakpad made from it.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(output);
use SymFixtures qw(fixtures need_fixtures);
use SymLoader;
use SymRules qw(rules_of rule_at);
use Test::More;

my $windows = need_fixtures('windows');
my $t = SymLoader->new;

sub at_cfa {
    my ($offset) = @_;
    return $offset == 0 ? '.cfa ^' : ".cfa $offset + ^";
}

sub plus {
    my ($register, $offset) = @_;
    return $offset == 0 ? $register : "$register $offset +";
}

sub agree {
    my ($file, $rows, $functions, $rules_after) = @_;
    my ($n, $different) = (0, 0);
    for my $f (@$functions) {
        my ($at, %want) = $rules_after->($f) or next;
        my $rule = rule_at($rows, $at) // {};
        $n++;
        my @wrong = grep { ($rule->{$_} // 'none') ne $want{$_} } keys %want;
        next if !@wrong;
        diag(sprintf('%x: ', $at), explain $rule, \%want) if $different++ < 3;
    }
    is($different, 0, "... and after all $n prologs its rules are those of the codes");
    return $n;
}

# --- x64 ---

# Codes are listed from the last instruction on.
sub after_x64 {
    my ($f) = @_;
    my ($base) = $f->{text} =~ /FrameRegister: (\S+)/;
    my ($frame_offset) = $f->{text} =~ /FrameOffset: (?:0x)?(\w+)/;
    my ($size, $frame, %want) = (8);
    my @codes = reverse $f->{text} =~ /^\s+0x\w+: (.*)/mg;
    return if $f->{text} =~ /Chained|MACHFRAME/;

    my %late;
    for (@codes) {
        if (/PUSH_NONVOL reg=(\w+)/) {
            $size += 8;
            $want{'$' . lc $1} = at_cfa(-$size);
        }
        $size += $1 if /ALLOC_\w+ size=(\d+)/;
        $frame = $size if /SET_FPREG/;
        $late{'$' . lc $1} = hex $2 if /SAVE_NONVOL\w* reg=(\w+), offset=0x(\w+)/;
    }
    $want{$_} = at_cfa($late{$_} - ($frame // $size)) for keys %late;
    my ($fp, $offset) = $f->{text} =~ /SET_FPREG reg=(\w+), offset=0x(\w+)/;
    $want{'.cfa'} = defined $frame ? plus('$' . lc $fp, $frame - hex $offset)
        : plus('$rsp', $size);
    $want{'.ra'} = at_cfa(-8);
    # the offset of the last code is the end of the prolog
    my ($prolog) = $f->{text} =~ /^\s+0x(\w+): /m;
    return ($f->{begin} + hex($prolog // 0), %want);
}

sub functions_x64 {
    my ($file) = @_;
    my @functions;
    for my $text (split /RuntimeFunction \{/, output('llvm-readobj-19', '--unwind', $file)) {
        my ($begin) = $text =~ /StartAddress: .*?\(?0x(\w+)/ or next;
        my ($end) = $text =~ /EndAddress: .*?\(?0x(\w+)/ or next;
        push @functions, { begin => hex($begin) - 0x140000000, end => hex($end) - 0x140000000,
                           text => $text };
    }
    return \@functions;
}

# The instructions of the file: address, and text.
sub instructions {
    my ($file) = @_;
    return map { /^\s*(\w+):\s+(\S.*?)\s*$/ ? [hex($1) - 0x140000000, $2] : () }
        split /\n/, output('llvm-objdump-19', '-d', '--no-show-raw-insn', $file);
}

# Where a function returns, the return address is at the stack pointer, and before that are
# the registers that the next instructions pop.
sub epilogs_agree {
    my ($file, $rows, $functions) = @_;
    my ($n, $different, @before) = (0, 0);
    for my $i (instructions($file)) {
        my ($at, $text) = @$i;
        if ($text =~ /^popq\s+%(\w+)/) {
            push @before, [$at, $1];
            next;
        }
        my @epilog = (@before, [$at, '']);
        @before = ();
        next if $text !~ /^ret/ || !grep { $_->{begin} <= $at && $at < $_->{end} } @$functions;

        my @left = map { $_->[1] } @epilog;
        for my $e (@epilog) {
            my $size = 8 * @left;
            my %want = ('.cfa' => "\$rsp $size +", '.ra' => at_cfa(-8));
            $want{"\$$left[$_]"} = at_cfa(8 * $_ - $size) for 0 .. $#left - 1;
            shift @left;
            my $rule = rule_at($rows, $e->[0]) // {};
            $n++;
            next if !grep { ($rule->{$_} // 'none') ne ($want{$_} // 'none') } keys %want, keys %$rule;
            diag(sprintf('%x: ', $e->[0]), explain $rule, \%want) if $different++ < 3;
        }
    }
    is($different, 0, "... and in epilogs those of all $n instructions");
    return $n;
}

# Two compilers, one of which sets frame registers.
for (['CrashWithException', 10, 20], ['hello-dwarf', 50, 200]) {
    my ($name, $prologs, $epilogs) = @$_;
    my $file = "$windows/$name.exe";
    my ($rows, $functions) = (rules_of($t, $file), functions_x64($file));
    cmp_ok(agree($file, $rows, $functions, \&after_x64), '>', $prologs, '... which are several');
    cmp_ok(epilogs_agree($file, $rows, $functions), '>', $epilogs, '... which are many');
}

# --- call frame information of x86 ---

# clang's functions, and the rows of rules that llvm-dwarfdump makes of .eh_frame.
{
    my $file = $t->dir . '/x86.exe';
    my $source = $t->file('x86.c', <<'END');
__attribute__((noinline)) int work(int *p, int n)
{
    int s = 0, t[20];
    for (int i = 0; i < n; i++) { t[i % 20] = s + p[i]; s += t[(i * 7) % 20]; }
    return s;
}
__attribute__((noinline)) int outer(int *p, int n, int m) { return work(p, n) * work(p, m); }
int start(void) { int a[9] = { 1, 2 }; return outer(a, 3, 4); }
END
    for my $flag ('-fomit-frame-pointer', '-fno-omit-frame-pointer') {
        system('clang', '--target=i686-w64-windows-gnu', '-O2', $flag, '-fdwarf-exceptions', '-ffreestanding',
            '-fasynchronous-unwind-tables', '-c', '-o', "$file.o", $source) == 0 or die;
        system('ld.lld-19', '-m', 'i386pe', '-e', '_start', '-o', $file, "$file.o") == 0 or die;

        my ($rows, $n, $different) = (rules_of($t, $file), 0, 0);
        for (split /\n/, output('llvm-dwarfdump', '--eh-frame', $file)) {
            my ($at, $cfa, $plus, $saved) = /^\s+0x(\w+): CFA=(\w+)\+(\d+)(.*)/ or next;
            my %want = ('.cfa' => '$' . lc($cfa) . " $plus +");
            $want{$1 eq 'EIP' ? '.ra' : '$' . lc $1} = at_cfa($2) while $saved =~ /(\w+)=\[CFA(-\d+)\]/g;
            $n++;
            is_deeply(rule_at($rows, hex($at) - 0x400000), \%want, "$flag, at $at");
        }
        cmp_ok($n, '>', 10, '... and so at each row');
    }
}

# --- arm64 ---

sub number {
    my ($name) = @_;
    return $name eq 'fp' ? 'x29' : $name eq 'lr' ? 'x30' : $name;
}

sub after_arm64 {
    my ($f) = @_;
    my ($list) = $f->{text} =~ /Prologue \[\n(.*?)\n\s*\]/s or return;
    my @codes = map {s/^\s*(?:0x\w+\s*;\s*)?//r} split /\n/, $list;
    return if $codes[-1] ne 'end' || grep {/clear|end_c|next|trap|context/} @codes;
    pop @codes;

    my ($size, $frame, %want, %seen) = (0);
    for (reverse @codes) {
        if (/^st[rp] (.*), \[sp, #(-?\d+)\](!?)/) {
            my ($registers, $offset, $is_moved) = ($1, $2, $3);
            $size -= $offset if $is_moved;
            my $at = $is_moved ? 0 : $offset;
            for (split /, /, $registers) {
                $want{number($_)} = at_cfa($at - $size) if !/^d/;
                $at += 8;
            }
        }
        $size += $1 if /^sub sp, (?:sp, )?#(\d+)/;
        $frame = $size if /^mov (?:fp|x29), sp/;
        $frame = $size - $1 if /^add (?:fp|x29), sp, #(\d+)/;
    }
    $want{'.cfa'} = defined $frame ? plus('x29', $frame) : plus('sp', $size);
    $want{'.ra'} = $want{x30} // 'x30';
    return ($f->{start} + 4 * @codes, %want);
}

{
    my $file = "$windows/arm64/test.exe";
    my @functions;
    for my $text (split /RuntimeFunction \{/, output('llvm-readobj-19', '--unwind', $file)) {
        my ($start) = $text =~ /^\s*Function: .*?0x(\w+)/m or next;
        push @functions, { start => hex($start) - 0x140000000, text => $text };
    }
    my $n = agree($file, rules_of($t, $file), \@functions, \&after_arm64);
    cmp_ok($n, '>', 300, '... which are many');
}

# --- x86 ---

sub dump_of {
    my ($file) = @_;
    return $t->run({ no_store => 1 }, 'dump', '--kind=cfi', $file)->{out};
}

is(dump_of("$windows/crash.pdb"), dump_of("$windows/crash.sym"),
   'frame data of a PDB equals that of its symbol file');
like(dump_of("$windows/crash.pdb"), qr/^1000 f parameters: 8 program: /,
     '... as programs');

# --- as text ---

# Records of a text have the rules of the file that it was made of, but for a program
# that Breakpad does not read.
for my $file ("$windows/crash.pdb", fixtures('macho') . '/crash', fixtures('elf') . '/crash', '/usr/sbin/nginx')
{
    next if !-e $file;
    my $r = $t->run({ no_store => 1 }, 'dump', $file);
    is($r->{err}, '', "$file: a dump");
    my $text = $t->file('rules.sym', $r->{out});
    my $want = join '', grep { !/ \$ebp 204 \+ \$T0 | ge 3 shl / } split /^/, dump_of($file);
    cmp_ok(($want =~ tr/\n//), '>', 50, '... with rules');
    is(dump_of($text), $want, '... that come back');
}

# An endless chain.
{
    my $r = $t->run({ no_store => 1 }, 'dump', '--kind=cfi', "$windows/cfi_chained_loop.exe");
    is($r->{code}, 1, 'a cyclic chain has no rules');
    like($r->{err}, qr/unwind rules of 1 functions are broken/, '... and says so');
}

done_testing();
