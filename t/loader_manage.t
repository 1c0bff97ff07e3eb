#!/usr/bin/perl

# Operators inspect the store, remove modules, and verify it.  The output must
# be true, removed modules must be gone and no others, and eviction takes the
# least recently used.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(sym_text json_lines read_file write_file);

my $ID = '00112233445566778899AABBCCDDEEFF1';

sub ls { return json_lines($_[0]->run('ls', '--json')->{out}) }
sub stats { return (json_lines($_[0]->run('stat', '--json')->{out}))[0] }

# --- no store ---

{
    my $t = SymLoader->new;
    for my $args (['ls'], ['stat'], ['verify'], [ 'show', "a/$ID" ],
                  [ 'lookup', "a/$ID", '10' ], [ 'rm', "a/$ID" ],
                  [ 'evict', '--to', 0 ]) {
        my $r = $t->run(@$args);
        is($r->{code}, 3, "$args->[0] without a store");
        like($r->{err}, qr/no store there/, '... says so');
    }
    ok(!-e $t->store, '... and creates none');

    $t->file('file', 'text');
    my $r = $t->run({ store => $t->dir . '/file' }, 'init');
    is($r->{code}, 3, 'a file is not a store');
    isnt($r->{err}, '', '... is said');
}

# --- init ---

{
    my $t = SymLoader->new;
    is($t->run('init')->{code}, 0, 'init creates a store');
    is_deeply([ ls($t) ], [], '... an empty one');
    is(stats($t)->{quota}, 10 * 1024**3, '... with a quota of 10 GiB');

    is($t->run('init', '--quota', '3g')->{code}, 0, 'init again');
    is(stats($t)->{quota}, 3 * 1024**3, '... changes the quota');
    is($t->run('load', '--quiet', $t->file('a.sym', sym_text('a', $ID)))->{code},
       0, 'load');
    is($t->run('init')->{code}, 0, 'init of a full store');
    is(stats($t)->{quota}, 3 * 1024**3, '... keeps the quota');
    is_deeply([ $t->modules ], ["a/$ID"], '... and the modules');

    my $u = SymLoader->new;
    is($u->run('init', '--max-readers', 5000, '--quota', '1t')->{code}, 0,
       'a store for 5000 readers');
    ok(stats($u)->{max_readers} >= 5000, '... has the slots');
    is($u->run('init')->{code}, 0, 'init again');
    is(stats($u)->{max_readers}, 5000, '... removes none of them');
    is($u->run('init', '--max-readers', 10)->{code}, 0, 'fewer');
    is(stats($u)->{max_readers}, 10, '... are this many');
    is($u->run('load', '--quiet', $u->file('m.sym', sym_text('m', $ID)))->{code},
       0, 'a module is loaded');
    is(stats($u)->{max_readers}, 10, '... which does not add slots');

    # A reader keeps the table's size until it closes the store.
    my $reader = $u->start('lookup', "m/$ID");
    print { $reader->{in} } "1000\n";
    is(scalar(readline($reader->{out})), "f0\n", 'somebody reads');
    is($u->run('init', '--max-readers', 77)->{code}, 0, '... init meanwhile');
    is(stats($u)->{max_readers}, 10, '... changes nothing yet');
    close($reader->{in});
    is($u->wait($reader)->{code}, 0, '... and the reader exits without error');
    is(stats($u)->{max_readers}, 10, 'a reader changes nothing');
    is($u->run('init')->{code}, 0, 'the next writer');
    is(stats($u)->{max_readers}, 77, '... does, since no process has it open');
    is($u->run('init', '--quota', '16m', '--max-readers', 65536)->{code}, 0,
       '65536 readers in 16 MiB');
    is($u->verify, 'sound', '... in a store that is sound');

    my $group = getgrgid((split ' ', $))[0]);
    my $v = SymLoader->new;
    is($v->run('init', '--group', $group)->{code}, 0, 'a store for a group');
    is((stat $v->store)[5], (split ' ', $))[0], '... belongs to the group');
    ok((stat $v->store)[2] & 0050, '... which may enter it');
}

