#!/usr/bin/env bash
# measure-activation.sh [floor|newest]: prints the activation times that the editor measures. Needs RAWR_UNDER_TEST and the packaged extension.
set -euo pipefail
cd "$(dirname "$0")/../.."
RAWR_EDITORS=${1:-newest} RAWR_JOURNEYS=activation npm run --silent test:editor | grep 'load code'
