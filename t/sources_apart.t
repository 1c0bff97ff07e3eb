# Records belong to the source that they came from.  A module absent at one
# location's source is not absent for a location whose source has it; a source's
# module is answered only by locations that name the source, whoever had it
# fetched; modules loaded by hand are visible to all.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text write_file);
use Test::More;

my %sees = (a => ['a'], b => ['b'], ab => ['a', 'b'], ba => ['b', 'a'],
    bare => []);
my $locations = join '', map {
    my $name = $_;
    my $loader = @{$sees{$name}} ? 'symbolicate_loader unix:%%LOADER%%;' : '';
    "location /$name { symbolicate; symbolicate_admin on; $loader\n"
        . join('', map {"symbolicate_source $_ uri=/_$_/;\n"} @{$sees{$name}})
        . "}\n" } sort keys %sees;

my $t = SymFetch->new(workers => 2, sources => <<"CONF")->start;
        location /_a/ { internal; alias %%DIR%%/a/; log_not_found off; }
        location /_b/ { internal; alias %%DIR%%/b/; log_not_found off; }
        $locations
CONF

my $n = 0;

sub module { return ('m' . ++$n . '.so', SymFetch::id($n)) }

# At a source, or (local) by hand; functions are named after the origin.
sub put {
    my ($where, $module, %o) = @_;
    my $text = $o{text} // sym_text(@$module, prefix => $where, %o);
    my $file = $t->dir . "/$where/" . SymFetch::path(@$module);
    write_file($file, $text);
    $t->loader->run('load', $file)->{code} == 0 or die if $where eq 'local';
    return;
}

# A location's answer for the first function.
sub said {
    my ($where, $module) = @_;
    my $r = $t->post("/$where/v5", $t->question($module));
    return $r->{status} if $r->{status} != 200;
    my $found = $t->found($r, @$module);
    return $found ? $t->function($r, 0) : defined $found ? 'false' : 'null';
}

sub all_said {
    my ($module) = @_;
    return join ' ', map { "$_:" . said($_, $module) } qw(a b ab ba bare);
}

# --- visibility ---

my @m = module();
put(b => \@m);
is(said(a => \@m), 'false', 'A does not have what only B has');
is(said(b => \@m), 'b0', '... and B has it nevertheless');
is(said(a => \@m), 'false', '... still not A');
is(said(ab => \@m), 'b0', 'a location with both has it');
is(said(bare => \@m), 'false', 'a location without sources does not');

@m = module();
put($_ => \@m) for qw(a b);
is(all_said(\@m), 'a:a0 b:b0 ab:a0 ba:b0 bare:false',
    'of equals the first source of a location wins');

@m = module();
put(local => \@m);
is(all_said(\@m), 'a:local0 b:local0 ab:local0 ba:local0 bare:local0',
    'a module loaded by hand is visible to all');

@m = module();
is(said(ab => \@m), 'false', 'no source has it');
put(local => \@m);
is(all_said(\@m), 'a:local0 b:local0 ab:local0 ba:local0 bare:local0',
    'loaded late, it is visible to all at once');

# --- the best wins ---

sub publics {
    my ($name, $id, $prefix) = @_;
    return "MODULE Linux x86_64 $id $name\nPUBLIC 1000 0 ${prefix}_public\n";
}

@m = module();
put(a => \@m, text => publics(@m, 'a'));
put(b => \@m);
is(said(a => \@m), 'a_public', 'A has only symbols');
is(said(ab => \@m), 'b0', 'B has better ones, so A and B together do');
is(said(a => \@m), 'a_public', '... but A alone has its own');

@m = module();
put(a => \@m);
put(b => \@m, text => publics(@m, 'b'));
is(said(b => \@m), 'b_public', 'B has only symbols');
is(said(ba => \@m), 'a0', 'A has better ones, although B is first');

@m = module();
put(local => \@m, text => publics(@m, 'local'));
put(b => \@m);
is(said(b => \@m), 'b0', 'better than the one loaded by hand');
is(said(a => \@m), 'local_public', '... which others see');

@m = module();
put(a => \@m, text => publics(@m, 'a'));
is(said(ab => \@m), 'a_public', 'no source has a better one');
put(b => \@m);
is(said(ab => \@m), 'a_public', '... as far as is recorded');
$t->request('DELETE', "/b/cache/$m[0]/$m[1]");
is(said(ab => \@m), 'b0', '... until B is tried again');

# --- forgetting ---

