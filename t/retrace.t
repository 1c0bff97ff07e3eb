#!/usr/bin/perl

# A stack trace of a shrunk Android or Java program has invented names of
# classes and methods.  `symloader retrace` restores the original names and
# lines, and changes nothing else: traces are pasted from logs, with prefixes,
# causes and text that only looks like a class.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader;

my $t = SymLoader->new;
my $map = $t->file('mapping.txt', <<'MAP');
# compiler: R8
com.example.Main -> x:
# {"id":"sourceFile","fileName":"Main.kt"}
    1:1:void com.example.Rocket.start():90:90 -> a
    1:1:void launch(int):65 -> a
    2:4:void run(java.lang.String):70:72 -> b
com.example.BadException -> y:
    1:1:void <init>():5:5 -> <init>
MAP

sub retrace {
    my ($text, @more) = @_;
    return $t->run({ no_store => 1, stdin => $text }, 'retrace', $map, @more);
}

my @cases = (
    ['a frame, with its inlined call', "\tat x.a(SourceFile:1)\n",
     "\tat com.example.Rocket.start(Rocket.kt:90)\n"
     . "\tat com.example.Main.launch(Main.kt:65)\n"],
    ['a module and a note of a logger',
     "  at app//x.b(Unknown Source:3) ~[app.jar:na]\n",
     "  at app//com.example.Main.run(Main.kt:71) ~[app.jar:na]\n"],
    ['no line', "\tat x.b(SourceFile)\n", "\tat com.example.Main.run(Main.kt)\n"],
    ['a descriptor', "\tat x.b(Ljava/lang/String;)V\n",
     "\tat com.example.Main.run(java.lang.String)\n"],
    ['an exception', "y: x: text\n", "com.example.BadException: x: text\n"],
    ['of a thread', "Exception in thread \"x\" y\n",
     "Exception in thread \"x\" com.example.BadException\n"],
    ['a cause', "Caused by: y: text\n",
     "Caused by: com.example.BadException: text\n"],
    ['a suppressed one', "\tSuppressed: y\n",
     "\tSuppressed: com.example.BadException\n"],
    ['logcat, brief', "E/AndroidRuntime( 1234): \tat x.b(SourceFile:2)\n",
     "E/AndroidRuntime( 1234): \tat com.example.Main.run(Main.kt:70)\n"],
    ['logcat, its exception', "E/AndroidRuntime( 1234): y: text\n",
     "E/AndroidRuntime( 1234): com.example.BadException: text\n"],
    ['logcat, with times', "11-24 12:00:00.123  1  2 E Tag: Caused by: y\n",
     "11-24 12:00:00.123  1  2 E Tag: Caused by: com.example.BadException\n"],
    ['a lock', "  - locked <0x0abc> (a x)\n",
     "  - locked <0x0abc> (a com.example.Main)\n"],
);

for my $case (@cases) {
    my ($name, $in, $want) = @$case;

    is(retrace($in)->{out}, $want, $name);
}

for my $line ("\t... 12 more\n", "\tat java.lang.Thread.run(Thread.java:829)\n",
              "\tat z.a(Native Method)\n", "he met y at x.b today\n", "\n",
              "java.lang.Error: at x\n", "at (\n", "x y: z\n") {
    is(retrace($line)->{out}, $line, 'as it is: ' . $line =~ s/\s+/ /gr);
}

my $trace = $t->file('trace.txt', "\tat x.b(SourceFile:2)");
is($t->run({ no_store => 1 }, 'retrace', $map, $trace)->{out},
   "\tat com.example.Main.run(Main.kt:70)\n", 'a file; its last line has no end');

my $r = $t->run({ no_store => 1 }, 'retrace', $t->file('no', "text\n"), $trace);
is($r->{code}, 1, 'no mapping: 1');
like($r->{err}, qr/no symbol file|not/, '... and the reason');
is($t->run({ no_store => 1 }, 'retrace', $map, '/none')->{code}, 1, 'no trace: 1');

# --- the store ---

is($t->run('load', '--quiet', $map)->{code}, 0, 'a mapping is loaded');
my ($id) = $t->run('ls')->{out} =~ m{([0-9A-F]{32}0)};
is($t->run('lookup', '--kind=jvm', $id, 'x.a:1')->{out},
   "com.example.Rocket.start(Rocket.kt:90) com.example.Main.launch(Main.kt:65)\n",
   'lookup by class, method and line');
is($t->run('lookup', '--kind=jvm', $id, 'x.b(java.lang.String)')->{out},
   "com.example.Main.run(Main.kt:70)\n", '... and by parameters');
like($t->run('dump', '--kind=jvm', $id)->{out},
     qr/^x\.b:2-4 com\.example\.Main\.run\(java\.lang\.String\):70-72$/m, 'dump');
is($t->run('verify')->{code}, 0, 'the store is sound');

done_testing();
