# Sentry's current sentry-cli (npm) uploads what a CI job has, and requests are answered
# from it.  Source maps are esbuild's; places are those that Mozilla's source-map library
# reads in the same map, functions those of the source.  Frames of debug files are those
# that Symbolicator answered (../shared/fixtures/sentry).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use Test::More;

use File::Copy qw(copy);
use File::Path qw(make_path);
use JSON::PP ();
use SentryCases qw(frame_differences kind_of listed);
use SymElf qw(output run_ok);
use SymFixtures qw(need_fixtures);
use SymLoader qw(write_file);
use SymSentryCli 'var/clients/sentry';
use SymTest;
use SymUpload;

my $clients = SymTest::root() . '/var/clients/sentry/node_modules';
my $sentry = need_fixtures('sentry');
my ($esbuild) = glob "$clients/\@esbuild/linux-*/bin/esbuild";
my $JSON = JSON::PP->new->utf8->canonical;
my @to = ('-o', 'org', '-p', 'project');
my $t = SymUpload->new(layout => 'unified')->start;
my $dir = $t->{dir};

sub cli { return SymSentryCli::run($t, 'ci-secret', @_) }

sub ask {
    my ($path, $body) = @_;
    my $r = $t->request('POST', "/sentry/$path", headers => [ 'Content-Type' => 'application/json' ],
        body => $JSON->encode($body));
    return eval { $JSON->decode($r->{body}) } // { error => $r->{body} };
}

# --- source maps ---

make_path("$dir/web/src");
write_file("$dir/web/src/cart.ts", <<'END');
export interface Item { price: number; name?: string }

export function totalOf(items: Item[] | undefined): number {
    let sum = 0;
    for (const item of items!) {
        sum += item.price;
    }
    return sum;
}
END
write_file("$dir/web/src/main.ts", <<'END');
import { totalOf, Item } from './cart';

class Checkout {
    constructor(private items?: Item[]) {}

    pay(): number {
        return totalOf(this.items);
    }
}

export function buyAll(): number {
    return new Checkout().pay();
}

try {
    buyAll();
} catch (e) {
    console.log((e as Error).stack);
}
END
# the functions of the stack, innermost first
my @want = map { [@$_] } [ 'totalOf', 'cart.ts' ], [ 'Checkout.pay', 'main.ts' ], [ 'buyAll', 'main.ts' ];

write_file("$dir/places.js", <<'END');
const { SourceMapConsumer } = require(process.argv[2] + '/source-map');
const map = JSON.parse(require('fs').readFileSync(process.argv[3], 'utf8'));
SourceMapConsumer.with(map, null, (c) => {
    console.log(JSON.stringify(process.argv.slice(4).map((p) => {
        const [line, column] = p.split(':').map(Number);
        return c.originalPositionFor({ line, column: column - 1 });
    })));
});
END

# Builds the application, lets node run it, and returns its frames.
sub build {
    my ($name) = @_;
    my $to = "$dir/$name";
    run_ok($esbuild, "$dir/web/src/main.ts", '--bundle', '--minify', '--sourcemap', '--format=iife',
        '--keep-names', "--outfile=$to/app.js");
    return $to;
}

sub frames_of {
    my ($to) = @_;
    my @frames = map { m{app\.js:(\d+):(\d+)} ? [ $1, $2 ] : () } split /\n/, output('node', "$to/app.js");
    return @frames[0 .. 2];
}

sub check {
    my ($what, $to, $url, %more) = @_;
    my @frames = frames_of($to);
    my $places = $JSON->decode(output('node', "$dir/places.js", $clients, "$to/app.js.map", map {"$_->[0]:$_->[1]"} @frames));
    my $r = ask('symbolicate-js', { %more, stacktraces => [ { frames => [
        map { { abs_path => $url, lineno => $_->[0] + 0, colno => $_->[1] + 0 } } @frames ] } ] });
    for my $i (0 .. $#want) {
        my $f = $r->{stacktraces}[0]{frames}[$i];
        like($f->{abs_path}, qr{/\Q$want[$i][1]\E$}, "$what: frame $i, the file") or diag explain $f;
        is("$f->{lineno}:$f->{colno}", join(':', $places->[$i]{line}, $places->[$i]{column} + 1), '... its place');
        is($f->{function}, $want[$i][0], '... its function');
        my @lines = split /\n/, SymTest::slurp("$dir/web/src/$want[$i][1]");
        is($f->{context_line}, $lines[ $places->[$i]{line} - 1 ], '... its text');
    }
    return;
}

my $to = build('ids');
my ($code, $said) = cli('sourcemaps', 'inject', $to);
is($code, 0, 'sourcemaps inject') or diag $said;
my ($id) = SymTest::slurp("$to/app.js") =~ /debugId=([0-9a-f-]{36})/;
ok($id, '... writes a debug id');
($code, $said) = cli('sourcemaps', 'upload', @to, $to);
is($code, 0, 'sourcemaps upload') or diag $said;
check('by debug id', $to, 'https://shop.example.com/assets/app.js',
    modules => [ { type => 'sourcemap', code_file => 'https://shop.example.com/assets/app.js', debug_id => $id } ]);
($code, $said) = cli('sourcemaps', 'upload', '--wait', @to, $to);
is($code, 0, 'the same again, with --wait') or diag $said;

$to = build('release');
($code, $said) = cli('sourcemaps', 'upload', @to, '--release', 'shop@1.2+3', '--dist', 'eu', '--url-prefix', '~/assets', '--wait', $to);
is($code, 0, 'with a release and dist') or diag $said;
check('by release', $to, 'https://shop.example.com/assets/app.js', release => 'shop@1.2+3', dist => 'eu');

