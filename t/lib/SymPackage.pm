package SymPackage;

# SymPackage - packages of distributions, made by their tools from one tree of
# files.
#
#     my $p = SymPackage->new($folder, { 'usr/share/doc/a' => $text, ... });
#     my $file = $p->make('deb', 'xz');     name of the tool's compression
#     $p->kinds                             [kind, compression, ...] of all
#
# Kinds: deb by dpkg-deb, rpm by rpmbuild; apk and arch by tar, because Debian
# has neither abuild nor makepkg.  A value that is a reference is the target of
# a symbolic link.

use strict;
use warnings;

use Cwd qw(getcwd);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);

use SymElf qw(run_ok);
use SymLoader qw(read_file write_file);

sub new {
    my ($class, $dir, $files, %o) = @_;
    my $self = bless { dir => $dir, name => 'thing-dbgsym', version => '1.0', made => 0, %o },
        $class;

    for my $path (sort keys %$files) {
        my $to = "$dir/tree/$path";
        make_path(dirname($to));
        if (ref $files->{$path}) {
            symlink ${ $files->{$path} }, $to or die "$to: $!";
        } else {
            write_file($to, $files->{$path});
        }
    }
    return $self;
}

sub kinds {
    return map { my $kind = $_->[0]; map { [$kind, $_] } @{ $_->[1] } }
        [deb => [qw(none gzip xz zstd)]], [rpm => [qw(w6.gzdio w6.xzdio w9.zstdio)]],
        [apk => ['gzip']], [arch => [qw(gzip xz zstd)]];
}

sub make {
    my ($self, $kind, $how) = @_;
    my $make = $self->can("_$kind") or die;
    return $self->$make($how, "$self->{dir}/" . ++$self->{made});
}

sub _deb {
    my ($self, $how, $to) = @_;
    my $root = "$to.root";
    my $file = "$to/$self->{name}_$self->{version}_amd64.deb";

    make_path($to);
    run_ok('cp', '-a', "$self->{dir}/tree", $root);
    write_file("$root/DEBIAN/control", "Package: $self->{name}\nVersion: $self->{version}\n"
        . "Architecture: amd64\nMaintainer: A <a\@example.com>\nDescription: debug symbols\n");
    run_ok('dpkg-deb', '--root-owner-group', "-Z$how", '-b', $root, $file);
    remove_tree($root);
    return $file;
}

sub _rpm {
    my ($self, $how, $to) = @_;
    my $spec = write_file("$to/a.spec", <<"SPEC");
Name: $self->{name}
Version: $self->{version}
Release: 1
Summary: debug symbols
License: none
BuildArch: x86_64
AutoReqProv: no
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload $how
%description
debug symbols
%install
mkdir -p %{buildroot}
cp -a $self->{dir}/tree/. %{buildroot}/
%files
/usr
SPEC
    run_ok('rpmbuild', '-bb', '--quiet', '--define', "_topdir $to/rpm", $spec);
    return "$to/rpm/RPMS/x86_64/$self->{name}-$self->{version}-1.x86_64.rpm";
}

# Three gzipped tars, one after the other; only the last one has an end
# (https://wiki.alpinelinux.org/wiki/Apk_spec, "Package Format V2").
sub _apk {
    my ($self, $how, $to) = @_;
    my $file = "$to/$self->{name}-$self->{version}-r0.apk";
    my $out = '';

    write_file("$to/sig/.SIGN.RSA.a.rsa.pub", 'a signature');
    write_file("$to/control/.PKGINFO", "pkgname = $self->{name}\npkgver = $self->{version}-r0\narch = x86_64\n");
    for my $part (["$to/sig", '.SIGN.RSA.a.rsa.pub'], ["$to/control", '.PKGINFO'],
        ["$self->{dir}/tree", 'usr'])
    {
        my ($dir, $name) = @$part;
        run_ok('tar', '--format=pax', '--owner=0', '--group=0', '-b', 1, '-C', $dir, '-cf', "$to/part",
            $name);
        my $tar = read_file("$to/part");
        $tar =~ s/\0{1024}\z// or die 'no end of the tar' if $name ne 'usr';
        write_file("$to/part", $tar);
        run_ok('gzip', '-f', "$to/part");
        $out .= read_file("$to/part.gz");
    }
    return write_file($file, $out);
}

# makepkg writes its own files first.
sub _arch {
    my ($self, $how, $to) = @_;
    my %ending = (gzip => 'gz', xz => 'xz', zstd => 'zst');
    my $file = "$to/$self->{name}-$self->{version}-1-x86_64.pkg.tar.$ending{$how}";

    make_path($to);
    run_ok('cp', '-a', "$self->{dir}/tree", "$to/root");
    write_file("$to/root/.BUILDINFO", "format = 2\npkgname = $self->{name}\n");
    write_file("$to/root/.MTREE",     'a list');
    write_file("$to/root/.PKGINFO",   "pkgname = $self->{name}\npkgver = $self->{version}-1\narch = x86_64\n");
    run_ok('tar', "--$how", '-C', "$to/root", '-cf', $file, '.BUILDINFO', '.MTREE', '.PKGINFO', 'usr');
    return $file;
}

1;
