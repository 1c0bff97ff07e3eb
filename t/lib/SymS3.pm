package SymS3;

# A real S3 server for a test: s3rver, on a free port, in its own folder.
#
#     my $s3 = SymS3->new->start;
#     $s3->bucket('symbols');                        private
#     $s3->bucket('open', public => 1);              may be read by everybody
#     $s3->bucket('silent', list => 0);              absent keys: 403, not 404
#     $s3->put('symbols', 'a/B/a.sym', $file);       or \$bytes
#     $s3->delete('symbols', 'a/B/a.sym');
#     $s3->key($access, $secret, token => $token);   another key
#     $s3->revoke($access);
#     $s3->gets                                      GETs since the last forget
#     $s3->fault(method => 'PUT', code => 'SlowDown');   the next such request
#     $s3->uploads('symbols')                        ids of unfinished ones in parts
#     $s3->stop;  $s3->start;                        the same port and objects
#
# put and delete sign with curl --aws-sigv4, which shares no code with ours.
#
# s3rver 3.7.1, the newest version, implements buckets, keys, ranges, metadata,
# errors in XML, S3's status codes, unknown access keys, and dates that are off
# by more than 15 minutes.  By its source (lib/middleware/authentication.js) and
# by tests it accepts every V4 signature ("V4 signatures have incomplete
# support"), and unsigned requests.  So t/s3rver/server.js runs before its
# routes:
#
# - signatures are compared with those of @smithy/signature-v4, which is AWS's
#   own signer: 403 SignatureDoesNotMatch.  As in S3, host and all x-amz- headers
#   must be signed (403 AccessDenied), the region must be ours (400
#   AuthorizationHeaderMalformed), a token must be the key's (400 InvalidToken,
#   ExpiredToken), and the path counts as it decodes, not as it was written.
# - unsigned requests may read objects of public buckets and do nothing else
#   (403 AccessDenied).
# - '+' in a path is a space.
# - uploads in parts: s3rver checks neither sizes, ETags and ids of parts nor
#   Content-MD5, and has no AbortMultipartUpload.
# - an object is replaced atomically; s3rver itself answers before it is
#   written.
# - If-None-Match: * and If-Match of PutObject and CompleteMultipartUpload are
#   checked: 412 PreconditionFailed, 404 NoSuchKey if there is no object to match.
#
# Not checked: x-amz-content-sha256 of an uploaded body; signatures in a query
# (501).
#
# ./dev test installs s3rver in the version of t/s3rver/package-lock.json into
# var/s3rver; without it, tests that use this are skipped.

use strict;
use warnings;

use Carp qw(croak);
use File::Temp qw(tempdir);

use SymServer;
use SymTest;
use Test::More ();

my $modules = SymTest::root() . '/var/s3rver';

sub import {
    Test::More::plan(skip_all => 'no S3 server: npm could not install s3rver')
        if !-e "$modules/installed";
}

sub new {
    my ($class, %opt) = @_;
    my $self = bless {
        access => 'AKIDTESTTESTTESTTEST',
        secret => 'test/secret+key0123456789',
        region => 'us-east-1',
        port => 0,
        modules => $modules,
        keys => {}, buckets => {},
        %opt,
    }, $class;
    $self->{directory}
        //= tempdir('syms3-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    return $self;
}

sub start {
    my ($self) = @_;
    die "s3rver is not in $modules: npm could not install it\n"
        if !-e "$modules/installed";

    my %config = map { $_ => $self->{$_} } qw(modules directory port region);
    $self->{server} = SymServer->start('s3rver', SymTools::path('node'),
        SymTest::root() . '/t/s3rver/server.js', SymTest->json(\%config));
    $self->{port} = $self->{server}->line->{port};

    # its settings from before the stop
    $self->key($self->{access}, $self->{secret});
    $self->tell('key', %{ $self->{keys}{$_} }) for keys %{ $self->{keys} };
    $self->tell('bucket', %{ $self->{buckets}{$_} })
        for keys %{ $self->{buckets} };
    return $self;
}

# From now on connections are refused.
sub stop {
    my ($self) = @_;
    my $server = delete $self->{server} or return $self;
    $server->stop;
    return $self;
}

sub port { return $_[0]{port} }
sub pid { return $_[0]{server}->pid }
sub access { return $_[0]{access} }
sub secret { return $_[0]{secret} }
sub region { return $_[0]{region} }
sub address { return "127.0.0.1:$_[0]{port}" }

# A bucket, or an object.
sub url {
    my ($self, $bucket, $key) = @_;
    return 'http://' . $self->address . path($bucket, $key);
}

