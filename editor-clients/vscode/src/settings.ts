// The current settings.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { expandedHome } from './server/homes';

export interface Settings {
  path: string;
  args: string[];
  home: string;
  trace: boolean;
  threads: 'workspace' | 'all';
  notifications: 'all' | 'sequences' | 'none';
}

/** A change of one of these restarts the sidecar. */
export const OF_THE_SERVER = ['rawr.server.path', 'rawr.server.args', 'rawr.home', 'rawr.trace.server'];

/** The home folder of the demo while the window shows it. */
let demoHome: string | undefined;

/** Shows all threads of another home folder from the next start of the sidecar on. */
export function showHome(home: string | undefined): void {
  demoHome = home;
}

export function settings(): Settings {
  const all = vscode.workspace.getConfiguration('rawr');
  return {
    path: all.get('server.path', ''),
    args: all.get('server.args', []),
    home: demoHome ?? expandedHome(all.get('home', ''), homedir()),
    trace: all.get<string>('trace.server', 'off') !== 'off',
    threads: demoHome === undefined ? all.get('threads', 'workspace') : 'all',
    notifications: all.get('notifications', 'all'),
  };
}

/** Whether the window shows the demo instead of the user's threads. */
export function showsDemo(): boolean {
  return demoHome !== undefined;
}

/** The home folder as arguments of the CLI. */
export function homeArguments(): string[] {
  const { home } = settings();
  return home === '' ? [] : ['--home', home];
}

/** The folders that are open on the machine where the sidecar runs. */
export function folders(): string[] {
  const open = vscode.workspace.workspaceFolders ?? [];
  return open.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
}
