# A client of Sentry's API describes a module by its type, both ids and both
# file names.  These select the paths at a source, so a missing file is absent
# for requests that select the same paths, and for no others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(json_lines sym_text);
use Test::More;

my $CONF = join "\n", map {
    "location /src-$_/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
     location /$_ {
        symbolicate; symbolicate_admin on;
        symbolicate_loader unix:%%LOADER%%;
        symbolicate_source $_ uri=/src-$_/ layout=$_;
        symbolicate_negative_ttl absent=1h malformed=1h failed=1h;
     }
     location /sentry-$_ {
        symbolicate sentry;
        symbolicate_loader unix:%%LOADER%%;
        symbolicate_source $_ uri=/src-$_/ layout=$_;
        symbolicate_negative_ttl absent=1h malformed=1h failed=1h;
     }"
} qw(unified symstore);
my $t = SymFetch->new(sources => $CONF)->start;
my $n = 0;

# Its own module for each case, with the paths of its files.
sub module {
    my $digits = sprintf '%032x', 0xabcdef00 + ++$n;
    (my $uuid = $digits) =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/;
    my $stamp = sprintf '%08X', 0x5e000000 + $n;
    return { name => "m$n.pdb", id => uc($digits) . '0',
        is => { type => 'pe', debug_file => "C:\\m$n.pdb", debug_id => $uuid,
            code_file => "C:\\m$n.exe", code_id => lc($stamp) . '2a000' },
        unified => "00/" . substr($digits, 2) . '0/breakpad',
        symstore => "m$n.exe/${stamp}2a000/m$n.exe" };
}

sub body {
    my ($m, $wrong) = @_;
    return $t->json({ stacktraces => [{ frames => [{ instruction_addr => '0x11004' }] }],
        modules => [{ image_addr => '0x10000', image_size => 0x8000, %{ $m->{is} },
            %{ $wrong // {} } }], options => { apply_source_context => \0 } });
}

sub sentry {
    my ($layout, $m, $wrong) = @_;
    my $r = $t->post("/sentry-$layout/symbolicate", body($m, $wrong),
        'Content-Type' => 'application/json');
    return $r->{json}{modules}[0]{debug_status} // "$r->{status}: $r->{body}";
}

sub v5 {
    my ($layout, $m) = @_;
    my $r = $t->post("/$layout/v5", $t->question([ @$m{qw(name id)} ]));
    return $r->{status} != 200 ? "$r->{status}: $r->{body}"
        : $t->found($r, @$m{qw(name id)}) ? 'found' : 'missing';
}

sub put {
    my ($layout, $m) = @_;
    $t->fault->file($m->{$layout}, sym_text($m->{name}, $m->{id}));
    return;
}

# A wrong fact about a module, and the layout whose paths it changes.
my %WRONG = (
    'another type' => [ unified => { type => 'macho' } ],
    'a type without paths' => [ unified => { type => 'elf', code_id => undef } ],
    'an unknown type' => [ unified => { type => 'unknown' } ],
    'another code id' => [ symstore => { code_id => '5affffff2a000' } ],
    'another file name' => [ symstore => { code_file => '/x/other.exe' } ],
    'another debug file' => [ symstore => { debug_file => 'other.pdb' } ],
);

for my $what (sort keys %WRONG) {
    my ($layout, $wrong) = @{ $WRONG{$what} };
    my $m = module();
    put($layout, $m);
    my $is_of_other_name = exists $wrong->{debug_file};

    if (!$is_of_other_name) {
        is(sentry($layout, $m, $wrong), 'missing', "$what: missing");
        my $gets = $t->fault->count;
        is(sentry($layout, $m, $wrong), 'missing', '... again');
        is($t->fault->count, $gets, '... the source is not tried again');
    }
    is(sentry($layout, $m), 'found', '... another client gets the module');
    is(sentry($layout, $m, $wrong), 'found', '... then everybody');

    next if $layout ne 'unified';
    $m = module();
    put($layout, $m);
    is(sentry($layout, $m, $wrong), 'missing', "$what: missing");
    is(v5($layout, $m), 'found', '... v5 has it');
}

# --- a module that is absent in several ways is recorded for each, and
# forgotten at once ---

for my $way ('DELETE', 'rm') {
    my $m = module();
    my @asked = (sub { sentry('unified', $m) }, sub { sentry('unified', $m, { type => 'macho' }) },
        sub { sentry('unified', $m, { type => 'unknown' }) },
        sub { sentry('unified', $m, { code_id => '0123456789abcdef' }) },
        sub { v5('unified', $m) });
    is($_->(), 'missing', 'not there') for @asked;
    my $gets = $t->fault->count;
    put('unified', $m);
    is($_->(), 'missing', 'kept') for @asked, reverse @asked;
    is($t->fault->count, $gets, '... the source is not tried again');

    my $e = $t->request('GET', "/unified/explain/$m->{name}/$m->{id}")->{json};
    is($e->{state}, 'absent', 'explain shows that it is absent');

    if ($way eq 'DELETE') {
        is($t->request('DELETE', "/unified/cache/$m->{name}/$m->{id}")->{status}, 200, 'DELETE');
    } else {
        is($t->loader->run('rm', "$m->{name}/$m->{id}")->{code}, 0, 'rm');
    }
    is(sentry('unified', $m), 'found', '... then it is requested');
    is(scalar(grep { ($_->{name} // '') eq $m->{name} }
            json_lines($t->loader->run('ls', '--json')->{out})), 1,
        '... no record of any way is left');
    is($t->loader->run('verify')->{code}, 0, '... and the store is sound');
}

# an event with only the code id, like those of debug files
{
    my $m = module();
    is(sentry('symstore', $m), 'missing', 'not there');
    put('symstore', $m);
    is($t->loader->run('rm', $m->{is}{code_id})->{code}, 0, 'forgotten by its code id');
    is(sentry('symstore', $m), 'found', '... then it is requested');
}

# --- a request does not wait for one that selects other paths ---

{
    my $m = module();
    put('unified', $m);
    $t->fault->script('src', 'gate/slow', 'ok');
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/sentry-unified/symbolicate',
        headers => [ 'Content-Type' => 'application/json' ],
        body => body($m, { type => 'macho' })));
    $t->fault->wait(undef, now => 1);
    is(sentry('unified', $m), 'found',
        'a request that is not delayed by another one');
    my $r = $t->response($socket);
    is($r->{json}{modules}[0]{debug_status}, 'found',
        '... which then has it, too');
    $t->fault->open_gate('slow');
}

is($t->end, '', 'nothing is wrong');
done_testing();
