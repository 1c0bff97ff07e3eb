package SymFault;

# An HTTP server that fails as requested; behaviours: see fault_server.py.
#
#     my $f = SymFault->new->start;
#     $f->file('a/B/a.sym', $bytes);             below $f->folder
#     $f->url('reset/100/a/B/a.sym');
#     $f->script('x', 'status/503', 'ok');       /as/x/...: 503 once, then fine
#     $f->open_gate('g');                        /gate/g/... continues
#     $f->wait('/ok/a', count => 3);             until three have arrived
#     $f->wait(undef, now => 0);                 until all are answered
#     $f->count('/ok/a');  $f->stats;  $f->forget;
#     $f->credentials(expires_in_s => 5, status => { token => 500 });
#     $f->stop;  $f->start;                      the same port again
#
# Counts do not include the test's own commands.
#
#     SymFault->new(tls => 1)            https as well: $f->tls_url('ok/...'), with
#                                        an untrusted certificate

use strict;
use warnings;

use Carp qw(croak);
use File::Temp qw(tempdir);
use HTTP::Tiny;
use JSON::PP ();

use SymLoader ();
use SymServer;
use SymTest;

sub new {
    my ($class, %opt) = @_;
    return bless {
        port => 0, tls_port => 0,
        folder => tempdir('symfault-XXXXXX', TMPDIR => 1, CLEANUP => 1),
        http => HTTP::Tiny->new(timeout => $SymServer::PATIENCE,
            proxy => undef, http_proxy => undef),
        %opt,
    }, $class;
}

sub start {
    my ($self) = @_;
    my @tls = $self->{tls} ? ($self->certificate, $self->{tls_port}) : ();
    $self->{server} = SymServer->start('fault server',
        SymTools::path('python3'),
        SymTest::root() . '/t/lib/fault_server.py', $self->{folder},
        $self->{port}, @tls);
    my $ports = $self->{server}->line;
    @{$self}{keys %$ports} = values %$ports;
    return $self;
}

# Its settings are lost; connections are refused.
sub stop {
    my ($self) = @_;
    my $server = delete $self->{server} or return $self;
    $server->stop;
    return $self;
}

sub port { return $_[0]{port} }
sub folder { return $_[0]{folder} }
sub address { return "127.0.0.1:$_[0]{port}" }

# Everything else that it printed: '' unless it is broken itself.
sub trouble { return $_[0]{server}->said }

sub url {
    my ($self, $path) = @_;
    return 'http://' . $self->address . "/$path";
}

sub tls_url {
    my ($self, $path) = @_;
    return "https://127.0.0.1:$self->{tls_port}/$path";
}

sub file {
    my ($self, $name, $bytes) = @_;
    SymLoader::write_file("$self->{folder}/$name", $bytes);
    return $self;
}

# Files: the certificate, its key.
sub certificate {
    my ($self) = @_;
    $self->{tls_dir} //= tempdir('symfault-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my @files = map {"$self->{tls_dir}/$_"} qw(cert.pem key.pem);
    return @files if -e $files[1];

    my $code = SymTest::run_quietly("$self->{tls_dir}/log", 'openssl', 'req',
        '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', 2, '-subj',
        '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-out',
        $files[0], '-keyout', $files[1]);
    croak 'openssl: ' . SymTest::slurp("$self->{tls_dir}/log") if $code;
    return @files;
}

# --- commands and queries ---

sub control {
    my ($self, $method, $path, $data) = @_;
    my $r = $self->{http}->request($method, $self->url("_control/$path"),
        defined $data ? { content => SymTest->json($data) } : {});
    croak "fault server, $path: $r->{status} $r->{content}" if !$r->{success};
    return JSON::PP::decode_json($r->{content});
}

sub stats { return $_[0]->control('GET', 'stats') }

# Requests for a path as it was sent; without a path, of all.
sub count {
    my ($self, $path) = @_;
    my $stats = $self->stats;
    return $stats->{total}{count} if !defined $path;
    return ($stats->{paths}{$path} || {})->{count} || 0;
}

sub forget {
    my ($self) = @_;
    $self->control('POST', 'forget');
    return $self;
}

sub wait {
    my ($self, $path, $field, $number) = @_;
    my $query = "$field=$number";
    if (defined $path) {
        (my $value = $path) =~ s/([^\w.\/~-])/sprintf '%%%02X', ord $1/ge;
        $query .= "&path=$value";
    }
    $self->control('GET', "wait?$query");
    return $self;
}

sub open_gate {
    my ($self, $name) = @_;
    $self->control('POST', "gate/$name/open");
    return $self;
}

sub close_gate {
    my ($self, $name) = @_;
    $self->control('POST', "gate/$name/close");
    return $self;
}

sub script {
    my ($self, $name, @behaviours) = @_;
    $self->control('POST', "script/$name", \@behaviours);
    return $self;
}

sub credentials {
    my ($self, %told) = @_;
    $self->control('POST', 'credentials', \%told);
    return $self;
}

1;
