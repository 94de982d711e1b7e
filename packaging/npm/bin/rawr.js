#!/usr/bin/env node
// Runs the program of this platform's package with the same arguments, streams, signals and exit code.
'use strict';

const { spawn } = require('node:child_process');
const { isatty } = require('node:tty');

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/** The path of the program, or undefined with a message on stderr. */
function program() {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) {
    console.error(`rawr runs on Linux and macOS, on x86-64 and ARM64. This is ${platform}.`);
    if (process.platform === 'win32') console.error('Install it in the Windows Subsystem for Linux.');
    return undefined;
  }
  try {
    return require.resolve(`rawr-sidecar-${platform}/bin/rawr`);
  } catch {
    console.error(`The package rawr-sidecar-${platform} is missing, which contains the program.`);
    console.error(
      'Install rawr-sidecar again, with optional dependencies: npm install -g --include=optional rawr-sidecar',
    );
    return undefined;
  }
}

function run(file) {
  let child;
  // A terminal sends these to the child too, which must not get them twice.
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  // Before the child starts, so that no signal ends this process alone.
  for (const signal of ['SIGINT', 'SIGQUIT']) process.on(signal, () => hasTerminal || child.kill(signal));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child = spawn(file, process.argv.slice(2), { stdio: 'inherit' });
  child.on('error', (error) => {
    console.error(`failed to start ${file}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const file = program();
if (file === undefined) process.exitCode = 1;
else run(file);
