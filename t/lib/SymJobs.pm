package SymJobs;

# Sentry's API in nginx, with modules at a source that stalls until go(): for
# tests of requests that outlive their clients.  Inherits SymFetch.
#
#     my $t = SymJobs->new(workers => 2)->start;
#     my $r = $t->symbolicate('?timeout=0', 'a.so');     an uploaded module
#     my $r = $t->result($id, '?timeout=1');
#     $t->go;                                   the source answers from now on
#
# new(http => directives of http, how => directives of the location)

use strict;
use warnings;

use parent 'SymFetch';

use Test::More ();

my $UUID = qr/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;

sub new {
    my ($class, %opt) = @_;
    my $http = delete $opt{http} // '';
    my $how = delete $opt{how} // '';
    my $self = $class->SUPER::new(n => 0, %opt);

    $self->fault->script('src', 'gate/g/ok');
    return $self->conf(http => $http, locations => <<"CONF");
        location / {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source fault uri=/src/;
            $how
        }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /__ { symbolicate_health; }
        location /metrics { symbolicate_metrics; }
CONF
}

sub uuid { return $UUID }

# From now on the source answers, also requests that it has held.
sub go {
    my ($self) = @_;
    $self->fault->open_gate('g');
    return $self;
}

sub stall {
    my ($self) = @_;
    $self->fault->close_gate('g');
    return $self;
}

# Modules that were not requested before.
sub modules {
    my ($self, $count) = @_;
    my @names = map { 'm' . ++$self->{n} . '.so' } 1 .. $count;
    $self->upload($_, $self->id_of($_)) for @names;
    return @names;
}

sub id_of {
    my ($self, $name) = @_;
    my ($n) = $name =~ /(\d+)/;
    return SymFetch::id($n // 1);
}

# A request for the first function of each module.
sub event {
    my ($self, @names) = @_;
    my (@modules, @frames);
    for my $i (0 .. $#names) {
        my $id = lc $self->id_of($names[$i]);
        $id =~ s/^(.{8})(.{4})(.{4})(.{4})(.{12})(.+)$/$1-$2-$3-$4-$5-$6/;
        my $base = 0x10000000 * ($i + 1);
        push @modules, { type => 'elf', debug_id => $id, code_id => '',
            debug_file => $names[$i], code_file => $names[$i],
            image_addr => sprintf('0x%x', $base), image_size => 0x100000 };
        push @frames, { instruction_addr => sprintf '0x%x', $base + 0x1004 };
    }
    return $self->json({ stacktraces => [{ frames => \@frames }],
        modules => \@modules });
}

sub symbolicate {
    my ($self, $query, @names) = @_;
    return $self->post("/symbolicate$query", $self->event(@names),
        'Content-Type' => 'application/json');
}

# The same without waiting: a socket for response().
sub begin_event {
    my ($self, $query, @names) = @_;
    my $socket = $self->connect;
    $self->send_all($socket, $self->request_text('POST', "/symbolicate$query",
        headers => ['Content-Type' => 'application/json'],
        body => $self->event(@names)));
    return $socket;
}

sub result {
    my ($self, $id, $query) = @_;
    return $self->request('GET', "/requests/$id" . ($query // ''));
}

# "status" of an answer, or else the HTTP status.
sub status {
    my ($self, $r) = @_;
    return ref $r->{json} eq 'HASH' && $r->{json}{status} || $r->{status} || 0;
}

# Whether all frames of a completed answer have their functions.
sub is_known {
    my ($self, $r) = @_;
    my @frames = map { @{$_->{frames}} } @{$r->{json}{stacktraces} || []};
    return @frames && !grep { $_->{status} ne 'symbolicated' } @frames;
}

# Waits until a gauge of the metrics page has this value, because a job's result
# may be available a moment before its worker is done with it.
sub metric_is {
    my ($self, $name, $want, $what) = @_;
    my $is;
    $self->wait_for(sub { ($is = $self->metric($name) // -1) == $want }, $what);
    return Test::More::is($is, $want, $what);
}

# A value of the metrics page, all labels together.
sub metric {
    my ($self, $name, $labels) = @_;
    my $page = $self->request('GET', '/metrics')->{body};
    my $sum;
    for my $line (split /\n/, $page) {
        my ($is, $value) = $line =~ /^symbolicate_\Q$name\E(?:\{(.*)\})? (\S+)$/
            ? ($1 // '', $2) : next;
        $sum += $value if !defined $labels || $is =~ $labels;
    }
    return $sum;
}

1;
