# The list of missing modules survives reloads and restarts, also after the
# loader was killed; modules that arrived while it was away are noticed;
# `symloader missing` reads the list without nginx and without the loader.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymLoader qw(write_file);
use Test::More;

my $t = SymFolder->new(workers => 2, how => <<'CONF')->start;
            symbolicate_missing on;
            symbolicate_negative_ttl absent=1h;
CONF
my $file = $t->store . '/missing';
my @gone = ('gone.so', SymFolder::id(0xe1));
my @late = ('late.so', SymFolder::id(0xe2));

sub entries {
    my $r = $t->request('GET', '/admin/missing?show=all');
    return { map { $_->{name} => $_ } @{$r->{json}{modules} // []} };
}

sub wait_requests {
    my ($n, $what) = @_;
    $t->wait_for(sub { (entries()->{'gone.so'}{requests} // 0) == $n }, $what);
    return;
}

sub command {
    my (@args) = @_;
    return $t->loader->run('missing', @args);
}

is(command()->{code}, 0, 'a store without a list');
is(command()->{out} =~ tr/\n//, 1, '... a head alone');

$t->ask(\@gone, \@late);
wait_requests(1, 'the list is written');
my @stat = stat $file;
is($stat[2] & 0777, (stat $t->store . '/data.mdb')[2] & 0644,
    'whoever may read the store may read it');

# --- reload ---

$t->reload;
$t->ask(\@gone);
wait_requests(2, 'workers after a reload add to it');

# --- the loader is stopped, and killed ---

$t->ask(\@gone);
wait_requests(3, 'three requests');
$t->loader_stop;
my $row = command()->{out};
like($row, qr{^ +3 +3  \S+  \S+  absent +gone\.so/$gone[1]}m, 'a table');
my ($object) = grep { $_->{name} eq 'gone.so' }
    SymLoader::json_lines(command('--json')->{out});
is_deeply([map { $_->{name} } @{$object->{sources}}], [qw(local folder)],
    'an object per line, with its sources');
is($object->{$_}, entries()->{'gone.so'}{$_}, "... $_ as on the server")
    for qw(id requests frames first_asked last_asked state);

# meanwhile one is loaded by hand
$t->upload(@late);
is($t->loader->run('load', '--quiet', $t->file(@late))->{code}, 0,
    'loaded while no daemon runs');
$t->loader_start;
$t->wait_for(sub { entries()->{'late.so'}{state} eq 'arrived' },
    'noticed when it is back');
is(entries()->{'gone.so'}{requests}, 3, 'the counts are kept');
$t->ask(\@gone);
wait_requests(4, '... and continue');

kill KILL => $t->loader->pid;
$t->loader->wait_end;
$t->loader_start;
is(entries()->{'gone.so'}{requests}, 4,
    'a killed loader has lost no old entry');

# --- nginx is away ---

like(command()->{out}, qr/arrived +late\.so\S+  \(from local\)/,
    'arrived modules are listed');

# --- damage ---

$t->loader_stop;
my $text = SymLoader::read_file($file);
substr($text, 60, 1) ^= "\x01";
write_file($file, $text);
my $r = command();
is($r->{code}, 3, 'a damaged list is refused');
like($r->{err}, qr/damaged: the checksum is wrong/, '... which says why');
is($t->request('GET', '/admin/missing')->{status}, 503, '... by nginx, too');
$t->loader_start;
$t->ask(\@gone);
wait_requests(1, 'the loader begins a new one');

is($t->end, '', 'the logs are clean');
done_testing();
