package BenchSentry;

# Sentry's API: a worker's cost of a request, compared with a real Symbolicator
# if there is one (SentryPeer.pm) and with recorded costs of one, whichever is
# less.
#
# Requests have the same modules and addresses as those of v5: 2 frames of 2
# modules, 50 of 5, 1,000 of 20.

use strict;
use warnings;
no warnings 'portable';

use File::Path qw(make_path remove_tree);
use JSON::PP qw(decode_json encode_json);

use Bench qw(command median pairs slurp spurt start_nginx stop_nginx cpu_ns
             private_kb worker_of wrk wrk_start wrk_result post);
use BenchKit qw($data $module $rounds $seconds is_quick row note thousands mb
                modules store_of bodies);
use SentryPeer;

# Symbolicator 26.7.2, warm, on one core of such a machine: minimal and maximal
# microseconds of CPU per request; then the promised factor.
my %RECORDED = (2 => [ 117, 139, 8 ], 50 => [ 441, 460, 15 ],
                1000 => [ 5950, 6480, 20 ]);
# frames => bodies, stacks, frames of each, modules
my @SHAPES = ([ 2, 64, 1, 2, 2 ], [ 50, 64, 1, 50, 5 ], [ 1000, 16, 20, 50, 20 ]);
# The same for events of Windows.
my @EVENTS = ([ 50, 64, 1, 50, 5 ], [ 210, 16, 7, 30, 20 ]);
my $SYSTEM_MODULES = 60;
my $FRAMES_HUGE = 100_000;

sub case_sentry {
    my $nginx = server();
    my $peer = peer();

    request_row($nginx, $peer, @$_) for @SHAPES;
    event_row($nginx, $peer, @$_) for @EVENTS;
    $peer->stop if $peer;
    beside_huge($nginx);
    flat_memory($nginx);
    stop_nginx($nginx);
    return;
}

