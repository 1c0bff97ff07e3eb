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
# The recorded cases (../shared/fixtures/sentry/cases) contain @SERVER@ as the
# address of the server of symbol files; here that is another server of the same
# nginx, on its own port: /symbols/ is the fixtures' store, /status/N/ answers
# N.
#
# Locations: /sentry/ is the API; /symbolicate is Mozilla's, with the same
# store. Requests that name no sources get the same server, as the source
# "files".

use strict;
use warnings;

use parent 'SymFetch';

use Cpanel::JSON::XS ();
use Exporter 'import';
use IO::Socket::INET;

use SymFixtures qw(fixtures);
use SymLoader ();
use SymTest ();

our @EXPORT_OK = qw(differences frame_differences kind_of listed rest_of);

my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

my $SOURCE = 'symbolicate_source files uri=/files/ layout=native;';

# %opt: options of SymFetch; sentry => and tecken => directives next to these
# APIs, sources => locations, in which %%FILES%% is the server of symbol files;
# served => locations of that server.
sub new {
    my ($class, %opt) = @_;
    my $self = $class->SUPER::new(workers => 2, sentry => $SOURCE,
        tecken => $SOURCE, sources => '', served => '', %opt);
    my $fixtures = fixtures('.');

    # like the port of the API: nginx inherits it, so no other process can take
    # it
    $self->{files} = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
        Proto => 'tcp', Listen => 511, Blocking => 0) or die "listen: $!";
    fcntl $self->{files}, Fcntl::F_SETFD(), 0 or die "fcntl: $!";
    $self->{file_server} = '127.0.0.1:' . $self->{files}->sockport;
    $self->{sources} =~ s/%%FILES%%/$self->{file_server}/g;

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
        $self->{served}
    }
CONF
        locations => <<"CONF");
        symbolicate_loader unix:%%LOADER%%;
        location /sentry/ {
            symbolicate sentry;
            resolver 127.0.0.1:9;    # sources are given by address
            symbolicate_request_sources uri=/given/ http allow=127.0.0.1;
            $self->{sentry}
        }
        location /symbolicate { symbolicate; $self->{tecken} }
        location /__ { symbolicate_health; }
        location /given/ {
            internal;
            proxy_pass \$symbolicate_given_url;
            proxy_set_header Host \$symbolicate_given_host;
        }
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

sub folder { return fixtures('sentry/cases') }

sub names {
    my @names = map { m{([^/]+)\.request\.json\z} ? $1 : () }
        glob folder() . '/*.request.json';
    return @names;
}

# A file of a case, with this server's names in it.
sub text_of {
    my ($self, $case, $which) = @_;
    my $text = SymLoader::read_file(folder() . "/$case.$which.json");
    my $root = fixtures('sentry/symbols');

    $text =~ s/\@SERVER\@/$self->{file_server}/g;
    $text =~ s/\@ROOT\@/$root/g;
    return $text;
}

sub request_of { return $_[0]->text_of($_[1], 'request') }

# The recorded answer: { http_status, content_type, body }.
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

