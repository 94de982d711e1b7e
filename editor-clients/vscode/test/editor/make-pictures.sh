#!/usr/bin/env bash
# Makes the pictures of VS Code in docs/src/pictures/vscode, with their texts. Needs RAWR_UNDER_TEST, the packaged extension, and
# `get-editor.sh newest`.
set -euo pipefail
cd "$(dirname "$0")/../.."
RAWR_PICTURES=make RAWR_EDITORS=newest RAWR_JOURNEYS=pictures npm run --silent test:editor
