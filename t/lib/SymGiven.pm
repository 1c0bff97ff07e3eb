package SymGiven;

# nginx, the loader's daemon and servers of HTTP and DNS that answer as
# requested: for tests of sources that are defined in requests.  Inherits all of
# SymFetch.
#
#     my $t = SymGiven->new(allow => 'allow=127.0.0.1')->start;
#     $t->route('/a', status => 403, headers => {}, body => 'text');
#     $t->names('a.test' => [['127.0.0.1'], ['10.0.0.1']]);
#     $t->symbols('/base', $name, $id);              a module at a path
#     my $r = $t->symbolicate([ $source, ... ], [$name, $id], ...);
#     $t->function_of($r, 0);                        of the first module
#     $t->status_of($r, 0);                          its debug_status
#     $t->requests;                                  all requests at the servers
#     $t->source('/base', more keys);                an http source at the path
#
# new(at => location of the API, types => ..., allow => ..., more => directives,
# certificate => [CERT, KEY, ...], trusted => CA); %%HTTP%% is the address of
# the HTTP server.

use strict;
use warnings;

use parent 'SymFetch';

use HTTP::Tiny;
use JSON::PP ();

use SymLoader qw(sym_text);
use SymServer;
use SymTest;
use SymTools;

sub new {
    my ($class, %opt) = @_;
    my $server = SymServer->start('sources', SymTools::path('python3'),
        SymTest::root() . '/t/lib/given_server.py', @{$opt{certificate} || []});
    my $ports = $server->line;
    my $self = $class->SUPER::new(given => $server, ports => $ports,
        http => HTTP::Tiny->new(timeout => $SymServer::PATIENCE, proxy => undef,
            http_proxy => undef),
        types => 'http s3 gcs sentry', allow => 'allow=127.0.0.1', more => '',
        at => '/symbolicate', location => '', trusted => $opt{certificate} ? $opt{certificate}[0] : '',
        ttl => 'symbolicate_negative_ttl absent=1s malformed=1s failed=1s;',
        %opt);
    my $trusted = $self->{trusted}
        ? "proxy_ssl_verify on; proxy_ssl_trusted_certificate $self->{trusted};"
        : '';

    return $self->conf(locations => <<"CONF");
        resolver 127.0.0.1:$ports->{dns} valid=1s;
        resolver_timeout 30s;
        location $self->{at} {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_request_sources uri=/_given/ $self->{types} $self->{allow};
            symbolicate_on_failure partial;
            $self->{ttl}
            $self->{more}
        }
        location /_given/ {
            internal;
            proxy_pass \$symbolicate_given_url;
            proxy_set_header Host \$symbolicate_given_host;
            proxy_ssl_name \$symbolicate_given_name;
            proxy_ssl_server_name on;
            $trusted
            $self->{location}
        }
        location /__ { symbolicate_health; }
        $self->{sources}
CONF
}

sub address_of_servers { return "127.0.0.1:$_[0]{ports}{port}" }

sub expand {
    my ($self, $text) = @_;
    my $http = $self->address_of_servers;
    $text =~ s/%%HTTP%%/$http/g;
    return $self->SUPER::expand($text);
}

# --- the servers ---

sub control {
    my ($self, $what, $data) = @_;
    my $url = 'http://' . $self->address_of_servers . "/_control/$what";
    my $r = defined $data
        ? $self->{http}->post($url, { content => JSON::PP::encode_json($data) })
        : $self->{http}->get($url);
    die "$what: $r->{status} $r->{content}" if !$r->{success};
    return JSON::PP::decode_json($r->{content});
}

sub route {
    my ($self, $path, %o) = @_;
    $self->control(route => { path => $path, %o });
    return $self;
}

sub names {
    my ($self, %names) = @_;
    $self->control(names => \%names);
    return $self;
}

sub requests { return @{ $_[0]->control('requests') } }
sub asked { return $_[0]->control('asked') }

sub forget {
    my ($self) = @_;
    $self->control(forget => {});
    return $self;
}

# Debug ids, as Sentry and as paths spell them.
sub guid {
    my ($n) = @_;
    return sprintf('%08x-0000-4000-8000-%012x', $n, $n);
}

sub path_of {
    my ($name, $n) = @_;
    (my $id = uc guid($n)) =~ tr/-//d;
    return SymFetch::path($name, $id . '0');
}

sub text_of {
    my ($name, $n, %o) = @_;
    (my $id = uc guid($n)) =~ tr/-//d;
    return sym_text($name, $id . '0', %o);
}

sub symbols {
    my ($self, $base, $name, $n, %o) = @_;
    return $self->route("$base/" . path_of($name, $n),
        body => text_of($name, $n, prefix => $o{prefix} // 'f'));
}

# --- requests ---

sub source {
    my ($self, $base, %o) = @_;
    return { id => 'src', type => 'http',
        url => 'http://' . $self->address_of_servers . $base,
        filters => { filetypes => ['breakpad'] }, %o };
}

# Modules are [name, number]; each has a frame in its first function.
sub body {
    my ($self, $sources, @modules) = @_;
    my $n = 0;
    my @m = map { { type => 'pe', debug_file => $_->[0],
        debug_id => guid($_->[1]), image_size => 0x8000,
        image_addr => sprintf('0x%x', 0x10000 * ++$n) } } @modules;

    return $self->json({ ($sources ? (sources => $sources) : ()),
        options => { dif_candidates => JSON::PP::true,
            apply_source_context => JSON::PP::false },
        modules => \@m, stacktraces => [{ frames => [map {
            { instruction_addr => sprintf('0x%x', hex($_->{image_addr}) + 0x1004) }
        } @m] }] });
}

sub symbolicate {
    my ($self, $sources, @modules) = @_;
    return $self->symbolicate_in('', $sources, @modules);
}

sub symbolicate_in {
    my ($self, $query, $sources, @modules) = @_;
    return $self->post("/symbolicate$query", $self->body($sources, @modules),
        'Content-Type' => 'application/json');
}

sub function_of {
    my ($self, $r, $n) = @_;
    return $r->{json}{stacktraces}[0]{frames}[$n]{function};
}

sub status_of {
    my ($self, $r, $n) = @_;
    return $r->{json}{modules}[$n]{debug_status};
}

1;
