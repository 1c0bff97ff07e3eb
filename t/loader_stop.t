#!/usr/bin/perl

# A loader can be stopped or killed at any moment, also in the middle of a
# module: the store stays sound, contains only complete modules, and the next
# loader can write.  While one writes, a second writer is refused and readers
# are not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Fcntl qw(LOCK_EX);
use IO::Handle;
use Test::More;

use SymFixtures qw(fixture_modules fixtures);
use SymLoader qw(sym_text json_lines);

my $ID = '00112233445566778899AABBCCDDEEFF1';

# --- one writer ---

{
    my $t = SymLoader->new;
    my $first = $t->file('first.sym', sym_text('first', $ID));
    my $p = $t->start('load', '--jobs', 1, $first, '/dev/stdin');

    like(scalar(readline($p->{out})), qr/first\.sym: first/,
         'a loader is running');

    for my $args ([ 'load', $first ], [ 'rm', "first/$ID" ],
                  [ 'evict', '--to', 0 ], ['init']) {
        my $r = $t->run(@$args);
        is($r->{code}, 4, "$args->[0] meanwhile is refused");
        like($r->{err}, qr/busy/, '... with the reason');
    }
    for my $args ([ 'lookup', "first/$ID", '1000' ], ['ls'], ['verify'],
                  ['stat'], [ 'show', "first/$ID" ]) {
        is($t->run(@$args)->{code}, 0, "$args->[0] meanwhile works");
    }

    print { $p->{in} } sym_text('second', $ID);
    close($p->{in});
    my @rest = readline($p->{out});
    is($t->wait($p)->{code}, 0, 'the first continues undisturbed');
    is_deeply([ $t->modules ], [ "first/$ID", "second/$ID" ],
              '... and finishes its work');
    is($t->run('rm', "first/$ID")->{code}, 0, 'then others may write');
}

# --- a child of a killed writer holds the lock for a moment ---

{
    my $t = SymLoader->new;
    my $first = $t->file('first.sym', sym_text('first', $ID));
    my $lock = $t->store . '/writer.lock';

    $t->run('init');
    open(my $held, '<', $lock) or die "$lock: $!";
    flock($held, LOCK_EX) or die "$lock: $!";
    my $p = $t->start('load', $first);
    my $has_it = sub {
        return grep { (readlink($_) // '') eq $lock } glob("/proc/$p->{pid}/fd/*");
    };
    for (1 .. 30_000) {
        last if $has_it->();
        select(undef, undef, undef, 0.001);
    }
    close($held);
    my @out = readline($p->{out});
    is($t->wait($p)->{code}, 0, 'a lock is waited for');
    is_deeply([ $t->modules ], ["first/$ID"], '... and the module is stored');
}

# --- signals: complete modules or nothing ---

for my $signal ('INT', 'TERM', 'HUP') {
    my $t = SymLoader->new;
    my $first = $t->file('first.sym', sym_text('first', $ID));
    my $p = $t->start('load', '--jobs', 1, $first, '/dev/stdin');

    readline($p->{out});
    # Twice the capacity of a pipe: when this returns, it is being converted.
    print { $p->{in} } sym_text('second', $ID, functions => 4000);
    kill($signal, $p->{pid});
    my @rest = readline($p->{out});
    my $r = $t->wait($p);
    close($p->{in});

    is($r->{signal}, { INT => 2, TERM => 15, HUP => 1 }->{$signal},
       "SIG$signal ends a loader, by that signal");
    like($r->{err}, qr/stopped by a signal/, '... it reports it');
    is_deeply([ $t->modules ], ["first/$ID"],
              '... finished modules are there, others are not');
    is($t->verify, 'sound', '... the store is sound');
    is($t->run('load', '--quiet', $first)->{code}, 0,
       '... and can be written again');
}

# --- kill -9, after any number of modules, while others are in progress ---

{
    my %fixtures = fixture_modules();
    my $big = sym_text('big', $ID, functions => 30000, inlines => 1);

    for my $after (0 .. 11) {
        my $t = SymLoader->new;
        my @files = map { $t->file("big$_.sym",
                                   $big =~ s/ big$/ big$_/mr) } 1 .. 3;
        my $p = $t->start('load', '--jobs', 3, @files,
                          fixtures('symbols'));
        my @told;

        while (@told < $after && defined(my $line = readline($p->{out}))) {
            push @told, $line =~ m{: (\S+/[0-9A-F]{33}): };
        }
        kill('KILL', $p->{pid});
        my @rest = readline($p->{out});
        $t->wait($p);

        # Killed before it created the store: nothing to check.
        next if $t->run('stat')->{code} == 3 && !@told;

        my @modules = $t->modules;
        my %is_there = map { $_ => 1 } @modules;
        is(scalar(@told), $after, "killed after $after files");
        is_deeply([ grep { !$is_there{$_} } @told ], [],
                  '... modules reported as stored are there');
        is($t->verify, 'sound', '... the store is sound');

        my @wrong = grep {
            my ($m) = json_lines($t->run('show', '--json', $_)->{out});
            $m->{state} ne 'ready' || !$m->{extents}
        } @modules;
        is_deeply(\@wrong, [], '... every module is complete');

        is($t->run('load', '--quiet', @files)->{code}, 0,
           '... the next loader takes over');
        is($t->verify, 'sound', '... and leaves a sound store');
    }
}

done_testing();
