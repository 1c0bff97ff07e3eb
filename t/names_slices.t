# A hundred thousand names that are costly to demangle, all different, are
# answered, and a request for two frames does not wait for them.  The order of
# the answers proves it, not a clock.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP;
use SymElf qw(info run_ok);
use SymLoader qw(write_file);
use SymTest;
use Test::More;

my $COUNT = SymTest::is_slow() ? 10_000 : 100_000;

# Size of a request that nginx reads in one go: between two reads, others are
# served anyway.
my $FRAMES = 5_000;
my $dir = tempdir(CLEANUP => 1);

# Each type occurs twice in the next: a name of 180 bytes for 2^17 names, whose
# demangling stops at 4,096 bytes.
my $bomb = join '', map { "S_IS${_}_S${_}_E" } 0 .. 9, 'A' .. 'F';
sub name_of { return sprintf '_Z7f%06u1PIiiE%s', $_[0], $bomb }

my @names = map { name_of($_) } 0 .. $COUNT - 1;
cmp_ok(length($names[0]), '>', 170, 'long names');

my $source = write_file("$dir/bombs.s",
    join '', ".text\n", map { <<"END" } @names);
.globl $_
.type $_, \@function
$_: .byte 0x90
.size $_, 1
END
# each name once, in .symtab: no dynamic symbol table
run_ok('gcc', '-c', '-o', "$dir/bombs.o", $source);
run_ok('ld', '-shared', '--build-id', '--hash-style=sysv', '-o',
    "$dir/bombs.so", "$dir/bombs.o");
my %info = info("$dir/bombs.so");
my @module = ('bombs.so', $info{'debug-id'});
my ($text) = map { hex } qx(nm "$dir/bombs.so") =~ /^([0-9a-f]+) T _Z7f000000/m;

# Counted only by frames, they would be one slice.  Nothing is cached, so that
# the second round costs as much.
my $t = SymTest->new
    ->load("$dir/bombs.so", SymTest::symbol_file('overflow',
        'B0E1FC01EF48E39CAF5C881D2DF0C3840'))
    ->conf(http => 'symbolicate_answer_cache off;'
            . 'symbolicate_demangle_cache off;',
        server => "client_body_buffer_size 32m; symbolicate_slice $FRAMES;",
        locations => <<'CONF')
        location /symbolicate { symbolicate; }
        location /atos        { symbolicate atos; }
CONF
    ->start;

sub body_of {
    my ($module, @offsets) = @_;
    return $t->json({ jobs => [{ memoryMap => [$module],
        stacks => [[map { [0, $_] } @offsets]] }] });
}

sub functions_of { return $_[0]{body} =~ /"function": "([^"]*)"/g }

my $short = $t->request_text('POST', '/symbolicate/v5', keepalive => 1,
    body => body_of(['overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'],
        0x1000, 0x1010));

# A short request is sent when the one before it was answered; in a slice or two
# only a few could be answered.
my $FEW = 5;

# The number of short requests answered before a long one, at best, and its
# answer.
sub overtaken {
    my ($long) = @_;
    my ($best, $answer) = (0);

    for my $round (1 .. 5) {
        my ($keep, $socket) = ($t->connect, $t->connect);
        my $answered = 0;

        $t->send_all($socket, $long);
        while ($answered <= $FEW) {
            $t->send_all($keep, $short);
            my $r = $t->raw_response($keep);
            last if $r->{status} != 200
                || IO::Select->new($socket)->can_read(0);
            $answered++;
        }
        close $keep;

        $best = $answered if $answered > $best;
        $answer = $t->raw_response($socket);
        last if $best > $FEW;
    }
    return ($best, $answer);
}

my %body = (
    '/symbolicate/v5' => sub { body_of(\@module, @_) },
    '/atos' => sub { $t->json({ image => $module[0], uuid => $module[1],
        offset => JSON::PP::true, addresses => \@_ }) },
);

for my $path (sort keys %body) {
    my @offsets = map { $text + $_ } 0 .. $COUNT - 1;
    my ($best, $answer) = overtaken($t->request_text('POST', $path,
        body => $body{$path}->(@offsets[0 .. $FRAMES - 1])));

    cmp_ok($best, '>', $FEW,
        "$path: short requests are answered before the long one");
    is_deeply([ functions_of($answer) ], [ @names[0 .. $FRAMES - 1] ],
        'the long one is answered: such names stay mangled');

    my @functions = functions_of($t->post($path, $body{$path}->(@offsets)));
    is(scalar(@functions), $COUNT, 'one for all of them, too');
    ok("@functions" eq "@names", '... with their names');
}

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
