#!/usr/bin/perl

# A profile of pprof has addresses of a process and, for each mapping, a build id and
# an offset in its file.  Where the program's symbols are known, its locations get
# functions, files, lines and inlined calls, which are LLVM's; everything else stays,
# and `go tool pprof` reads the result.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(run_ok);
use SymLoader qw(read_file);
use SymProfile qw(profile go_profile shown differences go pprof);

my $t = SymLoader->new;
my $out = $t->dir . '/out.pb.gz';

sub answer {
    my ($p, @options) = @_;
    unlink $out;
    my $r = $t->run(@options, 'profile', $p->{file}, $out);
    return $r->{code} == 0 || $r->{code} == 1 ? ($r, shown($out)) : ($r, undef);
}

# By address, as `go tool pprof` reads a program: the function that has the code, and the
# file and line of the code, perhaps inlined there.  It has no answer for code without lines and for main().
sub places_at {
    my ($shown, $mapping) = @_;
    return { map { my @lines = @{ $_->{lines} };
            $_->{address} => join ' ', $lines[-1]{function}, $lines[0]{file} =~ s{.*/}{}r, $lines[0]{line} }
        grep { $_->{mapping} == $mapping && @{ $_->{lines} } } @{ $shown->{locations} } };
}

# Returns the functions and lines that go tool pprof reads in the program on disk.
sub go_local {
    my ($p) = @_;
    my $symbolized = "$p->{program}.local.gz";
    unlink $symbolized;
    run_ok('go', 'tool', 'pprof', '-symbolize=local', '-proto', "-output=$symbolized", $p->{program}, $p->{file});
    my $shown = shown($symbolized);
    my ($mapping) = grep { $_->{build_id} } @{ $shown->{mappings} };
    return places_at($shown, $mapping->{id});
}

# Locations and samples are those of the request.
sub without_lines {
    my ($shown) = @_;
    return { samples => $shown->{samples},
             locations => [ map { { %$_, lines => [] } } @{ $shown->{locations} } ],
             mappings => [ map { { %$_, has => [] } } @{ $shown->{mappings} } ] };
}

# --- programs of two linkers: a segment's address is not always its offset ---

my %programs = (
    gnu => [ 'gcc', '-O2' ],
    lld => [ 'clang', '-O2', '-fuse-ld=lld-19' ],
    flat => [ 'gcc', '-O2', '-no-pie', '-Wl,-z,noseparate-code' ],
);
my %profile = map { $_ => profile($t, $_, @{ $programs{$_} }) } sort keys %programs;

for my $name (sort keys %programs) {
    my $p = $profile{$name};
    # how debug files come from packages: their segments have no offsets
    run_ok('objcopy', '--only-keep-debug', $p->{program}, "$p->{program}.debug");
    is($t->run('load', "$p->{program}.debug")->{code}, 0, "$name: a debug file");

    my ($r, $shown) = answer($p);
    is($r->{code}, 0, '... all modules with an id have symbols') or diag $r->{err};
    is_deeply([ differences($p, $shown) ], [], "... LLVM's functions, files, lines, inlines");
    is_deeply(without_lines($shown), without_lines(shown($p->{file})), '... nothing else changes');

    my ($mapping) = grep { $_->{build_id} } @{ $shown->{mappings} };
    is_deeply($mapping->{has}, [ 1, 1, 1, 1 ], '... the mapping says what is known');
    my ($other) = grep { $_->{file} =~ /libc\.so/ } @{ $shown->{mappings} };
    is_deeply($other->{has}, [ 0, 0, 0, 0 ], '... of others nothing is');
    is(scalar(grep { @{ $_->{lines} } && $_->{mapping} == $other->{id} } @{ $shown->{locations} }),
       0, '... and their locations stay');

    # it finds no symbols in lld's program
    if ($name ne 'lld') {
        my $local = go_local($p);
        cmp_ok(scalar(keys %$local), '>', 3, '... go tool pprof reads the program itself') or diag explain $local;
        my $ours = places_at($shown, $mapping->{id});
        is_deeply({ map { $_ => $ours->{$_} } keys %$local }, $local, '... and has the same functions, files, lines');
    }

    like(go($out, '-top'), qr/^\s*\d+ms .*\bleaf$/m, '... go tool pprof -top');
    like(go($out, '-raw'), qr/ mix \S+work\.h:\d+.*\n\s+mix_twice \S+work\.h:15.*\n\s+leaf /,
         '... -raw shows inlined calls');
}

