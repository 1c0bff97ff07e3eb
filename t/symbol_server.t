#!/usr/bin/perl

# Windows symbol servers have PDBs and PE files, plain and packed in cabinets,
# at their own paths.  A request for xul.pdb finds the PDB at any of these
# paths, and its frames and inlined calls are those that LLVM reads from it; a
# PE file is found by its code id.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use JSON::PP ();
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(json_lines read_file write_file);
use SymLlvm;
use SymS3;

my $windows = need_fixtures('windows');
my $GUID = '3249D99D0C4049318610F4E4FB0B6936';
my @PDB = ('Crash.pdb', "${GUID}1");
my @PE = ('hello-dwarf.exe', '63CE751542000');

my $pdb = read_file("$windows/crash.pdb");
my $pe = read_file("$windows/hello-dwarf.exe");

# Symbolicator's symbol server compatibility page
my %path = (
    native => "Crash.pdb/${GUID}1/Crash.pdb",
    symstore => "Crash.pdb/${GUID}1/Crash.pdb",
    symstore_index2 => "Cr/Crash.pdb/${GUID}1/Crash.pdb",
    ssqp => 'crash.pdb/' . lc($GUID) . '1/crash.pdb',
    unified => '32/49d99d0c4049318610f4e4fb0b69361/debuginfo',
);
my %pe_path = (
    native => 'hello-dwarf.exe/63CE751542000/hello-dwarf.exe',
    symstore => 'hello-dwarf.exe/63CE751542000/hello-dwarf.exe',
    symstore_index2 => 'he/hello-dwarf.exe/63CE751542000/hello-dwarf.exe',
    ssqp => 'hello-dwarf.exe/63ce751542000/hello-dwarf.exe',
    slashsymbols => 'hello-dwarf.exe/63ce751542000/symbols',
);

my $s3 = SymS3->new->start;
my $s3_address = $s3->address;
$s3->bucket('windows');
my $keys = 'credentials=static access_key=' . $s3->access . ' secret_key=' . $s3->secret;

sub location {
    my ($name, @sources) = @_;
    return "location /by-$name {\n"
        . "symbolicate; symbolicate_admin on; symbolicate_loader unix:%%LOADER%%;\n"
        . join('', map {"symbolicate_source $_;\n"} @sources) . "}\n";
}

sub folder { return "location /$_[0]/ { internal; alias %%DIR%%/files/$_[0]/; }\n" }

my @layouts = do { my %all = (%path, %pe_path); sort keys %all };
our $t = SymFetch->new(sources => join '',
    (map { folder($_) . location($_, "$_ uri=/$_/ layout=$_") } @layouts),
    (map { folder($_) . location($_, "$_ uri=/$_/ layout=symstore") } qw(packed odd none)),
    folder('both'), location('both', 'both uri=/both/ layout=native'),
    folder('no-pe'), location('no-pe', 'no-pe uri=/no-pe/ layout=symstore kinds=pdb'),
    <<"CONF", location('s3', 's3 uri=/s3/ layout=symstore'))->start;
    location /s3/ {
        internal;
        symbolicate_aws_sigv4 region=us-east-1 $keys;
        proxy_set_header Authorization \$symbolicate_aws_authorization;
        proxy_set_header X-Amz-Date \$symbolicate_aws_date;
        proxy_set_header X-Amz-Content-Sha256 \$symbolicate_aws_content_sha256;
        proxy_pass http://$s3_address/windows/;
    }
CONF
my $files = $t->dir . '/files';

sub cab {
    my ($name, $bytes) = @_;
    my $dir = $t->dir . '/cab';
    write_file("$dir/$name", $bytes);
    system('gcab', '-c', '-z', '-n', "$dir/out", "$dir/$name") == 0 or die "gcab: $?";
    return read_file("$dir/out");
}

# --- addresses to look up ---