sub server {
    return start_nginx(
        dir => "$data/nginx-sentry", modules => [$module],
        http => 'symbolicate_store '
            . store_of('store', modules('plain'), modules('inlined')) . ';',
        server => 'location /sentry/ { symbolicate sentry; }
                   location /symbolicate { symbolicate; }');
}

# It keeps its converted modules for the next time.
sub peer {
    make_path("$data/symbolicator");
    my $peer = SentryPeer->start(cores => 0, keep => "$data/symbolicator",
        sources => [ { id => 'local', type => 'filesystem', path => "$data/sym",
                       layout => { type => 'native', casing => 'default' } } ]);
    note('No Symbolicator was there to be measured: its figures are recorded '
         . 'ones.') if !$peer;
    return $peer;
}

# The same lookups as a body of v5, as a request to Sentry's API.
sub sentry_bodies {
    my (@v5) = @_;
    return map {
        my $out = s/\.json\z/.sentry/r;
        translate($_, $out) if !-e $out || -M $out > -M $_ || -M $out > -M __FILE__;
        $out;
    } @v5;
}

sub translate {
    my ($from, $to) = @_;
    my $job = decode_json(slurp($from))->{jobs}[0];
    my @base = map { 0x100000000 * ($_ + 1) } 0 .. $#{ $job->{memoryMap} };
    my @modules = map {
        my ($name, $id) = @{ $job->{memoryMap}[$_] };
        my ($guid, $age) = lc($id) =~ /^(.{32})(.*)\z/;
        $guid =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/;
        { type => 'macho', debug_file => $name, code_file => "/usr/lib/$name",
          debug_id => $age =~ /^0*\z/ ? $guid : "$guid-$age",
          image_addr => sprintf('0x%x', $base[$_]), image_size => 0x40000000 };
    } 0 .. $#base;

    spurt($to, encode_json({
        platform => 'native', modules => \@modules,
        stacktraces => [ map { { frames => [ map {
            { instruction_addr => sprintf '0x%x', $base[ $_->[0] ] + $_->[1] }
        } @$_ ] } } @{ $job->{stacks} } ] }));
    return;
}

# The same lookups in a Windows event whose client has unwound the stacks:
# packages and paths with backslashes, functions and source lines with quotes
# and tabs, variables, sources, and many system modules without frames. Without
# escapes: the same text with other characters instead.
sub event_bodies {
    my ($escapes, @v5) = @_;
    return map {
        my $out = $_ =~ s/\.json\z/($escapes ? '.event' : '.unescaped')/er;
        translate_event($_, $out, $escapes)
            if !-e $out || -M $out > -M $_ || -M $out > -M __FILE__;
        $out;
    } @v5;
}

sub translate_event {
    my ($from, $to, $escapes) = @_;
    my $job = decode_json(slurp($from))->{jobs}[0];
    my @map = @{ $job->{memoryMap} };
    my @modules = map { event_module($map[$_][0], lc $map[$_][1], $_) } 0 .. $#map;
    push @modules, map {
        my $name = sprintf 'system%02d', $_;
        event_module("$name.pdb", sprintf('%032x1', 0xabc000 + $_), @map + $_,
                     "C:\\Windows\\System32\\$name.dll");
    } 1 .. $SYSTEM_MODULES;

    my $n = 0;
    my $text = encode_json({
        platform => 'native', modules => \@modules,
        options => { apply_source_context => JSON::PP::true },
        sources => [
            { id => 'local', type => 'filesystem', path => "$data/sym",
              layout => { type => 'native', casing => 'default' } },
            { id => 'sentry:microsoft', type => 'http', name => 'Microsoft',
              url => 'http://127.0.0.1:9/download/symbols/', is_public => JSON::PP::true,
              layout => { type => 'symstore', casing => 'default' },
              filters => { filetypes => [ 'pe', 'pdb' ] } } ],
        stacktraces => [ map {
            my $stack = $_;
            { registers => { rip => '0x100001000', rsp => '0x7fffdeadbeef' },
              frames => [ map { event_frame($_, \@modules, $n++) } @$stack ] }
        } @{ $job->{stacks} } ] });
    $text =~ s{\\(.)}{$1 eq '"' ? "'" : '/'}ge if !$escapes;
    spurt($to, $text);
    return;
}

sub event_module {
    my ($name, $id, $n, $path) = @_;
    my ($guid, $age) = $id =~ /^(.{32})(.*)\z/;
    $guid =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/;
    return { type => 'pe', debug_file => $name,
             code_file => $path // "C:\\Program Files\\Game\\Binaries\\Win64\\$name.dll",
             code_id => sprintf('%08x%05x', 0x5f000000 + $n, 0x52000),
             debug_id => $age =~ /^0*\z/ ? $guid : "$guid-$age",
             image_addr => sprintf('0x%x', 0x100000000 * ($n + 1)),
             image_size => 0x40000000 };
}

# Every third frame has the members that a client with its own symbols adds.
sub event_frame {
    my ($pair, $modules, $n) = @_;
    my $module = $modules->[ $pair->[0] ];
    my %own = (
        function => "Game::Find<char const *>(\"$n\")",
        filename => "Find$n.cpp",
        abs_path => "D:\\agent\\_work\\1\\s\\Source\\Game\\Find$n.cpp",
        lineno => 100 + $n,
        pre_context => [ '', "bool Find$n(const char *name)", '{',
                         "\tif (name == nullptr || *name == '\\0') {",
                         "\t\tlog(\"no name\\n\");" ],
        context_line => "\t\tthrow Error(\"Find$n: \" + text);",
        post_context => [ "\t}", '', "\treturn true;", '}', '' ],
        vars => { name => "C:\\Users\\player\\save$n.dat", count => $n,
                  ratio => 0.25, flags => [ 1, 2, 3 ], is_open => JSON::PP::true,
                  self => { kind => 'Finder', next => undef } });
    return { instruction_addr
                 => sprintf('0x%x', hex($module->{image_addr}) + $pair->[1]),
             package => $module->{code_file}, trust => 'cfi',
             in_app => JSON::PP::true, $n % 3 == 0 ? %own : () };
}

# Rates of requests whose frames have no answer are meaningless.
sub check_answer {
    my ($server, $path, $file, $frames) = @_;
    my $answer = command('curl', '-sS', '--fail', '-H', 'Expect:', '-H',
        'Content-Type: application/json', '--data-binary', "\@$file",
        "$server->{url}$path");
    my $found = () = $answer =~ /"status": ?"symbolicated"/g;

    die "bench: only $found of $frames frames of $file were answered by "
        . "$server->{url}: ", substr($answer, 0, 300), "\n" if $found < 0.9 * $frames;
    return length $answer;
}

sub request_row {
    my ($nginx, $peer, $frames, $count, $stacks, $each, $n) = @_;
    my @v5 = bodies("plain-$frames", $count, $stacks, $each,
                    (modules('plain'))[ 0 .. $n - 1 ]);
    my @bodies = sentry_bodies(@v5);
    my %o = (connections => 16, seconds => $seconds);
    my ($least, $most, $target) = @{ $RECORDED{$frames} };
    my $of_peer = $peer && { url => $peer->url, pid => $peer->pid };

    check_answer($nginx, '/sentry/symbolicate', $bodies[0], $frames);
    if ($of_peer) {    # all of them: fetches and converts each module
        check_answer($of_peer, '/symbolicate', $_, $frames) for @bodies;
    }
    my ($ours, $mozilla, $theirs) = pairs($rounds,
        sub { wrk($nginx, '/sentry/symbolicate', \%o, @bodies) },
        sub { wrk($nginx, '/symbolicate/v5', \%o, @v5) },
        $of_peer ? sub { wrk_of($of_peer, '/symbolicate', \%o, @bodies) } : ());
    # a build for tests may be slower than a release
    my $their_us = ($least + $most) / 2;
    $their_us = $theirs->{cpu_us} if $theirs && $theirs->{cpu_us} < $their_us;
    my $ratio = $their_us / $ours->{cpu_us};

    row(thousands($frames) . ' frames, Sentry: CPU a request',
        sprintf('%.1f us', $ours->{cpu_us}),
        sprintf('Symbolicator %s%.0f to %.0f us, recorded',
                $theirs ? sprintf('%.0f us, ', $theirs->{cpu_us}) : '', $least, $most),
        sprintf('%.1f', $ratio), ">= $target", $ratio >= $target);
    row('  beside v5', '', sprintf('v5 %.1f us', $mozilla->{cpu_us}),
        sprintf('%.2f', $mozilla->{cpu_us} / $ours->{cpu_us}));
    row('  requests/s', thousands($ours->{rate}),
        $theirs ? 'Symbolicator ' . thousands($theirs->{rate}) : '',
        $theirs ? sprintf('%.1f', $ours->{rate} / $theirs->{rate}) : '');
    return;
}

# Cost of escapes, and of events compared with Symbolicator.
sub event_row {
    my ($nginx, $peer, $frames, $count, $stacks, $each, $n) = @_;
    my @v5 = bodies("plain-$frames", $count, $stacks, $each,
                    (modules('plain'))[ 0 .. $n - 1 ]);
    my @events = event_bodies(1, @v5);
    my @plain = event_bodies(0, @v5);
    my %o = (connections => 16, seconds => $seconds);
    my $of_peer = $peer && { url => $peer->url, pid => $peer->pid };

    check_answer($nginx, '/sentry/symbolicate', $_, $frames)
        for $events[0], $plain[0];
    if ($of_peer) {
        check_answer($of_peer, '/symbolicate', $_, $frames) for @events;
    }
    my ($ours, $unescaped, $theirs) = pairs($rounds,
        sub { wrk($nginx, '/sentry/symbolicate', \%o, @events) },
        sub { wrk($nginx, '/sentry/symbolicate', \%o, @plain) },
        $of_peer ? sub { wrk_of($of_peer, '/symbolicate', \%o, @events) } : ());
    my $ratio = $ours->{cpu_us} / $unescaped->{cpu_us};

    row("event of Windows, $frames frames, Sentry: CPU a request",
        sprintf('%.1f us', $ours->{cpu_us}),
        sprintf('without escapes %.1f us', $unescaped->{cpu_us}),
        sprintf('%.2f', $ratio), '<= 1.25', $ratio <= 1.25);
    if ($theirs) {
        $ratio = $theirs->{cpu_us} / $ours->{cpu_us};
        row('  beside Symbolicator', '', sprintf('%.0f us', $theirs->{cpu_us}),
            sprintf('%.1f', $ratio), '>= 10', $ratio >= 10);
    }
    note(sprintf('Event of Windows, %d frames: body %d bytes.', $frames,
                 -s $events[0]));
    return;
}

# CPU time of a process with many threads.
sub wrk_of {
    my ($server, $path, $o, @bodies) = @_;
    my $before = cpu_of_all($server->{pid});
    my $r = wrk_result(wrk_start("$server->{url}$path", $o, @bodies));

    $r->{cpu_us} = (cpu_of_all($server->{pid}) - $before) / 1000
        / $r->{requests};
    return $r;
}

sub cpu_of_all {
    my ($pid) = @_;
    my $sum = 0;
    for my $file (glob "/proc/$pid/task/*/schedstat") {
        my $text = eval { slurp($file) } // next;    # it has just ended
        $sum += (split ' ', $text)[0];
    }
    return $sum;
}

# Effect of long requests on a short one in the same worker (like case_slices).
sub beside_huge {
    my ($nginx) = @_;
    my @files = modules('plain');
    my @short = sentry_bodies(bodies('plain-2', 64, 1, 2, @files[ 0, 1 ]));
    my @long = sentry_bodies(bodies("plain-$FRAMES_HUGE", 1, 1000, 100, @files));
    my $time = is_quick() ? 2 : 8;
    my $path = '/sentry/symbolicate';

    check_answer($nginx, $path, $long[0], $FRAMES_HUGE);
    my ($alone, $beside) = pairs($rounds > 1 ? 3 : 1,
        sub { wrk($nginx, $path, { connections => 1, seconds => $time }, @short) },
        sub {
            my $load = wrk_start("$nginx->{url}$path",
                { connections => 2, seconds => $time + 2, idle => 1 }, @long);
            sleep 1;
            my $r = wrk($nginx, $path, { connections => 1, seconds => $time },
                        @short);
            $r->{long} = wrk_result($load)->{rate};
            return $r;
        });
    my $ratio = $beside->{p99} / $alone->{p99};

    row('Sentry, 2 frames: p99 beside 100,000 frames', "$beside->{p99} us",
        "alone $alone->{p99} us", sprintf('%.1f', $ratio), '<= 5', $ratio <= 5);
    note(sprintf('Sentry, 2 frames next to 100,000: median %.0f us (alone %.0f us), '
                 . 'longest %.1f ms; %.1f of the long requests per second.',
                 $beside->{p50}, $alone->{p50}, $beside->{max} / 1000,
                 $beside->{long}));
    return;
}

# Private memory of a worker after the given number of requests, with 50 and
# 1,000 frames in turn, and after ten times as many.
sub flat_memory {
    my ($nginx) = @_;
    my @files = modules('plain');
    my @bodies = sentry_bodies(
        bodies('plain-50', 64, 1, 50, @files[ 0 .. 4 ]),
        bodies('plain-1000', 16, 20, 50, @files));
    my $n = is_quick() ? 1_000 : 10_000;
    my $worker = worker_of($nginx);
    my @kb;

    for my $requests ($n, 9 * $n) {
        my $done = 0;
        while ($done < $requests) {
            $done += wrk($nginx, '/sentry/symbolicate',
                         { connections => 16, seconds => 1 }, @bodies)->{requests};
        }
        push @kb, private_kb($worker, "$data/store")->{own};
    }
    my $grown = $kb[1] - $kb[0];
    row('Sentry: memory of a worker after ' . thousands(10 * $n) . ' requests',
        mb(1024 * $kb[1]), 'after ' . thousands($n) . ' ' . mb(1024 * $kb[0]),
        sprintf('%+d KB', $grown), '<= +1,024 KB', $grown <= 1024);
    return;
}

1;