sub path {
    my ($bucket, $key) = @_;
    return "/$bucket" . (defined $key ? '/' . encode($key) : '');
}

# RFC 3986: all but unreserved characters, and the slashes between parts.
sub encode {
    my ($key) = @_;
    $key =~ s{([^A-Za-z0-9._~/-])}{sprintf '%%%02X', ord $1}ge;
    return $key;
}

# --- the server ---

sub tell {
    my ($self, $command, %args) = @_;
    my $answer = $self->{server}->ask({ command => $command, %args });
    croak "s3rver, $command: $answer->{error}" if $answer->{error};
    return $answer->{value};
}

# token: of temporary credentials; expired: that token is no longer valid.
sub key {
    my ($self, $access, $secret, %opt) = @_;
    $self->{keys}{$access}
        = { access => $access, secret => $secret, %opt };
    $self->tell('key', %{ $self->{keys}{$access} });
    return $self;
}

sub revoke {
    my ($self, $access) = @_;
    delete $self->{keys}{$access};
    $self->tell('revoke', access => $access);
    return $self;
}

sub bucket {
    my ($self, $name, %opt) = @_;
    $self->{buckets}{$name} = {
        name => $name,
        public => $opt{public} ? 1 : 0,
        list => $opt{list} // 1 ? 1 : 0,
    };
    $self->tell('bucket', %{ $self->{buckets}{$name} });
    return $self;
}

# Requests since the start or forget: method, url as received, signed, match and
# none (If-Match, If-None-Match), status (undef: not answered yet).
sub log {
    my ($self) = @_;
    return @{ $self->tell('log') };
}

sub gets {
    my ($self) = @_;
    return grep { $_->{method} eq 'GET' } $self->log;
}

# What happens to the next request of a method (and to those whose URL matches):
# code => an error of S3, stall => 1 (it is never answered), hold => 1 (it is
# handled after release()), lose => 1 (it is handled, and never answered), headers => { NAME => VALUE } or body => TEXT
# of its answer; times => how often (1; -1: always).
sub fault {
    my ($self, %fault) = @_;
    $self->tell('fault', %fault);
    return $self;
}

# false: writes with If-Match or If-None-Match are refused, as by a server that
# does not know these headers.
sub conditions {
    my ($self, $known) = @_;
    $self->tell('conditions', known => $known ? 1 : 0);
    return $self;
}

sub release {
    my ($self) = @_;
    $self->tell('release');
    return $self;
}

sub no_faults {
    my ($self) = @_;
    $self->tell('faults');
    return $self;
}

sub uploads {
    my ($self, $bucket) = @_;
    return @{ $self->tell('uploads', name => $bucket) };
}

sub forget {
    my ($self) = @_;
    $self->tell('forget');
    return $self;
}

# --- objects ---

# $what: the name of a file, or a reference to bytes.
sub put {
    my ($self, $bucket, $key, $what, @headers) = @_;
    my $file = $what;
    my $bytes;

    if (ref $what) {
        $bytes = File::Temp->new;
        print $bytes $$what;
        close $bytes;
        $file = $bytes->filename;
    }
    return $self->must(200, 'put', $self->signed($bucket, $key,
        '-T', $file, map { ('-H', $_) } @headers));
}

sub delete {
    my ($self, $bucket, $key) = @_;
    return $self->must(204, 'delete',
        $self->signed($bucket, $key, '-X', 'DELETE'));
}

sub must {
    my ($self, $status, $what, $r) = @_;
    croak "s3rver, $what: $r->{status}\n$r->{body}" if $r->{status} != $status;
    return $self;
}

# A request signed by curl: { status, body }.  The arguments come last, so that
# a test can say --user 'other:keys'.
sub signed {
    my ($self, $bucket, $key, @args) = @_;
    return $self->curl(
        '--aws-sigv4', "aws:amz:$self->{region}:s3",
        '--user', "$self->{access}:$self->{secret}",
        # curl 7.88 would sign the hash of no body, whatever it sends
        '-H', 'x-amz-content-sha256: UNSIGNED-PAYLOAD',
        @args, $self->url($bucket, $key));
}

sub curl {
    my ($self, @args) = @_;
    # the path unchanged, except that newer curls refuse to sign such paths
    my @path = (grep { $_ eq '--aws-sigv4' } @args) ? () : '--path-as-is';
    open my $from, '-|', 'curl', '-s', @path, '--globoff', '--max-time', 60,
        '-w', '\n%{http_code}', @args
        or die "curl: $!";
    binmode $from;
    local $/;
    my $said = <$from> // '';
    close $from;
    my ($body, $status) = $said =~ /^(.*)\n(\d+)\z/s;
    return { status => $status // 0, body => $body // '' };
}

1;
