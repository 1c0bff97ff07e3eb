#!/usr/bin/perl

# A debug file in a .build-id tree has a meaningless name: clients find its
# module by its debug id alone, or by its build id, which is all that a profiler
# has.  Records of earlier searches for (name, id) do not hide it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Copy qw(copy);
use Test::More;

use SymFetch;
use SymFixtures qw(fixtures);
use SymLoader qw(json_lines sym_text write_file);

my $elf = fixtures('elf');

my ($build_id) = qx(eu-readelf -n $elf/crash.debug) =~ /Build ID: ([0-9a-f]{40})/;
# its first 16 bytes as a GUID with little-endian fields, age 0
my $id = uc(join '', unpack('H8H4H4H16', pack 'VvvA8', unpack 'NnnA8',
                            pack 'H32', substr($build_id, 0, 32))) . '0';
my ($addr) = qx(nm $elf/crash) =~ /^([0-9a-f]+) T ConvertUTF8toUTF16$/m;
my $offset = hex($addr) - 0x400000 + 3;    # readelf -l: the first LOAD

sub build_id_tree {
    my ($t) = @_;
    my ($a, $b) = $build_id =~ /^(..)(.*)$/;
    mkdir $t->dir . "/$_" for 'tree', "tree/$a";
    copy("$elf/crash.debug", $t->dir . "/tree/$a/$b.debug") or die $!;
    return ($t->dir . '/tree', "$b");
}

# --- the command line ---

{
    my $t = SymLoader->new;
    my ($tree, $stem) = build_id_tree($t);
    is($t->run('load', $tree)->{code}, 0, 'a .build-id tree');
    is_deeply([ $t->modules ], ["$stem/$id"], '... under the name of its file');

    for my $operand ("libcrash.so/$id", "libcrash.so/$build_id", $id, $build_id,
                     uc $build_id)
    {
        my $r = $t->run('lookup', $operand, '--json', sprintf '%x', $offset);
        is((json_lines($r->{out}))[0]{function}, 'ConvertUTF8toUTF16',
           "lookup $operand");
    }

    my ($shown) = json_lines($t->run('show', $build_id, '--json')->{out});
    is("$shown->{name}/$shown->{id}", "$stem/$id", 'show: its own name and id');
    is($shown->{code_id}, $build_id, '... and the build id');

    # one digit wrong; a prefix of an id; a name, which is not an id
    (my $other = $build_id) =~ tr/0-9a-f/1-9a-f0/;
    for my $operand ($other, "a/$other", substr($id, 0, 32) . '1') {
        is($t->run('show', $operand)->{code}, 1, "no module: $operand");
    }
    is($t->run('show', 'libcrash.so')->{code}, 2, 'a name alone is an error');

    is($t->verify, 'sound', 'the store is sound');
    is($t->run('rm', $build_id)->{code}, 0, 'rm by build id');
    is_deeply([ $t->modules ], [], '... it is gone');
    is($t->verify, 'sound', '... with its ids');

    $t->run('load', $tree);
    is($t->run('rm', "libcrash.so/$id")->{code}, 0, 'rm by another name');
    is_deeply([ $t->modules ], [], '... it is gone');

    # a .sym file's name counts: Tecken's rule
    $t->run('load', '--quiet', $t->file('a.sym', sym_text('a.so', $id)));
    is($t->run('show', "a.so/$id")->{code}, 0, 'a .sym file\'s module');
    is($t->run('show', "b.so/$id")->{code}, 1, '... has one name');
}

# --- a .sym file is known by its INFO CODE_ID as well ---

{
    my $t = SymLoader->new;
    my $text = sym_text('a.so', $id);
    $text =~ s/\n/"\nINFO CODE_ID " . uc($build_id) . "\n"/e;
    $t->run('load', '--quiet', $t->file('a.sym', $text));

    for my $operand ($build_id, uc $build_id, "b.so/$build_id") {
        my ($shown) = json_lines($t->run('show', $operand, '--json')->{out});
        is("$shown->{name}/$shown->{id}", "a.so/$id", ".sym: show $operand");
    }
    (my $other = $build_id) =~ tr/0-9a-f/1-9a-f0/;
    is($t->run('show', $other)->{code}, 1, '... not by another build id');
    is($t->run('show', "b.so/$id")->{code}, 1,
       '... by the debug id its name counts');
    is($t->verify, 'sound', '... the store is sound');
    is($t->run('rm', $build_id)->{code}, 0, '... rm by build id');
    is($t->verify, 'sound', '... removes it with its ids');
}

# --- ids of 32 bytes: none is found by its first 40 digits ---

my @long = ($build_id . '1' x 24,
            substr($build_id, 0, 2) . reverse(substr $build_id, 2) . '2' x 24);

