package BenchJavaScript;

# A script with its source map, compared with Sentry's code in Rust
# (bench/peers/symbolic): conversion, and lookups of lines and columns.

use strict;
use warnings;

use File::Path qw(make_path remove_tree);

use Bench qw(command pairs slurp spurt);
use BenchKit qw($data $loader $rounds row note peer);
use BenchWindows;

my @PACKAGES = ('typescript@5.8.3', 'esbuild@0.25.10');

# Minified by esbuild: a script of 3.6 MB, a map of 14 MB.
my $BUNDLE = <<'END';
require("esbuild").buildSync({ stdin: { contents: "globalThis.kept = require('typescript');", resolveDir: "." },
    bundle: true, minify: true, sourcemap: true, platform: "node", outfile: process.argv[1] });
END

sub case_js {
    my $peer = peer('peer_objects') // return;
    my $file = "$data/typescript.js";
    my $dir = "$data/peers/js";

    make_path($dir);
    if (!-e $file
        && system("cd $dir && npm install --silent --no-audit --no-fund @PACKAGES >npm.log 2>&1"
                  . " && node -e '" . ($BUNDLE =~ s/'/'\\''/gr) . "' $file") != 0)
    {
        note("Scripts were not measured: npm lacks @PACKAGES.");
        return;
    }

    my $store = BenchWindows::convert_rows([$file, "$file.map"], $peer, 'typescript.js',
                                           'script and map', time => 1 / 2, memory => 1 / 2);
    lookup_row($store, $file, $peer);
    remove_tree($store);
    return;
}

# At random columns, on lines as often as they are long; both count from 0.
sub lookup_row {
    my ($store, $file, $peer) = @_;
    my @lines = split /\n/, slurp($file);
    my @places = map { my $line = $_; map { [$line, $_ * 180] } 0 .. (length($lines[$line]) - 1) / 180 } 0 .. $#lines;
    srand 1;
    spurt("$file.asked", join '', map {
        my $place = $places[rand @places];
        sprintf "%x %x\n", $place->[0], $place->[1] + int rand 180
    } 1 .. 20_000);

    my ($module, $id) = command($loader, 'ls', '--store', $store) =~ m{mappings .* (\S+)/([0-9A-F]{33,40})$}m
        or die "bench: no map in $store\n";
    my ($ours, $theirs) = pairs($rounds,
        sub { BenchWindows::told("$file.asked", 'build/bench/bench_positions', 'sourcemap', $store, $module, $id) },
        sub { BenchWindows::told("$file.asked", $peer, 'time', $file) });

    row('  lookup of a line and a column', sprintf('%.0f ns', $ours->{ns}), sprintf('symbolic %.0f ns', $theirs->{ns}),
        sprintf('%.2f', $ours->{ns} / $theirs->{ns}), '<= 300 ns', $ours->{ns} <= 300);
    return;
}

1;
