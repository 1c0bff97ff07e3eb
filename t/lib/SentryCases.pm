package SentryCases;

# Sentry's API as its users meet it: nginx, the loader's daemon, and a server of
# symbol files that requests name as their source.  Inherits all of SymFetch.
#
#     my $t = SentryCases->new->start;
#     for my $case (SentryCases::names()) {
#         my $answer = $t->answer_of($case);
#         my @diff = differences($answer, $t->recorded($case));
#     }
#
# The recorded cases (../shared/fixtures/sentry/cases) write @SERVER@ where the
# server of symbol files stood; here that is another server of the same nginx, on
# a port of its own: /symbols/ is the fixtures' store, /status/N/ answers N.
#
# Locations: /sentry/ is the API; /symbolicate is Mozilla's, beside the same store.
# Requests that name no sources have the same server, as the source "files".

use strict;
use warnings;

use parent 'SymFetch';

use Cpanel::JSON::XS ();
use Exporter 'import';
use IO::Socket::INET;

use SymLoader ();
use SymTest ();

our @EXPORT_OK = qw(differences listed_differences);

my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

my $SOURCE = 'symbolicate_source files uri=/files/ layout=native;';

# %opt: of SymFetch; sentry => and tecken => directives beside these APIs,
# sources => locations.
sub new {
    my ($class, %opt) = @_;
    my $self = $class->SUPER::new(workers => 2, sentry => $SOURCE,
        tecken => $SOURCE, sources => '', %opt);
    my $fixtures = SymTest::fixtures();

    # as the port of the API: nginx inherits it, nobody races for it
    $self->{files} = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
        Proto => 'tcp', Listen => 511, Blocking => 0) or die "listen: $!";
    fcntl $self->{files}, Fcntl::F_SETFD(), 0 or die "fcntl: $!";
    $self->{file_server} = '127.0.0.1:' . $self->{files}->sockport;

    $self->conf(
        http => <<"CONF",
    server {
        listen $self->{file_server};
        access_log %%DIR%%/logs/files.log;
        location /symbols/ {
            root $fixtures/sentry;
            try_files \$uri \@breakpad;
        }
        location \@breakpad { root $fixtures; log_not_found off; }
        location /status/403/ { return 403; }
        location /status/404/ { return 404; }
        location /status/500/ { return 500; }
    }
CONF
        locations => <<"CONF");
        symbolicate_loader unix:%%LOADER%%;
        location /sentry/ {
            symbolicate sentry;
            $self->{sentry}
        }
        location /symbolicate { symbolicate; $self->{tecken} }
        location /__ { symbolicate_health; }
        location /files/ {
            internal;
            proxy_pass http://$self->{file_server}/symbols/;
        }
        $self->{sources}
CONF
    return $self;
}

# Both listening sockets for nginx.
sub inherited {
    my ($self) = @_;
    return join '', map { fileno($_) . ';' } @{$self}{qw(listen files)};
}

sub file_server { return $_[0]{file_server} }

# --- recorded cases ---

sub folder { return SymTest::fixtures() . '/sentry/cases' }

sub names {
    my @names = map { m{([^/]+)\.request\.json\z} ? $1 : () }
        glob folder() . '/*.request.json';
    return @names;
}

# A file of a case, with this server's names in it.
sub text_of {
    my ($self, $case, $which) = @_;
    my $text = SymLoader::read_file(folder() . "/$case.$which.json");
    my $root = SymTest::fixtures() . '/sentry/symbols';

    $text =~ s/\@SERVER\@/$self->{file_server}/g;
    $text =~ s/\@ROOT\@/$root/g;
    return $text;
}

sub request_of { return $_[0]->text_of($_[1], 'request') }

# What was recorded: { http_status, content_type, body }.
sub recorded {
    my ($self, $case) = @_;
    my $answer = $JSON->decode($self->text_of($case, 'response'));

    $answer = { http_status => 200, content_type => 'application/json',
                body => $answer } if !exists $answer->{http_status};
    $answer->{body} = $JSON->decode($answer->{body})
        if $answer->{content_type} eq 'application/json'
            && !ref $answer->{body};
    return $answer;
}

# The same of an answer of ours.
sub answer_of {
    my ($self, $body, %o) = @_;
    my $r = $self->post_sentry($body, %o);
    my $type = $r->{headers}{'content-type'};

    return { http_status => $r->{status}, content_type => $type,
             body => ($type // '') eq 'application/json' ? $r->{json}
                                                         : $r->{body} };
}

sub post_sentry {
    my ($self, $body, %o) = @_;
    return $self->post('/sentry/symbolicate' . ($o{query} // ''), $body,
        'Content-Type', 'application/json', @{$o{headers} // []});
}

# --- comparing ---

# Where two JSON values differ, deeply: [path, ours, theirs], of which the latter
# are JSON, and undef for a key or element that is not there.  A path is
# "modules[0].features.has_sources".
sub differences {
    my ($ours, $theirs, $path) = @_;
    $path //= '';

    if (ref $ours eq 'HASH' && ref $theirs eq 'HASH') {
        my %keys = (%$ours, %$theirs);
        return map {
            my $at = length $path ? "$path.$_" : $_;
            exists $ours->{$_} && exists $theirs->{$_}
                ? differences($ours->{$_}, $theirs->{$_}, $at)
                : [ $at, map { exists $_->[0]{$_->[1]}
                                   ? $JSON->encode($_->[0]{$_->[1]}) : undef }
                        [ $ours, $_ ], [ $theirs, $_ ] ]
        } sort keys %keys;
    }
    if (ref $ours eq 'ARRAY' && ref $theirs eq 'ARRAY') {
        my $n = @$ours > @$theirs ? @$ours : @$theirs;
        return map {
            $_ < @$ours && $_ < @$theirs
                ? differences($ours->[$_], $theirs->[$_], "$path\[$_]")
                : [ "$path\[$_]",
                    $_ < @$ours ? $JSON->encode($ours->[$_]) : undef,
                    $_ < @$theirs ? $JSON->encode($theirs->[$_]) : undef ]
        } 0 .. $n - 1;
    }
    my ($a, $b) = map { $JSON->encode($_) } $ours, $theirs;
    return $a eq $b ? () : [ $path, $a, $b ];
}

# The differences that docs/use/compat-sentry.md lists: rows of a table,
#
#     | case | where | Symbolicator | here | why |
#
# the first four in backticks, values as JSON or "absent".  [] of
# { case, where, theirs, ours, why }.
sub listed_differences {
    my $text = SymLoader::read_file(
        SymTest::root() . '/docs/use/compat-sentry.md');
    my @rows;

    for my $line (split /\n/, $text) {
        my ($case, $where, $theirs, $ours, $why) =
            $line =~ /^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| (\S.*) \|$/
            or next;
        s/\\\|/|/g for $theirs, $ours;
        push @rows, { case => $case, where => $where, theirs => $theirs,
                      ours => $ours, why => $why };
    }
    return @rows;
}

1;