# --- ls, show, stat ---

{
    my $t = SymLoader->new;
    my $before = time;
    my $file = $t->file('b.sym', sym_text('b', $ID, functions => 5000,
                                          lines => 1));
    $t->run('load', '--quiet', $t->file('z.sym', sym_text('z', $ID)), $file,
            $t->file('a.sym', sym_text('a "quoted" name', $ID)),
            $t->file('b2.sym', sym_text('b', 'FF112233445566778899AABBCCDDEEFFA')));
    my $after = time;

    my @rows = ls($t);
    is_deeply([ map { "$_->{name}/$_->{id}" } @rows ],
              [ "a \"quoted\" name/$ID", "b/$ID",
                'b/FF112233445566778899AABBCCDDEEFFA', "z/$ID" ],
              'ls sorts by name and id');
    my $b = $rows[1];
    is($b->{state}, 'ready', 'ls: state');
    is($b->{quality}, 'lines', 'ls: quality');
    is($b->{file}, $file, 'ls: file');
    is($b->{file_bytes}, -s $file, 'ls: size of the source');
    ok($b->{bytes} > 5000 && $b->{bytes} < -s $file, 'ls: size');
    ok($b->{stored_at} >= $before && $b->{stored_at} <= $after, 'ls: when');

    is($b->{used_at}, 0, 'ls: loading it does not count as a use');

    my $text = $t->run('ls')->{out};
    my @lines = split /\n/, $text;
    like($lines[0], qr/^STATE +QUALITY +SIZE +FILE +STORED +USED +KIND +SOURCE +MODULE OR PATH$/,
         'ls has a head line');
    is(scalar(@lines), 5, '... and a line for each module');
    like($lines[2], qr{^ready +lines .* symcache  local  b/$ID$}, '... with the same facts');

    my ($show) = json_lines($t->run('show', '--json', "b/\L$ID")->{out});
    is($show->{$_}, $b->{$_}, "show and ls agree: $_")
        for qw(name id state quality file file_bytes bytes stored_at);
    is($show->{functions}, 5000, 'show: functions');
    is($show->{lines}, 10000, 'show: lines');
    is($show->{inlines}, 0, 'show: inlined calls');
    ok($show->{extents} >= 1, 'show: extents');
    is($show->{os} . $show->{arch}, 'Linuxx86_64', 'show: os and arch');
    like($t->run('show', "b/$ID")->{out}, qr/^functions +5000$/m,
         'show as text');

    my $s = stats($t);
    is($s->{modules}, 4, 'stat: modules');
    is($s->{ready}, 4, '... all ready');
    ok($s->{live_bytes} > 0 && $s->{live_bytes} <= $s->{file_bytes},
       'stat: live bytes fit the file');
    is($s->{file_bytes}, -s $t->store . '/data.mdb', 'stat: file bytes');
    is($s->{temp_limit}, $s->{quota} / 8, 'stat: room for temporary files');
    ok($s->{file_limit} + $s->{temp_limit} < $s->{quota}
       && $s->{live_limit} < $s->{file_limit}, 'stat: shares of the quota');
    like($t->run('stat')->{out}, qr/^modules +4 \(ready 4\)$/m, 'stat as text');

    # --- rm ---

    my $r = $t->run('rm', "b/$ID");
    is($r->{code}, 0, 'rm');
    is($r->{out}, "b/$ID: removed: symcache\n", '... reports the kind');
    is(scalar(ls($t)), 3, '... one module less');
    is($t->run('lookup', "b/$ID", '1000')->{code}, 1, '... it is gone');
    is($t->run('lookup', 'b/FF112233445566778899AABBCCDDEEFFA', '1000')->{code},
       0, '... the other module is not');
    ok(stats($t)->{live_bytes} < $s->{live_bytes}, '... its room is free');

    $r = $t->run('rm', "b/$ID", "z/$ID");
    is($r->{code}, 1, 'rm of a module that is not stored');
    like($r->{err}, qr{b/$ID: not in the store}, '... is said');
    is(scalar(ls($t)), 2, '... and the others are removed');
    is($t->run('show', "z/$ID")->{code}, 1,
        'show of a module that is not stored');
    is($t->verify, 'sound', 'the store is sound');
}

