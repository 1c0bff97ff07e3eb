package BenchKit;

# Shared by the cases of the bench: the table, and the files, stores and
# requests of the measurements.  Call setup() first.

use strict;
use warnings;

use Cwd ();
use Exporter 'import';
use File::Path qw(make_path remove_tree);

use List::Util qw(max);
require 'sys/syscall.ph';
use Time::HiRes qw(sleep time);

use Bench qw(command post slurp);

our @EXPORT_OK = qw($data $loader $module $fixtures $rounds $seconds is_quick
                    @table @notes row note thousands mb made generated modules
                    store_of bodies answer_bytes stat_of watch
                    slurp_through peer seconds_text);

our ($root, $data, $loader, $module, $fixtures);
our ($rounds, $seconds);
our @table;     # rows: case, ours, compared with, ratio or figure, target, kept
our @notes;

my $is_quick;

# quick: smaller files, shorter runs.
sub setup {
    ($is_quick) = @_;

    $root = Cwd::getcwd();
    $data = "$root/var/bench" . ($is_quick ? '/quick' : '');
    $loader = "$root/build/symloader";
    $module = "$root/build/ngx_http_symbolicate_module.so";
    $fixtures = $ENV{SYM_FIXTURES} // '../shared/fixtures';
    $rounds = $is_quick ? 1 : 5;
    $seconds = $is_quick ? 1 : 4;
    make_path($data);
    return;
}

sub is_quick { return $is_quick }


# --- the table ---

