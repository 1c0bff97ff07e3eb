#!/usr/bin/perl

# A profile of OTLP may be JSON.  It gets the same functions, files and lines as in
# protobuf, as JSON, and keeps all other members, known or not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use Test::More;

use SymElf qw(output run_ok);
use SymLoader qw(read_file write_file);
use SymProfile qw(profile loads otlp otlp_json to_json to_protobuf);

my $t = SymLoader->new;
my $json = Cpanel::JSON::XS->new->utf8->canonical;
my $out = $t->dir . '/out';

sub answer {
    my ($in) = @_;
    unlink $out;
    my $r = $t->run('profile', $in, $out);
    return $r if $r->{code} > 1;
    run_ok('sh', '-c', "gzip -dc '$out' >'$out.plain'");
    return ($r, read_file("$out.plain"));
}

sub of_json {
    my ($text) = @_;
    return otlp_json('json', to_protobuf(write_file("$out.json", $text), "$out.pb"));
}

# All that symbols must not change.
sub rest {
    my ($text) = @_;
    my $all = $json->decode($text);
    my $d = $all->{dictionary};
    delete @{$d}{qw(functionTable stringTable)};
    (grep { $_->{here} } @{ $_->{lines} // [] }) || delete $_->{lines} for @{ $d->{locationTable} };
    return $all;
}

my $p = profile($t, 'lld', 'clang', '-O2', '-fuse-ld=lld-19');
my $file_id = otlp('fileid', $p->{program}) =~ s/\s+//r;
run_ok('objcopy', '--only-keep-debug', $p->{program}, "$p->{program}.debug");
is($t->run('load', "$p->{program}.debug")->{code}, 0, 'a debug file');

# --- as in protobuf ---

my %ways = (
    'addresses of the process' => [ "lld.gnu=$p->{id}" ],
    'of the file' => [ 'lld.elf=' . loads($p), "lld.htlhash=$file_id", "lld.gnu=$p->{id}" ],
);
my ($text, $want, $named);
for my $way (sort keys %ways) {
    my $in = otlp('make', $p->{file}, "$out.otlp", @{ $ways{$way} }) || "$out.otlp";
    my ($r) = answer("$out.otlp");
    is($r->{code}, 0, $way) or diag $r->{err};
    $want = otlp_json('json', "$out.plain");
    for my $indent ('', 2) {
        $text = read_file(to_json("$out.otlp", "$out.in", $indent || ()));
        ($r, $named) = answer("$out.in");
        is($r->{code}, 0, "JSON, indented by '$indent'") or diag $r->{err};
        is_deeply(of_json($named), $want, '... the same answer');
        is_deeply(rest($named), rest($text), '... nothing else changes');
    }
}
cmp_ok(scalar(grep { @{ $_->{lines} } > 1 } @{ $want->{locations} }), '>', 0, 'some calls are inlined');

# --- the same profile, written in other ways ---

sub changed {
    my ($change) = @_;
    my $all = $json->decode($text);
    $change->($all->{dictionary}, $all);
    return $json->encode($all);
}

# Members of the dictionary in this order.
sub ordered {
    my (@order) = @_;
    my $all = $json->decode($text);
    my $d = delete $all->{dictionary};
    return substr($json->encode($all), 0, -1) . ',"dictionary":{'
        . join(',', map { qq("$_":) . $json->encode($d->{$_}) } @order) . '}}';
}

my @tables = sort keys %{ $json->decode($text)->{dictionary} };
my %same = (
    'tables in an order' => ordered(@tables),
    'tables in the opposite order' => ordered(reverse @tables),
    'functions and strings first' =>
        ordered('stringTable', 'functionTable', grep { !/^(?:string|function)Table$/ } @tables),
    'numbers' => $text =~ s/(?<=[:\[, ])"(\d+)"(?=[,\]\} \n])/$1/gr,
    'numbers with an exponent' => $text =~ s/("mappingIndex": )(\d+)/$1$2.0e0/gr,
    'strings of numbers' => $text =~ s/("(?:mappingIndex|keyStrindex|filenameStrindex)": )(\d+)/$1"$2"/gr,
    'escapes' => $text =~ s/"process\.executable/"pr\\u006fcess.execut\\u0061ble/gr,
    'no lines' => changed(sub { my ($d) = @_; $_->{lines} //= [] for @{ $d->{locationTable} } }),
    'null' => changed(sub { my ($d) = @_; $_->{lines} //= undef for @{ $d->{locationTable} } }),
    'keys with escapes' => $text =~ s/"(dictionar|stringTabl|addres)(.)":/sprintf '"%s\u%04x":', $1, ord $2/ger,
    'white space' => "\n  $text\n\n",
);
isnt($same{$_}, $text, "$_: another text") for sort keys %same;
for my $name (sort keys %same) {
    my ($r, $answer) = answer(write_file("$out.in", $same{$name}));
    is($r->{code}, 0, $name) or diag $r->{err};
    is_deeply(of_json($answer), $want, '... the same answer');
    is_deeply(rest($answer), rest($same{$name}), '... nothing else changes');
}

# --- unknown members ---

{
    my $in = changed(sub {
        my ($d, $all) = @_;
        my $new = { 'what "is" new' => [ { a => [ {}, [], 1e300, -1, undef ] }, "\x{20ac}\n" ] };
        $_->{new} = $new for $all, $d, @{ $d->{locationTable} }, @{ $d->{mappingTable} }, @{ $d->{attributeTable} };
        $d->{"${_}Table"} = [ $new, [ [ $new ] ], 'text', 7 ] for qw(other link);
        $d->{locationTable}[1]{lines} = [ { here => 1, functionIndex => 0, line => '7' } ];
        push @{ $d->{stringTable} }, 'y' x 100_000 . "\x{20ac}" x 50_000, '';
        push @{ $d->{attributeTable} }, { keyStrindex => 1, value => { stringValue => 'z' x 100_000 } };
        push @{ $d->{mappingTable}[1]{attributeIndices} }, $#{ $d->{attributeTable} };
    });
    my ($r, $answer) = answer(write_file("$out.in", $in));
    is($r->{code}, 0, 'unknown members, long strings') or diag $r->{err};
    is_deeply(rest($answer), rest($in), '... stay');
    my ($old, $new) = map { $json->decode($_)->{dictionary}{stringTable} } $in, $answer;
    is_deeply([ @{$new}[ 0 .. $#$old ] ], $old, '... strings, too');
    cmp_ok(scalar @$new, '>', scalar @$old, '... new ones follow');
    ($r, my $again) = answer(write_file("$out.in", $answer));
    is($again, $answer, 'its own answer stays, byte for byte');
}

# --- tables that are not there ---

{
    my $in = changed(sub {
        my ($d) = @_;
        $d->{functionTable} = undef;
        delete $_->{lines} for @{ $d->{locationTable} };
    });
    my ($r, $answer) = answer(write_file("$out.in", $in));
    is($r->{code}, 0, 'no functions') or diag $r->{err};
    my $d = $json->decode($answer)->{dictionary};
    is_deeply($d->{functionTable}[0], {}, '... the first one is empty');
    my ($got) = grep { @{ $_->{lines} } } @{ of_json($answer)->{locations} };
    my ($same) = grep { $_->{id} == $got->{id} } @{ $want->{locations} };
    is_deeply($got, $same, '... the others follow');
}

# --- the collector's own: an example of its module pdata/testdata, v0.165.0 ---

{
    my $example = read_file("$FindBin::Bin/profile/otlp_collector.json");
    my ($r, $answer) = answer(write_file("$out.in", $example));
    is($r->{code}, 0, "the collector's example") or diag $r->{err};
    is_deeply($json->decode($answer), $json->decode($example), '... stays');

    # the same, with a mapping of the program as the collector would write it
    my $ours = $json->decode($example);
    my $d = $ours->{dictionary};
    my ($location) = grep { @{ $_->{lines} } } @{ $want->{locations} };
    push @{ $d->{stringTable} }, 'process.executable.build_id.gnu', $p->{id};
    push @{ $d->{attributeTable} }, { value => { stringValueStrindex => $#{ $d->{stringTable} } },
                                      keyStrindex => $#{ $d->{stringTable} } - 1 };
    push @{ $d->{mappingTable} }, { attributeIndices => [ $#{ $d->{attributeTable} } ] };
    $d->{locationTable}[1] = { mappingIndex => 1, address => "$location->{address}" };
    ($r, $answer) = answer(write_file("$out.in", $json->encode($ours)));
    is($r->{code}, 0, '... with a program') or diag $r->{err};
    is_deeply(of_json($answer)->{locations}[1]{lines}, $location->{lines}, '... has its functions');
    is_deeply($json->decode($answer)->{resourceProfiles}, $ours->{resourceProfiles}, '... and ids of profiles');
}

# --- what is no such profile ---

my %bad = (
    'half' => [ substr($text, 0, length($text) / 2), qr/OTLP: .*, at byte \d+/ ],
    'more' => [ "$text {}", qr/OTLP: bytes after the value, at byte @{[ length($text) + 1 ]}/ ],
    'no dictionary' => [ '{"resourceProfiles": []}', qr/no dictionary: profiles of OTLP before 1\.8/ ],
);
for my $name (sort keys %bad) {
    my ($r) = answer($t->file('bad', $bad{$name}[0]));
    is($r->{code}, 2, "$name: refused");
    like($r->{err}, $bad{$name}[1], '... and says why');
    ok(!-e $out, '... without a file');
}

# a resource of 123 bytes: its first two bytes are "\n{"
{
    my $dictionary = "\x12\x02\x2a\x00";
    my $resource = "\x0a{" . "\x12\x02\x12\x00" . "\x1a\x75" . 'u' x 117;
    is(length($resource), 125, 'protobuf that begins like JSON');
    my ($r) = answer(write_file("$out.in", $resource . $dictionary));
    is($r->{code}, 0, '... is taken') or diag $r->{err};
}

is($t->verify, 'sound', 'the store is sound');
done_testing();
