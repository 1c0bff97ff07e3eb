#!/usr/bin/perl

# Random requests to Sentry's API, over all modules of the fixtures, judged
# without another symbolicator: by rules of the specification for every answer,
# by what two equivalent requests must have in common, and by the answers of
# Mozilla's v5 for the same addresses in the same store.  Broken requests are
# refused with a status below 500, and nothing worse happens.
#
# Environment: SYM_SEED=N selects other requests, SYM_COUNT=N their number.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use SentryCases qw(differences);
use SentryRandom;
use SymFixtures qw(need_fixtures);
use SymTest;

need_fixtures('sentry/cases');

my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;
my $SEED = $ENV{SYM_SEED} // 12;
my $COUNT = $ENV{SYM_COUNT} // (SymTest::is_slow() ? 40 : 200);

my %FRAME_STATUS = map { $_ => 1 } qw(symbolicated missing_symbol unknown_image
                                      missing malformed);
my %MODULE_STATUS = map { $_ => 1 } qw(found unused missing malformed
                                       fetching_failed);
# request values that a frame without an answer keeps; function, symbol and
# package have their own rules
my @KEPT = qw(platform lang filename abs_path lineno pre_context context_line
              post_context in_app adjust_instruction_addr);

my $t = SentryCases->new->start;
my $random = SentryRandom->new(seed => $SEED);
my (%seen, @wrong, $same_as_v5);