# --- other files of the same program ---

{
    my $p = $profile{lld};
    my $fresh = SymLoader->new;
    run_ok('eu-strip', '-f', "$p->{program}.eu.debug", '-o', "$p->{program}.stripped", $p->{program});

    for my $file ("$p->{program}.eu.debug", $p->{program}) {
        $t->run('load', '--force', $file);
        my ($r, $shown) = answer($p);
        is_deeply([ differences($p, $shown) ], [], "the same from $file");
    }

    mkdir $t->dir . '/tree';
    my ($first, $rest) = $p->{id} =~ /^(..)(.*)$/;
    mkdir $t->dir . "/tree/$_" for '.build-id', ".build-id/$first";
    run_ok('cp', "$p->{program}.debug", $t->dir . "/tree/.build-id/$first/$rest.debug");
    my ($r) = answer($p, { no_store => 1, env => { TMPDIR => $t->dir } });
    is($r->{code}, 2, 'neither a store nor a folder: refused');
    unlink $out;
    $r = $t->run({ no_store => 1, env => { TMPDIR => $t->dir } }, 'profile',
                 '--symbols=debuginfod:' . $t->dir . '/tree', $p->{file}, $out);
    is($r->{code}, 1, 'a folder without it') or diag $r->{err};
    like($r->{err}, qr/no symbols: lld, build id $p->{id}/, '... says which module');
    is_deeply(shown($out), shown($p->{file}), '... and the profile stays as it is');
}

# --- Go ---

{
    my $p = go_profile($t);
    is($t->run('load', $p->{program})->{code}, 0, 'a program of Go');
    my ($r, $shown) = answer($p);
    is_deeply([ differences($p, $shown) ], [], "... LLVM's answers, too");
    my %of_go = map { $_->{id} => $_->{lines} } @{ shown("$p->{program}.go.gz")->{locations} };
    my @names = map { my $l = $_; [ map { $_->{function} =~ s/\.abi0$//r } @{ $l->{lines} } ] } @{ $shown->{locations} };
    my @go = map { [ map { $_->{function} } @{ $of_go{ $_->{id} } } ] } @{ $shown->{locations} };
    is_deeply(\@names, \@go, '... the names that its own runtime gave, but for their ABI');
}

# --- its own answer, and another order ---

{
    my $p = $profile{gnu};
    my ($r, $first) = answer($p);
    rename $out, "$out.first";
    ($r, my $again) = answer({ file => "$out.first" });
    is_deeply($again, $first, 'locations with lines stay');

    pprof('reverse', $p->{file}, "$out.reverse");
    ($r, my $reverse) = answer({ file => "$out.reverse" });
    is_deeply($reverse, $first, 'fields in another order');

    run_ok('sh', '-c', "gzip -dc '$p->{file}' >'$out.plain'");
    ($r, my $plain) = answer({ file => "$out.plain" });
    is_deeply($plain, $first, 'a profile that is not packed');
}

# --- what is no profile ---

{
    my $bytes = read_file($profile{gnu}{file});
    my %bad = (
        'no gzip' => [ 'this is not a profile', qr/no profile of pprof/ ],
        'half' => [ substr($bytes, 0, length($bytes) / 2), qr/truncated/ ],
        'a wrong checksum' => [ substr($bytes, 0, -8) . "\0" x 8, qr/not valid gzip/ ],
        'a field that is too long' => [ "\x1a\x7f", qr/no profile of pprof or OTLP: bytes run past/ ],
        'a mapping of nothing' => [ "\x1a\x02\x08\x80", qr/mapping 0 is malformed/ ],
        'a location of nothing' => [ "\x22\x02\x08\x80", qr/location 0 is malformed/ ],
    );
    for my $name (sort keys %bad) {
        my ($r) = answer({ file => $t->file('bad', $bad{$name}[0]) });
        is($r->{code}, 2, "$name: refused");
        like($r->{err}, $bad{$name}[1], '... and says why');
        ok(!-e $out, '... without a file');
    }

    my ($r) = answer({ file => $t->file('empty', '') });
    is($r->{code}, 0, 'an empty profile is one');
}

is($t->verify, 'sound', 'the store is sound');
done_testing();
