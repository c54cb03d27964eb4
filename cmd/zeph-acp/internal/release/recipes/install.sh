#!/bin/sh
# Installs zeph-acp {{.Version}} into ~/.local/bin, without root:
#
#   curl -fsSL {{.Latest}}/install.sh | sh
#
# It downloads the archive for this system, refuses one with another SHA-256 sum than below,
# writes the one file zeph-acp, and says what it did. Run it again to update. Variables:
#
#   ZEPH_INSTALL_DIR  install into this directory instead
#   ZEPH_VERSION      install this version instead; its sums come from its file SHA256SUMS
#   ZEPH_MIRROR       download from below this https address, where a mirror has the files as
#                     GitHub has them: ADDRESS/v{{.Version}}/NAME
#
# Everything is in functions, and the last line starts them. So a script that arrived in
# part does nothing.
set -eu

own_version='{{.Version}}'
repository='{{.Source}}'

# own_sums prints the sums of the archives of this version.
own_sums() {
	cat <<'END'
{{range .Sums}}{{.SHA256}}  {{.Name}}
{{end}}END
}

say() { printf '%s\n' "$*"; }

fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# find_system prints OS_ARCH as the archives spell it.
find_system() {
	arch=$(uname -m)
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin)
		os=darwin
		# A shell that runs under Rosetta sees the processor that it imitates.
		if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
			arch=arm64
		fi
		;;
	MINGW* | MSYS* | CYGWIN*)
		fail "this script is for Linux, macOS and WSL. On Windows use Scoop:
  scoop install {{.Latest}}/zeph-acp.json"
		;;
	*) fail "there is no archive for $(uname -s). With Go, build it: see $repository#install" ;;
	esac
	case $arch in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive for the processor $arch. With Go, build it: see $repository#install" ;;
	esac
	say "${os}_$arch"
}

# download URL FILE
download() {
	if have curl; then
		curl --proto '=https' --tlsv1.2 -fsSL --retry 2 -o "$2" "$1" && return
	elif have wget; then
		wget -q -O "$2" "$1" && return
	else
		fail "this needs curl or wget: install one of them"
	fi
	fail "cannot download $1: is the network there, and does this version exist?"
}

# sum_of prints the SHA-256 sum of a file.
sum_of() {
	if have sha256sum; then
		sum=$(sha256sum <"$1")
	elif have shasum; then
		sum=$(shasum -a 256 <"$1")
	elif have openssl; then
		sum=$(openssl dgst -sha256 -r <"$1")
	else
		fail "this needs sha256sum, shasum or openssl to check the download: install one of them"
	fi
	say "${sum%% *}"
}

# wanted_sum NAME prints the sum that the archive should have. The sums of another version
# are downloaded from below the address $base.
wanted_sum() {
	if [ "$version" = "$own_version" ]; then
		own_sums >"$tmp/SHA256SUMS"
	else
		download "$base/SHA256SUMS" "$tmp/SHA256SUMS"
	fi
	while read -r sum name; do
		if [ "$name" = "$1" ]; then
			say "$sum"
			return
		fi
	done <"$tmp/SHA256SUMS"
	fail "SHA256SUMS of version $version has no $1, so nothing was installed"
}

# say_path says whether a shell will find the program.
say_path() {
	case ":$PATH:" in
	*":$dir:"*)
		found=$(command -v zeph-acp || true)
		if [ -n "$found" ] && [ "$found" != "$dir/zeph-acp" ]; then
			say "Your shell finds another one first: $found"
		fi
		;;
	*)
		say "PATH was not changed, and does not have $dir. Add this line to your shell's startup file:"
		case ${SHELL:-} in
		*/fish) say "  fish_add_path \"$dir\"" ;;
		*) say "  export PATH=\"$dir:\$PATH\"" ;;
		esac
		;;
	esac
}

clean_up() {
	status=$?
	rm -rf "$tmp" "$new"
	exit "$status"
}

main() {
	umask 022
	version=${ZEPH_VERSION:-$own_version}
	version=${version#v}
	case $version in
	'' | *[!0-9A-Za-z.-]* | [!0-9]*) fail "ZEPH_VERSION=$ZEPH_VERSION: want a version such as $own_version" ;;
	esac
	base=${ZEPH_MIRROR:-$repository/releases/download}
	case $base in
	https://*) base=${base%/}/v$version ;;
	*) fail "ZEPH_MIRROR=$base: want an address that begins with https://" ;;
	esac
	if [ -n "${ZEPH_INSTALL_DIR:-}" ]; then
		dir=$ZEPH_INSTALL_DIR
	elif [ -n "${HOME:-}" ]; then
		dir=$HOME/.local/bin
	else
		fail "HOME is not set: name a directory with ZEPH_INSTALL_DIR"
	fi
	case $dir in
	/*) ;;
	*) dir=$PWD/$dir ;;
	esac
	system=$(find_system)
	have tar || fail "this needs tar to unpack the archive: install it"

	# Check what can fail before the download.
	mkdir -p "$dir" || fail "cannot create $dir: name another directory with ZEPH_INSTALL_DIR"
	[ -w "$dir" ] || fail "cannot write into $dir: name another directory with ZEPH_INSTALL_DIR"
	[ ! -d "$dir/zeph-acp" ] || fail "$dir/zeph-acp is a directory: name another one with ZEPH_INSTALL_DIR"
	old=
	if [ -x "$dir/zeph-acp" ]; then
		old=$("$dir/zeph-acp" version 2>/dev/null | head -n 1 || true)
	fi

	new=$dir/.zeph-acp.$$
	tmp=$(mktemp -d)
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP

	archive=zeph-acp_${version}_$system.tar.gz
	want=$(wanted_sum "$archive")
	say "Downloading $base/$archive"
	download "$base/$archive" "$tmp/$archive"
	got=$(sum_of "$tmp/$archive")
	if [ -z "$want" ] || [ "$got" != "$want" ]; then
		fail "$base/$archive is not the file that was released, so nothing was installed.
  its SHA-256 sum: $got
  it should be:    $want"
	fi
	say "Its SHA-256 sum is right: $got"
	tar -xzf "$tmp/$archive" -C "$tmp" {{.Dir}}/zeph-acp || fail "cannot unpack $archive"

	# A rename replaces the program even while it runs.
	cp "$tmp/{{.Dir}}/zeph-acp" "$new" || fail "cannot write into $dir: is the disk full?"
	chmod 755 "$new"
	"$new" version >/dev/null || fail "the program does not run here, so nothing was installed: is $dir on a volume without execution?"
	mv -f "$new" "$dir/zeph-acp"

	say "Installed $dir/zeph-acp, version $version${old:+, in place of $old}. No other file was changed."
	say_path
	say "Next: \"zeph-acp login\" stores a key, \"zeph-acp setup\" connects your editor."
	say "To update, run this script again. To remove it: rm \"$dir/zeph-acp\""
}

main "$@"
