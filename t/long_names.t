# Some compilers give functions names of more than 100,000 bytes.  Up to 1 MiB a
# name is complete, wherever it is shown; a longer one is truncated to that, and
# counted.

use strict;
use warnings;

use Cpanel::JSON::XS ();
use Encode qw(encode_utf8);
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(info output run_ok);
use SymLoader qw(write_file);
use SymTest;
use Test::More;

my $MIB = 1 << 20;
my @sizes = (32_767, 32_768, 32_769, 155_066, $MIB, $MIB + 1);
my $ID = '0123456789ABCDEF0123456789ABCDEF0';
my $dir = tempdir(CLEANUP => 1);
my $t = SymTest->new->conf(locations => <<'CONF');
        location /symbolicate { symbolicate; symbolicate_max_answer 64m; }
        location /atos        { symbolicate atos;
                                symbolicate_max_answer 64m; }
        location /__          { symbolicate_health; }
CONF

# This many bytes of UTF-8, which share no beginning or end with other names.
sub odd_name {
    my ($size) = @_;
    my $begin = "odd_$size<\"\\";
    my $bytes = encode_utf8(join ', ',
        map { "\x{e9}$_\x{20ac}\x{1f600}" } 1 .. $size / 10);
    my $name = $begin . substr($bytes, 0, $size - length $begin);

    # the end is in the middle of a character
    $name =~ s/([\x80-\xff]{1,4})\z/'z' x length $1/e;
    return $name;
}

sub c_name {
    my ($size) = @_;
    my $name = "c_$size" . join '', map { "_$_" } 1 .. $size / 4;
    return substr $name, 0, $size;
}

# The part that is kept: neither has a character across the limit.
sub kept { return substr $_[0], 0, $MIB }

sub same {
    my ($got, $want, $what) = @_;
    my $equal = defined $got && $got eq $want;
    ok($equal, $what)
        or diag(defined $got ? length($got) . ' bytes' : 'nothing');
    return;
}

my $READER = Cpanel::JSON::XS->new->utf8;
sub json { return $READER->decode($_[0]) }

sub run_loader {
    my ($command, @args) = @_;
    return output(SymTest::build_dir() . '/symloader', $command, '--store',
        $t->store, @args);
}

sub ask_all {
    my ($what, $module, $offsets, $names, $n_cut) = @_;

    for my $i (0 .. $#$names) {
        my $want = kept($names->[$i]);
        my $of = "$what, $sizes[$i] bytes";

        # the second answer may be stored, the third may come from the cache
        for my $time (1 .. 3) {
            my $r = $t->post_json('/symbolicate/v5', { jobs => [ {
                memoryMap => [$module], stacks => [ [ [ 0, $offsets->[$i] ] ] ],
            } ] });
            same(encode_utf8(json($r->{body})->{results}[0]{stacks}[0][0]
                ->{function} // ''), $want, "$of: v5, $time");
        }

        my $v4 = $t->post_json('/symbolicate/v4', { version => 4,
            memoryMap => [$module], stacks => [ [ [ 0, $offsets->[$i] ] ] ] });
        my $shown = json($v4->{body});
        $shown = ($shown->{symbolicatedStacks} // $shown->[0])->[0][0];
        same(encode_utf8($shown), "$want (in $module->[0])", "$of: v4");

        my $line = run_loader('lookup', '--json', join('/', @$module),
            sprintf '0x%x', $offsets->[$i]);
        same(encode_utf8((lookup_names(json($line)))[0] // ''), $want,
            "$of: lookup");

        my ($atos) = split / \(in /, run_loader('atos', '-o',
            join('/', @$module), '-offset', sprintf '0x%x', $offsets->[$i]);
        same($atos, $want, "$of: symloader atos");
    }

    my $dump = run_loader('dump', join '/', @$module);
    my %dumped = map { $_ => 1 } map { /^(?:FUNC|PUBLIC) [0-9a-f]+ (?:[0-9a-f]+ )?0 (.*)/
        ? $1 : () } split /\n/, $dump;
    ok($dumped{kept($names->[$_])}, "$what, $sizes[$_] bytes: dump")
        for 0 .. $#$names;

    my $show = run_loader('show', join '/', @$module);
    like($show, qr/^truncated\s+$n_cut$/m, "$what: the longest is counted");
    return;
}

# The function of each frame, wherever it is in the document.
sub lookup_names {
    my ($data) = @_;
    return map { lookup_names($_) } @$data if ref $data eq 'ARRAY';
    return () if ref $data ne 'HASH';
    return $data->{function} if defined $data->{function} && !ref $data->{function};
    return map { lookup_names($data->{$_}) } sort keys %$data;
}

my @odd = map { odd_name($_) } @sizes;
my @c = map { c_name($_) } @sizes;
is_deeply([ map { length } @odd ], \@sizes, 'names have the expected lengths');

my @odd_offsets = map { 0x1000 * ($_ + 1) } 0 .. $#odd;
$t->load(write_file("$dir/odd.sym", "MODULE Linux x86_64 $ID odd\n"
    . join '', map { sprintf "FUNC %x 10 0 %s\n", $odd_offsets[$_], $odd[$_] }
        0 .. $#odd));

my $source = write_file("$dir/c.c", join '',
    map { "void $_(void) { }\n" } @c);
run_ok('gcc', '-g', '-O0', '-shared', '-fPIC', '-Wl,--build-id', '-o',
    "$dir/lines.so", $source);
my $assembly = write_file("$dir/s.s", join '', ".text\n",
    map { ".globl $_\n.type $_, \@function\n$_: ret\n.size $_, . - $_\n" } @c);
run_ok('gcc', '-shared', '-nostdlib', '-Wl,--build-id', '-o',
    "$dir/symbols.so", $assembly);
$t->load("$dir/$_.so") for qw(lines symbols);
$t->start;

ask_all('a .sym', ['odd', $ID], \@odd_offsets, \@odd, 1);

# the first also has it in its symbol table
for my $kind (qw(lines symbols)) {
    my %info = info("$dir/$kind.so");
    my %at = map { /^([0-9a-f]+) T (c_\S+)/ ? ($2 => hex($1) - hex $info{base})
        : () } split /\n/, output('nm', '--defined-only', "$dir/$kind.so");

    ask_all("an ELF file's $kind", ["$kind.so", $info{'debug-id'}],
        [ @at{@c} ], \@c, $kind eq 'lines' ? 2 : 1);
}

done_testing();