sub long_tree {
    my ($t) = @_;
    my $source = $t->dir . '/long.c';
    write_file($source, "int main(void) { return 0; }\n");
    my ($folder, @stems) = $build_id =~ /^(..)/;
    mkdir $t->dir . "/$_" for 'long', "long/$folder";
    for my $long (@long) {
        push @stems, substr $long, 2;
        system('timeout', 60, 'gcc', '-g', "-Wl,--build-id=0x$long", '-o',
               $t->dir . "/long/$folder/$stems[-1].debug", $source) == 0
            or die 'gcc failed';
    }
    return ($t->dir . '/long', @stems);
}

# by the names, which are the ids without the folder
sub code_ids {
    my ($t) = @_;
    return [ sort map { substr($build_id, 0, 2) . s|/.*||r } $t->modules ];
}

{
    my $t = SymLoader->new;
    my ($tree) = long_tree($t);
    is($t->run('load', '--quiet', $tree)->{code}, 0, 'two long build ids');
    is_deeply(code_ids($t), \@long, '... are two modules');
    is($t->run('show', $build_id)->{code}, 1, 'a prefix of one is not an id');
    is($t->run('rm', $build_id)->{code}, 1, '... and removes none');
    is((json_lines($t->run('show', $_, '--json')->{out}))[0]{code_id}, $_,
       "show $_") for @long;
    is($t->run('rm', $long[1])->{code}, 0, 'rm of one');
    is_deeply(code_ids($t), [ $long[0] ], '... leaves the other');
}

# --- requests ---

sub question {
    my ($t, $name, $asked) = @_;
    return $t->post_json('/symbolicate/v5',
        { jobs => [{ memoryMap => [[$name, $asked]],
                     stacks => [[[0, $offset]]] }] });
}

sub function {
    my ($r) = @_;
    return $r->{json}{results}[0]{stacks}[0][0]{function};
}

my $t = SymFetch->new(sources => <<'CONF')->start;
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /long/ { internal; alias %%DIR%%/long/; log_not_found off; }
        location /tree {
            symbolicate;
            symbolicate_admin on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source tree uri=/long/ layout=native;
        }
        location /admin {
            symbolicate;
            symbolicate_admin on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source fault uri=/src/;
        }
CONF

# nothing there yet: the store records that neither form is available
for my $asked ($id, $build_id) {
    is(function(question($t, 'libcrash.so', $asked)), undef,
       "not there yet: $asked");
}
like($t->request('GET', "/admin/explain/libcrash.so/$id")->{body},
     qr/"state": "absent"/, '... and known to be absent');

my ($tree, $stem) = build_id_tree($t);
$t->load($tree);
for my $asked ($id, lc $id, $build_id, uc $build_id) {
    for my $name ('libcrash.so', 'other') {
        for my $time ('', ' again') {
            my $r = question($t, $name, $asked);
            is(function($r), 'ConvertUTF8toUTF16', "$name/$asked$time");
            is($r->{json}{results}[0]{found_modules}{"$name/$asked"},
               JSON::PP::true, '... found');
        }
    }
}

# a removal, of whatever kind, removes only one module
my (undef, @stems) = long_tree($t);
my ($folder) = $build_id =~ /^(..)/;

sub fetched {
    my $listed = $t->loader->run('ls', '--json', '--source', 'tree');
    return [ sort map { $_->{name} } grep { $_->{state} eq 'ready' }
             json_lines($listed->{out}) ];
}

sub fetch_long {
    for my $n (0, 1) {
        $t->post_json('/tree/v5', { jobs => [{
            memoryMap => [["long$n", $long[$n]]], stacks => [[[0, 0]]] }] });
    }
    is_deeply(fetched(), [ 'long0', 'long1' ], 'long ids, from a source');
    return;
}

sub is_removed {
    my ($n, $what) = @_;
    is_deeply(fetched(), [ 'long' . (1 - $n) ],
              "$what: one is removed, and the other is not");
    return;
}

fetch_long();
is($t->request('DELETE', "/tree/cache/long1/$long[1]?source=tree")->{json}{removed},
   JSON::PP::true, 'DELETE');
is_removed(1, 'DELETE');
my @keys = map { "v1/$folder/$stems[$_].debug" } 0, 1;
for my $n (0, 1) {
    fetch_long();
    my $counts = $t->post_json('/tree/events', { Records => [{
        eventName => 'ObjectCreated:Put',
        s3 => { bucket => { name => 'b' }, object => { key => $keys[$n] } } }] });
    is($counts->{json}{removed}, 1, "an event: $keys[$n]");
    is_removed($n, 'an event');
}
fetch_long();
is($t->loader->run('rm', $long[0])->{code}, 0, 'rm, by the daemon');
is_removed(0, 'rm');

my $r = $t->request('GET', "/admin/explain/libcrash.so/$build_id");
like($r->{body}, qr/"name": "\Q$stem\E", "id": "$id", "state": "ready"/,
     'explain shows the module that answers');
is($t->request('DELETE', "/admin/cache/libcrash.so/$build_id")->{status}, 200,
   'DELETE by build id');
like($t->request('GET', "/admin/explain/libcrash.so/$build_id")->{body},
     qr/"state": "unknown"/, '... it is gone, and so are older records');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

done_testing();
