package SymScripts;

# Plays a client of Sentry's that uploads scripts and source maps: a bundle of them in
# chunks, as sentry-cli does (t/clients/sentry_cli.t has the real one).
#
#     my $scripts = SymScripts->new($t, 'ci-secret');     a SymUpload
#     my $answer = $scripts->upload(bundle({ release => '1.0' },
#         'app.js' => { type => 'minified_source', url => '~/app.js', id => ID, text => TEXT }, ...));
#     $answer->{state}, {detail}
#     $scripts->ask('https://example.com/app.js', 1, 14, release => '1.0')   "FUNCTION URL:LINE:COLUMN ..."

use strict;
use warnings;

use Exporter qw(import);
our @EXPORT_OK = qw(bundle map_of);

use Cpanel::JSON::XS ();
use Digest::SHA qw(sha1_hex);
use IO::Compress::Zip qw($ZipError);

my $CHUNK = 8 << 20;
my $JSON = Cpanel::JSON::XS->new->utf8->canonical;

sub new {
    my ($class, $t, $secret) = @_;
    return bless { t => $t, auth => [ Authorization => "Bearer $secret" ] }, $class;
}

# The bytes of a bundle.  `manifest` replaces what the files would have.
sub bundle {
    my ($attributes, %files) = @_;
    my $manifest = { %$attributes, files => {
        map { my $f = $files{$_}; ($_ => { type => $f->{type}, ($f->{url} ? (url => $f->{url}) : ()),
            headers => { ($f->{id} ? ('debug-id' => $f->{id}) : ()), %{ $f->{headers} // {} } } }) } keys %files } };
    my ($bytes, $zip) = '';
    for my $name (sort(keys %files), 'manifest.json') {
        $zip ? $zip->newStream(Name => $name)
            : ($zip = IO::Compress::Zip->new(\$bytes, Name => $name) or die $ZipError);
        $zip->write($name eq 'manifest.json' ? $JSON->encode($manifest) : $files{$name}{text});
    }
    $zip->close;
    return "SYSB\2\0\0\0$bytes";
}

# function a(){throw 1}: column 9 is readCart, the source's function; column 13 is line
# 2, column 3 of the source (ECMA-426, by hand).
sub map_of {
    my ($source, %more) = @_;
    return $JSON->encode({ version => 3, sources => [$source], names => ['readCart'], mappings => 'AAAA,SAASA,IACP',
        sourcesContent => ["function readCart() {\n  throw '$source';\n}\n"], %more });
}

sub assemble {
    my ($self, $body, $path) = @_;
    my $r = $self->{t}->request('POST', $path // '/api/0/organizations/o/artifactbundle/assemble/',
        body => ref $body ? $JSON->encode($body) : $body,
        headers => [ @{ $self->{auth} }, 'Content-Type' => 'application/json' ]);
    $self->{status} = $r->{status};
    return eval { $JSON->decode($r->{body}) } // { body => $r->{body} };
}

sub send_chunks {
    my ($self, @chunks) = @_;
    my $body = join '', map {
        my $sha1 = sha1_hex($_);
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"$sha1\"\r\n"
            . "Content-Type: application/octet-stream\r\n\r\n$_\r\n"
    } @chunks;
    return $self->{t}->request('POST', '/api/0/organizations/o/chunk-upload/', body => "$body--B--\r\n",
        headers => [ @{ $self->{auth} }, 'Content-Type' => 'multipart/form-data; boundary=B' ])->{status};
}

sub request_of {
    my ($bytes, %more) = @_;
    return { checksum => sha1_hex($bytes), chunks => [ map { sha1_hex($_) } chunks_of($bytes) ], projects => ['p'], %more };
}

sub chunks_of {
    my ($bytes) = @_;
    return unpack "(a$CHUNK)*", $bytes;
}

# The answer to the last request; {first} is that to the first one.
sub upload {
    my ($self, $bytes, %more) = @_;
    my $request = request_of($bytes, %more);
    my $first = $self->assemble($request);
    my %missing = map { $_ => 1 } @{ $first->{missingChunks} // [] };
    my @chunks = grep { $missing{ sha1_hex($_) } } chunks_of($bytes);
    $self->send_chunks(@chunks) if @chunks;
    return { %{ $self->assemble($request) }, first => $first };
}

sub ask {
    my ($self, $abs_path, $line, $column, %o) = @_;
    my $r = $self->{t}->request('POST', '/sentry/symbolicate-js', headers => [ 'Content-Type' => 'application/json' ],
        body => $JSON->encode({
            modules => $o{id} ? [ { type => 'sourcemap', code_file => $abs_path, debug_id => $o{id} } ] : [],
            (map { $o{$_} ? ($_ => $o{$_}) : () } qw(release dist)),
            stacktraces => [ { frames => [ { abs_path => $abs_path, lineno => $line, colno => $column } ] } ] }));
    my $got = eval { $JSON->decode($r->{body}) } or return "$r->{status} $r->{body}";
    my $f = $got->{stacktraces}[0]{frames}[0];
    return join ' ', ($f->{data}{symbolicated} ? "$f->{function} $f->{abs_path}:$f->{lineno}:$f->{colno}" : 'minified'),
        (defined $f->{context_line} ? "[$f->{context_line}]" : ()), map { $_->{type} } @{ $got->{errors} };
}

1;