sub forget {
    my ($path) = @_;
    return $t->request('DELETE', $path)->{json}{removed} ? 1 : 0;
}

@m = module();
put($_ => \@m) for qw(a b);
all_said(\@m);
put($_ => \@m, prefix => "new$_") for qw(a b);
is(forget("/a/cache/$m[0]/$m[1]"), 1, 'DELETE at the location of A');
is(all_said(\@m), 'a:newa0 b:b0 ab:newa0 ba:b0 bare:false', '... is of A');
is(forget("/ab/cache/$m[0]/$m[1]?source=b"), 1, 'DELETE of one source');
is(all_said(\@m), 'a:newa0 b:newb0 ab:newa0 ba:newb0 bare:false', '... is of it');
is($t->request('DELETE', "/a/cache/$m[0]/$m[1]?source=b")->{status}, 400,
    'a source that the location does not have');

put($_ => \@m, prefix => "late$_") for qw(a b);
my $event = { Records => [{ eventName => 'ObjectCreated:Put', s3 => {
    bucket => { name => 'x' }, object => { key => SymFetch::path(@m) } } }] };
is_deeply($t->post_json('/b/events', $event)->{json}, { records => 1,
    paths => 1, removed => 1, ignored => 0 }, 'an event at B');
is(all_said(\@m), 'a:newa0 b:lateb0 ab:newa0 ba:lateb0 bare:false',
    '... is of B');
is_deeply($t->post_json('/ab/events?source=a', $event)->{json}, { records => 1,
    paths => 1, removed => 1, ignored => 0 }, 'an event of one source');
is(said(a => \@m), 'latea0', '... is of it');
is_deeply($t->post_json('/ab/events', $event)->{json}, { records => 1,
    paths => 1, removed => 1, ignored => 0 }, 'of both it is one path');

my $rm = $t->loader->run('rm', '--source', 'a', "$m[0]/$m[1]");
is($rm->{code}, 1, 'rm of one source: gone already');
said($_ => \@m) for qw(a b);
is($t->loader->run('rm', '--source', 'a', "$m[0]/$m[1]")->{code}, 0,
    'rm of one source');
my @left = map { $_->{source} } grep { ($_->{name} // '') eq $m[0] }
    SymLoader::json_lines($t->loader->run('ls', '--json')->{out});
is("@left", 'b', '... leaves the other');
said(a => \@m);
is($t->loader->run('rm', "$m[0]/$m[1]")->{code}, 0, 'rm of all');
@left = grep { ($_->{name} // '') eq $m[0] }
    SymLoader::json_lines($t->loader->run('ls', '--json')->{out});
is(scalar @left, 0, '... leaves none');

# --- output for operators ---

@m = module();
put(b => \@m);
said(ab => \@m);
my $e = $t->request('GET', "/ab/explain/$m[0]/$m[1]")->{json};
is($e->{source}, 'b', 'explain: the source of the module');
is_deeply([map { "$_->{name} $_->{state}" } @{$e->{sources}}],
    ['local unknown', 'a absent', 'b ready'], '... and the outcome of each');
is($t->request('GET', "/a/explain/$m[0]/$m[1]")->{json}{state}, 'absent',
    '... and at another location');
like($t->loader->run('ls', '--source', 'b')->{out}, qr{  b +\Q$m[0]/$m[1]\E\n},
    'ls names the source');
like($t->loader->run('show', "$m[0]/$m[1]")->{out}, qr/^source +b$/m,
    'show does');

my ($stat) = SymLoader::json_lines($t->loader->run('stat', '--json')->{out});
my @all = SymLoader::json_lines($t->loader->run('ls', '--json')->{out});
is_deeply([map { $_->{source} } @{$stat->{sources}}], ['local', 'a', 'b'],
    'stat: sources in the order of ls');
for my $source (@{$stat->{sources}}) {
    my @own = grep { $_->{source} eq $source->{source} } @all;
    for my $state (qw(ready absent failed malformed)) {
        is($source->{$state}, scalar(grep { $_->{state} eq $state } @own),
            "stat: $source->{source}, $state");
    }
    is($source->{modules}, scalar(grep { $_->{name} } @own), '... modules');
}
like($t->loader->run('stat')->{out},
    qr/^source +b: [1-9]\d* modules, [1-9]\d* paths \(absent \d+, failed 0, malformed 0\), \S+ \S+$/m,
    'stat as text');

# --- a failure of one source is not a failure of the other ---

is($t->end, '', 'nothing is wrong');

done_testing();
