#!/usr/bin/perl

# A crash on macOS reads the same as in Sentry, in Breakpad's `.sym` files and
# in LLVM's tools: lines are those of the line table.  atos shows others,
# because it uses only statements; so each interface gives its own lines from
# the same store.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP qw(decode_json);
use Test::More;

use SymFixtures qw(fixtures need_fixtures);
use SymLlvm qw(loader_frames);
use SymLoader qw(read_file);
use SymTest;

my $macho = need_fixtures('macho');
my $dsym = "$macho/crash.dSYM/Contents/Resources/DWARF/crash";
my $id = '67E9247C814E392BA027DBDE6748FCBF0';
my $module = "crash/$id";
my $base = 0x100000000;

my $t = SymLoader->new;
is($t->run('load', "$macho/crash.dSYM")->{code}, 0, 'loaded');

# --- all of its code, compared with LLVM's symbolizer ---

# "FILE:LINE" of all calls at an address, as both print them.
sub places {
    my ($block) = @_;
    my @lines = split /\n/, $block;
    return join ' < ', map { $lines[ 2 * $_ + 1 ] =~ s/:(\d+):\d+\z/:$1/r }
        0 .. @lines / 2 - 1;
}

{
    my ($size, $from) = qx(llvm-objdump --section-headers $dsym)
        =~ /__text\s+(\w+)\s+(\w+)/ or die 'no __text';
    my @addr = hex($from) .. hex($from) + hex($size) - 1;
    my $theirs = $t->file('theirs', join '', map { sprintf "0x%x\n", $_ } @addr);
    my $ours = join '', map { sprintf "%x\n", $_ - $base } @addr;
    my $tool = SymLlvm::symbolizer();
    my @theirs = split /\n\n/, qx($tool --obj=$dsym --inlines <$theirs);
    my @ours = split /\n\n/,
        $t->run({ stdin => $ours }, 'lookup', $module, '-')->{out};
    is(scalar(@theirs), scalar(@addr), 'LLVM answers each address');

    my @known = grep { places($theirs[$_]) !~ /^\?\?/ } 0 .. $#addr;
    my @bad = grep { places($ours[$_]) ne places($theirs[$_]) } @known;
    cmp_ok(scalar(@known), '>', 40_000, '... most with a line');
    is(scalar(@bad), 0, '... our lines, of all calls, are the same')
        or diag(map { sprintf "%x: %s, not %s\n", $addr[$_],
                      places($ours[$_]), places($theirs[$_]) }
                    @bad[0 .. ($#bad < 9 ? $#bad : 9)]);
}

# --- answers of Sentry's server ---

# Paths without "name/..".
sub short {
    my ($path) = @_;
    1 while $path =~ s{/[^/]+/\.\.(?=/)}{};
    return $path;
}

{
    my $said = decode_json(read_file(
        fixtures('sentry/cases/macho-random.response.json')));
    my (%frames, %asked);
    for (@{ $said->{stacktraces}[0]{frames} }) {
        next if $_->{status} ne 'symbolicated';
        push @{ $frames{ $_->{original_index} } },
            "$_->{symbol} $_->{abs_path}:$_->{lineno}";
        $asked{ $_->{original_index} } = hex($_->{instruction_addr}) - $base;
    }
    my @index = sort { $a <=> $b } keys %frames;
    my @ours = loader_frames($t, $module, @asked{@index});

    cmp_ok(scalar(@index), '>', 5, 'frames that Sentry answered');
    is_deeply([ map { [ map { "$_->[0] " . short($_->[1]) . ":$_->[2]" } @$_ ] }
                @ours ],
              [ @frames{@index} ], '... are ours');
}

# --- one store, three interfaces ---

my $n = SymTest->new;
$n->load("$macho/crash.dSYM")->conf(locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location = /atos { symbolicate atos; }
CONF

# from the issue: a constructor, and a call of another file
my @at = (0xd20, 0x1fb0, 0xd20);

sub frames {
    my ($frame) = @_;
    return map { ($_->{file} =~ m{([^/]+)$})[0] . ":$_->{line}" }
        @{ $frame->{inlines} // [] }, $frame;
}

my %own = (0xd20, ['minidump_file_writer.cc:93'],
           0x1fb0, ['vector:1510', 'dynamic_images.cc:323',
                    'dynamic_images.cc:329']);
my %atos = (0xd20, ['minidump_file_writer.cc:96'],
            0x1fb0, ['dynamic_images.cc:327', 'dynamic_images.cc:323',
                     'dynamic_images.cc:329']);

for my $round (1 .. 3) {    # the second time the answers are cached
    my $r = $n->post_json('/symbolicate/v5', { jobs => [{
        memoryMap => [[ 'crash', $id ]], stacks => [[ map { [0, $_] } @at ]] }]
    });
    is_deeply([ map { [ frames($_) ] } @{ $r->{json}{results}[0]{stacks}[0] } ],
              [ @own{@at} ], 'v5: the line table\'s own');

    $r = $n->post_json('/atos', { uuid => substr($id, 0, 32), image => 'crash',
        offset => JSON::PP::true, inline => 'all',
        addresses => [ map { sprintf '0x%x', $_ } @at ] });
    is_deeply([ map { [ map {"$_->{file}:$_->{line}"} @{ $_->{frames} } ] }
                @{ $r->{json}{results} } ],
              [ @atos{@at} ], 'atos: its own');
}

is_deeply([ map { /^(d20) \S+ (\d+) / ? $2 : () }
            split /\n/, $t->run('dump', $module)->{out} ],
          [93], 'a .sym has the line table\'s');
is($n->stop->log_trouble, '', 'nothing is wrong');

done_testing();
