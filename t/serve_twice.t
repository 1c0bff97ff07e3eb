#!/usr/bin/perl

# Another server of ours is a symbol server for us, as for Symbolicator: a request names
# it as an http source of any layout, and it has the files in other layouts.  Texts of
# symbols that it makes of PDBs and Mach-O files have the functions and lines that
# dump_syms and LLVM read there.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use Test::More;

use SymElf qw(output run_ok);
use SymFetch;
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymLlvm;
use SymLoader qw(read_file write_file);

my $windows = need_fixtures('windows');
my $macho = need_fixtures('macho');
my $dir = SymElf::folder();

# --- the server that has the files ---

write_file("$dir/app.c", <<'END');
__attribute__((noinline)) static int
twice(int n)
{
    return n + n;
}

int
main(int argc, char **argv)
{
    return twice(argc) + (argv[0] == 0);
}
END
run_ok('gcc', '-g', '-O1', '-Wl,--build-id=sha1', '-o', "$dir/whole", "$dir/app.c");
my ($build_id) = output('readelf', '-nW', "$dir/whole") =~ /Build ID: (\w+)/;
my ($twice) = output('nm', "$dir/whole") =~ /^0*(\w+) t twice$/m;
my $elf = "$dir/native/" . substr($build_id, 0, 2) . '/' . substr $build_id, 2;
make_path($elf =~ s{/[^/]*$}{}r);
run_ok('objcopy', '--only-keep-debug', "$dir/whole", "$elf.debug");
run_ok('strip', '-o', $elf, "$dir/whole");

# in a cabinet
my $GUID = '3249D99D0C4049318610F4E4FB0B6936';
make_path("$dir/store/crash.pdb/${GUID}1");
run_ok('cp', "$windows/crash.pdb", "$dir/crash.pdb");
run_ok('sh', '-c', "cd '$dir' && gcab -cn store/crash.pdb/${GUID}1/crash.pd_ crash.pdb");

