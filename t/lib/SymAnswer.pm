package SymAnswer;

# The expected answer as text, from what sym_oracle.py reads in the .sym files.
# The text is that of Python's json.dumps.

use strict;
use warnings;

use Cpanel::JSON::XS ();
use SymTest;
use Test::More;

my $json = Cpanel::JSON::XS->new->utf8;

# Answers of the oracle for random addresses, for edges of records (at most
# $count of them, evenly chosen), or for the given ones.
sub random {
    my ($file, $count, $seed) = @_;
    return ask($file, '--random', $count, '--seed', $seed);
}

sub boundaries {
    my ($file, $count) = @_;
    my @all = ask($file, '--all-boundaries');
    return @all if @all <= $count;
    return map { $all[$_ * @all / $count] } 0 .. $count - 1;
}

sub addresses {
    my ($file, @addresses) = @_;
    return ask($file, map { sprintf '%x', $_ } @addresses);
}

sub ask {
    my ($file, @args) = @_;
    open my $in, '-|', 'python3', SymTest::root() . '/t/lib/sym_oracle.py',
        $file, @args or die "python3: $!";
    my @answers = map { $json->decode($_) } <$in>;
    close $in or die "sym_oracle.py $file @args: $?";
    return @answers;
}

# json.dumps of a string.
sub string {
    my ($text) = @_;
    my %short = ('"' => '\"', '\\' => '\\\\', "\n" => '\n', "\r" => '\r',
        "\t" => '\t', "\b" => '\b', "\f" => '\f');
    $text =~ s/(["\\\n\r\t\x08\x0c])/$short{$1}/g;
    $text =~ s/([^\x20-\x7e])/escape(ord $1)/ge;
    return qq("$text");
}

sub escape {
    my ($c) = @_;
    return sprintf '\u%04x', $c if $c < 0x10000;
    $c -= 0x10000;
    return sprintf '\u%04x\u%04x', 0xd800 + ($c >> 10), 0xdc00 + ($c & 0x3ff);
}

sub place {
    my ($of) = @_;
    my $text = '';
    $text .= ', "file": ' . string($of->{file}) if defined $of->{file};
    $text .= ", \"line\": $of->{line}" if defined $of->{line};
    return $text;
}

sub frame {
    my ($number, $module, $answer) = @_;
    my $text = sprintf '{"frame": %d, "module": %s, "module_offset": "0x%x"',
        $number, string($module->[0]), $answer->{addr};
    if (defined $answer->{function}) {
        $text .= ', "function": ' . string($answer->{function});
        $text .= sprintf ', "function_offset": "0x%x"',
            $answer->{addr} - $answer->{function_addr};
        $text .= place($answer);
        my @inlines = map { '{"function": ' . string($_->{function})
            . place($_) . '}' } @{$answer->{inlines}};
        $text .= ', "inlines": [' . join(', ', @inlines) . ']' if @inlines;
    }
    return $text . '}';
}

# Jobs: for each its memory map ([name, id], ..) and its stacks of [module
# index, answer].  All modules that are used are stored; each is shown under the
# name that was requested.
sub v5 {
    my ($maps, $jobs) = @_;
    my (%used, @results);
    for my $job (0 .. $#$jobs) {
        for my $frame (map {@$_} @{$jobs->[$job]}) {
            $used{join '/', @{$maps->[$job][$frame->[0]]}} = 1;
        }
    }
    for my $job (0 .. $#$jobs) {
        my $map = $maps->[$job];
        my @stacks;
        for my $stack (@{$jobs->[$job]}) {
            my $n = 0;
            push @stacks, '[' . join(', ',
                map { frame($n++, $map->[$_->[0]], $_->[1]) } @$stack) . ']';
        }
        my @found = map {
            my $key = join '/', @$_;
            string($key) . ': ' . ($used{$key} ? 'true' : 'null');
        } @$map;
        push @results, '{"stacks": [' . join(', ', @stacks)
            . '], "found_modules": {' . join(', ', @found) . '}}';
    }
    return '{"results": [' . join(', ', @results) . ']}';
}

sub v4 {
    my ($map, $stacks) = @_;
    my (%used, @stacks);
    for my $stack (@$stacks) {
        push @stacks, '[' . join(', ', map {
            my ($m, $answer) = @$_;
            $used{$m} = 1;
            my $name = defined $answer->{function} ? $answer->{function}
                : sprintf '0x%x', $answer->{addr};
            string("$name (in $map->[$m][0])");
        } @$stack) . ']';
    }
    my @known = map { $used{$_} ? 'true' : 'null' } 0 .. $#$map;
    return '{"symbolicatedStacks": [' . join(', ', @stacks)
        . '], "knownModules": [' . join(', ', @known) . ']}';
}

# Shows where two texts begin to differ.
sub differs {
    my ($got, $want) = @_;
    my $same = 0;
    $same++ while $same < length $got
        && $same < length $want
        && substr($got, $same, 1) eq substr($want, $same, 1);
    my $from = $same > 200 ? $same - 200 : 0;
    diag("they differ at byte $same");
    diag('  got ..' . substr($got, $from, 600));
    diag(' want ..' . substr($want, $from, 600));
    return;
}

1;
