#!/usr/bin/perl

# The demangler of Swift is a foreign library that hostile names can make crash,
# loop or use up memory.  It may cost a module its demangled names, but never
# the module; and the loader reports how many names stay mangled.

use strict;
use warnings;

use Cpanel::JSON::XS ();
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymMacho qw(fat macho);
use SymServe;
use SymSwift qw(swift_library);

my $JSON = Cpanel::JSON::XS->new->utf8->canonical;
my $t = SymServe->new(faults => 1);    # sanitizer reports are expected
my $library = swift_library($t->dir);
my $failed = qr/\b2 names of Swift stay mangled: the demangler failed on this file$/m;
my $n = 0;

# A module with these names, each 16 bytes long.
sub module {
    my (@names) = @_;
    my $id = sprintf '%032X0', ++$n;
    my $text = "MODULE Linux x86_64 $id app\n";

    $text .= sprintf "FUNC %x 10 0 %s\n%x 10 %d 0\n", 0x1000 + 16 * $_, $names[$_],
        0x1000 + 16 * $_, 1 + $_ for 0 .. $#names;
    return ($t->file("$n.sym", $text =~ s/\n/\nFILE 0 a.swift\n/r), $id);
}

sub dashed { return lc $_[0] =~ s/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/$1-$2-$3-$4-$5/r }

# Names in Sentry's API, for each: [symbol, function].
sub shown {
    my ($id, $count, $type, $base) = (@_, 'elf', 0x1000);
    my $path = $t->file('request.json', $JSON->encode({
        modules => [ { type => $type, debug_id => dashed($id), debug_file => 'app' } ],
        stacktraces => [ { frames => [ map {
            { instruction_addr => sprintf('0x%x', $base + 16 * $_),
              addr_mode => 'rel:0', adjust_instruction_addr => $JSON->false } }
            0 .. $count - 1 ] } ] }));
    my $r = $t->run('symbolicate', '--format', 'json', $path);
    return [ map { [ @$_{ 'symbol', 'function' } ] }
        @{ $JSON->decode($r->{out})->{stacktraces}[0]{frames} } ];
}

sub raw { return [ map { [ $_, $_ ] } @_ ] }

# --- no demangler ---

my @swift = ('$s3app1fyyF', '_$s3app1gyyF', 'main', '_TFoo');
$t->serve('--swift-demangler', '/dev/null');
my ($file, $id) = module(@swift);
my $r = $t->run('load', $file);
is($r->{code}, 0, 'a file that is not a library: the module is stored');
like($r->{err}, qr/\b2 names of Swift stay mangled: the demangler cannot be loaded: /,
     '... says why its names stay mangled');
is_deeply(shown($id, 4), raw(@swift), '... they do');
is($t->stats->{swift_mangled}, 2, '... and are counted');
$t->stop;

$t->serve('--swift-demangler', 'off');
($file, $id) = module(@swift);
is($t->run('load', $file)->{err}, '', 'switched off: nothing is reported');
is_deeply(shown($id, 4), raw(@swift), '... names stay mangled');
is($t->stats->{swift_mangled}, 0, '... and do not count');
$t->stop;

for my $path ('relative.so', '/nonexistent/lib.so', '') {
    is($t->run('load', '--swift-demangler', $path, $file)->{code}, 2,
       "--swift-demangler '$path': refused");
}

# --- a working one ---

$t->serve('--swift-demangler', $library, '--convert-cpu', 1, '--convert-memory',
          '128m');
push @swift, '$S3app', '_$S3app', '_T03app', '$e3app', '_$e3app', '@__swiftmacro_3app',
    '$x3app', '_Z1fv', '$s3app " \\', '$s', '$s3appnone', '$s3appsame',
    '$s3appendless', '$s3appbytes', '$s' . 'a' x 4094, '$s' . 'a' x 4080,
    '$s' . 'a' x 4200, '$sbrief' . 'a' x 32_761, '$sbrief' . 'a' x 32_762, '$s3app1fyyF';
($file, $id) = module(@swift);
is($t->run('load', $file)->{err}, '', 'with a demangler: nothing to report');
is_deeply(shown($id, scalar @swift), [ map { [ $_,
    /brief/ ? (length > 32_768 ? $_ : '<brief 2>')
    : $_ eq 'main' || /^\$x|none|same|endless|bytes/ || length > 4087 ? $_
    : $_ eq '_Z1fv' ? 'f()' : "<$_ 2>" ] } @swift ],
    '... names that may be Swift are shown demangled, if they can be');
is($t->stats->{swift_mangled}, 0, '... none counts');
like($t->run('lookup', "app/$id", '0x1000')->{out}, qr/^\$s3app1fyyF$/m,
     '... other APIs show them mangled');

# --- one that fails ---

for (qw(crash abort deep memory spin file)) {
    my @names = ('$s3app1fyyF', '$s3app' . $_);
    ($file, $id) = module(@names);
    $r = $t->run('load', $file);
    is($r->{code}, 0, "$_: the module is stored");
    is_deeply([ map { $_->[0] } @{ shown($id, 2) } ], \@names, '... with its names');
    next if $_ eq 'file';    # silently refused under sanitizers
    like($r->{err}, $failed, '... says so');
    is_deeply(shown($id, 2), raw(@names), '... none is shown demangled');
}
cmp_ok($t->stats->{swift_mangled}, '>=', 10, 'they are counted');

# In a file with several modules, those finished before the crash keep their
# names, and are reported once.
my @uuids = map { sprintf '%032X', 0xAB00 + $_ } 1 .. 3;
my @slices = map { macho(uuid => $uuids[$_], base => 0x1000, text => [ 0x1000, 0x1020 ],
    symbols => [ [ ('_$s3app1f', '_$s3appcrash', '_$s3app1g')[$_], 0x1000 ],
                 [ '_$s3app1h', 0x1010 ] ]) } 0 .. 2;
$file = $t->file('fat', fat([ 7, 3, $slices[0] ], [ 0x01000007, 3, $slices[1] ],
                            [ 0x0100000c, 0, $slices[2] ]));
$r = $t->run('load', $file);
is($r->{code}, 0, 'a fat file: its modules are stored');
is(() = $r->{out} =~ /^\S+: \S+: publics, /mg, 3,
    '... each is reported once') or diag $r->{out};
is(() = $r->{err} =~ /$failed/g, 1, '... and so is the failure') or diag $r->{err};
my @found = map { shown($_ . '0', 2, 'macho', 0) } @uuids;
is_deeply([ map { scalar grep { $_->[1] =~ /^</ } @$_ } @found ], [ 2, 0, 0 ],
          '... names are demangled up to the failure');

is($t->verify, 'sound', 'the store is sound');
is($t->stop->{code}, 0, 'the daemon survives');

# --- without a daemon, where converters serve file after file ---

my @modules = map { [ module('$s3app1fyyF', $_) ] } 'main', '$s3appcrash', 'main';
is($t->run('load', '--jobs', 1, '--swift-demangler', $library, map { $_->[0] } @modules)
       ->{code}, 0, 'one file of three makes it crash');
is_deeply([ map { shown($_->[1], 1)->[0][1] } @modules ],
          [ '<$s3app1fyyF 2>', '$s3app1fyyF', '<$s3app1fyyF 2>' ],
          '... only its names stay mangled');
done_testing();
