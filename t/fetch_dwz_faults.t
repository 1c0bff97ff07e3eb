#!/usr/bin/perl

# A source does not have the supplementary file, has a wrong one, or never sends
# it: the module is answered without it, or has failed, and says why.  The
# daemon may die while the file is fetched.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP qw(decode_json);
use Test::More;

use SymDwz qw(answer);
use SymElf;
use SymFetch;
use SymLoader qw(read_file write_file);

my $package = SymDwz->new(SymElf::folder());
my %one = %{ $package->{one} };
my %common = %{ $package->{common} };
my @addrs = $package->addresses('one');
my @want = $package->frames('one', @addrs);

sub native { return $_[0] =~ s{^(..)(.*)}{$1/$2.debug}r }

my @folders = qw(whole without wrong);
my $locations = join '', map { <<"END" } @folders;
        location /files-$_/ { internal; alias %%DIR%%/$_/; log_not_found off; }
        location /of-$_ {
            symbolicate;
            symbolicate_admin on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source $_ uri=/files-$_/ layout=native;
        }
END

# A source that has the file; the supplementary file follows the script.
sub source {
    my ($name, $how) = @_;
    return <<"END";
        location /src-$name/ {
            internal;
            proxy_pass http://%%FAULT%%/ok/;
        }
        location ~ ^/src-$name/(?<rest>$common{id}.*) {
            internal;
            proxy_pass http://%%FAULT%%/as/common/\$rest;
            $how
        }
        location /$name {
            symbolicate;
            symbolicate_admin on;
            symbolicate_budget 60s;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source $name uri=/src-$name/ layout=debuginfod;
        }
END
}

my $t = SymFetch->new(serve => ['--jobs', 1],
    sources => <<"END")->start;
        $locations
        @{[source('held', '')]}
        @{[source('stalls', 'proxy_read_timeout 3s;')]}
END
my $fault = $t->fault;

for my $folder (@folders) {
    write_file($t->dir . "/$folder/" . native($one{id}), read_file($one{debug}));
}
write_file($t->dir . '/whole/' . native($common{id}), read_file($common{debug}));
write_file($t->dir . '/wrong/' . native($common{id}),
           read_file($package->{two}{debug}));
$fault->file("$one{id}/debuginfo", read_file($one{debug}));
$fault->file("$common{id}/debuginfo", read_file($common{debug}));

my $question = $t->json({ jobs => [{ memoryMap => [[ 'one', $one{id} ]],
    stacks => [[map { [0, $_] } @addrs]] }] });

sub ask {
    my ($where, @headers) = @_;
    return $t->post("/$where/v5", $question, @headers);
}

sub told {
    my ($where) = @_;
    return decode_json($t->request('GET', "/$where/explain/one/$one{id}")->{body});
}

# The outcomes at the places of the supplementary file.
sub companion {
    my ($where) = @_;
    return [ map { $_->{outcome} } @{ decode_json($t->request('GET',
        "/$where/explain/common.debug/$common{id}")->{body})->{attempts} } ];
}

# Starts the daemon again; returns when nginx has connected.
sub first {
    my ($where) = @_;
    my $r;
    $t->wait_for(sub { $r = ask($where); $r->{status} == 200 },
                 'the daemon is back');
    return $r;
}

sub forget {
    $t->loader->run('rm', 'one/' . uc $one{id});
    return;
}

sub is_whole {
    my ($what, $r) = @_;
    is_deeply([ answer($r, 0) ], \@want,
        "$what: as LLVM answers for the original");
    return;
}

# --- folders ---

is_whole('native', ask('of-whole'));
is(told('of-whole')->{incomplete}, '', '... with all');
forget();
$t->loader_stop;    # the kept file is removed with it
$t->loader_start;

