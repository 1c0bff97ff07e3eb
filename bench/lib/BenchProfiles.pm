package BenchProfiles;

# Input of continuous profilers: profiles of 400,000 locations, in pprof's and in
# OTLP's form, and symbfiles.  The profiled program is symloader itself.

use strict;
use warnings;

use Bench qw(command pairs spurt start_nginx stop_nginx worker_of cpu_ns);
use BenchDwarf;
use BenchKit qw($data $loader $module $rounds is_quick made generated row note thousands mb);

my $ENTRIES_OF_A_STACK = 50;

# --- protobuf ---

sub varint {
    my ($n) = @_;
    my $bytes = '';
    for (; $n > 0x7f; $n >>= 7) {
        $bytes .= chr($n & 0x7f | 0x80);
    }
    return $bytes . chr $n;
}

sub number { return varint($_[0] << 3) . varint($_[1]) }
sub bytes { return varint($_[0] << 3 | 2) . varint(length $_[1]) . $_[1] }

# A profile without symbols: profile.proto's fields.
sub profile_of {
    my ($base, $id, @offsets) = @_;
    my $strings = join '', map { bytes(6, $_) } '', 'samples', 'count', 'symloader', $id;
    my $type = bytes(1, number(1, 1) . number(2, 2));
    my $mapping = bytes(3, number(1, 1) . number(2, $base) . number(3, $base + (1 << 30)) . number(5, 3) . number(6, 4));
    my ($locations, $samples) = ('', '');

    for my $i (1 .. @offsets) {
        $locations .= bytes(4, number(1, $i) . number(2, 1) . number(3, $base + $offsets[ $i - 1 ]));
    }
    for (my $i = 1; $i + $ENTRIES_OF_A_STACK <= @offsets + 1; $i += $ENTRIES_OF_A_STACK) {
        my $ids = join '', map { varint($_) } $i .. $i + $ENTRIES_OF_A_STACK - 1;
        $samples .= bytes(2, bytes(1, $ids) . bytes(2, varint(1)));
    }
    return $type . $samples . $mapping . $locations . $strings;
}

# --- profiles ---

# CPU time of the worker for a post.
sub ask {
    my ($nginx, $file) = @_;
    my $worker = worker_of($nginx);
    my $before = cpu_ns($worker);
    command('taskset', '-c', '1', 'curl', '-sS', '--fail', '-H', 'Expect:', '--data-binary', "\@$file",
        "$nginx->{url}/symbolicate/profile", '-o', "$file.named");
    return { cpu => (cpu_ns($worker) - $before) / 1e9 };
}

sub case_profile {
    my $n = is_quick() ? 20_000 : 400_000;
    my $store = made("$data/store-profile", sub { command($loader, 'load', '--store', $_[0], '--quiet', $loader) });
    my ($id) = command('readelf', '-n', $loader) =~ /Build ID: ([0-9a-f]+)/ or die "bench: no build id\n";
    my ($address, $offset, $size) = map { hex } command('readelf', '-SW', $loader)
        =~ /\s\.text\s+PROGBITS\s+(\S+)\s+(\S+)\s+(\S+)/ or die "bench: no .text\n";
    my ($object) = command($loader, 'ls', '--store', $store) =~ m{(\S+/[0-9A-F]{33})$}m
        or die "bench: no module in $store\n";
    my $base = 0x7f << 40;

    srand 1;
    my @offsets = map { int rand $size } 1 .. $n;
    my %file = map { $_ => "$data/profile.$_" } qw(pprof otlp addresses);
    spurt($file{pprof}, profile_of($base, $id, map { $_ + $offset } @offsets));
    spurt($file{addresses}, join '', map { sprintf "%x\n", $_ + $address } @offsets);
    command('python3', 't/lib/otlp.py', 'make', $file{pprof}, $file{otlp}, "symloader.gnu=$id");

    my $nginx = start_nginx(dir => "$data/nginx", store => $store, modules => [$module],
        server => 'location = /symbolicate/profile { symbolicate profile; }');
    my ($pprof, $otlp, $lookup) = pairs($rounds,
        sub { ask($nginx, $file{pprof}) },
        sub { ask($nginx, $file{otlp}) },
        sub { BenchDwarf::filter(1, $file{addresses}, $loader, 'lookup', '--store', $store, $object) });

    for ([ 'pprof', $pprof ], [ 'OTLP', $otlp ]) {
        my ($name, $ours) = @$_;
        my $named = -s $file{ lc $name } . '.named';
        die "bench: the $name profile got no names\n" if $named < 1.5 * -s $file{ lc $name };
        row("$name, " . thousands($n) . ' locations: CPU of the worker', sprintf('%.2f s', $ours->{cpu}),
            sprintf('symloader lookup %.2f s', $lookup->{cpu}), sprintf('%.2f', $ours->{cpu} / $lookup->{cpu}));
        note(sprintf '%s, %s locations: %s in, %s out, %.0f ns a location.', $name, thousands($n),
            mb(-s $file{ lc $name }), mb($named), $ours->{cpu} / $n * 1e9);
    }
    stop_nginx($nginx);
    return;
}

# --- symbfiles ---

# zlib's CRC-32 of the same bytes, piece by piece in turn with the reader, shows
# how fast the machine is: 4,070 MB/s where the reader has to do 300 (NOTES.md).
my $TARGET = 300 / 4070;

sub case_symbfile {
    my $text = generated('symb', 901, '--style', 'rust', '--size', is_quick() ? '10m' : '150m');
    my $file = made("$data/symb.symbfile",
        sub { command($loader, 'dump', '--format=symbfile', '-o', $_[0], $text) }, $text);
    my ($r) = pairs($rounds, sub {
        my $said = command('taskset', '-c', '0', 'build/bench/bench_symbfile', $file);
        my ($reader, $crc) = $said =~ /^reader: ([0-9.]+) MB\/s.* CRC-32 ([0-9.]+)/m
            or die "bench: bench_symbfile said: $said";
        return { reader => $reader, crc => $crc, ratio => $reader / $crc };
    });

    row('symbfile: read, a core', sprintf('%.0f MB/s', $r->{reader}),
        sprintf('CRC-32 of its bytes %s MB/s', thousands($r->{crc})), sprintf('%.3f', $r->{ratio}),
        sprintf('>= %.3f', $TARGET), $r->{ratio} >= $TARGET);
    return;
}

1;