my $dsym = "$macho/crash.dSYM/Contents/Resources/DWARF/crash";
my ($uuid) = map { lc tr/-//dr } output('llvm-objdump', '--macho', '--private-headers', $dsym) =~ /uuid (\S+)/;
make_path("$dir/ssqp/_.dwarf/mach-uuid-sym-$uuid");
run_ok('cp', $dsym, "$dir/ssqp/_.dwarf/mach-uuid-sym-$uuid/_.dwarf");

my $server = SymFetch->new;
$server->conf(locations => <<"CONF");
        location / {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source native uri=/native/ layout=native;
            symbolicate_source store uri=/store/ layout=symstore;
            symbolicate_source ssqp uri=/ssqp/ layout=ssqp;
        }
        location /native/ { internal; alias $dir/native/; log_not_found off; }
        location /store/ { internal; alias $dir/store/; log_not_found off; }
        location /ssqp/ { internal; alias $dir/ssqp/; log_not_found off; }
CONF
$server->start;
my $url = 'http://' . $server->address . '/';

# --- symbols as text ---

# { address => [size, { address of a record => line }, whether calls are inlined, or it
# is folded with another function] }; of several functions at an address the first
sub functions_of {
    my ($text) = @_;
    my (%function, $last);
    for (split /\r?\n/, $text) {
        if (/^FUNC (m )?(\w+) (\w+)/) {
            $last = [ hex $3, {}, defined $1 ];
            $function{ hex $2 } //= $last;
        }
        $last->[2] = 1 if /^INLINE /;
        $last->[1]{ hex $1 } = $2 if $last && /^([0-9a-f]+) [0-9a-f]+ (\d+) \d+$/;
    }
    return \%function;
}

my $r = $server->request('GET', "/crash.pdb/${GUID}1/crash.sym");
is($r->{status}, 200, 'symbols of a PDB in a cabinet');
my ($ours, $theirs) = map { functions_of($_) } $r->{body}, read_file("$windows/crash.sym");
is_deeply([sort keys %$ours], [sort keys %$theirs], '... the functions that dump_syms found');
is_deeply({ map { $_ => $ours->{$_}[0] } keys %$ours }, { map { $_ => $theirs->{$_}[0] } keys %$theirs },
    '... their sizes');
# dump_syms knows no inlined calls, and takes another one of folded functions
my @plain = grep { !$ours->{$_}[2] && !$theirs->{$_}[2] } sort { $a <=> $b } keys %$theirs;
ok(@plain > 20, '... some without inlined calls');
is_deeply({ map { $_ => $ours->{$_}[1] } @plain }, { map { $_ => $theirs->{$_}[1] } @plain }, '... their lines');

$r = $server->request('GET', "/crash/\U$uuid\E0/crash.sym");
is($r->{status}, 200, 'symbols of a Mach-O file');
like($r->{body}, qr/^MODULE mac x86_64 \U$uuid\E0 crash$/m, '... their module');
$ours = functions_of($r->{body});
my @start = sort { $a <=> $b } keys %$ours;
my $base = 0x100000000;
my @llvm = split /\n\n/, output(SymLlvm::symbolizer(), "--obj=$dsym", '--no-inlines',
                                map { sprintf '0x%x', $_ + $base } @start);
my @wrong = grep { $llvm[$_] =~ /^\?\?|:0:0$/ } 0 .. $#start;
ok(@start > 100 && @wrong < @start / 100, '... functions where LLVM has some')
    or diag join "\n", map {"$start[$_] $llvm[$_]"} @wrong;
@wrong = grep {
    my ($line) = $llvm[$_] =~ /:(\d+):\d+$/;
    my $record = $ours->{ $start[$_] }[1]{ $start[$_] };
    !$record || $record != $line;
} 0 .. $#start;
is(join(' ', @start[@wrong]), '', '... their first lines are those of LLVM');

# --- as an http source ---

my $client = SymGiven->new(at => '/')->start;

sub guid_of {
    my ($id) = @_;
    return lc join '-', unpack 'A8A4A4A4A12', $id;
}
my $elf_guid = guid_of(join '', unpack('H8', pack 'V', hex substr $build_id, 0, 8),
    unpack('H4', pack 'v', hex substr $build_id, 8, 4), unpack('H4', pack 'v', hex substr $build_id, 12, 4),
    substr $build_id, 16, 16);
my ($pdb_start) = sort { $a <=> $b } grep { $theirs->{$_}[0] > 8 } keys %$theirs;
my ($mach_start) = grep { $ours->{$_}[0] > 8 } @start;
my @modules = (
    { type => 'elf', code_id => $build_id, debug_id => $elf_guid, code_file => '/usr/bin/app',
      image_addr => '0x100000', image_size => 0x80000 },
    { type => 'pe', debug_id => guid_of($GUID) . '-1', debug_file => 'c:\\crash.pdb',
      image_addr => '0x200000', image_size => 0x80000 },
    { type => 'macho', code_id => $uuid, debug_id => guid_of($uuid), code_file => '/Applications/crash',
      image_addr => '0x300000', image_size => 0x80000 });
my @address = (0x100000 + 2 + hex $twice, 0x200000 + 2 + $pdb_start, 0x300000 + 2 + $mach_start);

for my $layout (qw(native symstore ssqp symstore_index2)) {
    my $r = $client->post('/symbolicate', $client->json({
        scope => $layout, options => { dif_candidates => JSON::PP::true },
        sources => [{ id => $layout, type => 'http', url => $url, layout => { type => $layout } }],
        modules => \@modules,
        stacktraces => [{ frames => [ map { { instruction_addr => sprintf '0x%x', $_ } } @address ] }] }),
        'Content-Type' => 'application/json');
    is($r->{status}, 200, "layout $layout");
    is_deeply([ map { $_->{debug_status} } @{ $r->{json}{modules} } ], [ ('found') x 3 ], '... all modules')
        or diag $r->{body};
    my @frames = @{ $r->{json}{stacktraces}[0]{frames} };
    is($frames[0]{function}, 'twice', '... of ELF');
    is($frames[0]{lineno}, 4, '... its line') or diag explain $frames[0];
    like($frames[1]{function} // '', qr/CrashGenerationClient::RequestDump/, '... of a PDB');
    ok($frames[2]{function} && $frames[2]{lineno}, '... of Mach-O');
}

is($server->end, '', 'nothing is wrong');
is($client->end, '', 'nor here');
done_testing();