($code, $said) = SymSentryCli::run($t, 'wrong', 'sourcemaps', 'upload', @to, $to);
isnt($code, 0, 'a wrong token');
like($said, qr/the token is unknown/, '... sentry-cli shows why');
($code, $said) = cli('sourcemaps', 'upload', @to, '--dist', 'eu', $to);
isnt($code, 0, 'a dist without a release');

# --- debug files: as Symbolicator answered ---

my %cases = (
    dotnet => [ glob "$sentry/symbols/integration.pdb/*/integration.pdb" ],
    'macho-random' => [ need_fixtures('macho') . '/crash.dSYM/Contents/Resources/DWARF/crash' ],
    'elf-arm64' => ["$sentry/symbols/a8/a1d99c1066edf320adfc5299464e674b1d9287.debug"],
    wasm => [ map {"$sentry/symbols/$_.debug"} 'bd/a18fd85d4a4eb893022d6bfad846b1', '10/da03eb5d63d750faab0fb8e7cc12a1c3' ],
);
for my $case (sort keys %cases) {
    make_path("$dir/in-$case");
    my $n = 0;
    my $ending = $case eq 'wasm' ? '.wasm' : '';
    copy($_, "$dir/in-$case/" . $n++ . '-' . (split m{/})[-1] . $ending) or die "$_: $!" for @{ $cases{$case} };
    ($code, $said) = cli('debug-files', 'upload', @to, '--wait', "$dir/in-$case");
    is($code, 0, "debug-files upload: $case") or diag $said;
    like($said, qr/OK /, '... reports the file') or diag $said;
    my ($request, $wanted) = map { $JSON->decode(SymTest::slurp("$sentry/cases/$case.$_.json")) } 'request', 'response';
    delete $request->{sources};
    my $got = ask('symbolicate', $request);
    cmp_ok(@{ $wanted->{stacktraces}[0]{frames} }, '>', 5, '... recorded frames');
    my (%kinds, @others);
    for my $found (frame_differences({ body => $got }, { body => $wanted })) {
        my $kind = kind_of($found->[1], $found->[2]);
        defined $kind ? $kinds{$kind}++ : push @others, $found;
    }
    is_deeply([ \%kinds, \@others ], [ listed()->{kinds}{$case} // {}, [] ],
        '... frames as Symbolicator answered, but for listed differences') or diag explain $others[0];
}

# --- a PDB: functions that Mozilla's dump_syms wrote ---

my $windows = need_fixtures('windows');
make_path("$dir/pdb");
copy("$windows/crash.pdb", "$dir/pdb/crash.pdb") or die;
($code, $said) = cli('debug-files', 'upload', @to, '--wait', "$dir/pdb");
is($code, 0, 'a PDB') or diag $said;
my %function = map { $_->[0] => $_->[1] } map { /^FUNC (?:m )?(\w+) \w+ \w+ ([\w:]+)\(/ ? [ hex $1, $2 ] : () }
    split /\n/, SymTest::slurp("$windows/crash.sym");
my @start = (sort { $a <=> $b } keys %function)[ 0, 3, 9 ];
my $pdb = ask('symbolicate', { modules => [ { type => 'pe', debug_file => 'crash.pdb', debug_id => '3249d99d-0c40-4931-8610-f4e4fb0b6936-1',
    image_addr => '0x10000', image_size => 0x9000 } ],
    stacktraces => [ { frames => [ map { { instruction_addr => sprintf '0x%x', 0x10000 + $_ + 4 } } @start ] } ] });
my %got = map { $_->{original_index} => $_->{function} =~ s/\(.*//r } @{ $pdb->{stacktraces}[0]{frames} };
is_deeply([ @got{ 0 .. 2 } ], [ @function{@start} ], '... functions') or diag explain $pdb;

# --- a fat file, of which each architecture answers ---

make_path("$dir/fat");
my $fat = need_fixtures('macho') . '/Example.framework.dSYM/Contents/Resources/DWARF/Example';
copy($fat, "$dir/fat/Example") or die;
($code, $said) = cli('debug-files', 'upload', @to, '--wait', "$dir/fat");
is($code, 0, 'a fat dSYM') or diag $said;
my $files = grep {/OK /} split /\n/, $said;
is($files, 2, '... of two architectures');
for my $uuid (map { /UUID: (\S+)/ ? lc $1 : () } split /\n/, output('llvm-dwarfdump', '--uuid', $fat)) {
    my $r = ask('symbolicate', { modules => [ { type => 'macho', debug_id => $uuid, code_id => $uuid =~ tr/-//dr, image_addr => '0x100000000' } ],
        stacktraces => [ { frames => [ { instruction_addr => '0x100000001' } ] } ] });
    is($r->{modules}[0]{debug_status}, 'found', "... $uuid is found") or diag explain $r;
}

# --- a mapping ---

write_file("$dir/mapping.txt", "b.Main -> x:\n    1:2:void go():20:21 -> a\n");
($code, $said) = cli('upload-proguard', @to, "$dir/mapping.txt");
is($code, 0, 'upload-proguard') or diag $said;
my ($uuid) = $said =~ /([0-9a-f]{8}-[0-9a-f-]{27})/;
my $r = ask('symbolicate-jvm', { modules => [ { uuid => $uuid, type => 'proguard' } ],
    stacktraces => [ { frames => [ { module => 'x', function => 'a', lineno => 2, index => 0 } ] } ] });
my $frame = $r->{stacktraces}[0]{frames}[0];
is("$frame->{module}.$frame->{function}:$frame->{lineno}", 'b.Main.go:21', '... a request gets the names') or diag explain $r;

($code, $said) = cli('info');
is($code, 0, 'info') or diag $said;

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
