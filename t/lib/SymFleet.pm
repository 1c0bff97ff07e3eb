package SymFleet;

# Nodes of a fleet before one S3 server, each nginx and a loader with a store of its
# own.  A node is a SymFolder.
#
#     my $fleet = SymFleet->new(nodes => 3, peers => 1, bucket => 1);
#     $fleet->upload('a.so', $id, prefix => 'x');   a module, in the bucket `symbols`
#     my ($x, $y) = $fleet->nodes;
#     $x->function($x->ask(['a.so', $id]));
#     $fleet->shared                                keys of shared artifacts
#     $fleet->gets('symbols')                       GETs of symbol files: paths
#     $fleet->published($x, 1)                      waits until $x has published one
#     my $z = $fleet->add->start;                   one more, with the same configuration
#     $fleet->converted                             conversions of all nodes
#     $fleet->cut($x)                               $x reaches no node, and none reaches it
#     $fleet->cut_bucket($x)                        $x does not reach the bucket `shared`
#     $fleet->heal
#     $fleet->kill_node($x)                         for ever
#     is($fleet->end, '', ...)
#
# With new(files => 1) the symbol files are in a folder of another nginx, instead of the
# bucket.  With new(relayed => 1) the nodes' connections can be cut.  Nodes after the
# first `up` ones are in the lists of peers, and start by $fleet->join_node($node).

use strict;
use warnings;

use SymFolder;
use SymLoader qw(sym_text write_file);
use SymMetrics ();
use SymRelay;
use SymS3;
use SymTest;

