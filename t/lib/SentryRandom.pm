package SentryRandom;

# Random valid requests to Sentry's API, over all modules of the fixtures.
#
#     my $random = SentryRandom->new(seed => 7);
#     my $request = $random->request;           a structure for JSON
#     my $body = $random->body_of($request);    addresses in all their spellings
#     my $broken = $random->broken($body);      the same with something wrong
#
# The same seed gives the same requests.  Expected answers follow from the
# specification alone (../shared/specs/symbolicator.md, 2): see module_at().

use strict;
use warnings;
no warnings 'portable';

use Cpanel::JSON::XS ();

use SentryCases ();
use SymLoader ();
use SymTest ();

my $JSON = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;
my ($TRUE, $FALSE) = (Cpanel::JSON::XS::true, Cpanel::JSON::XS::false);

# Breakpad's symbol store, for which no case was recorded.
my @BREAKPAD = (
    { type => 'pe', debug_file => 'kernel32.pdb', code_file => 'kernel32.dll',
      debug_id => 'bce8785c-57b4-4245-a669-896b6a19b954-2',
      image_size => 0xf6000 },
    { type => 'elf', debug_file => 'libc-2.13.so', code_file => '/lib/libc.so.6',
      debug_id => 'f4f8dfcd-5a5f-b5a7-ce64-717e9e6ae389',
      image_size => 0x160000 },
    { type => 'elf', debug_file => 'ld-2.13.so', code_file => '/lib/ld-2.13.so',
      debug_id => 'c32ad7e2-35ea-6112-e02a-5b9d6219c485',
      image_size => 0x20000 },
    { type => 'elf', debug_file => 'overflow', code_file => '/tmp/overflow',
      debug_id => 'b0e1fc01-ef48-e39c-af5c-881d2df0c384',
      image_size => 0x5000 },
    { type => 'elf', debug_file => 'null_read_av',
      code_file => '/tmp/null_read_av',
      debug_id => '7b7d1968-ff0d-47ae-4366-e9c3a7e1b675',
      image_size => 0x5000 },
);
my %IP = (x86 => 'eip', x86_64 => 'rip', arm => 'pc');