sub row {
    my ($case, $ours, $beside, $figure, $target, $kept) = @_;
    push @table, [$case, $ours, $beside, $figure, $target,
                  !defined $kept ? '' : $kept ? 'yes' : '**no**'];
    printf "   %-34s %-26s %-32s %-16s %-12s %s\n",
        map { $_ // '' } @{ $table[-1] };
    return;
}

sub note {
    push @notes, $_[0];
    return;
}

sub thousands {
    my $n = sprintf '%.0f', $_[0];
    1 while $n =~ s/^(\d+)(\d{3})/$1,$2/;
    return $n;
}

sub mb {
    return sprintf '%.1f MB', $_[0] / 1e6;
}


# --- input of the measurements ---

# Makes $path with $make unless it exists and is newer than symloader and its
# input.
sub made {
    my ($path, $make, @from) = @_;

    if (!-e $path || grep { -M $path > -M } $loader, @from) {
        print "   making ", substr($path, length "$root/"), "\n";
        remove_tree($path);
        make_path($path =~ s{/[^/]+$}{}r);
        $make->("$path.new");
        remove_tree($path);
        rename "$path.new", $path or die "bench: $path: $!\n";
    }
    return $path;
}

# A generated symbol file, in the layout of a symbol store.
sub generated {
    my ($name, $seed, @options) = @_;
    my $dir = "$data/sym";
    my $id = sprintf '%032X0', $seed;
    my $file = "$dir/$name/$id/$name.sym";

    if (!-e $file) {
        make_path("$dir/$name/$id");
        print "   generating $name.sym\n";
        system("build/bench/gensym --seed $seed --name $name --id $id "
               . "@options > $file.new") == 0 or die "bench: gensym failed\n";
        rename "$file.new", $file or die "bench: $file: $!\n";
    }
    return $file;
}

# The twenty modules in requests, of one of two kinds: "plain", C++ without
# inlined calls, so that a frame is a function, a file and a line; and
# "inlined", in which every other function is Rust and a frame also has the
# calls inlined there: 2 to 3, and some 600 bytes of answer.
my %style = (plain => [cpp => 0], inlined => [mixed => 50]);

sub modules {
    my ($kind) = @_;
    my ($style, $seed) = @{ $style{$kind} };
    my $size = $is_quick ? '1m' : '20m';
    return map { generated("$kind$_", $seed + $_, '--style', $style,
                           '--size', $size) } 1 .. 20;
}

sub store_of {
    my ($name, @files) = @_;
    return made("$data/$name", sub {
        my ($store) = @_;
        command($loader, 'init', '--store', $store, '--quota', '64g');
        while (my @part = splice @files, 0, 500) {
            command($loader, 'load', '--store', $store, '--quiet', @part);
        }
    }, @files);
}

sub bodies {
    my ($name, $count, $stacks, $frames, @files) = @_;
    my $out = "$data/bodies/$name";

    make_path("$data/bodies");
    if (!-e "$out.0.json"
        || grep { -M "$out.0.json" > -M } 'bench/bodies', @files)
    {
        command('bench/bodies', $out, $count, $stacks, $frames, @files);
    }
    return glob "$out.*.json";
}

# Practically every frame of the answer has function, file and line; otherwise
# the rates would mean something else.  (Calls from line 0 are real, too.)
sub answer_bytes {
    my ($nginx, $file, $frames) = @_;
    my $answer = post($nginx, '/symbolicate/v5', $file);
    my $full = () = $answer
        =~ /"function_offset": "[^"]*", "file": "[^"]*", "line": \d+/g;

    die "bench: only $full of $frames frames of $file were answered in full\n"
        if $full < 0.99 * $frames;
    return length $answer;
}


sub stat_of {
    my ($store) = @_;
    my $said = command($loader, 'stat', '--store', $store, '--json');
    my %stat = $said =~ /"(\w+)":\s*(\d+)/g;
    return \%stat;
}


# --- a command while it runs ---

# Runs a command; returns its seconds, CPU seconds, and the peak memory of all
# its processes together: anonymous, and resident with the mapped pages of
# files.
sub watch {
    my (@command) = @_;
    my ($anon, $rss) = (0, 0);
    my $started = time;
    my $before = cpu_of_children();
    my $pid = fork // die "bench: fork: $!\n";

    if ($pid == 0) {
        open STDOUT, '>', '/dev/null';
        exec @command or exit 127;
    }

    while (waitpid($pid, 1) == 0) {
        my @sums = (0, 0);
        for my $p (with_children($pid)) {
            my $status = eval { slurp("/proc/$p/status") } // '';
            $sums[0] += $1 if $status =~ /^RssAnon:\s+(\d+)/m;
            $sums[1] += $1 if $status =~ /^VmRSS:\s+(\d+)/m;
        }
        $anon = max($anon, $sums[0]);
        $rss = max($rss, $sums[1]);
        sleep 0.005;
    }
    die "bench: failed: @command\n" if $?;

    return { seconds => time - $started, anon => $anon * 1024,
             rss => $rss * 1024, cpu => cpu_of_children() - $before };
}

# CPU seconds of all ended processes.  times() counts ticks of ten milliseconds,
# longer than a small file takes; this has microseconds.
sub cpu_of_children {
    my $usage = "\0" x 256;

    syscall(SYS_getrusage(), -1, $usage) == 0 or die "bench: getrusage: $!\n";
    my ($user_s, $user_us, $system_s, $system_us) = unpack 'l!4', $usage;
    return $user_s + $system_s + ($user_us + $system_us) / 1e6;
}

# For files that take milliseconds.
sub seconds_text {
    my ($seconds) = @_;
    return $seconds < 0.1 ? sprintf('%.1f ms', $seconds * 1000)
                          : sprintf('%.2f s', $seconds);
}

sub with_children {
    my ($pid) = @_;
    my $list = eval { slurp("/proc/$pid/task/$pid/children") } // '';
    return ($pid, map { with_children($_) } split ' ', $list);
}

# A program of bench/peers/symbolic, built; undef: it cannot be built, as a note
# says.
sub peer {
    my ($program, $folder) = ($_[0], $_[1] // 'symbolic');
    my $target = "$data/peers";
    my $source = "$target/source-$folder";

    if (system('command -v cargo >/dev/null 2>&1') != 0) {
        note('Peers were not measured: there is no cargo (Rust) here.');
        return;
    }

    local $ENV{CARGO_TARGET_DIR} = $target;
    make_path($source);    # cargo writes next to its manifest
    command('cp', '-R', "bench/peers/$folder/.", $source);
    if (system("cd $source && cargo build --release -q") != 0) {
        note("Peers were not measured: $folder could not be built.");
        return;
    }
    return "$target/release/$program";
}

# Reads a file once, so that it is in memory.
sub slurp_through {
    my ($file) = @_;
    open my $fh, '<', $file or die "bench: $file: $!\n";
    1 while sysread $fh, my $buf, 1 << 20;
    return;
}

1;