sub new {
    my ($class, %opt) = @_;
    my $self = bless { nodes => 2, bucket => 1, peers => 0, tell => 0, how => '', share => '', http => '', workers => 1, timeout => '30s', bucket_timeout => $opt{timeout} // '30s', %opt }, $class;
    $self->{s3} = SymS3->new->start->bucket('symbols')->bucket('shared');
    $self->{all} = [ map { SymFolder->new(workers => $self->{workers}) } 1 .. $self->{nodes} ];
    # before there is a connection that the relay would inherit
    $self->relay if $self->{relayed};
    $self->{files} &&= SymTest->new->conf(locations => 'location / { root %%DIR%%/files; }')->start;
    $self->set($_) for $self->nodes;
    $_->symloader('init', '--quota', $self->{quota}) for $self->{quota} ? $self->nodes : ();
    my $up = $self->{up} // $self->{nodes};
    $self->down($_) for @{ $self->{all} }[ $up .. $self->{nodes} - 1 ];
    $self->start($_) for $self->up;
    return $self;
}

# Uploads to a bucket need a folder of the loader, too.
sub start {
    my ($self, $node) = @_;
    return $node->start if !$self->{tell};
    mkdir "$node->{dir}/symbols";
    $node->loader->serve('--jobs', 2, '--upload-folder', "symbols=$node->{dir}/symbols");
    $node->{is_serving} = 1;
    return $node->SymTest::start;
}

# Another node, which is not started.
sub add {
    my ($self) = @_;
    push @{ $self->{all} }, SymFolder->new(workers => $self->{workers});
    return $self->set($self->{all}[-1]);
}

sub up { return grep { !$_->{is_down} } $_[0]->nodes }

# Connections to it are refused.  Other nodes have inherited its socket.
sub down {
    my ($self, $node) = @_;
    shutdown $node->{listen}, 2;
    $node->{is_down} = 1;
    return;
}

sub join_node {
    my ($self, $node) = @_;
    delete $node->{is_down};
    return $node->listen->start;
}

sub kill_node {
    my ($self, $node) = @_;
    $self->{lost} += $self->conversions_of($node);
    $self->down($node);
    my @all = ($node->{pid}, $node->workers);
    kill 'KILL', @all;
    waitpid delete $node->{pid}, 0;
    $node->loader->stop('KILL');
    $node->{is_serving} = 0;
    return;
}

# --- a network that can be divided ---

sub relay {
    my ($self) = @_;
    my $n = 10;
    $_->{name} = 'n' . $n, $_->{from} = '127.0.0.' . $n++ for $self->nodes;
    $self->{relay} = SymRelay->new(s3 => $self->s3->port, map { $_->{name} => $_->port } $self->nodes);
    return;
}

sub cut {
    my ($self, $node) = @_;
    for my $other (grep { $_ != $node } $self->nodes) {
        $self->{relay}->cut($node->{from}, $other->{name});
        $self->{relay}->cut($other->{from}, $node->{name});
    }
    return;
}

sub cut_bucket { my ($self, $node) = @_; $self->{relay}->cut($node->{from}, 's3'); return }
sub heal { $_[0]{relay}->heal; return }

sub nodes { return @{ $_[0]{all} } }
sub s3 { return $_[0]{s3} }

# The configuration of a node; every node has the same, but for its address.
sub set {
    my ($self, $node) = @_;
    my $socket = $node->loader->socket_path;
    my ($symbols, $shared) = map { $self->{$_} // $self->bucket($_, $node) } qw(symbols shared);
    $symbols = 'proxy_pass http://' . $self->{files}->address . '/;' if $self->{files};
    my $from = $node->{from} ? "proxy_bind $node->{from};" : '';
    my $servers = join ' ', map { "server $_ max_fails=0;" }
        map { $self->{relay} ? $self->{relay}->address($_->{name}) : $_->address } $self->nodes;
    my $share = join ' ', ($self->{bucket} ? 'bucket=/shared/' : ()), ($self->{peers} ? 'peers=/peers/' : ());
    my $tell = $self->{tell} ? "symbolicate_share $share nodes=fleet tell=/tell/;"
        : $share ? "symbolicate_share $share $self->{share};" : '';
    $share = $share ? "symbolicate_share $share $self->{share};" : '';
    my $upload = $self->{tell} ? "location /upload/ { symbolicate upload; symbolicate_upload_target symbols bucket; "
        . "symbolicate_upload_tokens off; $tell }" : '';
    return $node->conf(
        http => "$self->{http} upstream fleet { hash \$uri consistent; $servers }",
        locations => <<"CONF");
        symbolicate_loader unix:$socket;
        symbolicate_source symbols uri=/symbols/;
        $self->{how}
        location /symbolicate { symbolicate; $share }
        location /admin { symbolicate; symbolicate_admin on; $tell }
        $upload
        location /metrics { symbolicate_metrics; }
        location /__ { symbolicate_health; }
        location /peer/ { symbolicate peer; symbolicate_admin on; symbolicate_share bucket=/shared/; }
        location /tell/ {
            internal;
            rewrite ^/tell/(.*)\$ /peer/\$1 break;
            proxy_connect_timeout 2s;
            proxy_read_timeout $self->{timeout};
            proxy_pass http://\$symbolicate_node;
        }
        location /symbols/ { internal; $symbols }
        location /shared/ { internal; $shared }
        location /peers/ {
            internal;
            $from proxy_connect_timeout 2s;
            proxy_read_timeout $self->{timeout};
            proxy_next_upstream error;
            proxy_next_upstream_tries 2;
            proxy_pass http://fleet/peer/artifact\$is_args\$args;
        }
CONF
}

sub bucket {
    my ($self, $name, $node) = @_;
    my $s3 = $self->{s3};
    my $from = $node->{from} ? "proxy_bind $node->{from};" : '';
    my ($address, $region, $access, $secret) = ($s3->address, $s3->region, $s3->access, $s3->secret);
    $address = $self->{relay}->address('s3') if $self->{relay};
    return <<"CONF";
            $from
            symbolicate_aws_sigv4 region=$region credentials=static access_key=$access
                secret_key=$secret;
            proxy_set_header Authorization        \$symbolicate_aws_authorization;
            proxy_set_header X-Amz-Date           \$symbolicate_aws_date;
            proxy_set_header X-Amz-Content-Sha256 \$symbolicate_aws_content_sha256;
            proxy_set_header X-Amz-Security-Token \$symbolicate_aws_security_token;
            proxy_read_timeout $self->{bucket_timeout};
            proxy_pass http://$address/$name/;
CONF
}

sub upload {
    my ($self, $name, $id, %o) = @_;
    my $text = $o{text} // sym_text($name, $id, %o);
    if ($self->{files}) {
        write_file($self->{files}->dir . '/files/' . SymFolder::path($name, $id), $text);
        return $self;
    }
    $self->{s3}->put('symbols', SymFolder::path($name, $id), \$text);
    return $self;
}

# Paths of requests of a method in a bucket, in their order.
sub paths {
    my ($self, $method, $bucket) = @_;
    return map { $_->{url} =~ m{^/\Q$bucket\E/([^?]*)} ? $1 : () }
        grep { $_->{method} eq $method && defined $_->{status} && $_->{status} < 300 } $self->{s3}->log;
}

sub gets { my ($self, $bucket) = @_; return $self->paths('GET', $bucket) }

sub metric {
    my ($self, $node, $name) = @_;
    my $text = $node->request('GET', '/metrics')->{body};
    my $sum = 0;
    $sum += $1 while $text =~ /^symbolicate_\Q$name\E (\d+)$/mg;
    return $sum;
}

# Artifacts that all nodes have published.
sub published {
    my ($self, $n) = @_;
    my $count = sub {
        my $sum = 0;
        $sum += $self->metric($_, 'published_total{outcome="done"}') for $self->up;
        return $sum;
    };
    return SymTest->wait_for(sub { $count->() >= $n }, "$n artifacts are published") ? $count->() : -1;
}

# Breakpad files that were converted, by all nodes.
sub converted {
    my ($self) = @_;
    my $sum = $self->{lost} // 0;
    $sum += $self->conversions_of($_) for $self->up;
    return $sum;
}

sub conversions_of { return $_[1]->loader->stats->{conversions_breakpad_ready} // 0 }

# GETs of the folder, with status 200.
sub file_gets {
    my ($self) = @_;
    return scalar grep {/code=200 uri=.*\.sym$/} split /\n/, $self->{files}->access_log;
}

sub end {
    my ($self) = @_;
    my $trouble = join '', map { $_->end } $self->up;
    $trouble .= $self->{files}->stop->log_trouble if $self->{files};
    return $trouble;
}

1;