# --- lookup: addresses and exit codes ---

{
    my $t = SymLoader->new;
    my $m = "m/$ID";
    $t->run('load', '--quiet', $t->file('m.sym', sym_text('m', $ID, inlines => 1)));

    my $r = $t->run('lookup', $m, '1020', '1040');
    is($r->{code}, 0, 'two addresses');
    is($r->{out}, "f0\n/src/f.c:2\n\n" . "f_inlined\n/src/f.c:2\nf1\n/src/f.c:7\n\n",
       '... two answers, innermost first');

    $r = $t->run('lookup', $m, '1020', '9');
    is($r->{code}, 1, 'an address without a symbol');
    is($r->{out}, "f0\n/src/f.c:2\n\n??\n??:0\n\n", '... is answered as such');

    $r = $t->run('lookup', $m, 'ffffffffffffffff');
    is($r->{out}, "??\n??:0\n\n", 'the largest address');

    $r = $t->run({ stdin => "1020\r\n\n \t0x1020 \nxyz\n1020" }, 'lookup', $m);
    is($r->{code}, 1, 'a line that is not an address');
    is($r->{out}, ("f0\n/src/f.c:2\n\n" x 2) . "??\n??:0\n\n"
                  . "f0\n/src/f.c:2\n\n",
       '... has its answer, blank lines have none, the last needs no newline');
    like($r->{err}, qr/standard input: line 4: not a hexadecimal address: xyz/,
         '... and its line number');

    $r = $t->run({ stdin => 'f' x 200_000 . "\n1020\n" }, 'lookup', $m);
    is($r->{code}, 1, 'a line of 200,000 bytes');
    like($r->{out}, qr{f0\n/src/f\.c:2\n\n\z}, '... does not hurt the next');

    $r = $t->run({ stdin => '' }, 'lookup', $m);
    is($r->{code} . $r->{out}, '0', 'not an address');

    # Many are looked up together; each answer is in its position.
    my @known = ([ '1000', 'f_inlined', 1, 'f0', 7 ], [ '1020', 'f0', 2 ],
                 [ '1040', 'f_inlined', 2, 'f1', 7 ], [ '1068', 'f1', 3 ],
                 [ '1088', 'f_inlined', 3, 'f2', 7 ], ['xyz'], ['9']);
    my @asked = map { $known[ $_ * 5 % 7 ] } 0 .. 99;
    my $stdin = join '', map { "$_->[0]\n" } @asked;
    my @want = map {
        my (undef, @levels) = @$_;
        my $text = @levels ? '' : "??\n??:0\n";
        $text .= sprintf "%s\n/src/f.c:%d\n", splice @levels, 0, 2 while @levels;
        "$text\n";
    } @asked;
    $r = $t->run({ stdin => $stdin }, 'lookup', $m);
    is($r->{out}, join('', @want), '100 lookups have their answers in order');

    $r = $t->run({ stdin => $stdin }, 'lookup', '--json', $m);
    my @json = map {
        my @inlines = map { ($_->{function}, $_->{line}) } @{ $_->{inlines} // [] };
        [ ($_->{module_offset} // 'xyz') =~ s/^0x//r, @inlines,
          $_->{function} ? ($_->{function}, $_->{line}) : () ]
    } SymLoader::json_lines($r->{out});
    is_deeply(\@json, \@asked, '... in JSON, too');

    # More than are answered at a time.
    my $times = 1_400;
    $r = $t->run({ stdin => $stdin x $times }, 'lookup', $m);
    ok($r->{out} eq join('', @want) x $times, '140,000 questions, too');

    # A client sends a line, reads the answer, and only then sends the next.
    my $p = $t->start('lookup', $m);
    for my $i (0 .. 2) {
        printf { $p->{in} } "%x\n", 0x1020 + 0x40 * $i;
        is(scalar(readline($p->{out})), "f$i\n",
            "a dialogue over pipes, answer $i");
        readline($p->{out}) for 1 .. 2;
    }
    # Or it sends all lines at once, and continues in the middle of a line.
    print { $p->{in} } "1020\n1060\n10";
    is(join('', map { scalar readline $p->{out} } 1 .. 6),
       "f0\n/src/f.c:2\n\nf1\n/src/f.c:3\n\n",
       '... two answers, and nothing for half a line');
    print { $p->{in} } "a0\n";
    is(scalar(readline($p->{out})), "f2\n", '... until it is complete');
    readline($p->{out}) for 1 .. 2;

    # Changes of the store meanwhile are noticed.
    is($t->run('rm', $m)->{code}, 0, '... the module is removed meanwhile');
    print { $p->{in} } "1020\n";
    close($p->{in});
    my @rest = readline($p->{out});
    is($t->wait($p)->{code}, 1, '... and then not found');
}

# --- lookup: answers that would take too much memory together ---

{
    my $t = SymLoader->new;
    my ($depth, $n) = (60, 40_000);
    my $text = SymLoader::module_line('deep', $ID) . "FILE 0 f\n"
        . join('', map { "INLINE_ORIGIN $_ i$_\n" } 0 .. $depth - 1)
        . "FUNC 1000 10 0 out\n"
        . join('', map { "INLINE $_ 7 0 $_ 1000 10\n" } 0 .. $depth - 1)
        . "1000 10 9 0\n";
    $t->run('load', '--quiet', $t->file('deep.sym', $text));

    my $want = join '', "i" . ($depth - 1) . "\nf:9\n",
        (map { "i$_\nf:7\n" } reverse 0 .. $depth - 2), "out\nf:7\n\n";
    my $r = $t->run({ stdin => "1001\n" x $n }, 'lookup', "deep/$ID");
    is($r->{code}, 0, "$n answers of $depth inlined calls");
    ok($r->{out} eq $want x $n, '... all of them, some at a time');
}

# --- eviction: the least recently used go first ---

{
    my $t = SymLoader->new;
    my @names = map { "m$_" } 1 .. 6;

    $t->run('load', '--quiet', '--jobs', 1,
            map { $t->file("$_.sym", sym_text($_, $ID, functions => 2000)) }
                @names);
    my $all = stats($t)->{live_bytes};
    my $r = $t->run('evict', '--to', $all);
    is($r->{code}, 0, 'evict to the present size');
    is(scalar($t->modules), 6, '... changes nothing');

    # Used in this order, whatever the loading order was.
    my $when = 1_000_000_000;
    my %slot = map { $_ => slot_of($t, $_) } @names;
    set_use_time($t, $slot{$_}, $when += 100) for qw(m3 m1 m5 m2 m4 m6);
    $r = $t->run('lookup', "m1/$ID", '1000');

    $r = $t->run('evict', '--to', int($all * 5.5 / 6));
    is_deeply([ $t->modules ], [ map { "$_/$ID" } qw(m1 m2 m4 m5 m6) ],
              'evict takes the least recently used');
    $r = $t->run('evict', '--to', int($all * 4.5 / 6));
    is_deeply([ $t->modules ], [ map { "$_/$ID" } qw(m1 m2 m4 m6) ],
              '... a lookup is a use: m1 stays, m5 goes');
    like($r->{out}, qr/^1 module evicted \(symcache 1\)$/,
         '... and reports how many, and of which kind');
    $r = $t->run('evict', '--to', '1');
    is_deeply([ $t->modules ], [], '... down to nothing');
    is($t->run('evict', '--to', '1')->{out}, "0 modules evicted\n", '... once');
    is($t->verify, 'sound', 'the store is sound');
}

# The store's clock is a file of 32-bit use times.  Using a module shows which
# one is its own.
sub slot_of {
    my ($t, $name) = @_;
    my $slots = (-s $t->store . '/clock') / 4;

    set_use_time($t, $_, 1) for 0 .. 99;
    $t->run('lookup', "$name/$ID", '1000');
    my @times = unpack "L$slots", read_file($t->store . '/clock');
    my @marked = grep { $times[$_] > 1 } 0 .. $slots - 1;
    is(scalar(@marked), 1, "a lookup in $name marks one slot of the clock");
    return $marked[0];
}

sub set_use_time {
    my ($t, $slot, $seconds) = @_;

    open(my $fh, '+<:raw', $t->store . '/clock') or die;
    seek($fh, $slot * 4, 0) or die;
    print $fh pack('L', $seconds);
    close($fh) or die;
}

# --- the quota ---

{
    my $t = SymLoader->new;
    my $r = $t->run('init', '--quota', '15m');
    is($r->{code}, 3, 'a quota of 15 MiB is refused');
    like($r->{err}, qr/below 16 MiB/, '... and the minimum is reported');
    ok(!-e $t->store . '/data.mdb', '... nothing is created');
    is($t->run('init', '--quota', '16m')->{code}, 0, '16 MiB is enough');

    my @files = map {
        $t->file("q$_.sym", sym_text("q$_", $ID, functions => 60000, lines => 1))
    } 1 .. 30;
    $r = $t->run('load', '--quiet', '--jobs', 2, @files);

    is($r->{code}, 0, 'more modules than the quota holds');
    my $s = stats($t);
    ok($s->{live_bytes} <= $s->{live_limit}, '... stay within it');
    ok($s->{evicted} > 0 && $s->{modules} + $s->{evicted} == 30,
       '... by eviction');
    ok((grep { $_ eq "q30/$ID" || $_ eq "q29/$ID" } $t->modules) >= 1,
       '... of the older');
    is($t->verify, 'sound', '... the store is sound');

    my $huge = $t->file('huge.sym', sym_text('huge', $ID, functions => 800_000,
                                             lines => 1));
    $r = $t->run('load', '--quiet', '--jobs', 1, $huge,
                 $t->file('small.sym', sym_text('small', $ID)));
    is($r->{code}, 1, 'a module larger than the quota');
    like($r->{err}, qr/huge\.sym: over a limit: .* half of the store's quota/, '... is refused for that reason');
    is($t->run('show', "small/$ID")->{code}, 0, '... and the next is loaded');
    is($t->verify, 'sound', '... the store is sound');
}

# --- damage ---

{
    my $t = SymLoader->new;
    $t->run('load', '--quiet', fixtures('symbols'));
    is($t->run('verify')->{code}, 0, 'verify of a sound store');
    like($t->run('verify')->{out}, qr/^no faults in 9 modules, \d+ extents$/,
         '... says what it checked');

    my $data = read_file($t->store . '/data.mdb');
    my $at = index($data, 'crash_client::');
    my ($found) = $at;
    # Extents are somewhere in the middle of the file.
    my $middle = int(length($data) / 2);
    substr($data, $middle, 64) = "\xa5" x 64;
    write_file($t->store . '/data.mdb', $data);
    my $r = $t->run('verify');
    is($r->{code}, 3, 'verify of a damaged store');
    like($r->{out} . $r->{err}, qr/checksum|damaged|\d+ faults/,
         '... says what is wrong');

    # Truncated: pages in LMDB's tree are not in the file.
    truncate($t->store . '/data.mdb', int(length($data) / 3 / 4096) * 4096);
    for my $args (['verify'], [ 'lookup', 'crash-client/509C0610949836F7B70BD88BCF03E5400',
                                map { sprintf '%x', $_ * 4096 } 1 .. 400 ]) {
        # Memory of LMDB is dropped with the store: no leak report.
        my $no_leaks = ($ENV{ASAN_OPTIONS} // '') . ':detect_leaks=0';
        $r = $t->run({ env => { ASAN_OPTIONS => $no_leaks } }, @$args);
        is($r->{signal}, 0, "$args->[0] of a cut store does not crash");
        is($r->{code}, 3, '... but says that it is damaged');
    }
}

done_testing();
