# Sourced by the tests of editors: a home folder with rawr's files, the configuration that a page of the book shows, and packages.
# shellcheck shell=bash

: "${RAWR_UNDER_TEST:?names no rawr binary}"
[ -x "$RAWR_UNDER_TEST" ] || { echo "$RAWR_UNDER_TEST is missing" >&2; exit 1; }

say() { printf '\n== %s: %s\n' "$editor" "$*"; }
fail() { printf '%s: %s\n' "$0" "$*" >&2; exit 1; }
# Where CI is set nothing is skipped. tests/run lists what ends with 77 as skipped.
skip() {
  [ -z "${CI:-}" ] || fail "$*"
  say "skipped: $*"
  exit 77
}

install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || skip "only root can install the Debian package $1"
  say "installing $1"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
}

# A command and the Debian package that brings it.
need() { command -v "$1" >/dev/null 2>&1 || install "$2"; }

# The first code in that language on the editor's page.
code_of_the_page() {
  awk -v "fence=\`\`\`$1" '/^```/ { if (shown) exit; shown = $0 == fence; next } shown' "docs/src/editors/$editor.md"
}

# Nothing of the developer's is read or written. `rawr` is the binary under test.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir -p "$home/bin" "$home/.config"
ln -s "$RAWR_UNDER_TEST" "$home/bin/rawr"
export HOME=$home RAWR_HOME=$home/.rawr PATH=$home/bin:$PATH
unset CODEX_HOME XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME
rawr init >/dev/null
printf '[rawr_auto_compaction]\nmode = "atuo"\n' > "$RAWR_HOME/rawr.toml"
printf 'Soon, because {raeson}.\n' > "$RAWR_HOME/auto-compact/heads-up.md"