# The same for an answer of ours.
sub answer_of {
    my ($self, $body, %o) = @_;
    my $r = $self->post_sentry($body, %o);
    my $type = $r->{headers}{'content-type'};

    return { http_status => 0 + ($r->{status} // 0), content_type => $type,
             body => ($type // '') eq 'application/json' ? $r->{json}
                                                         : $r->{body} };
}

sub post_sentry {
    my ($self, $body, %o) = @_;
    return $self->post('/sentry/symbolicate' . ($o{query} // ''), $body,
        'Content-Type', 'application/json', @{$o{headers} // []});
}

# --- comparing ---

# Deep differences of two JSON values: [path, ours, theirs].  The latter two are
# JSON, or undef for a missing key or element.  A path is
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

# The same answer with the frames of each stack grouped by the request's frame
# that they came from, frames.14[0], so that one frame more or less does not
# shift others; and their order.
sub by_frame {
    my ($answer) = @_;
    my $body = $answer->{body};
    return $answer if ref $body ne 'HASH' || ref $body->{stacktraces} ne 'ARRAY';

    my @stacks = map {
        my %of;
        push @{ $of{ $_->{original_index} } }, $_ for @{ $_->{frames} };
        my @order = map { $_->{original_index} } @{ $_->{frames} };
        my $is_sorted = "@order" eq join(' ', sort { $a <=> $b } @order) ? 'callee first'
            : "@order" eq join(' ', sort { $b <=> $a } @order) ? 'caller first' : "@order";
        +{ %$_, frames => \%of, order => $is_sorted };
    } @{ $body->{stacktraces} };
    return { %$answer, body => { %$body, stacktraces => \@stacks } };
}

# The frames of a request that were answered differently: [path, ours, theirs].
sub frame_differences {
    my ($ours, $theirs) = map { stacks_of($_) } @_;
    my @found;

    for my $i (0 .. $#$theirs) {
        my ($mine, $other) = map { $_->[$i]{frames} // {} } $ours, $theirs;
        my %n = (%$mine, %$other);
        for my $n (sort { $a <=> $b } keys %n) {
            push @found, [ "stacktraces[$i], frame $n",
                           $mine->{$n} // [], $other->{$n} // [] ]
                if differences($mine->{$n} // [], $other->{$n} // []);
        }
    }
    return @found;
}

sub stacks_of {
    my ($answer) = @_;
    my $body = by_frame($answer)->{body};
    return ref $body eq 'HASH' ? $body->{stacktraces} // [] : [];
}

# The whole answer except its frames; only their order is included.
sub rest_of {
    my $answer = by_frame($_[0]);
    my $body = $answer->{body};
    return $answer if ref $body ne 'HASH' || !$body->{stacktraces};
    my @stacks = map { my %of = %$_; delete $of{frames}; \%of }
        @{ $body->{stacktraces} };
    return { %$answer, body => { %$body, stacktraces => \@stacks } };
}

# --- differences on purpose ---

# Symbols that end long before the address: Symbolicator's reach to the next
# one.
my %REACHES = map { $_ => 1 } qw(_init _fini _mh_execute_header);

# The name in docs/use/compat-sentry.md for the difference of two lists of
# frames, those made from one frame of a request; undef: another difference.
sub kind_of {
    my ($ours, $theirs) = @_;
    my ($mine, $other) = map { $_->[0] // {} } $ours, $theirs;

    return 'past a symbol'
        if @$ours == 1 && @$theirs == 1 && $mine->{status} eq 'missing_symbol'
            && $other->{status} eq 'symbolicated' && $other->{lineno} == 0
            && !exists $other->{lang} && $REACHES{ $other->{symbol} };
    return 'from the symbol table'
        if @$ours == 1 && @$theirs == 1 && $mine->{status} eq 'symbolicated'
            && $other->{status} eq 'missing_symbol' && $mine->{lineno} == 0
            && !exists $mine->{lang};
    return if @$ours != @$theirs;
    my %kinds;
    for my $i (0 .. $#$ours) {
        my @differ = differences($ours->[$i], $theirs->[$i]) or next;
        $kinds{ level_kind($ours->[$i], $theirs->[$i],
                           map { $_->[0] } @differ) // return } = 1;
    }
    return join ', ', sort keys %kinds;
}

sub level_kind {
    my ($ours, $theirs, @keys) = @_;

    return 'scope'
        if "@keys" eq 'function symbol' && $ours->{symbol} eq $ours->{function}
            && $theirs->{symbol} eq $theirs->{function}
            && $ours->{symbol} =~ /::\Q$theirs->{symbol}\E\z/;
    return 'alias'
        if "@keys" eq 'symbol'
            && $ours->{symbol} =~ s/([CD])[12](?=E)/$1/r
                eq $theirs->{symbol} =~ s/([CD])[12](?=E)/$1/r;
    return 'line'
        if "@keys" eq 'abs_path filename lang lineno'
            && !exists $theirs->{abs_path} && $theirs->{lineno} == 0;
    return 'name' if "@keys" eq 'function';
    return;
}

# The rows of the tables in docs/use/compat-sentry.md:
#
#     | case | kind | frames |
#     | `symbol` | `Symbolicator's name` | `ours` |
#     | `case` | `where` | `Symbolicator` | `here` | why |
#
# The last has values as JSON or "absent".
sub listed {
    my $text = SymLoader::read_file(
        SymTest::root() . '/docs/use/compat-sentry.md');
    my %listed = (kinds => {}, names => {}, values => {});

    for my $line (split /\n/, $text) {
        if ($line =~ /^\| ([\w-]+) \| ([a-z ,]+) \| (\d+) \|$/) {
            $listed{kinds}{$1}{$2} = $3;
        } elsif ($line =~ /^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$/) {
            $listed{names}{$1} = { theirs => $2, ours => $3 };
        } elsif ($line =~ /^\| `([^`]+)` \| `([^`]+)` \| `(.+)` \| `(.+)` \| \S.* \|$/) {
            push @{ $listed{values}{$1} }, { where => $2, theirs => $3, ours => $4 };
        }
    }
    return \%listed;
}

1;
