package SymUpload;

# A SymFolder whose folder takes uploads: for tests of `symbolicate upload`.
#
#     my $t = SymUpload->new(tokens => { ci => { secret => 'S', rest => 'rights=try' } },
#                            layout => 'breakpad')->start;
#     my $r = $t->curl('-T', $file, $t->url('/upload/a/ID/a.sym'));
#     $r->{status}, {body}, {json}, {head}
#
#     SymUpload->new(s3 => SymS3->new->start, part => '5m')   the target is a bucket,
#                                     `symbols`; try uploads go to `try`
#
#     SymUpload->new(url => [HOST, ...])
#                                     uploads by URL from these hosts, whose names
#                                     and files are those of $t->{given}, a SymServer
#                                     (given_server.py); 127.0.0.1 is allowed
#
#     SymUpload->new(downloads => 1)  /files/ serves both folders to clients of symbol
#                                     servers
#
# Locations besides those of SymFolder: /upload/ takes uploads for the source
# `folder`, of which `try` ones go to `folder.try`, which /try-symbolicate sees.

use strict;
use warnings;

use parent 'SymFolder';

use Digest::SHA qw(sha256_hex);
use HTTP::Tiny;
use JSON::PP ();
use SymLoader qw(write_file);
use SymServer;
use SymTest;
use SymTools;

sub new {
    my ($class, %opt) = @_;
    my $self = $class->SUPER::new(how => '', source => '', layout => 'breakpad',
        limit => '64m', part => '64m', timeout => '60s', tokens => { ci => { secret => 'ci-secret' } }, %opt);
    my ($dir, $layout, $limit) = @$self{qw(dir layout limit)};
    my $socket = $self->{loader}->socket_path;

    mkdir "$dir/try";
    my $target = 'folder';
    my ($src, $try) = map {"alias $dir/$_/;"} qw(symbols try);
    my $sources = '';
    if ($self->{s3}) {
        $target = "folder bucket part=$self->{part}";
        ($src, $try) = map { $self->bucket($_) } qw(symbols try);
        $sources = join ' ', map {"symbolicate_source $_ layout=$layout;"}
            'folder uri=/src/', 'folder.try uri=/try-src/';
    }
    my ($by_url, $given) = ('', '');
    if ($self->{url}) {
        $self->{given} = SymServer->start('files', SymTools::path('python3'),
            SymTest::root() . '/t/lib/given_server.py');
        $self->{ports} = $self->{given}->line;
        $by_url = "resolver 127.0.0.1:$self->{ports}{dns} valid=1s; symbolicate_upload_hosts "
            . join(' ', @{ $self->{url} }) . '; symbolicate_request_sources http uri=/_given/ '
            . 'allow=127.0.0.1;';
        $given = 'location /_given/ { internal; proxy_pass $symbolicate_given_url; '
            . 'proxy_set_header Host $symbolicate_given_host; }';
    }
    my $downloads = $self->{downloads} ? <<"CONF" : '';
        location /files/ {
            symbolicate files;
            symbolicate_proxy on;
            symbolicate_cors on;
            symbolicate_source folder.try uri=/try-src/ layout=$layout;
            symbolicate_source folder uri=/src/ layout=$layout;
        }
CONF
    my $tokens = 'off';
    if ($self->{tokens}) {
        $tokens = "$dir/tokens";
        $self->write_tokens;
    }
    return $self->conf(locations => <<"CONF");
        symbolicate_loader unix:$socket;
        symbolicate_source folder uri=/src/ layout=$layout;
        client_max_body_size $limit;
        location /symbolicate { symbolicate; $self->{how} }
        location /try-symbolicate/ {
            symbolicate;
            symbolicate_source folder.try uri=/try-src/ layout=$layout;
        }
        location /sentry/ { symbolicate sentry; }
        location /admin { symbolicate; symbolicate_admin on; $self->{how} }
        location /upload/ {
            symbolicate upload;
            symbolicate_upload_target $target;
            symbolicate_upload_tokens $tokens;
            $sources
            $by_url
            $self->{how}
        }
        $given
        $downloads
        location /api/0/ {
            symbolicate upload;
            symbolicate_upload_target $target;
            symbolicate_upload_tokens $tokens;
        }
        location /src/ { internal; $src }
        location /try-src/ { internal; $try }
CONF
}

# A location's directives for a bucket.
sub bucket {
    my ($self, $name) = @_;
    my $s3 = $self->{s3};
    my ($address, $region, $access, $secret)
        = ($s3->address, $s3->region, $s3->access, $s3->secret);
    return <<"CONF";
            symbolicate_aws_sigv4 region=$region credentials=static access_key=$access
                secret_key=$secret;
            proxy_set_header Authorization        \$symbolicate_aws_authorization;
            proxy_set_header X-Amz-Date           \$symbolicate_aws_date;
            proxy_set_header X-Amz-Content-Sha256 \$symbolicate_aws_content_sha256;
            proxy_set_header X-Amz-Security-Token \$symbolicate_aws_security_token;
            proxy_read_timeout $self->{timeout};
            proxy_pass http://$address/$name/;
CONF
}

# Tells the server of files and names.
sub given {
    my ($self, $what, $data) = @_;
    my $url = "http://127.0.0.1:$self->{ports}{port}/_control/$what";
    my $http = HTTP::Tiny->new(timeout => $SymServer::PATIENCE, proxy => undef, http_proxy => undef);
    my $r = defined $data ? $http->post($url, { content => JSON::PP::encode_json($data) })
        : $http->get($url);
    die "$what: $r->{status} $r->{content}" if !$r->{success};
    return JSON::PP::decode_json($r->{content});
}

sub write_tokens {
    my ($self) = @_;
    my $text = "# who may upload\n\n";
    for my $name (sort keys %{ $self->{tokens} }) {
        my $token = $self->{tokens}{$name};
        $text .= sha256_hex($token->{secret}) . " $name"
            . ($token->{rest} ? " $token->{rest}" : '') . "\n";
    }
    write_file("$self->{dir}/tokens", $text);
    return;
}

sub loader_start {
    my ($self) = @_;
    $self->{loader}->serve('--jobs', 2,
        '--upload-folder', "folder=$self->{dir}/symbols",
        '--upload-folder', "folder.try=$self->{dir}/try");
    $self->{is_serving} = 1;
    return $self;
}

sub url { return "http://" . $_[0]->address . $_[1] }

# All files below the target folder, sorted.
sub files {
    my ($self, $folder) = @_;
    $folder //= "$self->{dir}/symbols";
    return sort map { s{^\Q$folder\E/}{}r } split /\n/, `find '$folder' -type f`;
}

# Runs the real curl.
sub curl {
    my ($self, @args) = @_;
    my $head = "$self->{dir}/curl.head";
    my $body = "$self->{dir}/curl.body";
    unlink $head, $body;
    my $code = system 'curl', '-sS', '--max-time', 60, '-D', $head, '-o', $body, @args;
    my $r = { code => $code >> 8, head => '', body => '' };
    $r->{head} = SymTest::slurp($head) if -e $head;
    $r->{body} = SymTest::slurp($body) if -e $body;
    ($r->{status}) = $r->{head} =~ m{.*^HTTP/\S+ (\d+)}ms;
    $r->{json} = eval { JSON::PP->new->decode($r->{body}) };
    return $r;
}

sub bearer { return ('-H', "Authorization: Bearer $_[1]") }

1;
