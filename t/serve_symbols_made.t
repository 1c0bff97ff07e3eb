#!/usr/bin/perl

# minidump-stackwalk reads Breakpad's text only.  If no source has it, it is made of the
# files that macOS and Windows have: of a dSYM and a PDB, with the unwind rules of the
# executable.  Functions are those that LLVM finds in the dSYM, and functions, lines and
# rules those that Mozilla's dump_syms wrote of the PDB.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use Test::More;

use SymElf qw(output run_ok);
use SymFetch;
use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(read_file);

my ($windows, $macho) = map { need_fixtures($_) } qw(windows macho);
my $dir = SymElf::folder();
my $UUID = '67E9247C814E392BA027DBDE6748FCBF';
my $GUID = 'F535C5FB2AE84BB8AA206C30BE566C5A';
my $CODE_ID = '5C9E09599000';
my $dsym = "$macho/crash.dSYM/Contents/Resources/DWARF/crash";

sub put {
    my ($path, $from) = @_;
    make_path("$dir/$path" =~ s{/[^/]*$}{}r);
    run_ok('cp', $from, "$dir/$path");
    return;
}
my $at = join '/', unpack('(A4)5', $UUID), substr $UUID, 20;
put("native/$at", $dsym);
put("native/$at.app", "$macho/crash");
put("store/CrashWithException.pdb/${GUID}1/CrashWithException.pdb", "$windows/CrashWithException.pdb");
put("store/CrashWithException.exe/$CODE_ID/CrashWithException.exe", "$windows/CrashWithException.exe");
put("pdb-only/CrashWithException.pdb/${GUID}1/CrashWithException.pdb", "$windows/CrashWithException.pdb");

my $t = SymFetch->new;
$t->conf(locations => <<"CONF");
        location / {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source native uri=/native/ layout=native;
            symbolicate_source store uri=/store/ layout=symstore;
        }
        location /no-exe/ {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source pdb uri=/pdb-only/ layout=symstore;
        }
        location /native/ { internal; alias $dir/native/; log_not_found off; }
        location /store/ { internal; alias $dir/store/; log_not_found off; }
        location /pdb-only/ { internal; alias $dir/pdb-only/; log_not_found off; }
CONF
$t->start;

# { module, name, line, folded, inlined, rules } of a text; the latter by address.
sub parsed {
    my ($text) = @_;
    my %of = (module => $text =~ /^MODULE (.*?)\r?$/m);
    $of{name}{hex $1} = $2 while $text =~ /^FUNC (?:m )?(\w+) \w+ \w+ (.*?)\r?$/mg;
    $of{line}{hex $1} = $2 while $text =~ /^([0-9a-f]+) [0-9a-f]+ (\d+) \d+\r?$/mg;
    $of{folded}{hex $1} = hex $2 while $text =~ /^FUNC m (\w+) (\w+)/mg;
    while ($text =~ /^INLINE \w+ \w+ \w+ \w+ ([0-9a-f ]+)/mg) {
        my %range = map { hex } split / /, $1;
        $of{inlined}{$_} = $range{$_} for keys %range;
    }
    $of{rules}{hex $1} = hex $2 while $text =~ /^STACK CFI INIT (\w+) (\w+)/mg;
    return \%of;
}

# Whether a range { start => size } has the address.
sub is_in {
    my ($ranges, $address) = @_;
    return grep { $_ <= $address && $address < $_ + $ranges->{$_} } keys %$ranges;
}

# Requests as minidump-stackwalk sends them: the code id in lower case.
sub made {
    my ($path, $query) = @_;
    my $r = $t->request('GET', "$path?$query", headers => ['Accept-Encoding', 'gzip']);
    is($r->{status}, 200, "a text is made: $path");
    return parsed($r->{body});
}

# --- a dSYM ---

my $mac = made("/crash/${UUID}0/crash.sym", "code_file=crash&code_id=\L$UUID");
is($mac->{module}, "mac x86_64 ${UUID}0 crash", '... of this module');
my $base = hex '100000000';
my %start = map { /^(\w+) [tT] (\S+)$/ ? (hex($1) - $base => $2) : () } split /\n/, output('llvm-nm', $dsym);
cmp_ok(scalar keys %start, '>', 50, 'LLVM finds functions in the dSYM');
my @missing = grep { !defined $mac->{name}{$_} } grep { $start{$_} !~ /^(?:__mh|_?GCC_|radr)/ } sort { $a <=> $b } keys %start;
cmp_ok(scalar @missing, '<=', keys(%start) / 20, '... that the text has')
    or diag map { sprintf "%x %s\n", $_, $start{$_} } splice @missing, 0, 5;
cmp_ok(scalar keys %{ $mac->{line} }, '>', 100, '... lines');
cmp_ok(scalar keys %{ $mac->{rules} }, '>', 50, '... unwind rules, which the executable has');

my $r = $t->request('GET', "/crash/$UUID/crash.sym");
is($r->{status}, 302, 'by its code id alone');
like($r->{headers}{location}, qr{/crash/${UUID}0/crash\.sym$}, '... it leads to the debug id');

# --- a PDB ---

my $want = parsed(read_file("$windows/CrashWithException.pdb.sym"));
cmp_ok(scalar keys %{ $want->{rules} }, '>', 30, 'dump_syms wrote rules');
my $path = "CrashWithException.pdb/${GUID}1/CrashWithException.sym";
my $query = "code_file=CrashWithException.exe&code_id=\L$CODE_ID";
my $got = made("/$path", $query);
is($got->{module}, "windows x86_64 ${GUID}1 CrashWithException.pdb", '... of this module');
is_deeply([grep { !defined $got->{name}{$_} } sort { $a <=> $b } keys %{ $want->{name} }], [],
          '... every function');
my @lines = sort { $a <=> $b } keys %{ $want->{line} };
my @other = grep { ($got->{line}{$_} // '') ne $want->{line}{$_} } @lines;
# dump_syms names no inlined calls; of functions at one address each reader takes another
@other = grep { !is_in($got->{inlined}, $_) && !is_in($want->{folded}, $_) } @other;
is_deeply([map { sprintf '%x', $_ } @other], [], '... every line');
is_deeply([grep { !is_in($got->{rules}, $_) } sort { $a <=> $b } keys %{ $want->{rules} }], [],
          '... unwind rules, which the executable has');

$got = made("/no-exe/$path", $query);
is_deeply([grep { !defined $got->{name}{$_} } keys %{ $want->{name} }], [], '... functions without the executable');
is_deeply($got->{rules}, undef, '... no rules');

is($t->end, '', 'nothing is wrong');
done_testing();
