# The Firefox Profiler reads answers strictly: one value of a wrong type, and a
# profile has no names at all.  These are the requests of its page, opened with
# ?symbolServer=, and of its symbolicator-cli (src/profile-logic/
# mozilla-symbolication-api.ts): a preflight for the header User-Agent, a body
# of type text/plain, a job for each library, paths below any prefix.  The rules
# are its reader's, and those of Mozilla's JSON schemas (draft 7, in its
# server's repository).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use SymTest;
use Test::More;

my $ORIGIN = 'https://profiler.firefox.com';
my @KNOWN = ('linux_inline', 'BBA6FA10B8AAB33D00000000000000000');
my @WINDOWS = ('test_app.pdb', '5A9832E5287241C1838ED98914E9B7FF1');
my @NOT_THERE = ('libxul.so', '44E4EC8C2F41492B9369D6B9A059577C0');

my $t = SymTest->new->load(SymTest::root() . '/samples',
    SymTest::symbol_file(@WINDOWS))->conf(locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location /some/prefix/ { symbolicate; }
        location /__ { symbolicate_health; }
CONF

# --- a page of another site may ask ---

sub preflight {
    my ($path) = @_;
    return $t->request('OPTIONS', $path, headers => [Origin => $ORIGIN,
        'Access-Control-Request-Method' => 'POST',
        'Access-Control-Request-Headers' => 'user-agent']);
}

# Fetch, 4.8: requirements of a browser for a preflight's answer.
sub is_allowed {
    my ($r, $what) = @_;
    my %h = %{ $r->{headers} };
    like($r->{status}, qr/^2\d\d$/, "$what: preflight");
    is($h{'access-control-allow-origin'}, '*', '... any origin');
    ok(scalar(grep { $_ eq 'POST' } split /, */,
        $h{'access-control-allow-methods'} // ''), '... POST');
    ok(scalar(grep { lc eq 'user-agent' || $_ eq '*' } split /, */,
        $h{'access-control-allow-headers'} // ''), '... User-Agent');
    return;
}

sub ask {
    my ($path, $body) = @_;
    return $t->post($path, $body, 'Content-Type' => 'text/plain;charset=UTF-8',
        'User-Agent' => "FirefoxProfiler/1.0 (+$ORIGIN)", Origin => $ORIGIN,
        Accept => '*/*', 'Accept-Encoding' => 'gzip, deflate, br, zstd',
        'Sec-Fetch-Mode' => 'cors', 'Sec-Fetch-Site' => 'cross-site');
}

# --- its reader ---

# The JSON text of a value shows its type; only JSON's own values are read.
sub kind_of {
    my ($value) = @_;
    my $text = Cpanel::JSON::XS->new->allow_nonref->encode($value);
    return $text =~ /^"/ ? 'string' : $text =~ /^[-\d]/ ? 'number'
        : $text =~ /^(?:true|false)$/ ? 'boolean' : $text =~ /^\[/ ? 'array'
        : $text =~ /^\{/ ? 'object' : 'null';
}

# Errors of an object: required keys, and optional ones.
sub wrong {
    my ($what, $object, $must, $may) = @_;
    return "$what is not an object" if kind_of($object) ne 'object';
    my @wrong = map { exists $object->{$_} ? () : "$what has no $_" }
        sort keys %$must;
    my %type = (%$must, %$may);
    for my $key (grep { $type{$_} } sort keys %$object) {
        my $kind = kind_of($object->{$key});
        push @wrong, "$what: $key is $kind" if $kind ne $type{$key};
    }
    return @wrong;
}

my %PLACE = (function => 'string', file => 'string', line => 'number');

sub wrong_frame {
    my ($frame) = @_;
    return (
        wrong('frame', $frame,
            { frame => 'number', module => 'string', module_offset => 'string' },
            { %PLACE, function_offset => 'string', function_size => 'string',
              inlines => 'array' }),
        map { wrong('inline', $_, {}, \%PLACE) } @{ $frame->{inlines} // [] });
}

sub wrong_answer {
    my ($answer) = @_;
    my @wrong = wrong('answer', $answer, { results => 'array' }, {});
    for my $job (@{ $answer->{results} }) {
        push @wrong, wrong('job', $job,
            { found_modules => 'object', stacks => 'array' }, {});
        # the schema's patternProperties
        push @wrong, map { "$_: " . kind_of($job->{found_modules}{$_}) }
            grep { kind_of($job->{found_modules}{$_}) !~ /^(?:boolean|null)$/ }
            keys %{ $job->{found_modules} };
        for my $stack (@{ $job->{stacks} }) {
            push @wrong, "stack is " . kind_of($stack)
                if kind_of($stack) ne 'array';
            push @wrong, map { wrong_frame($_) } @$stack;
        }
    }
    return @wrong;
}

# Its reading of a library: [function, [inlined calls, innermost first]] for
# each address, or why not.
sub library {
    my ($answer, $i, $module, @addresses) = @_;
    my $job = $answer->{results}[$i];
    return 'no symbols' if !$job->{found_modules}{"$module->[0]/$module->[1]"};
    my $frames = $job->{stacks}[0];
    return 'unexpected length' if @$frames != @addresses;
    return [map {
        my $at = $frames->[$_];
        defined $at->{function} && defined $at->{function_offset}
            ? [$at->{function}, $addresses[$_] - hex $at->{function_offset},
               map { $_->{function} } @{ $at->{inlines} // [] }]
            : undef
    } 0 .. $#addresses];
}

my @inside = (88967, 88968, 3);
my @windows = map { 0x1000 + 64 * $_ } 0 .. 40;
my $body = $t->json({ jobs => [
    { memoryMap => [\@KNOWN], stacks => [[map { [0, $_] } @inside]] },
    { memoryMap => [\@NOT_THERE], stacks => [[[0, 4096]]] },
    { memoryMap => [\@WINDOWS], stacks => [[map { [0, $_] } @windows]] },
] });

for my $path ('/symbolicate/v5', '/some/prefix/symbolicate/v5') {
    is_allowed(preflight($path), $path);
    my $r = ask($path, $body);
    is($r->{status}, 200, '... answered');
    is($r->{headers}{'access-control-allow-origin'}, '*', '... to the page');
    is_deeply([wrong_answer($r->{json})], [], '... as it can be read');

    # 0x57 bytes into main, whose inlined calls are in README.md
    is_deeply(library($r->{json}, 0, \@KNOWN, @inside)->[0],
        ['main', 88967 - 0x57, qw(func() bar() foo())],
        '... function, its address, inlined calls');
    is(library($r->{json}, 0, \@KNOWN, @inside)->[2], undef,
        '... an address outside of functions');
    is(library($r->{json}, 1, \@NOT_THERE, 4096), 'no symbols',
        '... a library without symbols');
    my $names = library($r->{json}, 2, \@WINDOWS, @windows);
    cmp_ok(scalar(grep { defined } @$names), '>', 30, '... and one of Windows');
}

my $r = ask('/symbolicate/v5', '{');
is($r->{status}, 400, 'a refusal');
is($r->{headers}{'access-control-allow-origin'}, '*', '... reaches the page, too');

# --- v4, by its schema: one stack in, one list of texts out ---

$r = ask('/symbolicate/v4', $t->json({ memoryMap => [\@KNOWN, \@NOT_THERE],
    stacks => [[[0, 88967], [1, 1], [-1, 2]]], version => 4 }));
is_deeply([wrong('answer', $r->{json},
    { symbolicatedStacks => 'array', knownModules => 'array' }, {})], [],
    'v4: its keys');
is(scalar @{ $r->{json}{symbolicatedStacks} }, 1, '... one stack');
is_deeply([map { kind_of($_) } @{ $r->{json}{symbolicatedStacks}[0] }],
    [('string') x 3], '... of texts');
is_deeply([grep { !/^(?:boolean|null)$/ } map { kind_of($_) }
    @{ $r->{json}{knownModules} }], [], '... and known names');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
