package SymBrowser;

# Chromium, controlled over a pipe with its DevTools protocol
# (https://chromedevtools.github.io/devtools-protocol/).  Names below .example
# resolve to this machine.
#
#     my $b = SymBrowser->new('/usr/bin/chromium', $folder);
#     $b->open($url);
#     $b->wait_for('document.title', 'the page');
#     $b->run('document.title');           the value of an expression, awaited
#     $b->screen(390, 844, 'dark');        width, height, colours
#     $b->shot("$folder/x.png");
#     $b->clipboard;                       its text; on a page of 127.0.0.1
#     $b->complaints;                      errors that scripts or the policy had
#     $b->requests;                        addresses that it requested

use strict;
use warnings;

use Cpanel::JSON::XS ();
use IO::Select;
use MIME::Base64 qw(decode_base64);
use POSIX ();
use Time::HiRes qw(sleep time);

our $PATIENCE = 60;

my $JSON = Cpanel::JSON::XS->new->utf8->allow_nonref;

sub new {
    my ($class, $program, $folder) = @_;
    pipe my $from_us, my $to_it or die "pipe: $!";
    pipe my $from_it, my $to_us or die "pipe: $!";

    my $pid = fork // die "fork: $!";
    if (!$pid) {
        # it reads from 3 and writes to 4; first moved above them, so that none
        # is overwritten
        my $in = POSIX::dup2(fileno $from_us, 60);
        my $out = POSIX::dup2(fileno $to_us, 61);
        POSIX::dup2($in, 3);
        POSIX::dup2($out, 4);
        open STDOUT, '>', "$folder/chromium.log";
        open STDERR, '>&', \*STDOUT;
        exec $program, '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
            '--remote-debugging-pipe', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--host-resolver-rules=MAP *.example 127.0.0.1',
            "--user-data-dir=$folder/profile", 'about:blank'
            or POSIX::_exit(127);
    }
    close $from_us;
    close $to_us;
    binmode $_ for $to_it, $from_it;
    $to_it->autoflush(1);

    my $self = bless { pid => $pid, owner => $$, in => $from_it, out => $to_it, id => 0,
        rest => '', complaints => [], requests => [] }, $class;
    $self->send('Browser.grantPermissions',
        { permissions => [qw(clipboardReadWrite clipboardSanitizedWrite)] });
    my $target = $self->send('Target.createTarget', { url => 'about:blank' })->{targetId};
    $self->{session} = $self->send('Target.attachToTarget',
        { targetId => $target, flatten => \1 })->{sessionId};
    $self->send("$_.enable") for qw(Page Runtime Log Network);
    # only the page in front has the clipboard
    $self->send('Emulation.setFocusEmulationEnabled', { enabled => \1 });
    return $self;
}

# One message: relevant parts of an event are kept, an answer is returned.
sub message {
    my ($self, $until) = @_;
    my $end;
    while (($end = index $self->{rest}, "\0") < 0) {
        my $left = $until - time;
        die "Chromium does not answer\n"
            if $left <= 0 || !IO::Select->new($self->{in})->can_read($left);
        sysread $self->{in}, $self->{rest}, 1 << 18, length $self->{rest}
            or die "Chromium has ended\n";
    }
    my $m = $JSON->decode(substr $self->{rest}, 0, $end);
    substr($self->{rest}, 0, $end + 1) = '';
    my $event = $m->{method} // '';
    push @{$self->{complaints}}, $m->{params}{entry}{text} if $event eq 'Log.entryAdded';
    push @{$self->{complaints}}, $m->{params}{exceptionDetails}{exception}{description}
        // $m->{params}{exceptionDetails}{text} if $event eq 'Runtime.exceptionThrown';
    push @{$self->{requests}}, $m->{params}{request}{url} if $event eq 'Network.requestWillBeSent';
    return $m;
}

sub send {
    my ($self, $method, $params) = @_;
    my $id = ++$self->{id};
    my $text = $JSON->encode({ id => $id, method => $method, params => $params // {},
        $self->{session} ? (sessionId => $self->{session}) : () });
    print { $self->{out} } $text, "\0" or die "Chromium: $!";
    my $until = time + $PATIENCE;
    while (1) {
        my $m = $self->message($until);
        next if ($m->{id} // 0) != $id;
        die "$method: $m->{error}{message}\n" if $m->{error};
        return $m->{result};
    }
}

sub open {
    my ($self, $url) = @_;
    $self->send('Page.navigate', { url => 'about:blank' });
    return $self->send('Page.navigate', { url => $url });
}

sub run {
    my ($self, $expression) = @_;
    my $r = $self->send('Runtime.evaluate', { expression => $expression, awaitPromise => \1,
        returnByValue => \1, userGesture => \1 });
    die "$expression: $r->{exceptionDetails}{exception}{description}\n" if $r->{exceptionDetails};
    return $r->{result}{value};
}

# Waits until the expression is true; its value.
sub wait_for {
    my ($self, $expression, $what) = @_;
    my $until = time + $PATIENCE;
    while (time < $until) {
        my $value = eval { $self->run($expression) };
        return $value if $value;
        sleep 0.05;
    }
    die "not in $PATIENCE seconds: $what\n";
}

sub screen {
    my ($self, $width, $height, $colours) = @_;
    $self->send('Emulation.setDeviceMetricsOverride', { width => $width, height => $height,
        deviceScaleFactor => 1, mobile => $width < 600 ? \1 : \0 });
    $self->send('Emulation.setEmulatedMedia',
        { features => [{ name => 'prefers-color-scheme', value => $colours }] });
    return;
}

sub key {
    my ($self, $key, %more) = @_;
    $self->send('Input.dispatchKeyEvent', { type => $_, key => $key, code => $key, %more })
        for qw(keyDown keyUp);
    return;
}

sub shot {
    my ($self, $file) = @_;
    my $data = $self->send('Page.captureScreenshot', { format => 'png' })->{data};
    CORE::open my $out, '>:raw', $file or die "$file: $!";
    print $out decode_base64($data);
    close $out;
    return;
}

sub clipboard {
    my ($self) = @_;
    return $self->run('navigator.clipboard.readText()');
}

sub complaints { my ($self) = @_; return splice @{$self->{complaints}} }
sub requests { my ($self) = @_; return splice @{$self->{requests}} }

sub DESTROY {
    my ($self) = @_;
    return if $self->{owner} != $$;
    local ($?, $@);
    eval { local $PATIENCE = 5; delete $self->{session}; $self->send('Browser.close') };
    kill 'KILL', $self->{pid} if !eval { wait_a_moment($self->{pid}) };
    waitpid $self->{pid}, 0;
    return;
}

sub wait_a_moment {
    my ($pid) = @_;
    for (1 .. 100) {
        return 1 if waitpid($pid, POSIX::WNOHANG()) != 0;
        sleep 0.05;
    }
    return 0;
}

1;
