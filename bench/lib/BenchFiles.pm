package BenchFiles;

# Downloads of a debug file from a folder, beside nginx serving the same file as a
# static one.  curl reads on core 1; the worker has core 0.

use strict;
use warnings;

use File::Path qw(make_path);

use Bench qw(command pairs spurt start_nginx stop_nginx worker_of cpu_ns private_kb);
use BenchKit qw($data $module $rounds is_quick row note);

my $ID = '0123456789abcdef0123456789abcdef01234567';

# One download: its rate in MB/s, and the worker's CPU time in milliseconds.
sub download {
    my ($nginx, $path, $length) = @_;
    my $worker = worker_of($nginx);
    my $before = cpu_ns($worker);
    my $said = command('taskset', '-c', '1', 'curl', '-sS', '--fail', '-o', '/dev/null', '-w',
                       '%{size_download} %{speed_download}', "$nginx->{url}$path");
    my ($bytes, $rate) = split ' ', $said;

    die "bench: $path has $bytes bytes\n" if $bytes != $length;
    return { rate => $rate / 1e6, cpu => (cpu_ns($worker) - $before) / 1e6 };
}

sub case_download {
    my $length = (is_quick() ? 50 : 500) * 1_000_000;
    my $folder = "$data/files/" . substr $ID, 0, 2;
    my $file = "$folder/" . substr($ID, 2) . '.debug';
    make_path($folder);
    if (!-e $file || -s $file != $length) {
        command('bash', '-c', "head -c $length /dev/urandom > '$file'");
    }

    my $nginx = start_nginx(dir => "$data/download", modules => [$module], http => "symbolicate_store $data/download/store;",
        server => <<"END");
        sendfile on;
        location / {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_source builds uri=/builds/ layout=native;
        }
        location /builds/ { internal; alias $data/files/; }
        location /static/ { alias $data/files/; }
END
    my @paths = ("/buildid/$ID/debuginfo", '/static/' . substr($ID, 0, 2) . '/' . substr($ID, 2) . '.debug');

    download($nginx, $_, $length) for @paths;
    my $private = private_kb(worker_of($nginx), "$data/store")->{own};
    my ($ours, $static) = pairs(8 * $rounds, map {
        my $path = $_;
        sub { return download($nginx, $path, $length) };
    } @paths);
    my $grown = private_kb(worker_of($nginx), "$data/store")->{own} - $private;

    row('debug file of ' . $length / 1_000_000 . ' MB: download, MB/s', sprintf('%.0f', $ours->{rate}),
        sprintf('static file %.0f', $static->{rate}), sprintf('%.2f', $ours->{rate} / $static->{rate}),
        '>= 0.95', $ours->{rate} >= 0.95 * $static->{rate});
    row('  worker CPU a download', sprintf('%.0f ms', $ours->{cpu}), sprintf('static file %.0f ms', $static->{cpu}),
        sprintf('%.2f', $ours->{cpu} / $static->{cpu}), '', undef);
    row('  private memory after all downloads', sprintf('%+d KiB', $grown), '', '', '<= +1,024 KiB',
        $grown <= 1024);
    note('Downloads of a debug file: ' . 8 * $rounds . ' pairs, the file in memory, one connection of curl.');
    stop_nginx($nginx);
    return;
}

1;
