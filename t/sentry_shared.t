# All clients share a configured source.  A client that sends wrong facts about
# a module must not hide it from others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text);
use Test::More;

my $SOURCE = 'symbolicate_source fault uri=/src/ layout=unified;
            symbolicate_negative_ttl absent=1h malformed=1h failed=1s;';

my $t = SymFetch->new(how => $SOURCE, sources => <<"CONF")->start;
        location /sentry {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            $SOURCE
        }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
CONF

sub status_of {
    my (%module) = @_;
    my $r = $t->post('/sentry/symbolicate', $t->json({
        modules => [{ image_addr => '0x10000', image_size => 0x8000, %module }],
        stacktraces => [{ frames => [{ instruction_addr => '0x11004' }] }] }),
        'Content-Type' => 'application/json');
    is($r->{status}, 200, 'answered') or diag $r->{body};
    return $r->{json}{modules}[0]{debug_status};
}

# --- an unknown code id ---

my $id = '0102030405060708090A0B0C0D0E0F100';
my $uuid = '01020304-0506-0708-090a-0b0c0d0e0f10';

$t->fault->file('01/02030405060708090a0b0c0d0e0f100/breakpad', sym_text('a.pdb', $id));
is(status_of(type => 'elf', debug_file => 'a.pdb', debug_id => $uuid,
    code_id => '00112233445566778899aabbccddeeff00112233'), 'missing',
    'with the code id of no file it is missing');
my $r = $t->ask(['a.pdb', $id]);
ok($t->found($r, 'a.pdb', $id), 'another client gets the module') or diag $r->{body};
is(status_of(type => 'elf', debug_file => 'a.pdb', debug_id => $uuid), 'found',
    '... by either API');

# --- a code id of another file ---

$t->fault->file('ff/112233445566778899aabbccddeeff00112233/breakpad',
    sym_text('other.pdb', SymFetch::id(9)));
$t->fault->file('11/02030405060708090a0b0c0d0e0f100/breakpad',
    sym_text('b.pdb', $id =~ s/^01/11/r));
is(status_of(type => 'elf', debug_file => 'b.pdb', debug_id => $uuid =~ s/^01/11/r,
    code_id => 'ff112233445566778899aabbccddeeff00112233'), 'malformed',
    'with the code id of another file it is malformed');
$r = $t->ask(['b.pdb', $id =~ s/^01/11/r]);
ok($t->found($r, 'b.pdb', $id =~ s/^01/11/r), 'another client gets the module') or diag $r->{body};
is($t->end, '', 'nothing else');
done_testing();
