package BenchUploads;

# Uploads of symbol files into a folder: one large file, beside `cp` and
# `symloader load` of it; and the rate of v5 requests while four uploads run.  The
# daemon and its clients have core 1; the worker has core 0.

use strict;
use warnings;

use File::Path qw(make_path remove_tree);
use POSIX ();
use Time::HiRes qw(time);

use Bench qw(command pairs start_nginx stop_nginx start_daemon stop_daemon worker_of
             private_kb wrk);
use BenchKit qw($data $loader $module $rounds $seconds is_quick row note generated modules
                store_of bodies);

my $UPLOADS = 4;

sub fresh {
    my ($dir) = @_;
    remove_tree($dir);
    make_path("$dir/symbols");
    command($loader, 'init', '--store', "$dir/store", '--quota', '64g');
    return;
}

# nginx and a daemon over a store; the target is the folder in dir.
sub server {
    my ($dir, $store) = @_;
    my $daemon = start_daemon($loader, $store, 1, '--upload-folder', "builds=$dir/symbols");
    my $nginx = start_nginx(dir => "$dir/nginx", modules => [$module], store => $store,
        server => <<"END");
        symbolicate_loader unix:$daemon->{socket};
        symbolicate_source builds uri=/builds/ layout=breakpad;
        location /builds/ { internal; alias $dir/symbols/; }
        location /upload/ {
            symbolicate upload;
            symbolicate_upload_target builds;
            symbolicate_upload_tokens off;
            client_max_body_size 0;
        }
END
    return ($nginx, $daemon);
}

sub upload_command {
    my ($nginx, $file) = @_;
    return ('taskset', '-c', '1', 'curl', '-sS', '--fail', '-o', '/dev/null', '-T', $file,
            "$nginx->{url}/upload/x/1/x.sym");
}

sub timed {
    my ($code) = @_;
    my $from = time;
    $code->();
    return { s => time - $from };
}

sub large_file {
    my ($file) = @_;
    my $dir = "$data/upload";
    my $small = generated('small', 700, '--size', '1m');
    my $grown = 0;

    my ($ours, $load) = pairs($rounds,
        sub {
            fresh($dir);
            my ($nginx, $daemon) = server($dir, "$dir/store");
            command(upload_command($nginx, $small));
            my $before = private_kb(worker_of($nginx), "$dir/store")->{own};
            my $r = timed(sub { command(upload_command($nginx, $file)) });
            my $more = private_kb(worker_of($nginx), "$dir/store")->{own} - $before;
            $grown = $more if $more > $grown;
            stop_nginx($nginx);
            stop_daemon($daemon);
            return $r;
        },
        sub {
            fresh($dir);
            return timed(sub {
                command('taskset', '-c', '1', 'cp', $file, "$dir/symbols/");
                command('taskset', '-c', '1', $loader, 'load', '--store', "$dir/store", '--quiet',
                        "$dir/symbols");
            });
        });
    row(sprintf('upload of %.0f MB of .sym, until acknowledged', (-s $file) / 1e6),
        sprintf('%.1f s', $ours->{s}), sprintf('cp + load %.1f s', $load->{s}),
        sprintf('%.2f', $ours->{s} / $load->{s}), '<= 1.3', $ours->{s} <= 1.3 * $load->{s});
    row('  private memory of the worker', sprintf('%+d KiB', $grown), '', '', '<= +1,024 KiB',
        $grown <= 1024);
    return;
}

# Four clients upload files of a module each, again and again.
sub with_uploads {
    my ($nginx, $code, @files) = @_;
    my @pids = map {
        my @command = upload_command($nginx, $_);
        my $pid = fork // die "bench: fork: $!\n";
        if ($pid == 0) {
            { exec 'bash', '-c', 'trap exit TERM; while "$@"; do :; done', 'uploads', @command }
            POSIX::_exit(127);
        }
        $pid;
    } @files;
    my $r = $code->();
    kill 'TERM', @pids;
    waitpid $_, 0 for @pids;
    return $r;
}

sub rate_beside {
    my $dir = "$data/upload-rate";
    my @modules = (modules('plain'))[0 .. 4];
    my @bodies = bodies('plain-50', 64, 1, 50, @modules);
    my @files = map { generated("pushed$_", 700 + $_, '--size', is_quick() ? '1m' : '50m') }
        1 .. $UPLOADS;
    my %o = (connections => 16, seconds => $seconds, first => 1);

    make_path("$dir/symbols");
    my ($nginx, $daemon) = server($dir, store_of('upload-store', @modules));
    my ($busy, $alone) = pairs($rounds,
        sub { with_uploads($nginx, sub { wrk($nginx, '/symbolicate/v5', \%o, @bodies) }, @files) },
        sub { wrk($nginx, '/symbolicate/v5', \%o, @bodies) });
    row("v5, 50 frames, while $UPLOADS uploads run: requests/s", sprintf('%.0f', $busy->{rate}),
        sprintf('without %.0f', $alone->{rate}), sprintf('%.2f', $busy->{rate} / $alone->{rate}),
        '>= 0.8', $busy->{rate} >= 0.8 * $alone->{rate});
    stop_nginx($nginx);
    stop_daemon($daemon);
    return;
}

sub case_upload {
    large_file(generated('large', 701, '--size', is_quick() ? '20m' : '700m'));
    rate_beside();
    note("Uploads: the daemon, its converters and curl have core 1, where wrk goes first.");
    return;
}

1;
