#!/usr/bin/perl

# Requests for Java events that a real Symbolicator answered
# (../shared/fixtures/recorded/jvm) are sent to a real nginx, with a server that
# plays Sentry's list of debug files: the answers are the same, key by key.
# Refused requests have the same status.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use IO::Uncompress::Gunzip qw(gunzip);
use SymFixtures qw(need_fixtures);
use SymGiven;
use SymServer;
use SymTools;

my $root = need_fixtures('recorded/jvm') . '/..';
my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

# The recording contains answers that used a mapping of one line, but not the
# mapping.
my $served = tempdir(CLEANUP => 1);
mkdir "$served/jvm" or die;
symlink $_, "$served/jvm/" . s{.*/}{}r or die for glob "$root/jvm/*";
open my $one, '>', "$served/jvm/bad-oneline.txt" or die;
print $one "a.b.C -> x:\n    1:1:void m():10:10 -> a\n";
close $one or die;

# Symbolicator's own test cases: the first mapping of a request is that of the
# case.
my $own = "$root/../jvm";
my $served_files = 0;
my $api = $JSON->decode(slurp("$root/jvm/api.json"));
for my $path (glob "$own/cases/*.request.json") {
    my ($name) = $path =~ /jvm-([^\/]+)\.request/;
    my ($first) = grep { $_->{type} eq 'proguard' } @{ $JSON->decode(slurp($path))->{modules} };
    serve("$own/$name/proguard.txt", $first->{uuid});
}
unlink "$served/jvm/api.json";
open my $list, '>', "$served/jvm/api.json" or die;
print $list $JSON->encode($api);
close $list or die;

sub serve {
    my ($path, $id) = @_;
    my $file = 'own' . $served_files++;
    symlink $path, "$served/jvm/$file" or die;
    $api->{$file} = { file => $file, debugId => $id, symbolType => 'proguard' };
    return;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!";
    local $/;
    return scalar <$in>;
}

my $port = SymServer::free_port();
my $server = SymServer->start_deaf('recorded', SymTools::path('python3'),
                                   "$root/server.py", $served, $port)->wait_port($port);

my $t = SymGiven->new->start;

sub file {
    my ($name) = @_;
    my ($path) = grep { -e } map { ("$_/$name", "$_/$name.gz") } "$root/jvm/cases", "$own/cases";
    my $text = slurp($path);
    gunzip(\$text => \my $plain) if $path =~ /\.gz$/;
    $text = $plain if $path =~ /\.gz$/;
    return $text =~ s/\@SERVER\@/127.0.0.1:$port/gr;
}

my @names = map { m{([^/]+)\.request\.json(?:\.gz)?$} } glob("$root/jvm/cases/*");
push @names, map { m{([^/]+)\.request\.json$} } glob("$own/cases/*");
cmp_ok(@names, '>=', 42, 'recorded cases');

# Without `sources` the location's own are used (t/jvm_folder.t).
@names = grep { $_ ne 'shape00' } @names;

for my $round ('', ' again') {
    for my $name (@names) {
        my $want = $JSON->decode(file("$name.response.json"));
        my $r = $t->request('POST', '/symbolicate-jvm',
            headers => ['Content-Type' => 'application/json'],
            body => file("$name.request.json"));

        if (ref $want eq 'HASH' && $want->{http_status}) {
            is($r->{status}, $want->{http_status}, "$name$round: the status");
            next;
        }
        is($r->{status}, 200, "$name$round") or diag($r->{body});
        is_deeply(scalar(eval { $JSON->decode($r->{body}) }), $want,
                  "$name$round: the answer");
    }
}

is($t->end, '', 'a clean log');
done_testing();
