#!/usr/bin/perl

# Reports from Android and systemd contain build ids.  A .sym file without INFO
# CODE_ID has only Breakpad's debug id, which contains the first 16 bytes of the
# build id.  So the build id finds it, in each API and under any name.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFetch;
use SymLoader qw(sym_text json_lines write_file);

my $build_id = 'f1c3bcc0279865fe3058404b2831d9e64135386c';
my $id = 'C0BCC3F19827FE653058404B2831D9E60';    # GUID fields swapped
my $other = 'f1c3bcc0279865fe3058404b2831d9e7' . substr $build_id, 32;

sub with_code_id {
    my ($text, $code_id) = @_;
    return $text =~ s/\n/"\nINFO CODE_ID " . uc($code_id) . "\n"/er;
}

# --- the command line ---

{
    my $t = SymLoader->new;
    $t->run('load', '--quiet', $t->file('a.sym', sym_text('a.so', $id)));
    for my $operand ($build_id, uc $build_id, "b.so/$build_id",
                     substr($build_id, 0, 32), $build_id . '00' x 12)
    {
        my ($shown) = json_lines($t->run('show', $operand, '--json')->{out});
        is("$shown->{name}/$shown->{id}", "a.so/$id", "show $operand");
    }
    is((json_lines($t->run('lookup', "a.so/$build_id", '--json', '1004')->{out}))[0]
           {function}, 'f0', 'lookup');
    for my $operand ($other, "b.so/$id") {
        is($t->run('show', $operand)->{code}, 1, "no module: $operand");
    }
    is($t->verify, 'sound', 'the store is sound');
    is($t->run('rm', $other)->{code}, 1, 'rm of another build');
    is($t->run('rm', $build_id)->{code}, 0, 'rm by build id');
    is_deeply([ $t->modules ], [], '... it is gone');
    is($t->verify, 'sound', '... with its ids');
}

# --- another build with the same beginning ---

{
    my $t = SymLoader->new;
    my $longer = substr($build_id, 0, 32) . '00000000';
    my $short = substr $build_id, 0, 32;
    my $c = $t->file('short.c', "int main(void) { return 0; }\n");

    $t->run('load', '--quiet', $t->file('a.sym',
            with_code_id(sym_text('a.so', $id), $longer)));
    is($t->run('show', "a.so/$_")->{code}, 1, "its own code id is not $_")
        for $build_id, $short;
    is($t->run('show', "a.so/$longer")->{code}, 0, '... it is found by that');

    $t->run('load', '--quiet', $t->file('b.sym',
            sym_text('b.so', substr($id, 0, 32) . '1')));
    is($t->run('show', "b.so/$build_id")->{code}, 1, 'an age: no build id');

    is(system('gcc', '-g', "-Wl,--build-id=0x$short", '-o', $t->dir . '/short', $c),
       0, 'an ELF file with a build id of 16 bytes');
    $t->run('load', '--quiet', $t->dir . '/short');
    is($t->run('show', "short/$short")->{code}, 0, '... is found by that');
    is($t->run('show', "short/$build_id")->{code}, 1, '... and not by a longer one');
}

# --- requests ---

my $t = SymFetch->new(how => <<'HOW', sources => <<'CONF')->start;
            symbolicate_source fault uri=/src/ layout=unified;
HOW
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /sentry/ {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source fault uri=/src/ layout=unified;
        }
CONF

sub mozilla {
    my ($name, $asked) = @_;
    return $t->function($t->ask([ $name, $asked ]), 0);
}

sub sentry {
    my ($type, $asked) = @_;
    my $r = $t->post('/sentry/symbolicate', $t->json({
        modules => [{ type => $type, code_id => $asked, image_addr => '0x10000',
                      code_file => "/lib/other.so", image_size => 0x10000 }],
        stacktraces => [{ frames => [{ instruction_addr => '0x11004' }] }] }),
        'Content-Type' => 'application/json');
    return $r->{json}{modules}[0]{debug_status} . ': '
        . ($r->{json}{stacktraces}[0]{frames}[0]{function} // '');
}

sub answers {
    my ($what) = @_;
    is(mozilla($_, $build_id), 'f0', "$what: v5, $_") for 'a.so', 'other.so';
    is(mozilla('a.so', uc $build_id), 'f0', "$what: v5, in upper case");
    is(sentry($_, $build_id), 'found: f0', "$what: Sentry, $_, only a code id")
        for 'elf', 'unknown';
    return;
}

is(mozilla('a.so', $build_id), undef, 'not there yet');
is(sentry('elf', $build_id), 'missing: ', '... in either API');

my $file = write_file($t->dir . '/a.sym', sym_text('a.so', $id));
is($t->loader->run('load', '--quiet', $file)->{code}, 0, 'without INFO CODE_ID');
answers('without INFO CODE_ID');
is(mozilla('a.so', $other), undef, '... v5: not by another build id');
is(sentry('elf', $other), 'missing: ', '... Sentry: neither');
is($t->loader->run('rm', $build_id)->{code}, 0, 'rm by build id');
is(mozilla('a.so', $build_id), undef, '... it is gone');

$file = write_file($t->dir . '/a.sym',
                   with_code_id(sym_text('a.so', $id), $build_id));
is($t->loader->run('load', '--quiet', $file)->{code}, 0, 'with INFO CODE_ID');
answers('with INFO CODE_ID');

# fetched by the build id: the file's debug id confirms the build
my $fetched = $other =~ s/d9e7/d9e8/r;
my $begin = substr($fetched, 0, 2) . '/' . substr $fetched, 2;
(my $other_id = $id) =~ s/E60$/E80/;
$t->fault->file("$begin/breakpad", sym_text('b.so', $other_id));
is(mozilla('b.so', $fetched), 'f0', 'fetched by its build id');
is(mozilla('b.so', $fetched), 'f0', '... and found again');
(my $third = $fetched) =~ s/^f1/f2/;
$t->fault->file('f2/' . substr($third, 2) . '/breakpad',
                sym_text('c.so', $other_id));
is(mozilla('c.so', $third), undef, 'a file of another build is refused');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