my $r = first('of-without');
is($t->found($r, 'one', $one{id}), 1, 'absent: found nevertheless');
is_deeply([ map { $_->[-1] =~ s/.* //r } answer($r, 0) ],
          [ map { $_->[-1] =~ s/.* //r } @want ], '... with its lines');
my $told = told('of-without');
like($told->{incomplete}, qr/common\.debug \($common{id}\), which is not here/,
     '... explain says what is missing');
is_deeply([ map {"$_->{outcome} $_->{url}"} @{ $told->{attempts} } ],
          [ '200 /files-without/' . native($one{id}) ], '... and where its own file was');
forget();

is($t->found(ask('of-wrong'), 'one', $one{id}), 1, 'another build: found');
like(told('of-wrong')->{incomplete},
     qr/is of another build: its id is $package->{two}{id}, not $common{id}/,
     '... explain names both ids');
forget();

# --- the source does not have it ---

$fault->script('common', 'status/404', 'ok');
is($t->found(ask('held'), 'one', $one{id}), 1, 'found, though its source lacks the supplementary file');
like(told('held')->{incomplete}, qr/$common{id}/, '... without it');
forget();
is($t->found(ask('held'), 'one', $one{id}), 1, '... and again');
like(told('held')->{incomplete}, qr/$common{id}/, '... without it');
is($fault->count("/as/common/$common{id}/debuginfo"), 1, '... which is not asked for again');
is_deeply(companion('held'), [ '404' ], '... explain shows that for its id');
forget();
is($t->loader->run('rm', $common{id})->{code}, 0, 'its own records are removed');
is_whole('... so it is asked for', ask('held'));
is($fault->count("/as/common/$common{id}/debuginfo"), 2, '... once');
forget();
$t->loader_stop;
$t->loader_start;
first('of-wrong');
forget();
$fault->forget;

# --- a source that stalls ---

is($t->loader->stats->{supplement_bytes}, 0, 'no file was kept');
$fault->script('common', 'stall/100', 'ok');
$r = ask('stalls', 'X-Symbolicate-Budget' => '2s');    # the stall ends after 3s
is($r->{status}, 200, 'it stalls: the budget ends the wait');
is($t->found($r, 'one', $one{id}), undef, '... the module is pending');
$t->wait_for(sub { !$t->loader->stats->{flights} }, 'the source is given up');
$told = told('stalls');
is($told->{state}, 'failed', '... and the module has failed');
like($told->{reason}, qr/supplementary file $common{id}: source "stalls": /,
     '... for that');
forget();
$fault->forget;
ask('stalls');
$told = told('stalls');
is($told->{state}, 'failed', 'the next module that needs it has failed, too');
like($told->{reason}, qr/supplementary file $common{id}: source "stalls": /, '... for the same reason');
is($fault->count("/as/common/$common{id}/debuginfo"), 0, '... and the source is not asked again');
forget();
is($t->loader->run('rm', $common{id})->{code}, 0, 'its own records are removed');
is_whole('... and it arrives', ask('stalls'));
is_deeply(companion('stalls'), [ '200' ], '... which explain shows for its id');
forget();

# --- the worker dies, the daemon dies ---

$t->loader_stop;
$t->loader_start;
$fault->script('common', 'gate/g/ok');
$fault->forget;

sub begin {
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/held/v5', body => $question));
    return $socket;
}

sub asked_for {
    my ($n) = @_;
    $fault->wait("/as/common/$common{id}/debuginfo", count => $n);
    return;
}

# A request that waits for the file, with a new daemon, which has not kept it.
sub begin_anew {
    $t->loader_stop;
    $t->loader_start;
    first('of-wrong');
    forget();
    $fault->close_gate('g');
    $fault->script('common', 'gate/g/ok');
    $fault->forget;
    my $socket = begin();
    asked_for(1);
    return $socket;
}

first('of-wrong');    # nginx has connected to the daemon
forget();
my @sockets = map { begin() } 1 .. 8;
asked_for(1);
$t->loader_stop('KILL');
is_deeply([ map { $t->response($_)->{status} } @sockets ], [ (503) x 8 ],
          'the daemon dies meanwhile: 503 to all');
$fault->open_gate('g');
$t->loader_start;
is_whole('... the module is found', first('held'));

forget();
my $socket = begin_anew();
my ($worker) = $t->workers;
kill 'KILL', $worker;
is($t->response($socket)->{status}, undef, 'the worker dies meanwhile');
$fault->open_gate('g');
is_whole('... the next one has it', first('held'));

forget();

# --- a new daemon is there before the file is ---

$socket = begin_anew();
sub found_it { return scalar(() = $t->error_log =~ /loader "[^"]*" is there/g) }
my $before = found_it();
$t->loader_stop('KILL');
$t->loader_start;
$t->wait_for(sub { found_it() > $before }, 'nginx has connected to it');
$fault->open_gate('g');
is_whole('it gets the request again', $t->response($socket));
is($fault->count("/ok/$one{id}/debuginfo"), 2, '... for the module first');
forget();

is($t->loader->verify, 'sound', 'the store is sound');
$t->allow(qr/worker process $worker exited on signal 9/);
is($t->end, '', 'nothing is wrong');

done_testing();
