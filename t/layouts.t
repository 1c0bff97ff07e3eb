#!/usr/bin/perl

# Debug files are at sources where other tools put them; each layout finds them
# by the build id.  The best file wins at any path: neither a stripped
# executable nor an unreadable file ends the search.  An event for such an
# object makes the store forget its module.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymFixtures qw(fixtures);
use SymLoader qw(read_file sym_text write_file);

my $elf = fixtures('elf');
my ($build_id) = qx(eu-readelf -n $elf/crash.debug) =~ /Build ID: ([0-9a-f]{40})/;
my ($head, $tail) = $build_id =~ /^(..)(.*)$/;
my $debug = read_file("$elf/crash.debug");
my $stripped = read_file("$elf/crash");    # its symbol table, no DWARF
my ($addr) = qx(nm $elf/crash) =~ /^([0-9a-f]+) T ConvertUTF8toUTF16$/m;
my $offset = hex($addr) - 0x400000 + 3;    # readelf -l: the first LOAD

# Symbolicator's symbol server compatibility page; its client names the file
# "Crash"
my %path = (
    native => "$head/$tail.debug",
    debuginfod => "$build_id/debuginfo",
    symstore => "_.debug/elf-buildid-sym-$build_id/_.debug",
    ssqp => "crash/elf-buildid-$build_id/crash",
    unified => "$head/$tail/debuginfo",
    slashsymbols => "Crash/$build_id/symbols",
);

my @chains = (
    # name, sources in order: [kind of file => its path]
    ['exe-first', { "$head/$tail" => $stripped }, { "$head/$tail.debug" => $debug }],
    ['exes', { "$head/$tail" => $stripped }, { "$head/$tail" => $debug }],
    ['unreadable', { "$head/$tail.debug" => substr($debug, 0, 1000) },
     { "$head/$tail" => $debug }],
    ['only-poor', { "$head/$tail" => $stripped }, {}],
    ['only-bad', { "$head/$tail.debug" => substr($debug, 0, 1000) }, {}],
);

sub location {
    my ($name, @sources) = @_;
    return "location /by-$name {\n"
        . "symbolicate; symbolicate_admin on; symbolicate_loader unix:%%LOADER%%;\n"
        . join('', map {"symbolicate_source $_;\n"} @sources) . "}\n";
}

my $locations = join '', map {
    "location /$_/ { internal; alias %%DIR%%/files/$_/; }\n"
        . location($_, "$_ uri=/$_/ layout=$_")
} sort keys %path;
for my $c (@chains) {
    my $name = $c->[0];
    $locations .= "location /$name-$_/ { internal; alias %%DIR%%/files/$name-$_/; }\n"
        for 1, 2;
    $locations .= location($name, "$name-a uri=/$name-1/ layout=native",
                           "$name-b uri=/$name-2/ layout=native kinds=elf");
}
$locations .= "location /upper/ { internal; alias %%DIR%%/files/upper/; }\n"
    . location('upper', 'upper uri=/upper/ layout=native casing=uppercase');

my $t = SymFetch->new(sources => $locations)->start;
my $files = $t->dir . '/files';
write_file("$files/$_/$path{$_}", $debug) for keys %path;
write_file("$files/upper/" . uc $path{native}, $debug);
for my $c (@chains) {
    my ($name, @sources) = @$c;
    for my $i (0, 1) {
        write_file("$files/$name-" . ($i + 1) . "/$_", $sources[$i]{$_})
            for keys %{ $sources[$i] };
    }
}

sub ask {
    my ($where) = @_;
    return $t->post_json("/by-$where/v5", { jobs => [{
        memoryMap => [['Crash', $build_id]], stacks => [[[0, $offset]]] }] });
}

sub frame { return $_[0]{json}{results}[0]{stacks}[0][0] }

sub explained {
    my ($where) = @_;
    return $t->request('GET', "/by-$where/explain/Crash/$build_id")->{body};
}

sub forget {
    my ($where) = @_;
    is($t->request('DELETE', "/by-$where/cache/Crash/$build_id")->{status}, 200,
       '... forgotten');
    return;
}

# --- each layout ---

for my $layout (sort(keys %path), 'upper') {
    my $frame = frame(ask($layout));
    is($frame->{function}, 'ConvertUTF8toUTF16', "$layout: found");
    ok($frame->{line}, '... with its line');
    my $path = $path{$layout} // uc $path{native};
    like(explained($layout), qr{"file": "/\Q$layout/$path\E"},
        '... where it is');
    forget($layout);
}

# --- the best wins ---

ok(frame(ask('exe-first'))->{line},
   'a debug file in a later source, a stripped executable in an earlier');
like(explained('exe-first'), qr/"state": "ready", "source": "exe-first-b"/, '... which wins');
forget('exe-first');

ok(frame(ask('exes'))->{line},
   'an executable with lines in a later source, a stripped one in an earlier');
like(explained('exes'), qr{exes-1/$head/$tail".*exes-2/$head/$tail"},
     '... both were fetched');
forget('exes');

ok(frame(ask('unreadable'))->{line}, 'a file that cannot be read, then another');
forget('unreadable');

my $frame = frame(ask('only-poor'));
is($frame->{function}, 'ConvertUTF8toUTF16', 'only a stripped executable: its name');
is($frame->{line}, undef, '... and no line');
forget('only-poor');

is(frame(ask('only-bad'))->{function}, undef, 'only an unreadable file');
like(explained('only-bad'), qr/"state": "malformed"/,
    '... is the reason for its absence');
forget('only-bad');

# --- events ---

sub event {
    my ($where, $key) = @_;
    return $t->post("/by-$where/events", $t->json({ Records => [{
        eventName => 'ObjectCreated:Put',
        s3 => { bucket => { name => 'b' }, object => { key => $key } } }] }));
}

for my $layout (sort keys %path) {
    ask($layout);
    is(event($layout, "some/folder/$path{$layout}")->{json}{removed}, 1,
       "$layout: an event of its object");
    like(explained($layout), qr/"state": "unknown"/, '... it is forgotten');
}

unlink "$files/native/$path{native}";
ask('native');
like(explained('native'), qr/"state": "absent"/, 'not there');
is(event('native', $path{native})->{json}{removed}, 1,
    '... until an event names it');
write_file("$files/native/$path{native}", $debug);
is(frame(ask('native'))->{function}, 'ConvertUTF8toUTF16', '... then it is');

# --- errors in the configuration ---

for my $bad (
    ['layout=pdbs', qr/unknown layout "pdbs"/],
    ['kinds=elf,', qr/"kinds=elf," is not possible/],
    (map { ["kinds=$_", qr/"kinds=$_" is not possible: .* is read/] }
        'elf,sources', qw(ppdb pdbs)),
    (map { [$_, qr/has no paths for files/] } 'layout=debuginfod kinds=macho,breakpad',
        'layout=debuginfod kinds=pdb', 'kinds=pe', 'layout=ssqp kinds=wasm',
        'layout=symstore_index2 kinds=breakpad'),
    ['casing=camel', qr/is unknown to a source/])
{
    my ($words, $why) = @$bad;
    my $u = SymTest->new->conf(locations => <<"CONF");
        location / { symbolicate; symbolicate_loader unix:/x;
                     symbolicate_source s uri=/s/ $words; }
CONF
    my ($code, $log) = $u->check;
    isnt($code, 0, "refused: $words");
    like($log, $why, '... with the reason');
}

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

done_testing();
