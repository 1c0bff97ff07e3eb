#!/usr/bin/perl

# Minidumps that a real Symbolicator answered (../shared/fixtures/recorded/dumps
# and dumps), sent to a real nginx, whose loader reads them, with the recorded
# symbol stores as sources of the request: the answers are the same, key by key,
# except for the differences that docs/use/compat-sentry.md explains.  Refused
# requests have the same status, and unreadable dumps the same message.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use IO::Uncompress::Gunzip qw(gunzip);
use SymFixtures qw(fixtures need_fixtures);
use SymGiven;
use SymServer;
use SymTest;
use SymTools;

my $root = need_fixtures('recorded/dumps');
my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

sub file {
    my ($path) = @_;
    return SymTest::slurp($path) if -e $path;
    my $packed = SymTest::slurp("$path.gz");
    gunzip(\$packed => \my $plain) or die $path;
    return $plain;
}

my $port = SymServer::free_port();
my $server = SymServer->start_deaf('recorded', SymTools::path('python3'),
                                   "$root/../server.py", "$root/..", $port)->wait_port($port);

my $t = SymGiven->new(at => '/')->start;

# Keys that are not compared; docs/use/compat-sentry.md says why they differ.
my %explained = (
    # modules beyond frame 256
    (map { ("c-O0-recurse.$_" => sub { delete $_[0]{modules} }) } qw(none sym elf)),
    # an address after a symbol's end
    'c-O2-nx.elf' => sub { shift @{ $_[0]{stacktraces}[0]{frames} } },
);

# Names that differ in ELF files: Symbolicator's, ours.
my %names = (
    'main.cold' => 'main',
    '_ZL6waiteri.cold' => '_ZL6waiteri',
    'waiter(int) [clone .cold]' => 'waiter(int)',
    nanosleep => '__nanosleep',
    'std::this_thread::sleep_for<long, std::ratio<(long)1, (long)1> >'
        . '(std::chrono::duration<long, std::ratio<(long)1, (long)1> > const&)'
        => 'std::this_thread::sleep_for<long, std::ratio<1l, 1l> >'
        . '(std::chrono::duration<long, std::ratio<1l, 1l> > const&)',
);

sub rename_frames {
    my ($answer) = @_;
    for my $frame (map { @{ $_->{frames} // [] } } @{ $answer->{stacktraces} // [] }) {
        for my $key (grep { exists $frame->{$_} } qw(function symbol)) {
            $frame->{$key} = $names{ $frame->{$key} } // $frame->{$key};
        }
    }
    return;
}

sub ask {
    my ($name, $dump, $fields, $want, $field) = @_;
    my $r = $t->form('/minidump', %$fields, ($field // 'upload_file_minidump') => $dump);

    if ($want->{http_status}) {
        is($r->{status}, $want->{http_status}, "$name: the status");
        return;
    }

    is($r->{status}, 200, $name) or diag $r->{body};
    my $got = eval { $JSON->decode($r->{body}) };
    rename_frames($want) if $name =~ /\.(?:elf|vars|candidates)$/;
    if ($explained{$name}) {
        $explained{$name}->($_) for $got, $want;
    }
    is_deeply($got, $want, "$name: the answer");
    return;
}

# Candidates list the paths that were tried, and a module in the store is found
# whatever its name, so these cases begin with an empty store, as they were recorded.
my @paths = sort glob "$root/cases/*.request.json";
my $fresh = qr/\.(?:candidates|rewrite)\b/;
for my $path ((grep { $_ =~ $fresh } @paths), grep { $_ !~ $fresh } @paths) {
    my ($name) = $path =~ m{([^/]+)\.request\.json$};
    next if $name =~ /^apple-/;
    my $request = $JSON->decode(SymTest::slurp($path));
    my %fields = map { $_ => $request->{fields}{$_} =~ s/\@SERVER\@/127.0.0.1:$port/gr }
        keys %{ $request->{fields} };
    my $want = $JSON->decode(
        file("$root/cases/$name.response.json") =~ s/\@SERVER\@/127.0.0.1:$port/gr);
    my ($file) = grep { -e $_ || -e "$_.gz" } "$root/in/$request->{file}";
    ask($name, file($file), \%fields, $want);
    if ($name =~ $fresh) {
        $t->end;
        $t = SymGiven->new(at => '/')->start;
    }
}

my $own = fixtures('dumps');
for my $name (qw(linux macos windows test invalid-range)) {
    ask($name, SymTest::slurp("$own/$name.dmp"), { sources => '[]' },
        $JSON->decode(SymTest::slurp("$own/cases/$name.dmp.nosources.response.json")));
}

ask('no dump', 'x', { sources => '[]' }, { http_status => 400 }, 'another');
ask('a broken field', 'x', { sources => '{' }, { http_status => 400 });

# A client that does not wait gets an id, and the answer later: the dump is
# kept.
{
    my $want = $JSON->decode(file("$root/cases/c-O2-segv.none.response.json"));
    my $r = $t->form('/minidump?timeout=0', sources => '[]',
        upload_file_minidump => file("$root/in/c-O2-segv.dmp"));
    my $pending = $JSON->decode($r->{body});
    is($pending->{status}, 'pending', 'a client that does not wait');
    $r = $t->request('GET', "/requests/$pending->{request_id}?timeout=60");
    is_deeply($JSON->decode($r->{body}), $want, '... gets the answer later');
}

$t->end;
done_testing();
