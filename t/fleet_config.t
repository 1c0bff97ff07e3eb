#!/usr/bin/perl

# Parameters of symbolicate_share that need each other: a configuration that would
# silently not do what it says is refused, with the reason.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymTest;

my $t = SymTest->new;

sub conf_of {
    my ($share) = @_;
    return $t->conf(
        http => 'upstream fleet { server 127.0.0.1:1; }',
        locations => <<"CONF")->conf_text;
        symbolicate_store %%DIR%%/store;
        symbolicate_loader unix:%%DIR%%/loader.sock;
        symbolicate_source symbols uri=/symbols/;
        location /symbolicate { symbolicate; symbolicate_share $share; }
        location /symbols/ { internal; alias %%DIR%%/; }
        location /shared/ { internal; proxy_pass http://127.0.0.1:1/; }
        location /tell/ { internal; proxy_pass http://\$symbolicate_node; }
CONF
}

sub refused {
    my ($share, $why) = @_;
    my ($code, $text) = $t->check(conf_of($share));
    isnt($code, 0, "$share: refused");
    like($text, $why, '... with the reason');
    return;
}

my ($code, $text) = $t->check(conf_of('bucket=/shared/ nodes=fleet tell=/tell/ warm=30s every=5m'));
is($code, 0, 'all parameters') or diag $text;

my $both = qr{needs both "nodes=UPSTREAM" and "tell=/LOCATION/"};
refused('bucket=/shared/ nodes=fleet', $both);
refused('bucket=/shared/ tell=/tell/', $both);
refused('peers=/shared/ warm=30s', qr{needs "bucket=/LOCATION/" for "warm="});
refused('bucket=/shared/ warm=0', qr{takes "bucket=});
refused('bucket=/shared/ nodes=fleet nodes=fleet tell=/tell/', qr/is duplicate/);
refused('bucket=/shared/ nodes=fleet tell=/tell', qr/begins and ends with a slash/);
refused('bucket=shared/', qr/must begin and end with a slash/);

done_testing();
