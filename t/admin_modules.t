# An operator who does not know a module's exact name and id finds it in a list
# of the store.  The list is complete, comes in bounded parts, and omits modules
# of sources that the location does not use.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use SymFolder;
use SymLoader qw(sym_text write_file);
use Test::More;

my $t = SymFolder->new;
my $socket = $t->loader->socket_path;
$t->{parts}{locations} .= <<"CONF";
        location /other {
            symbolicate; symbolicate_admin on; symbolicate_source other uri=/none/;
        }
        location /none/ { internal; return 404; }
        location /unmade { symbolicate; symbolicate_admin on; symbolicate_store unmade; }
        location /plain { symbolicate; }
CONF
$t->start;

# --- an empty store, and many modules ---

my $r = $t->request('GET', '/admin/modules');
is($r->{status}, 200, 'an empty store');
is_deeply($r->{json}, { modules => [], read => 0, after => undef }, '... has nothing');
is($r->{headers}{'content-type'}, 'application/json', '... in JSON');

my $N = 130;
my $folder = $t->dir . '/many';
for my $n (1 .. $N) {
    my ($name, $id) = (sprintf('lib%03d.so', $n), SymFolder::id($n));
    make_path("$folder/$name/$id");
    write_file("$folder/$name/$id/$name.sym", sym_text($name, $id));
}
is($t->loader->run('load', $folder)->{code}, 0, 'modules are loaded by hand');
$t->upload('Fetched.so', SymFolder::id(0xABCDEF));
$t->ask(['Fetched.so', SymFolder::id(0xABCDEF)], ['Absent.so', SymFolder::id(7)]);

# The complete list, following its pages.
sub all {
    my ($base, %q) = @_;
    my ($after, @rows, @parts) = '';
    do {
        my $query = join '&', map {"$_=$q{$_}"} sort keys %q;
        my $page = $t->request('GET', "$base/modules?$query&after=$after")->{json};
        push @rows, @{$page->{modules}};
        push @parts, scalar @{$page->{modules}};
        $after = $page->{after};
    } while (defined $after && @parts < 50);
    return (\@rows, \@parts);
}

sub names {
    my ($rows) = @_;
    return join ' ', map { $_->{name} // $_->{path} } @$rows;
}

my ($rows, $parts) = all('/admin');
is(scalar(grep { $_->{name} } @$rows), $N + 1, 'every module');
is_deeply([grep { $_ > 100 } @$parts], [], '... in parts of at most 100');
cmp_ok(scalar @$parts, '>=', 2, '... so there are several');
my %seen;
is_deeply([grep { $seen{"$_->{name}/$_->{id}"}++ } grep { $_->{name} } @$rows], [], '... none twice');
is_deeply([sort keys %seen], [sort $t->loader->modules], '... as symloader lists them');

# --- the entry of a module, as explain shows it ---

for my $case (['lib007.so', 7, 'local'], ['Fetched.so', 0xABCDEF, 'folder']) {
    my ($name, $n, $from) = @$case;
    my ($row) = grep { ($_->{name} // '') eq $name } @$rows;
    my $told = $t->explain($name, SymFolder::id($n))->{json};
    is($row->{source}, $from, "$name: its source");
    is($row->{kind}, 'symcache', '... kind');
    my @keys = qw(quality bytes stored_bytes);
    is_deeply({ map { $_ => $row->{$_} } qw(id state source stored_at used_at), @keys },
        { map { $_ => $told->{$_} } qw(id state source stored_at used_at), @keys }, '... the same as explain');
}

# --- a path without a file ---

my $absent = 'Absent.so/' . SymFolder::id(7) . '/Absent.so.sym';
my @paths = grep { $_->{path} } @$rows;
is_deeply([map { "$_->{path} $_->{state} $_->{outcome} $_->{source}" } @paths],
    ["$absent absent 404 folder"], 'the path of an absent module');
my $told = $t->explain('Absent.so', SymFolder::id(7))->{json};
is_deeply({ map { $_ => $paths[0]{$_} } qw(stored_at expires_at is_expired) },
    { map { $_ => $told->{$_} } qw(stored_at expires_at is_expired) }, '... as explain shows it');

my %use = map { $_->{name} => $_->{used_at} } grep { $_->{name} } @$rows;
is($use{'lib007.so'}, undef, 'loading a module does not count as a use');
like($use{'Fetched.so'}, qr/^\d{4}-/, '... but a request for it does');
$t->ask(['lib007.so', SymFolder::id(7)]);
like($t->explain('lib007.so', SymFolder::id(7))->{json}{used_at}, qr/^\d{4}-/, '... also for one that was loaded');

# --- questions ---

is(names((all('/admin', q => 'LIB12'))[0]),
    join(' ', map {"lib12$_.so"} 0 .. 9), 'a part of a name, in any case');
is(names((all('/admin', q => 'abcdef1'))[0]), 'Fetched.so', 'a part of an id');
is(names((all('/admin', q => 'so%2B'))[0]), '', 'q is decoded');
is(names((all('/admin', q => '%00'))[0]), '', 'a NUL in it matches nothing');
is(names((all('/admin', q => 'nothing'))[0]), '',
    'a text that no module contains');
is(names((all('/admin', state => 'absent'))[0]), $absent, 'a state');
is(scalar @{(all('/admin', state => 'ready', q => 'lib'))[0]}, $N, 'state and name');
is(names((all('/admin', source => 'folder', q => 'e'))[0]), "Fetched.so $absent", 'a source');

# --- other locations' sources ---

($rows) = all('/other');
is(scalar @$rows, $N,
    'a location lists its own sources and modules loaded by hand');
unlike(names($rows), qr/Fetched|Absent/, '... not those of others');

my $after = '0' . unpack 'H*', "folder\0";
$r = $t->request('GET', "/other/modules?after=$after");
is($r->{status}, 400, 'nor when continuing a list of theirs');
is($t->request('GET', "/admin/modules?after=$after")->{status}, 200,
    '... which has a next part');

# --- refused requests ---

for my $bad ('0', 'xx', '00' x 1000, '61', 'g0', "0" . unpack('H*', "nowhere\0")) {
    $r = $t->request('GET', "/admin/modules?after=$bad");
    is($r->{status}, 400, 'after=' . substr($bad, 0, 20));
    like($r->{json}{description}, qr/after/, '... says so');
}
is(names($t->request('GET', '/admin/modules?after=000' . 'ff' x 300)->{json}{modules}),
    "Fetched.so $absent", 'after all of a source the next one follows');
is($t->request('GET', '/admin/modules?state=odd')->{status}, 400, 'no such state');
is($t->request('GET', '/admin/modules?source=odd')->{status}, 400, 'no such source');
is($t->request('GET', '/admin/modules/')->{status}, 404, 'a path below');
is($t->request('GET', '/plain/modules')->{status}, 404, 'without symbolicate_admin');
for my $method (qw(HEAD POST PUT DELETE)) {
    $r = $t->request($method, '/admin/modules');
    is($r->{status}, 405, $method);
    is($r->{headers}{allow}, 'GET, OPTIONS', '... Allow');
}
$r = $t->request('GET', '/admin/modules', headers => [Origin => 'https://evil.example']);
is($r->{headers}{'access-control-allow-origin'}, undef, 'not for scripts of other sites');
$r = $t->request('GET', '/unmade/modules');
is($r->{status}, 503, 'a store that does not exist');
is($r->{json}{description}, 'the symbol store does not exist yet', '... and why');

is($t->end, '', 'the logs are clean');

done_testing();
