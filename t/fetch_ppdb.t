#!/usr/bin/perl

# Frames of .NET need the lines of a portable PDB.  nginx fetches it from a
# symbol server like symbols: once for all requests that wait for it, also if it
# does not exist.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;

use SymFetch;
use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(read_file);
use SymTest;

my $CASE = need_fixtures('sentry/cases') . '/dotnet';
my $PATH = 'integration.pdb/0C1033F78632492E91C6C314B72E1920ffffffff/integration.pdb';
my $json = JSON::PP->new;
my $asked = $json->decode(read_file("$CASE.request.json"));
my $wanted = $json->decode(read_file("$CASE.response.json"));
delete $asked->{sources};

# Only lines: source text is another kind, for which the server would get
# another request.
$asked->{options} = { apply_source_context => JSON::PP::false };

my $t = SymFetch->new(workers => 2, sources => <<'CONF')->start;
        location /dotnet/ {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source server uri=/server/ layout=symstore;
        }
        location /server/ { internal; proxy_pass http://%%FAULT%%/as/server/; }
CONF
$t->fault->file($PATH, read_file(fixtures("sentry/symbols/$PATH")));

# The request of the case, for a module with another id.
sub question {
    my ($id) = @_;
    $asked->{modules}[0]{debug_id} = $id;
    return ('/dotnet/symbolicate', body => $json->encode($asked),
        headers => ['Content-Type' => 'application/json']);
}

# Status, method, file and line of each frame.
sub frames {
    my ($answer) = @_;
    return [ map { [ @$_{qw(status function_id abs_path lineno)} ] }
             @{ $answer->{stacktraces}[0]{frames} } ];
}

my $ID = $asked->{modules}[0]{debug_id};
my @sockets = map {
    my $s = $t->connect;
    $t->send_all($s, $t->request_text('POST', question($ID)));
    $s;
} 1 .. 8;
my @answers = map { $t->response($_) } @sockets;
is_deeply([ map { $_->{status} } @answers ], [ (200) x 8 ], 'eight clients at once are answered');
is_deeply(frames($json->decode($_->{body})), frames($wanted),
    '... as in the recording of Sentry')
    for @answers;
is($t->fault->count("/as/server/$PATH"), 1, '... after one download');

my $r = $t->request('POST', question($ID));
is_deeply(frames($r->{json}), frames($wanted), 'later the same');
is($t->fault->count("/as/server/$PATH"), 1, '... without another download');

(my $absent = $ID) =~ s/^..../ffff/;
(my $absent_path = $PATH) =~ s/0C10/FFFF/;
for my $time ('a portable PDB that does not exist', '... is remembered') {
    $r = $t->request('POST', question($absent));
    is($r->{json}{modules}[0]{debug_status}, 'missing', $time);
    is($t->fault->count("/as/server/$absent_path"), 1, '... requested once');
}

is($t->end, '', 'nothing is wrong');
done_testing();
