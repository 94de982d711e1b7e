// What `binary` needs from the operating system and the settings.
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { folders, settings } from '../settings';
import type { Places, System } from './binary';

const VERSION_WITHIN_MS = 5_000;

export const system: System = {
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  version: (path) =>
    new Promise((resolve, reject) => {
      execFile(path, ['--version'], { timeout: VERSION_WITHIN_MS }, (error, stdout) => {
        if (error) reject(new Error(error.message));
        else resolve(stdout);
      });
    }),
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
