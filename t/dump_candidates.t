#!/usr/bin/perl

# The candidates of a dump's modules list every place, whichever answers last: an answer with
# candidates is not sent while a source is still asked, although a good file was found before.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use JSON::PP ();
use SymElf qw(output);
use SymGiven;
use SymTest;

plan skip_all => 'the program knows the registers of x86_64' if output('uname', '-m') !~ /x86_64/;

my $t = SymGiven->new(at => '/')->start;
my $program = $t->dir . '/program';

sub run { system(@_) == 0 or die "@_ failed\n"; return }

run('gcc', '-g', '-O2', '-Wl,--build-id=sha1', '-o', $program,
    map { "$FindBin::Bin/lib/crash/$_.c" } 'program', 'own_dump');
run($program, "$program.dmp");
run('objcopy', '--only-keep-debug', $program, "$program.debug");
run('strip', '--strip-debug', $program);
my ($at, $rest) = output('readelf', '-nW', $program) =~ /Build ID: (\w\w)(\w+)/ or die 'no id';

# One source has the executable, with rules and a symbol table; the other is slow, and has
# the debug file.
my $fault = $t->fault;
$t->route("/$at/$rest", file => $program);
$fault->file("$at/$rest.debug", SymTest::slurp("$program.debug"));

sub source {
    my ($id, $url) = @_;
    return { id => $id, type => 'http', layout => { type => 'native' }, url => $url,
             filters => { filetypes => ['elf_code', 'elf_debug'] } };
}

my $boundary = 'boundary-of-the-form';
my %fields = (sources => JSON::PP::encode_json([source(quick => 'http://' . $t->address_of_servers . '/'),
        source(slow => $fault->url('gate/slow/ok/'))]),
    options => '{"dif_candidates": true}', upload_file_minidump => SymTest::slurp("$program.dmp"));
my $body = join '', map({ qq(--$boundary\r\nContent-Disposition: form-data; name="$_"\r\n\r\n$fields{$_}\r\n) }
    sort keys %fields), "--$boundary--\r\n";

my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/minidump', body => $body,
    headers => ['Content-Type' => "multipart/form-data; boundary=$boundary"]));
$fault->wait("/gate/slow/ok/$at/$rest", count => 1);
$fault->open_gate('slow');

my $r = $t->response($socket);
is($r->{status}, 200, 'an answer') or diag $r->{body};
my ($module) = grep { ($_->{code_file} // '') eq $program } @{ JSON::PP::decode_json($r->{body})->{modules} };
my %seen;
for my $c (@{ $module->{candidates} }) {
    my ($path) = $c->{location} =~ m{/(\w\w/\w+(?:\.debug)?)$};
    $seen{"$c->{source} " . ($path // $c->{location})} = join ' ', $c->{download}{status},
        map { $c->{$_} ? "$_ $c->{$_}{status}" : () } 'unwind', 'debug';
}
is_deeply(\%seen, {
    "quick $at/$rest" => 'ok unwind ok', "quick $at/$rest.debug" => 'notfound',
    "slow $at/$rest" => 'notfound', "slow $at/$rest.debug" => 'ok debug ok',
}, '... whose candidates are complete') or diag explain $module->{candidates};

is($t->end, '', 'nothing is wrong');
done_testing();
