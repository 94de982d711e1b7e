// Copies what a report of a problem needs.
import * as l10n from '@vscode/l10n';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { debugInformation } from '../model/debugInformation';
import { output } from '../server/run';
import type { Session } from '../session';
import { homeArguments } from '../settings';

const DOCTOR_WITHIN_MS = 30_000;

export async function copyDebugInformation(
  session: Session,
  extension: vscode.ExtensionContext,
): Promise<void> {
  const title = l10n.t('Collecting debug information…');
  const progress = { location: vscode.ProgressLocation.Window, title };
  const text = await vscode.window.withProgress(progress, () => collected(session, extension));
  await vscode.env.clipboard.writeText(text);
  void vscode.window.showInformationMessage(l10n.t('Copied. Read it before you share it.'));
}

async function collected(session: Session, extension: vscode.ExtensionContext): Promise<string> {
  const binary = session.connection?.binary;
  const doctor = binary ? await output(binary.path, ['doctor', ...homeArguments()], DOCTOR_WITHIN_MS) : '';
  const log = await readFile(path.join(extension.logUri.fsPath, 'rawr.log'), 'utf8').catch(() => '');
  const manifest = extension.extension.packageJSON as { version: string };
  const facts = {
    extension: manifest.version,
    sidecar: binary ? `${binary.version} (${binary.origin})` : (session.failure ?? 'not running'),
    editor: `${vscode.env.appName} ${vscode.version}, ${vscode.env.language}`,
    system: `${process.platform} ${process.arch}, remote: ${vscode.env.remoteName ?? 'none'}`,
    threads: String(session.threads.all.length),
  };
  return debugInformation({ facts, settings: changedSettings(), doctor, log, home: homedir() });
}

function changedSettings(): Record<string, unknown> {
  const all = vscode.workspace.getConfiguration('rawr');
  const keys = ['server.path', 'server.args', 'home', 'threads', 'notifications', 'trace.server'];
  const isChanged = (key: string): boolean => {
    const { globalValue, workspaceValue, workspaceFolderValue } = all.inspect(key) ?? {};
    return [globalValue, workspaceValue, workspaceFolderValue].some((value) => value !== undefined);
  };
  return Object.fromEntries(keys.filter(isChanged).map((key) => [`rawr.${key}`, all.get<unknown>(key)]));
}