sub new {
    my ($class, %o) = @_;
    my $self = bless { state => ($o{seed} // 1) * 2654435761 % 4294967296 || 1,
                       source => $o{source} }, $class;

    $self->{known} = $self->known_modules;
    return $self;
}

# --- chance ---

# xorshift, because Perl's own rand differs between builds
sub any {
    my ($self, $n) = @_;
    my $x = $self->{state};

    $x ^= $x << 13 & 0xffffffff;
    $x ^= $x >> 17;
    $x ^= $x << 5 & 0xffffffff;
    $self->{state} = $x;
    return $x % $n;
}

sub once_in { return $_[0]->any($_[1]) == 0 }
sub one_of { my ($self, @of) = @_; return $of[ $self->any(scalar @of) ] }
sub wide { return $_[0]->any(1 << 30) << 30 | $_[0]->any(1 << 30) }

# --- modules ---

# The modules of recorded requests, each once, with the offsets that are looked
# up in them; their keys except the address.
sub known_modules {
    my ($self) = @_;
    my (%seen, @known);

    for my $case (SentryCases::names()) {
        my $request = eval { $JSON->decode(SymLoader::read_file(
            SentryCases::folder() . "/$case.request.json")) } or next;
        my @here;
        for my $module (@{ $request->{modules} // [] }) {
            my %keys = %$module;
            my $base = hex(delete $keys{image_addr} // '0');
            my $name = $JSON->encode(\%keys);
            if (!$seen{$name}) {
                $seen{$name} = { keys => \%keys, offsets => [], methods => [] };
                push @known, $seen{$name};
            }
            push @here, [ $base, $seen{$name} ];
        }
        note_offsets($request, @here);
    }
    push @known, map { { keys => { %$_ }, offsets => [], methods => [] } }
        @BREAKPAD;
    return \@known;
}

sub note_offsets {
    my ($request, @modules) = @_;

    for my $frame (map { @{ $_->{frames} } } @{ $request->{stacktraces} // [] }) {
        my $at = number($frame->{instruction_addr} // next) // next;
        my $of = defined $frame->{addr_mode}
            ? ($frame->{addr_mode} =~ /^rel:(\d+)/ ? $modules[$1] : undef)
            : (sort { $b->[0] <=> $a->[0] } grep { $_->[0] <= $at } @modules)[0];
        next if !$of;
        if (defined $frame->{function_id}) {
            push @{ $of->[1]{methods} }, [ $frame->{function_id}, $at ];
        } else {
            push @{ $of->[1]{offsets} },
                defined $frame->{addr_mode} ? $at : $at - $of->[0];
        }
    }
    return;
}

# The number of an address in a request.
sub number {
    my ($text) = @_;
    return hex $1 if $text =~ /^0[xX]([0-9a-fA-F]{1,16})\z/;
    return $text =~ /^\d{1,20}\z/ ? $text + 0 : undef;
}

sub unknown_module {
    my ($self) = @_;
    my $hex = join '', map { sprintf '%08x', $self->wide & 0xffffffff } 1 .. 5;
    my $type = $self->one_of(qw(elf macho pe wasm pe_dotnet));

    return {
        keys => {
            type => $type,
            code_file => "/lib/gone$1.so",
            $type eq 'elf' ? (code_id => $hex) : (),
            debug_id => join('-', substr($hex, 0, 8), substr($hex, 8, 4),
                             substr($hex, 12, 4), substr($hex, 16, 4),
                             substr($hex, 20, 12)),
            image_size => 0x1000 * (1 + $self->any(64)),
        },
        offsets => [], methods => [],
    } if $hex =~ /^(.{6})/;
}

# Modules of a request, at addresses with gaps between some of them.
sub modules {
    my ($self) = @_;
    my $at = 0x400000 + 0x1000 * $self->any(1 << 18);
    my @modules;

    for (1 .. $self->any(7)) {
        my $of = $self->once_in(5) ? $self->unknown_module
                                   : $self->one_of(@{ $self->{known} });
        my %keys = %{ $of->{keys} };
        my $is_relative = $keys{type} =~ /^(?:wasm|pe_dotnet)\z/;
        if (!$is_relative) {
            my $size = $keys{image_size} // 0x10000;
            $keys{image_addr} = $at;
            $at += $size + 0xfff & ~0xfff;
            $at += 0x1000 * $self->any(64) if !$self->once_in(4);
            delete $keys{image_size} if $self->once_in(8);
            $keys{image_size} = 0 if $self->once_in(20);
        }
        push @modules, { of => $of, keys => \%keys };
    }
    # the request has an order of its own
    for my $i (reverse 1 .. $#modules) {
        my $j = $self->any($i + 1);
        @modules[ $i, $j ] = @modules[ $j, $i ];
    }
    return @modules;
}

# --- a request ---

sub request {
    my ($self) = @_;
    my @modules = $self->modules;
    my %options;

    $options{frame_order} = $self->one_of(qw(callee_first caller_first))
        if $self->once_in(3);
    $options{dif_candidates} = $self->one_of($TRUE, $FALSE)
        if $self->once_in(3);
    $options{apply_source_context} = $self->one_of($TRUE, $FALSE)
        if $self->once_in(3);
    return {
        modules => [ map { $_->{keys} } @modules ],
        stacktraces => [ map { $self->stacktrace(@modules) }
                         1 .. $self->any(5) ],
        %options ? (options => \%options) : (),
        $self->once_in(2) ? (platform => 'native') : (),
        $self->once_in(3) ? (signal => $self->one_of(4, 6, 10, 11)) : (),
        defined $self->{source} ? (sources => [ $self->{source} ]) : (),
    };
}

sub stacktrace {
    my ($self, @modules) = @_;
    my $adjusting = $self->any(3);    # no frame, some, or all have it
    my @frames = map { $self->frame($adjusting, @modules) }
        1 .. ($self->once_in(10) ? 0 : 1 + $self->any(20));
    my %stack = (frames => \@frames);

    if (@frames && $self->once_in(3)) {
        my $at = $frames[0]{instruction_addr};
        $stack{registers}{ $IP{ $self->one_of(keys_of(\%IP)) } } =
            $self->once_in(2) ? $at : $at + 1 + $self->any(100);
        $stack{registers}{rsp} = $self->wide;
    }
    $stack{thread_id} = $self->any(1 << 20) if $self->once_in(2);
    $stack{thread_name} = 'worker ' . $self->any(100) if $self->once_in(4);
    $stack{is_requesting} = $self->one_of($TRUE, $FALSE) if $self->once_in(3);
    return \%stack;
}

sub keys_of { return sort keys %{ $_[0] } }

sub frame {
    my ($self, $adjusting, @modules) = @_;
    my %frame = $self->place(@modules);

    $frame{adjust_instruction_addr} = $self->one_of($TRUE, $FALSE)
        if $adjusting == 2 || $adjusting == 1 && $self->once_in(4);
    $frame{trust} = $self->one_of(qw(none scan cfiscan fp cfi prewalked context))
        if $self->once_in(4);
    $frame{platform} = $self->one_of(qw(native cocoa csharp))
        if $self->once_in(8);
    $frame{package} = '/given/package' if $self->once_in(6);
    $frame{in_app} = $self->one_of($TRUE, $FALSE) if $self->once_in(6);
    $frame{lineno} = 1 + $self->any(5000) if $self->once_in(8);
    if ($self->once_in(8)) {
        $frame{filename} = 'given.c';
        $frame{abs_path} = '/given/given.c';
    }
    if ($self->once_in(8)) {
        my $what = $self->any(3);
        $frame{function} = $self->one_of('main', '_ZN3foo3barEv', 'given()')
            if $what != 1;
        $frame{symbol} = $self->one_of('_ZN3foo3bazEi', 'given_symbol')
            if $what != 0;
    }
    $frame{lang} = $self->one_of(qw(c cpp rust swift objc)) if $self->once_in(20);
    if ($self->once_in(20)) {
        $frame{pre_context} = ['a', 'b'];
        $frame{context_line} = "\x{e4} line";
        $frame{post_context} = ['c'];
    }
    return \%frame;
}

# Position of a frame: in a module by address, relative to one, or in none.
sub place {
    my ($self, @modules) = @_;
    my $module = @modules ? $self->one_of(@modules) : undef;

    return (instruction_addr => $self->once_in(2) ? $self->wide
                                                  : $self->any(0x1000))
        if !$module || $self->once_in(12);

    my ($n) = grep { $modules[$_] == $module } 0 .. $#modules;
    my ($of, $keys) = @{$module}{qw(of keys)};
    if ($keys->{type} eq 'pe_dotnet') {
        my ($method, $at) = @{ $of->{methods} } && !$self->once_in(4)
            ? @{ $self->one_of(@{ $of->{methods} }) }
            : ($self->any(20), $self->any(100));
        return (addr_mode => "rel:$n", instruction_addr => $at,
                $self->once_in(10) ? () : (function_id => $method));
    }

    my $size = $keys->{image_size} || $of->{keys}{image_size} || 0x4000;
    my $offset = @{ $of->{offsets} } && !$self->once_in(4)
        ? $self->one_of(@{ $of->{offsets} }) : $self->any($size);
    $offset = $size + $self->any(3) - 1 if $self->once_in(40);
    return (addr_mode => "rel:$n", instruction_addr => $offset)
        if !defined $keys->{image_addr} || $self->once_in(6);
    return (instruction_addr => $keys->{image_addr} + $offset);
}

# --- its text ---

# Writes each number that has several spellings in one of them.
sub spelled {
    my ($self, $n) = @_;
    my $how = $self->any(6);

    return $how == 0 ? sprintf '0X%X', $n
         : $how == 1 ? "$n"
         : $how == 2 && $n < 1 << 53 ? $n + 0
         : sprintf '0x%x', $n;
}

sub body_of {
    my ($self, $request) = @_;
    my $copy = $JSON->decode($JSON->encode($request));

    for my $module (@{ $copy->{modules} }) {
        $module->{image_addr} = $self->spelled($module->{image_addr})
            if exists $module->{image_addr};
        $module->{nobody_knows} = [ {} ] if $self->once_in(10);
    }
    for my $stack (@{ $copy->{stacktraces} }) {
        $_ = $self->spelled($_) for values %{ $stack->{registers} // {} };
        for my $frame (@{ $stack->{frames} }) {
            for my $key (qw(instruction_addr function_id)) {
                $frame->{$key} = $self->spelled($frame->{$key})
                    if exists $frame->{$key};
            }
            $frame->{nobody_knows} = { instruction_addr => 'x' }
                if $self->once_in(20);
            $frame->{addr_mode} = 'abs'
                if !exists $frame->{addr_mode} && $self->once_in(5);
            $frame->{symbol} //= undef if $self->once_in(20);
        }
    }
    return $JSON->encode($copy);
}

# A text with a few bytes or pieces changed.
sub broken {
    my ($self, $body) = @_;

    for (0 .. $self->any(3)) {
        my $at = $self->any(length $body || 1);
        my $what = $self->any(7);
        my $n = 1 + $self->any(8);
        if ($what == 0) {
            $body = substr $body, 0, $at;
        } elsif ($what == 1) {
            substr($body, $at, 1) = chr $self->any(256) if $at < length $body;
        } elsif ($what == 2) {
            substr($body, $at, $n) = '' if $at + $n <= length $body;
        } elsif ($what == 3) {
            substr($body, $at, 0) = substr $body, $self->any(length $body || 1), $n;
        } elsif ($what == 4) {
            my $new = $self->one_of('null', '{}', '[]', '-1', '1e99', 'true',
                '""', '"\u0000"', '18446744073709551616', '"rel:99999999999"');
            $body =~ s/^(.{$at}.*?":)(?:"[^"]*"|[0-9]+|true|false)/$1$new/s
                if $at < 30000;
        } elsif ($what == 5) {
            my $key = $self->one_of(qw(modules stacktraces frames type options
                                       instruction_addr registers));
            $body =~ s/"$key"/"x$key"/;
        } else {
            my $key = $self->one_of(qw(modules stacktraces frames type options
                                       instruction_addr));
            $body =~ s/("$key":)/"$key":null,$1/;
        }
    }
    return $body;
}

# --- meaning of a request ---

# The index of the module to which a frame belongs; undef: none.  Modules are
# sorted by address.  One without a size ends where the next begins; the last
# one has no end then.  The end address is inclusive.
sub module_at {
    my ($request, $frame) = @_;
    my @modules = @{ $request->{modules} };

    if (($frame->{addr_mode} // '') =~ /^rel:(\d+)\z/) {
        return $1 < @modules ? $1 + 0 : undef;
    }
    my @order = sort { ($modules[$a]{image_addr} // 0)
                           <=> ($modules[$b]{image_addr} // 0) || $a <=> $b }
        0 .. $#modules;
    my $at = $frame->{instruction_addr};
    my $found;
    for my $i (0 .. $#order) {
        $found = $i if ($modules[ $order[$i] ]{image_addr} // 0) <= $at;
    }
    return if !defined $found;
    my $module = $modules[ $order[$found] ];
    my $start = $module->{image_addr} // 0;
    my $size = $module->{image_size} || 0;
    $size = ($modules[ $order[ $found + 1 ] ]{image_addr} // 0) - $start
        if !$size && $found < $#order;
    return !$size || $at - $start <= $size ? $order[$found] : undef;
}

1;