# Lines of code according to dump_syms, and 0xf00f00, which marks hidden code;
# without functions that the linker folded, for which each reader names another.
my %line;
{
    my $is_folded;
    for (split /\r?\n/, read_file("$windows/crash.sym")) {
        $is_folded = $1 if /^FUNC (m )?/;
        $line{ hex $1 } = $2
            if /^([0-9a-f]+) [0-9a-f]+ (\d+) \d+$/ && !$is_folded && $2 != 0xf00f00;
    }
}

sub ask {
    my ($where, $module, $version, @offsets) = @_;
    my %job = (memoryMap => [$module], stacks => [[ map { [0, $_] } @offsets ]]);
    my $r = $t->post_json("/by-$where/$version",
                          $version eq 'v4' ? { %job, version => 4 } : { jobs => [\%job] });
    return $r->{status} == 200 ? $r->{json} : die "$where: $r->{status} $r->{body}";
}

# The frames of each address, innermost first: [ function, file, line ].
sub frames {
    my ($where, $module, @offsets) = @_;
    my $stack = ask($where, $module, 'v5', @offsets)->{results}[0]{stacks}[0];
    return map {
        [ map { [ @$_{qw(function file line)} ] } @{ $_->{inlines} // [] }, $_ ]
    } @$stack;
}

# The same from LLVM: { address => frames }.  LLVM crashes at some addresses of
# this PDB, in all versions, so it gets a few at a time, and those without an
# answer are omitted.
sub llvm {
    my ($object, @offsets) = @_;
    my $program = SymLlvm::symbolizer();
    my %frames;
    while (my @some = splice @offsets, 0, 8) {
        my $hex = join ' ', map { sprintf '0x%x', $_ } @some;
        my $command = "$program --obj=$object --relative-address --inlines $hex";
        for my $answer (split /\n\n/, qx($command 2>${\$t->dir}/llvm)) {
            my @line = split /\n/, $answer;
            $frames{ shift @some } = [ map {
                my ($file, $line) = $line[ 2 * $_ + 1 ] =~ /^(.*):(\d+):\d+$/;
                [ $line[ 2 * $_ ], $file, $line ];
            } 0 .. @line / 2 - 1 ];
        }
    }
    return %frames;
}

# Readers differ in arguments, spaces, the underscore of C, suffixes of
# compilers, and the name of anonymous namespaces.
sub bare {
    return $_[0] =~ s/`anonymous.namespace'|\?A0x[0-9a-f]+/ANONYMOUS/gr =~ s/\(.*//sr
        =~ s/\b(?:class|struct|enum) |\s//gr =~ s/^_+|\.(?:isra|part)\.\d+$//gr;
}

sub text { return join ' < ', map { join '|', bare($_->[0] // ''), map { $_ // '' } @$_[ 1, 2 ] } @_ }

# LLVM misses some inlined functions: then the end of ours equals its frames.
sub is_same {
    my ($got, $want) = @_;
    return @$got >= @$want && text(@$got[ -@$want .. -1 ]) eq text(@$want);
}

# At an address with several lines each reader chooses another: two must agree.
my %want = llvm("$windows/crash.exe", sort { $a <=> $b } keys %line);
my @answered = grep { $want{$_}[-1][2] == $line{$_} } sort { $a <=> $b } keys %want;
cmp_ok(scalar @answered, '>', 200, 'addresses whose lines LLVM and dump_syms agree on');

sub is_as_llvm {
    my ($where, $what) = @_;
    my %got;
    @got{@answered} = frames($where, \@PDB, @answered);
    my @bad = grep { !is_same($got{$_}, $want{$_}) } @answered;
    # inlined code has several lines at one address, too
    cmp_ok(scalar @bad, '<=', @answered / 100, "$what: frames as in LLVM")
        or diag(map { sprintf "0x%x: %s\n  not %s\n", $_, text(@{ $got{$_} }),
            text(@{ $want{$_} }) } splice @bad, 0, 5);
    my @whole = grep { @{ $want{$_} } > 1 && text(@{ $got{$_} }) eq text(@{ $want{$_} }) }
        @answered;
    cmp_ok(scalar @whole, '>', 5, '... of these whole chains of inlined calls');
    return;
}

sub explained {
    my ($where, @module) = @_;
    return $t->request('GET', "/by-$where/explain/" . join '/', @module)->{body};
}

sub event {
    my ($where, $key) = @_;
    return $t->post("/by-$where/events", $t->json({ Records => [{
        eventName => 'ObjectCreated:Put',
        s3 => { bucket => { name => 'b' }, object => { key => $key } } }] }))->{json};
}

# --- each layout ---

for my $layout (sort keys %path) {
    write_file("$files/$layout/$path{$layout}", $pdb);
    is_as_llvm($layout, $layout);
}

# --- PE files: only by their code id, which is independent of their PDB's name
# ---

# Answers of Sentry's server for this file: { address => frames }.
my %recorded;
{
    my $case = fixtures('sentry/cases/pe-mingw-dwarf.response.json');
    my ($answer) = json_lines(read_file($case) =~ tr/\n//dr);
    for my $stack (@{ $answer->{stacktraces} }) {
        my %chain;
        for my $frame (grep { $_->{status} eq 'symbolicated' } @{ $stack->{frames} }) {
            my $offset = hex($frame->{instruction_addr}) - 0x100000000;
            push @{ $chain{"$offset $frame->{original_index}"} },
                [ @$frame{qw(function abs_path lineno)} ];
        }
        $recorded{ s/ .*//r } = $chain{$_} for keys %chain;
    }
}
my @recorded = sort { $a <=> $b } keys %recorded;
cmp_ok(scalar @recorded, '>', 50, 'recorded frames');

for my $layout (sort keys %pe_path) {
    write_file("$files/$layout/$pe_path{$layout}", $pe);
    my @got = frames($layout, \@PE, @recorded);
    my @bad = grep { text(@{ $got[$_] }) ne text(@{ $recorded{ $recorded[$_] } }) }
        0 .. $#recorded;
    ok(!@bad,
        "$layout: frames of a PE file as in the answer of Sentry's server")
        or diag(map { sprintf "0x%x: %s\n  not %s\n", $recorded[$_], text(@{ $got[$_] }),
            text(@{ $recorded{ $recorded[$_] } }) } splice @bad, 0, 5);
}

my $found = ask('unified', \@PE, 'v5', $recorded[0])->{results}[0]{found_modules};
is_deeply([ values %$found ], [0],
    'unified has no path for a PE file without debug id');

# --- packed ---

write_file("$files/packed/Crash.pdb/${GUID}1/Crash.pd_", cab('crash.pdb', $pdb));
write_file("$files/packed/$PE[0]/$PE[1]/hello-dwarf.ex_", cab('hello-dwarf.exe', $pe));
is_as_llvm('packed', 'a cabinet');
like(explained('packed', @PDB), qr{/Crash\.pdb".*/Crash\.pd_"}s,
     '... after the plain file');
ok((frames('packed', \@PE, $recorded[0]))[0][-1][0], 'a PE file in a cabinet');

# --- a .sym file is preferred to a PDB ---

my $sym = read_file("$windows/crash.sym") =~ s/ crash\.pdb/ Crash.pdb/r;
write_file("$files/both/Crash.pdb/${GUID}1/Crash.sym", $sym);
write_file("$files/both/Crash.pdb/${GUID}1/Crash.pdb", $pdb);
ok((frames('both', \@PDB, $answered[0]))[0][-1][0], 'a .sym file and a PDB');
like(explained('both', @PDB), qr/"file": "[^"]*\.sym"/, '... the .sym file was written on purpose');
unlink "$files/both/Crash.pdb/${GUID}1/Crash.sym";
is($t->request('DELETE', '/by-both/cache/' . join '/', @PDB)->{status}, 200, '... forgotten');
is_as_llvm('both', 'no .sym file');

# --- S3 ---

$s3->put('windows', "Crash.pdb/${GUID}1/Crash.pd_", \cab('crash.pdb', $pdb));
is_as_llvm('s3', 'a private bucket');
is((grep { !$_->{signed} } $s3->gets), 0, '... all of it was signed');
my $v4 = ask('s3', \@PDB, 'v4', $answered[0]);
like($v4->{symbolicatedStacks}[0][0] // $v4->{results}[0]{stacks}[0][0],
     qr/ \(in Crash\.pdb\)$/, '... v4 finds it, too');

# --- a tree, loaded at once ---

sub load_tree {
    my ($tree) = @_;
    my $loaded = SymTest->new->load($tree);
    $loaded->conf(locations => 'location /by-tree { symbolicate; }')->start;
    return $loaded;
}

{
    my $tree = $t->dir . '/tree';
    write_file("$tree/$_", '') for qw(pingme.txt index2.txt 000Admin/lastid.txt);
    write_file("$tree/Cr/Crash.pdb/${GUID}1/Crash.pd_", cab('crash.pdb', $pdb));
    write_file("$tree/he/$pe_path{native}", $pe);
    local $t = load_tree($tree);
    is_as_llvm('tree', 'symloader load');
    is(text(@{ (frames('tree', \@PE, $recorded[0]))[0] }), text(@{ $recorded{ $recorded[0] } }),
       '... and a PE file by its code id');
    is($t->stop->log_trouble, '', '... nothing is wrong');
}

# --- absent files, and wrong ones ---

is_deeply(ask('none', \@PDB, 'v5', 0x1000)->{results}[0]{found_modules},
          { join('/', @PDB) => JSON::PP::false() }, 'absent');
like(explained('none', @PDB), qr{/Crash\.pdb".*/Crash\.pd_"}s, '... at both paths');
write_file("$files/none/Crash.pdb/${GUID}1/Crash.pd_", cab('crash.pdb', $pdb));
is(event('none', "v1/Crash.pdb/${GUID}1/Crash.pd_")->{removed}, 1, '... until an event');
is_as_llvm('none', '... then');

write_file("$files/odd/Crash.pdb/${GUID}1/Crash.pdb", read_file("$windows/CrashWithException.pdb"));
write_file("$files/odd/Crash.pdb/${GUID}1/Crash.pd_", substr(cab('crash.pdb', $pdb), 0, 100_000));
ask('odd', \@PDB, 'v5', 0x1000);
like(explained('odd', @PDB), qr/"state": "malformed", .*wrong module.*Crash\.pd_/,
     'another PDB, and a truncated cabinet');
unlink "$files/odd/Crash.pdb/${GUID}1/Crash.pd_";
is($t->request('DELETE', '/by-odd/cache/' . join '/', @PDB)->{status}, 200, '... forgotten');
ask('odd', \@PDB, 'v5', 0x1000);
like(explained('odd', @PDB), qr/wrong module: its id is F535C5FB2AE84BB8AA206C30BE566C5A1/,
     '... only another PDB');

ask('no-pe', \@PE, 'v5', $recorded[0]);
like(explained('no-pe', @PE), qr/"outcome": "skipped"/,
    'a source without PE files gets no request for one');

# --- events ---

for my $layout (sort keys %path) {
    is(event($layout, $path{$layout} =~ s/.$/_/r)->{removed}, 0,
       "$layout: an event of a packed file that was not needed");
    is(event($layout, "some/folder/$path{$layout}")->{removed}, 1, '... of its PDB');
    like(explained($layout, @PDB), qr/"state": "unknown"/, '... it is forgotten');
    frames($layout, \@PDB, 0x1000);
}
is(event($_, $pe_path{$_})->{removed}, 1, "$_: an event of its PE file")
    for grep { $_ ne 'slashsymbols' } sort keys %pe_path;

# --- metrics ---

my $stats = $t->loader->stats;
cmp_ok($stats->{conversions_pdb_ready}, '>', 5, 'PDBs are counted as such');
cmp_ok($stats->{conversions_pe_ready}, '>', 4, '... and PE files');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

done_testing();
