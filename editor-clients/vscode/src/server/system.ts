// What `binary` needs from the operating system and the settings.
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { folders, settings } from '../settings';
import type { Places, System } from './binary';
import { run } from './run';

const VERSION_WITHIN_MS = 5_000;

export const system: System = {
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  version: (path) => run(path, ['--version'], VERSION_WITHIN_MS),
};

export function places(extension: vscode.ExtensionContext): Places {
  return {
    setting: settings().path,
    folders: vscode.workspace.isTrusted ? folders() : [],
    path: process.env['PATH'] ?? '',
    extension: extension.extensionPath,
    home: homedir(),
  };
}
