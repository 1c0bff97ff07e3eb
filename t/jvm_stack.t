#!/usr/bin/perl

# `symloader symbolicate --server` sends a stack trace of Java or Android to the
# server that has the mappings, as it does with stacks of JavaScript: names and
# lines are replaced where they are, and all other text stays.  The same text is
# what `symloader retrace` makes with the mapping itself.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymLoader qw(write_file);
use Test::More;

my $t = SymFolder->new;
my $dir = $t->dir;
my $socket = $t->loader->socket_path;

$t->conf(locations => <<"CONF");
        location /symbolicate {
            symbolicate sentry;
            symbolicate_loader unix:$socket;
            symbolicate_source folder uri=/maps/ layout=unified kinds=proguard;
        }
        location /maps/ { internal; alias $dir/maps/; }
CONF

my $MAP = <<'MAP';
com.example.Main -> x:
# {"id":"sourceFile","fileName":"Main.kt"}
    1:1:void com.example.Rocket.start():90:90 -> a
    1:1:void launch(int):65 -> a
    2:4:void run(java.lang.String):70:72 -> b
com.example.BadException -> y:
    1:1:void <init>():5:5 -> <init>
MAP
my @ids = map {"0c0ffee0-0000-5000-8000-00000000000$_"} 1 .. 3;
mkdir "$dir/maps";
mkdir "$dir/maps/0c";

sub place {
    my ($id, $text) = @_;
    my $folder = "$dir/maps/0c/" . substr $id =~ tr/-//dr, 2;
    mkdir $folder;
    write_file("$folder/proguard", $text);
    return;
}

place($ids[0], $MAP);
place($ids[1], "other.Thing -> z:\n    1:1:void f():3:3 -> a\n");
write_file("$dir/mapping.txt", $MAP);
$t->start;
my $server = 'http://' . $t->address . '/symbolicate';

sub ask {
    my ($text, $ids, @more) = @_;
    write_file("$dir/trace.txt", join('', map {"mapping $_\n"} @$ids) . $text);
    my $r = $t->loader->run({ no_store => 1 }, 'symbolicate', '--server', $server, @more, "$dir/trace.txt");
    $r->{out} =~ s/^mapping $_\n// for @$ids;
    return $r;
}

my $trace = <<'TRACE';
11-24 12:00:00.123  1  2 E Tag: some text: with y in it
Exception in thread "main" y: it broke: x
	at x.a(SourceFile:1)
	at java.base/java.lang.Thread.run(Thread.java:829)
	at app//x.b(Unknown Source:3) ~[app.jar:na]
  - locked <0x0abc> (a x)
	at x.b(Ljava/lang/String;)V
	at x.gone(SourceFile)
	... 12 more

Caused by: y
	at z.a(Native Method)
	Suppressed: y: text
	at x.b(SourceFile:2)
E/AndroidRuntime( 1234): 	at x.b(SourceFile:2)
TRACE
my $want = $t->loader->run({ no_store => 1, stdin => $trace }, 'retrace', "$dir/mapping.txt")->{out};
isnt($want, $trace, 'retrace has names');
my $r = ask($trace, [$ids[0]]);
is($r->{out}, $want, '... and the server has the same');
is($r->{code}, 0, '... with success') or diag $r->{err};

$r = ask("\tat z.a(SourceFile:1)\n\tat x.b(SourceFile:2)\n", [@ids[1, 0]], '--explain');
is($r->{out}, <<"END", 'two mappings, which are explained');
	at other.Thing.f(Thing.java:3)
	at com.example.Main.run(Main.kt:70)

mapping $ids[1]: found, 1 classes
mapping $ids[0]: found, 2 classes
END

$r = ask("y: text\n\tat x.b(SourceFile:2)\n", [$ids[2]]);
is($r->{out}, "y: text\n\tat x.b(SourceFile:2)\n", 'a mapping that no source has: the text is unchanged');
is("$r->{code} $r->{err}", "1 symloader: $server: mapping $ids[2]: missing\n", '... with a reason');

$r = ask("\tat x.b(SourceFile:2)\n", []);
like($r->{err}, qr/which mapping is it\? Add a line "mapping UUID"/, 'no mapping is named');
is($r->{code}, 2, '... an error of use');
$r = ask("\tat \xff.b(SourceFile:2)\n", [$ids[0]]);
is($r->{out}, "\tat \xff.b(SourceFile:2)\n", 'bytes that are not UTF-8 stay');

write_file("$dir/trace.txt", "\tat x.b(SourceFile:2)\n");
like($t->loader->run({ no_store => 1 }, 'symbolicate', "$dir/trace.txt")->{err},
    qr/a stack of Java needs --server; without a server, use `symloader retrace MAPPING`/, 'without a server');

is($t->end, '', 'a clean log');
done_testing();