for my $i (1 .. $COUNT) {
    my $request = $random->request;
    @wrong = ();
    judge($request);
    next if !@wrong;
    fail("request $i of seed $SEED");
    diag(map { "$_\n" } @wrong[ 0 .. ($#wrong < 7 ? $#wrong : 7) ]);
    diag($JSON->encode($request));
    last if ++$seen{failed} > 4;
}
is($seen{failed} // 0, 0, "$COUNT random requests");
# an empty list of differences is a success, too
cmp_ok($seen{$_} // 0, '>=', $COUNT / 4, "... with many frames: $_")
    for qw(symbolicated missing_symbol unknown_image missing inlined);
cmp_ok($same_as_v5 // 0, '>=', $COUNT, '... with many frames as v5 has them');

my %status;
for my $i (1 .. 2 * $COUNT) {
    my $body = $random->broken($random->body_of($random->request));
    my $r = $t->post_sentry($body);
    $status{ $r->{status} // 'none' }++;
    next if ($r->{status} // 0) =~ /^(?:200|400|413|415|422)\z/ && $r->{complete};
    fail("broken request $i of seed $SEED: " . ($r->{status} // 'no answer'));
    diag($body);
    last;
}
cmp_ok($status{200} // 0, '>', $COUNT / 20,
    'broken requests: some are still valid');
cmp_ok($status{400} // 0, '>', $COUNT / 20, '... some are not JSON');
cmp_ok($status{422} // 0, '>', $COUNT / 20, '... some have another structure');
is($t->end, '', 'a clean log');
done_testing();

sub wrong { push @wrong, join '', @_; return }

sub answer {
    my ($request) = @_;
    my $r = $t->post_sentry($random->body_of($request));

    return $r->{json} if $r->{status} == 200 && ref $r->{json} eq 'HASH'
        && $r->{json}{status} eq 'completed';
    wrong("status $r->{status}: $r->{body}");
    return;
}

sub judge {
    my ($request) = @_;
    my $answer = answer($request) // return;

    judge_modules($request, $answer);
    return wrong('another number of stacks')
        if @{ $answer->{stacktraces} } != @{ $request->{stacktraces} };
    judge_stack($request, $request->{stacktraces}[$_],
                $answer->{stacktraces}[$_], "stacktraces[$_]")
        for 0 .. $#{ $request->{stacktraces} };
    same_when_reversed($request, $answer);
    same_in_parts($request, $answer);
    same_relative($request, $answer);
    as_v5($request, $answer);
    return;
}

# --- one answer ---

sub judge_modules {
    my ($request, $answer) = @_;
    my @ours = @{ $answer->{modules} };
    my %used;

    return wrong('another number of modules')
        if @ours != @{ $request->{modules} };
    for my $frame (map { @{ $_->{frames} } } @{ $request->{stacktraces} }) {
        my $n = SentryRandom::module_at($request, $frame);
        $used{$n} = 1 if defined $n;
    }
    for my $i (0 .. $#ours) {
        my ($asked, $module) = ($request->{modules}[$i], $ours[$i]);
        for my $key (qw(type code_id code_file debug_id debug_file)) {
            wrong("modules[$i].$key")
                if ($module->{$key} // '') ne ($asked->{$key} // '');
        }
        wrong("modules[$i].image_addr")
            if $module->{image_addr} ne sprintf '0x%x', $asked->{image_addr} // 0;
        wrong("modules[$i].image_size")
            if $asked->{image_size}
                && ($module->{image_size} // 0) != $asked->{image_size};
        wrong("modules[$i].debug_status $module->{debug_status}")
            if !$MODULE_STATUS{ $module->{debug_status} };
        wrong("modules[$i]: unused and asked for")
            if $module->{debug_status} ne 'unused' && !$used{$i};
        wrong("modules[$i].features")
            if "@{[sort keys %{ $module->{features} }]}" ne
                'has_debug_info has_sources has_symbols has_unwind_info';
        wrong("modules[$i].arch") if $module->{arch} !~ /^[a-z]\w+\z/;
    }
    return;
}

sub judge_stack {
    my ($request, $asked, $ours, $where) = @_;
    my @frames = @{ $ours->{frames} };
    my @asked = @{ $asked->{frames} };

    # the rules assume that a call comes before its caller
    if (($request->{options}{frame_order} // '') eq 'caller_first') {
        @frames = reverse @frames;
        @asked = reverse @asked;
    }
    for my $key (qw(thread_id thread_name is_requesting)) {
        wrong("$where.$key") if ($ours->{$key} // 'none')
            ne ($asked->{$key} // 'none');
    }
    my %registers = map { $_ => sprintf '0x%x', $asked->{registers}{$_} }
        keys %{ $asked->{registers} // {} };
    wrong("$where.registers") if differences($ours->{registers} // {}, \%registers)
        || exists $ours->{registers} && !%registers;

    my @of;
    my $last = 0;
    for my $frame (@frames) {
        my $n = $frame->{original_index};
        wrong("$where: order") if $n < $last || $n > $#asked;
        $last = $n;
        push @{ $of[$n] }, $frame;
    }
    for my $n (0 .. $#asked) {
        my $at = "$where.frames[$n]";
        my $module = SentryRandom::module_at($request, $asked[$n]);
        if ($of[$n]) {
            judge_frame($request, $asked[$n], $module, $of[$n], $at);
        } else {
            wrong("$at: lost") if !may_be_dropped($asked[$n], $module, $n == $#asked,
                $n > 0 && $of[ $n - 1 ] ? $of[ $n - 1 ][-1] : undef);
        }
    }
    return;
}

sub may_be_dropped {
    my ($asked, $module, $is_last, $before) = @_;
    return ($asked->{trust} // '') eq 'scan'
        || $is_last && !defined $module && $before
            && ($before->{function} // '') eq '_start';
}

# The frames that one frame of the request became.
sub judge_frame {
    my ($request, $asked, $module, $frames, $at) = @_;
    my $first = $frames->[0];
    my $keys = defined $module ? $request->{modules}[$module] : undef;
    my $is_dotnet = $keys && $keys->{type} eq 'pe_dotnet';

    for my $frame (@$frames) {
        $seen{ $frame->{status} }++;
        wrong("$at.status $frame->{status}") if !$FRAME_STATUS{ $frame->{status} };
        wrong("$at: several without an answer")
            if @$frames > 1 && $frame->{status} ne 'symbolicated';
        wrong("$at.instruction_addr of an inlined call")
            if $frame->{instruction_addr} ne $first->{instruction_addr};
        for my $key (qw(trust platform adjust_instruction_addr)) {
            my $value = $asked->{$key} // 'unset';
            $value = 'unset' if $key eq 'trust' && $value eq 'none';
            wrong("$at.$key") if ($frame->{$key} // 'unset') ne $value;
        }
        wrong("$at.package") if $keys && defined $keys->{code_file}
            && ($frame->{package} // '') ne $keys->{code_file};
        wrong("$at: its line is not a number")
            if exists $frame->{lineno} && $JSON->encode($frame->{lineno}) !~ /^\d+\z/;
    }
    wrong("$at.status $first->{status}: no module covers it")
        if !$keys && $first->{status} ne 'unknown_image';
    wrong("$at.status unknown_image: a module covers it")
        if $keys && $first->{status} eq 'unknown_image';
    $seen{inlined} += $#$frames;

    return judge_symbolicated($asked, $keys, $frames, $at)
        if $first->{status} eq 'symbolicated' && !$is_dotnet;
    judge_failed($asked, $first, $at) if $first->{status} ne 'symbolicated';
    return;
}

sub judge_symbolicated {
    my ($asked, $keys, $frames, $at) = @_;

    for my $frame (@$frames) {
        wrong("$at.$_ of the request")
            for grep { exists $frame->{$_} && exists $asked->{$_} }
            qw(in_app source_link vars);
        wrong("$at.$_ is missing")
            for grep { !exists $frame->{$_} } qw(symbol function lineno);
        wrong("$at.sym_addr") if $frame == $frames->[-1]
            ? !exists $frame->{sym_addr} : exists $frame->{sym_addr};
        wrong("$at.addr_mode") if exists $frame->{addr_mode}
            ? $keys->{image_addr} : !$keys->{image_addr};
    }
    return;
}

sub judge_failed {
    my ($asked, $frame, $at) = @_;

    for my $key (@KEPT) {
        next if !defined $asked->{$key};
        wrong("$at.$key of the request is lost")
            if differences($frame->{$key}, $asked->{$key});
    }
    # unchanged, even if it would have been adjusted
    wrong("$at.instruction_addr")
        if $frame->{instruction_addr} ne sprintf '0x%x', $asked->{instruction_addr};
    wrong("$at.addr_mode")
        if ($frame->{addr_mode} // 'abs') ne ($asked->{addr_mode} // 'abs');
    wrong("$at: names of the request are lost")
        if (defined $asked->{function} || defined $asked->{symbol})
            && !defined $frame->{function} && !defined $frame->{symbol};
    wrong("$at.function of the request")
        if defined $asked->{function} && defined $asked->{symbol}
            && ($frame->{function} ne $asked->{function}
                || $frame->{symbol} ne $asked->{symbol});
    return;
}

# --- two equivalent requests ---

sub changed {
    my ($request) = @_;
    return $JSON->decode($JSON->encode($request));
}

sub compare_stacks {
    my ($what, $ours, $theirs) = @_;
    my @differ = differences($ours, $theirs);
    wrong($what, "\n  $differ[0][0]: ", $differ[0][1] // 'absent', ', not ',
          $differ[0][2] // 'absent') if @differ;
    return;
}

# The frames in reverse order: the same answer, reversed.
sub same_when_reversed {
    my ($request, $answer) = @_;
    my $other = changed($request);

    $_->{frames} = [ reverse @{ $_->{frames} } ] for @{ $other->{stacktraces} };
    $other->{options}{frame_order} =
        ($request->{options}{frame_order} // '') eq 'caller_first'
        ? 'callee_first' : 'caller_first';
    my $turned = answer($other) // return;
    $_->{frames} = [ reverse @{ $_->{frames} } ]
        for @{ $turned->{stacktraces} };
    compare_stacks('in the other order of frames', $turned->{stacktraces},
                   $answer->{stacktraces});
    return;
}

# Each half of the stacks in a request of its own.
sub same_in_parts {
    my ($request, $answer) = @_;
    my $n = @{ $request->{stacktraces} };
    return if $n < 2;
    my $half = int $n / 2;
    my @got;

    for my $part ([ 0, $half - 1 ], [ $half, $n - 1 ]) {
        my $other = changed($request);
        $other->{stacktraces} =
            [ @{ $other->{stacktraces} }[ $part->[0] .. $part->[1] ] ];
        push @got, @{ (answer($other) // return)->{stacktraces} };
    }
    compare_stacks('in two halves', \@got, $answer->{stacktraces});
    return;
}

# Absolute addresses written relative to their modules.  Frames without an
# answer keep the requested address.
sub same_relative {
    my ($request, $answer) = @_;
    my $other = changed($request);
    my $n_changed = 0;

    for my $frame (map { @{ $_->{frames} } } @{ $other->{stacktraces} }) {
        next if defined $frame->{addr_mode};
        my $module = SentryRandom::module_at($request, $frame) // next;
        my $base = $request->{modules}[$module]{image_addr} or next;
        $frame->{addr_mode} = "rel:$module";
        $frame->{instruction_addr} -= $base;
        $n_changed++;
    }
    return if !$n_changed;
    my $relative = answer($other) // return;
    for my $of ($relative, $answer) {
        $of->{found} = [ map { [ grep { $_->{status} eq 'symbolicated' }
                                 @{ $_->{frames} } ] } @{ $of->{stacktraces} } ];
    }
    compare_stacks('relative to its module', $relative->{found},
                   $answer->{found});
    return;
}

# --- v5 ---

# The answer of Mozilla's API for the addresses that were looked up.
sub as_v5 {
    my ($request, $answer) = @_;
    my (%number, @map, @asked, @wanted);

    for my $stack (@{ $answer->{stacktraces} }) {
        my @frames = @{ $stack->{frames} };
        @frames = reverse @frames
            if ($request->{options}{frame_order} // '') eq 'caller_first';
        my %of;
        push @{ $of{ $_->{original_index} } }, $_
            for grep { $_->{status} eq 'symbolicated' } @frames;
        for my $calls (values %of) {
            my $frame = $calls->[0];
            my $keys = module_of($request, $frame) // next;
            my ($name, $id) = tecken_module($keys) or next;
            my $at = hex($frame->{instruction_addr});
            $at -= $keys->{image_addr} if !exists $frame->{addr_mode};
            $number{$name} //= push(@map, [ $name, $id ]) - 1;
            push @asked, [ $number{$name}, $at ];
            push @wanted, $calls;
        }
    }
    return if !@asked;

    my $r = $t->post_json('/symbolicate/v5', { jobs => [
        { memoryMap => \@map, stacks => [ \@asked ] } ] });
    my $frames = $r->{json}{results}[0]{stacks}[0] // return wrong('v5: no frames');
    for my $i (0 .. $#asked) {
        my $v5 = $frames->[$i];
        my @theirs = map { place_of($_->{file}, $_->{line}) }
            @{ $v5->{inlines} // [] }, $v5;
        my @ours = map { place_of($_->{abs_path}, $_->{lineno} || undef) }
            @{ $wanted[$i] };
        wrong("as in v5: $map[ $asked[$i][0] ][0] ",
              sprintf('%x', $asked[$i][1]), "\n  @ours\n  v5: @theirs")
            if "@ours" ne "@theirs";
        wrong("as v5 has it: function $wanted[$i][-1]{function}, $v5->{function}")
            if !is_same_name($wanted[$i][-1]{function}, $v5->{function} // '');
        $same_as_v5++;
    }
    return;
}

# Sentry's style has no leading return types, other spaces, and another word for
# clones.
sub is_same_name {
    my ($sentry, $mozilla) = @_;
    s/\[clone (\.[^\]]*)\]/($1)/g, s/\)\s*\((?=\.)//g, s/\s+//g
        for $sentry, $mozilla;
    return $mozilla =~ /\Q$sentry\E\z/;
}

# The name and id by which Mozilla's clients know a module.
sub tecken_module {
    my ($keys) = @_;
    my ($name) = ($keys->{debug_file} // $keys->{code_file} // '') =~ m{([^/\\]+)\z}
        or return;
    my ($guid, $age) = ($keys->{debug_id} // '') =~ /^([0-9a-f-]{36})(?:-(\w+))?\z/
        or return;
    return ($name, uc($guid =~ tr/-//dr) . ($age // '0'));
}

# If the symbols have no file, Sentry's answer has that of the request; and its
# paths have no "..".
sub place_of {
    my ($file, $line) = @_;
    $file = '' if !defined $file || $file eq '/given/given.c';
    1 while $file =~ s{(^|[/\\])(?!\.\.?[/\\])[^/\\]+[/\\]\.\.[/\\]}{$1};
    return join ':', $file, $line // '';
}

# The key of the module to which an answered frame belongs.
sub module_of {
    my ($request, $frame) = @_;
    my $n = SentryRandom::module_at($request, {
        instruction_addr => hex $frame->{instruction_addr},
        addr_mode => $frame->{addr_mode} }) // return;
    my $keys = $request->{modules}[$n];
    return $keys->{type} eq 'pe_dotnet' ? undef : $keys;
}
