# Everyday commands. `just` lists them; `tests/run --all` is what continuous integration runs.

export RAWR_UNDER_TEST := justfile_directory() / "target/debug/rawr"

_list:
    @just --list

# Build everything
build:
    cargo build --workspace --all-targets

# Show a whole compaction on a scripted session
demo:
    cargo run --release -- demo --pace

# Format all Rust code
fmt:
    cargo fmt --all

# Check format and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Run tests: `just test -p rawr-core`, `just test -p rawr-tests --test core scripts`
test *ARGS: build
    cargo nextest run {{ARGS}}

# Run the quick suites, or those named: `just suites guide helix`
suites *NAMES:
    tests/run {{NAMES}}

# Run every suite, as continuous integration does
all:
    tests/run --all

# Check and test the VS Code extension
vscode:
    npm run --silent --prefix editor-clients/vscode check
    npm run --silent --prefix editor-clients/vscode test

# Test the Neovim plugin
neovim: build
    tests/neovim/run
    tests/neovim/run --types

# Test the plugin for Claude Code
claude-code: build
    npm run --silent --prefix editor-clients/vscode lint:claude-code
    tests/claude/plugin

# Make all packages and install them in empty roots
packages: build
    tests/packaging/run

# Test Helix, Emacs and Kakoune with the configurations of their pages
editors: build
    tests/language-clients/helix/run
    tests/language-clients/emacs/run
    tests/language-clients/kakoune/run

# Rewrite the protocol's generated files
protocol:
    UPDATE=1 cargo test -p rawr-protocol --features schema --test generated
    npm run --silent --prefix editor-clients/vscode protocol
    nvim -l editor-clients/neovim/spec/types.lua

# Rewrite the generated parts of the documentation and the schema of rawr.toml
docs:
    UPDATE=1 cargo test -p rawr-settings --test configuration --test schema
    UPDATE=1 cargo test -p rawr-tests --test core layering
    UPDATE_EXPECT=1 cargo test -p rawr-settings shipped

# Draw the pictures of the guide
pictures: build
    tests/pictures/make

# Read the guide in a browser
book:
    mdbook serve docs --open

# Fuzz one target; needs a nightly compiler and cargo-fuzz
fuzz TARGET:
    cargo +nightly fuzz run --fuzz-dir tests/fuzz {{TARGET}}
