package SymDebuginfod;

# elfutils' debuginfod over a folder of a test, on a port of loopback.
#
#     my $d = SymDebuginfod->new($folder)->start($build_id);
#     $d->address;      127.0.0.1:PORT; the build id's files are indexed
#     my $t = $d->nginx;    a started SymFetch with it as the source, and /admin
#     $d->stop;

use strict;
use warnings;

use HTTP::Tiny;
use SymFetch;
use SymServer;
use SymTest;

sub new {
    my ($class, $folder) = @_;
    return bless { folder => $folder }, $class;
}

sub start {
    my ($self, $build_id) = @_;
    $self->{port} = SymServer::free_port();
    $self->{server} = SymServer->start_deaf('debuginfod',
        SymTools::path('debuginfod'), '--port', $self->{port}, '--database', ':memory:',
        '--concurrency', 1, '--scan-file-dir', $self->{folder});
    $self->wait_for($build_id) or die 'debuginfod: ' . $self->{server}->said;
    return $self;
}

# It scans while it serves, and does not have a file that it has not scanned
# yet.
sub wait_for {
    my ($self, $build_id) = @_;
    my $http = HTTP::Tiny->new(timeout => $SymServer::PATIENCE, proxy => undef,
        http_proxy => undef);
    my $url = 'http://' . $self->address . "/buildid/$build_id";
    return SymTest->wait_for(sub {
        my @status = map { $http->get("$url/$_")->{status} }
            'debuginfo', 'executable';
        return "@status" eq '200 200';
    }, 'debuginfod');
}

sub nginx {
    my ($self) = @_;
    my $address = $self->address;

    return SymFetch->new(how => <<'CONF', sources => <<"SOURCES")->start;
            symbolicate_source debuginfod uri=/buildid/ layout=debuginfod;
CONF
        location /buildid/ { internal; proxy_pass http://$address; }
        location /admin {
            symbolicate;
            symbolicate_admin on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source debuginfod uri=/buildid/ layout=debuginfod;
        }
SOURCES
}

sub address { return "127.0.0.1:$_[0]{port}" }

sub stop {
    my ($self) = @_;
    my $server = delete $self->{server} or return $self;
    $server->stop;
    return $self;
}

1;
