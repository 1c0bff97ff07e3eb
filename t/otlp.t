#!/usr/bin/perl

# A profile of OTLP names executables by attributes: a GNU build id, the FileID that
# OpenTelemetry's eBPF profiler computes, or both.  Its addresses are those of a process,
# or of the file.  Where the program's symbols are known, its locations get functions,
# files, lines and inlined calls, which are LLVM's; everything else stays.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(output run_ok);
use SymLoader qw(read_file write_file);
use SymProfile qw(profile differences loads otlp otlp_json);

my $t = SymLoader->new;
my $out = $t->dir . '/out.gz';

sub answer {
    my ($in, $loader) = @_;
    unlink $out;
    my $r = ($loader // $t)->run('profile', $in, $out);
    return $r->{code} == 0 || $r->{code} == 1 ? ($r, otlp_json('json', $out)) : ($r, undef);
}

# The first entries of a table, whose numbers others use.
sub begins_alike {
    my ($in, $answer) = @_;
    my ($old, $new) = map { otlp_json('tables', $_) } $in, $answer;
    return join ', ', grep {
        my @new = @{ $new->{$_} };
        splice @new, scalar @{ $old->{$_} };
        "@new" ne "@{ $old->{$_} }";
    } qw(functions strings);
}

# --- addresses of a process, and of the file ---

my %programs = (
    gnu => [ 'gcc', '-O2' ],
    lld => [ 'clang', '-O2', '-fuse-ld=lld-19' ],
    flat => [ 'gcc', '-O2', '-no-pie', '-Wl,-z,noseparate-code' ],
);
my %profile = map { $_ => profile($t, $_, @{ $programs{$_} }) } sort keys %programs;
my %file_id = map { $_ => otlp('fileid', $profile{$_}{program}) =~ s/\s+//r } keys %profile;

for my $name (sort keys %programs) {
    my $p = $profile{$name};
    my $file = "$p->{program}.otlp";
    run_ok('objcopy', '--only-keep-debug', $p->{program}, "$p->{program}.debug");
    is($t->run('load', "$p->{program}.debug")->{code}, 0, "$name: a debug file");

    my %ways = (
        'addresses of the process' => [],
        'of the file' => [ 'elf=' . loads($p), "htlhash=$file_id{$name}" ],
        'of the file, outside of the mapping' => [ 'elf=' . loads($p), 'outside=1' ],
    );
    for my $way (sort keys %ways) {
        otlp('make', $p->{file}, $file, map { "$name.$_" } "gnu=$p->{id}", @{ $ways{$way} });
        my ($r, $shown) = answer($file);
        is($r->{code}, 0, "$name, $way") or diag $r->{err};
        # that mapping says nothing about addresses
        my $is_elf = $way =~ /outside/ ? 1 : 0;
        my $ours = $is_elf
            ? { %$shown, mappings => [ map { { %$_, start => 0, offset => 0 } } @{ $shown->{mappings} } ] } : $shown;
        is_deeply([ differences({ %$p, is_elf => $is_elf }, $ours) ], [], "... LLVM's answers");
        is_deeply(otlp_json('rest', $out), otlp_json('rest', $file), '... nothing else changes');
        is(begins_alike($file, $out), '', '... new functions and strings follow the others');
        is_deeply($shown->{locations}[-1]{lines}, [ { function => 'jit', system_name => '', file => '', line => 7 } ],
                  '... a name of a just-in-time compiler stays');
    }
}

# --- symbols that are known by the FileID alone ---

{
    my $p = $profile{lld};
    my $id = $file_id{lld};
    my $fresh = SymLoader->new;
    is($fresh->run({ no_store => 1 }, 'dump', '--format=symbfile', '-o', $fresh->dir . "/$id.symbfile",
                   $p->{program})->{code}, 0, 'a symbfile');
    is($fresh->run('load', $fresh->dir . "/$id.symbfile")->{code}, 0, '... is loaded');
    my %ways = ('FileID' => [ "htlhash=$id" ], 'FileID in capitals' => [ 'htlhash=' . uc $id ],
                'both ids' => [ "gnu=$p->{id}", "htlhash=$id" ]);
    for my $way (sort keys %ways) {
        otlp('make', $p->{file}, "$out.in", map { "lld.$_" } @{ $ways{$way} }, 'elf=' . loads($p));
        my ($r, $shown) = answer("$out.in", $fresh);
        is($r->{code}, 0, "$way: found") or diag $r->{err};
        is_deeply([ differences($p, $shown) ], [], "... LLVM's answers");
    }

    otlp('make', $p->{file}, "$out.in", "lld.gnu=$p->{id}", 'lld.htlhash=' . 'ab' x 16);
    my ($r) = answer("$out.in", $fresh);
    is($r->{code}, 1, 'neither id is known');
    like($r->{err}, qr/no symbols: lld, build id $p->{id}$/m, '... the build id is reported');
    is_deeply(otlp_json('json', $out), otlp_json('json', "$out.in"), '... the profile stays as it is');
    otlp('make', $p->{file}, "$out.in", 'lld.htlhash=' . 'ab' x 16);
    ($r) = answer("$out.in", $fresh);
    like($r->{err}, qr/no symbols: lld, FileID (?:ab){16}$/m, 'a FileID that is not known is reported');
}

# --- the same profile in other ways ---

{
    my $p = $profile{gnu};
    my $file = "$p->{program}.otlp";
    otlp('make', $p->{file}, $file, "gnu.gnu=$p->{id}");
    my ($r, $first) = answer($file);
    rename $out, "$out.first";
    ($r, my $again) = answer("$out.first");
    is_deeply($again, $first, 'its own answer stays');

    otlp('pieces', $file, "$out.in");
    ($r, my $pieces) = answer("$out.in");
    is_deeply($pieces, $first, 'a dictionary in pieces');

    otlp('reverse', $file, "$out.in");
    ($r, my $reverse) = answer("$out.in");
    is_deeply($reverse->{locations}, $first->{locations}, 'tables in another order');

    run_ok('sh', '-c', "gzip -c '$file' >'$out.in'");
    ($r, my $packed) = answer("$out.in");
    is_deeply($packed, $first, 'a packed profile');
}

# --- what is no such profile ---

{
    my $bytes = read_file("$profile{gnu}{program}.otlp");
    my %bad = (
        'half' => [ substr($bytes, 0, length($bytes) / 2), qr/OTLP: .* past (?:its|their) container, at byte \d+/ ],
        'no dictionary' => [ "\x0a\x04\x12\x02\x12\x00", qr/no dictionary: profiles of OTLP before 1\.8/ ],
    );
    for my $name (sort keys %bad) {
        my ($r) = answer($t->file('bad', $bad{$name}[0]));
        is($r->{code}, 2, "$name: refused");
        like($r->{err}, $bad{$name}[1], '... and says why');
        ok(!-e $out, '... without a file');
    }
}

is($t->verify, 'sound', 'the store is sound');
done_testing();
