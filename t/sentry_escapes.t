#!/usr/bin/perl

# Windows events in Sentry's native API: paths with backslashes, source lines
# with quotes and tabs, variables, large addresses.  Each text is written with
# and without JSON escapes, in two requests: one of the usual form, and one that
# the general reader takes, because a key is repeated.  The answers must contain
# what the request contained.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use Encode ();
use Test::More;

use SymTest;

my $LARGE = 5 << 20;    # more than jansson is given

my $t = SymTest->new;
my $file = $t->dir . '/app.sym';
open my $out, '>', $file or die "$file: $!";
print $out <<'SYM';
MODULE windows x86_64 00112233445566778899AABBCCDDEEFF1 app.pdb
FILE 0 D:\src\main.cpp
FUNC 1000 100 0 main
1000 100 5 0
SYM
close $out;
$t->load($file)->conf(locations => <<'CONF')->start;
        location /plain  { symbolicate sentry; }
        location /slices { symbolicate sentry; symbolicate_slice 1; }
CONF

my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

# JSON text of a value in which each character of strings is a \u escape; keys
# have none, because escaped keys are left to the general reader.
sub escaped {
    my ($value) = @_;

    return '{' . join(',', map { qq("$_":) . escaped($value->{$_}) }
                          sort keys %$value) . '}' if ref $value eq 'HASH';
    return '[' . join(',', map { escaped($_) } @$value) . ']'
        if ref $value eq 'ARRAY';
    my $text = $JSON->encode($value);
    return $text if $text !~ /^"/;
    return '"' . join('', map { sprintf '\\u%04x', $_ }
                          unpack 'n*', Encode::encode('UTF-16BE', $value)) . '"';
}

# The answer to a body: JSON, without its last bracket.
sub ask {
    my ($name, $body) = @_;
    my @bodies = ([ 'usual', "$body}" ],
                  [ 'general', qq($body,"platform":"a","platform":"b"}) ]);
    my @answers;

    for (@bodies) {
        my ($reader, $text) = @$_;
        my @r = map { $t->post("/$_/symbolicate", $text,
                               'Content-Type' => 'application/json') }
            'plain', 'slices';
        is($r[0]{status}, 200, "$name, $reader: answered") or diag($r[0]{body});
        is($r[0]{body}, $r[1]{body}, '... slices make no difference');
        push @answers, $JSON->decode($r[0]{body});
    }
    is_deeply($answers[0], $answers[1], "$name: both readers give the same");
    return $answers[0];
}

# --- an event ---

my %own = (
    platform => 'native', package => 'C:\\Program Files\\Game\\app.dll',
    lang => 'cpp', function => "Find<\"x\">(\t\\)", symbol => '?Find@@"\\',
    filename => 'Find.cpp', abs_path => "D:\\agent\\_work\\1\\Größe \x{1f600}.cpp",
    lineno => 17, pre_context => [ "\tif (c == '\\n') {", '', "\x{1}\x{0}\"/\"" ],
    context_line => "\t\tthrow Error(\"at \\\" + text);",
    post_context => [ "\t}\r", '}' ], source_link => 'https://x/?a="b"\\',
    vars => { path => 'C:\\Users\\"me"', list => [ 1, -2, undef, { x => "\n" } ],
              empty => {}, name => "\x{65e5}\x{672c}" });
my %module = (type => 'pe', debug_file => 'D:\\build\\app.pdb',
              code_file => 'C:\\Program Files\\Game\\app.dll',
              debug_id => '00112233-4455-6677-8899-aabbccddeeff-1',
              image_addr => '0x400000', image_size => 0x10000);
my %event = (
    modules => [ \%module ],
    stacktraces => [ { thread_name => "a \"b\"\\\t", registers => { rip => 1 },
        frames => [ { instruction_addr => '0x401010', %own },
                    { instruction_addr => '0x10', %own } ] } ],
    options => { apply_source_context => Cpanel::JSON::XS::false });

