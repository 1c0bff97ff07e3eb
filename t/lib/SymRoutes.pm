package SymRoutes;

# nginx with every route that docs/use/openapi.json describes, at the documented
# paths, and that document.  Inherits SymFetch: the source "fault" serves
# uploaded files.
#
#     my $t = SymRoutes->new->start;
#     for my $operation ($t->operations) { ... }

use strict;
use warnings;

use parent 'SymFetch';

use Cpanel::JSON::XS ();

use SymTest ();

my @METHODS = qw(get put post delete options head patch trace);

sub new {
    my ($class, %opt) = @_;
    my $self = $class->SUPER::new(server => '', %opt);
    my $others = join '|', qw(symbolicate-js symbolicate-jvm symbolicate-any
        minidump applecrashreport);

    $self->fault->script('src', 'ok');
    return $self->conf(server => <<"SERVER", locations => <<"CONF");
        symbolicate_loader unix:%%LOADER%%;
        symbolicate_source fault uri=/src/;
        symbolicate_missing on;
        symbolicate_negative_ttl absent=1s malformed=1s failed=1s;
        client_max_body_size 256k;
        $self->{server}
SERVER
        location /symbolicate/ { symbolicate; }
        location = / { symbolicate; }
        location /atos { symbolicate atos; }
        location ~ ^/(?:source|asm)/v1\$ { symbolicate profiler; }
        location = /symbolicate/profile { symbolicate profile; }
        location /peer/ { symbolicate peer; }
        location = /symbolicate { symbolicate sentry; }
        location /requests/ { symbolicate sentry; }
        location = /healthcheck { symbolicate sentry; }
        location /proxy/ {
            symbolicate sentry;
            symbolicate_proxy on files=4 size=2m;
            symbolicate_source symstore uri=/symstore/ layout=symstore;
        }
        location /buildid/ {
            symbolicate files;
            symbolicate_proxy on files=4 size=2m;
            symbolicate_source elves uri=/elves/ layout=debuginfod;
        }
        location /symbols/ {
            symbolicate files;
            symbolicate_proxy on files=4 size=2m;
            symbolicate_source symstore uri=/symstore/ layout=symstore;
        }
        location /api/syminfo/ {
            symbolicate files;
            symbolicate_proxy on files=4 size=2m;
            symbolicate_source fault uri=/src/;
            symbolicate_source symstore uri=/symstore/ layout=symstore;
        }
        location = /pingme.txt { symbolicate files; }
        location = /metadata { symbolicate files; symbolicate_proxy on; }
        location ~ ^/(?:$others)\$ { symbolicate sentry; }
        location /admin { symbolicate; symbolicate_admin on; }
        location /bare { symbolicate; symbolicate_admin on; symbolicate_missing off; }
        location /page { symbolicate_page; }
        location /__ { symbolicate_health; }
        location = /metrics { symbolicate_metrics; }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /elves/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /symstore/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
CONF
}

sub file { return SymTest::root() . '/docs/use/openapi.json' }

sub document {
    my ($self) = @_;
    return $self->{document} //= Cpanel::JSON::XS->new->utf8->decode(
        SymTest::slurp(file()));
}

# The target of a "$ref", or the object itself.
sub resolved {
    my ($self, $thing) = @_;
    my $ref = $thing->{'$ref'} // return $thing;
    my $found = $self->document;

    $ref =~ s{^#/}{} or die "not of this document: $ref";
    $found = $found->{$_} // die "nothing at $ref" for split m{/}, $ref;
    return $self->resolved($found);
}

# { path, method, tag, accepts => [media types], responses => { status => { type
# => 1 } } }, where an answer without a body has no type.
sub operations {
    my ($self) = @_;
    my $paths = $self->document->{paths};
    my @found;

    for my $path (sort keys %$paths) {
        my $item = $self->resolved($paths->{$path});
        for my $method (grep { $item->{$_} } @METHODS) {
            my $operation = $item->{$method};
            my $body = $self->resolved($operation->{requestBody} // {});
            my %of = map {
                ($_ => $self->resolved($operation->{responses}{$_})->{content}
                     // {})
            } keys %{ $operation->{responses} };
            push @found, {
                path => $path, method => uc $method,
                tag => $operation->{tags}[0],
                accepts => [sort keys %{ $body->{content} // {} }],
                responses => \%of,
            };
        }
    }
    return @found;
}

1;