# Addresses may not have escapes in a request of the usual form.
sub body {
    my ($write) = @_;
    my @frames = map {
        my %frame = %$_;
        my $addr = delete $frame{instruction_addr};
        qq({"instruction_addr":"$addr",) . substr $write->(\%frame), 1
    } @{ $event{stacktraces}[0]{frames} };
    my ($addr, %rest) = ($module{image_addr}, %module);
    delete $rest{image_addr};

    return qq({"modules":[{"image_addr":"$addr",) . substr($write->(\%rest), 1)
        . '],"stacktraces":[{"thread_name":'
        . $write->($event{stacktraces}[0]{thread_name})
        . ',"registers":{"rip":1},"frames":[' . join(',', @frames)
        . ']}],"options":{"apply_source_context":false}';
}

for my $write ([ 'only the required escapes', sub { $JSON->encode($_[0]) } ],
               [ 'escapes for all', \&escaped ]) {
    my ($name, $how) = @$write;
    my $answer = ask($name, body($how));
    my ($stack) = @{ $answer->{stacktraces} };
    my ($found, $unknown) = @{ $stack->{frames} };

    is($found->{status}, 'symbolicated', "$name: the module is found by its file");
    is($found->{function}, 'main', '... a frame has its function');
    is($found->{abs_path}, 'D:\\src\\main.cpp', '... and its path');
    is($found->{package}, $module{code_file}, '... and its package');
    is_deeply({ map { $_ => $unknown->{$_} } keys %own }, \%own,
              '... a frame without a module keeps the sent values');
    is($stack->{thread_name}, $event{stacktraces}[0]{thread_name},
       '... a thread its name');
    is_deeply({ map { $_ => $answer->{modules}[0]{$_} }
                    qw(code_file debug_file) },
              { map { $_ => $module{$_} } qw(code_file debug_file) },
              '... a module its files');
}

# --- numbers ---

for my $addr (qw(9223372036854775808 18446744073709551615 -1)) {
    my $vars = '{"least":-9223372036854775808,"large":18446744073709551615,'
        . '"real":0.1,"same":9007199254740993}';
    my $hex = sprintf '0x%x', $addr == -1 ? ~0 : $addr;
    my $asked = qq({"stacktraces":[{"frames":[{"instruction_addr":$addr,)
        . qq("vars":$vars}]}]);
    my ($frame, $general) = map {
        my $r = $t->post('/plain/symbolicate', $asked . $_,
                         'Content-Type' => 'application/json');
        is($r->{status}, 200,
            "address $addr next to variables") or diag($r->{body});
        $JSON->decode($r->{body})->{stacktraces}[0]{frames}[0]
    } '}', ',"platform":"a","platform":"b"}';

    is($frame->{instruction_addr}, $hex, '... is the address');
    is_deeply($frame->{vars}, $JSON->decode($vars), '... variables keep all digits');
    is($general->{instruction_addr}, $hex, '... the general reader has it, too');
    cmp_ok($general->{vars}{large}, '==', 2 ** 64,
           '... and shows large variables as reals');
}

# --- large values ---

for (qw(context_line filename function thread_name unknown)) {
    my $key = $_;
    my $text = '\\"a\\\\\\t' . 'x' x $LARGE;
    my ($of_frame, $of_stack) = $key eq 'thread_name' ? ('', qq(,"$key":"$text"))
                                                      : (qq(,"$key":"$text"), '');
    my $r = $t->post('/plain/symbolicate',
        qq({"stacktraces":[{"frames":[{"instruction_addr":16$of_frame}]$of_stack}]}),
        'Content-Type' => 'application/json');
    is($r->{status}, 200, "5 MiB of $key") or diag(substr $r->{body}, 0, 200);
    my $stack = $JSON->decode($r->{body})->{stacktraces}[0];
    my $value = $key eq 'thread_name' ? $stack->{$key} : $stack->{frames}[0]{$key};
    my $want = $key eq 'unknown' ? undef : "\"a\\\t" . 'x' x $LARGE;
    ok(($value // 'none') eq ($want // 'none'),
       $key eq 'unknown' ? '... is omitted' : '... comes back');
}

{
    my $vars = '{' . join(',', map { qq("v$_":"$_") } 1 .. 65) . '}';
    my $answer = ask('65 variables', '{"stacktraces":[{"frames":['
                     . qq({"instruction_addr":16,"vars":$vars}]}]));
    is_deeply($answer->{stacktraces}[0]{frames}[0]{vars}, $JSON->decode($vars),
              '... all are there');
}

is($t->log_trouble, '', 'a clean log');
done_testing();
