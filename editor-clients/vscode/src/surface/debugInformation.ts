// Copies what a report of a problem needs. Secrets and names of people are removed by the binary, by the rules of the sidecar.
import * as l10n from '@vscode/l10n';
import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { type DebugFacts, debugInformation, plainDebugInformation } from '../model/debugInformation';
import { type Found, find } from '../server/binary';
import { report } from '../server/run';
import { places, system } from '../server/system';
import type { Session } from '../session';
import { homeArguments } from '../settings';
import { said } from '../sidecar';

const REPORT_WITHIN_MS = 60_000;

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
  const log = await readFile(path.join(extension.logUri.fsPath, 'rawr.log'), 'utf8').catch(() => '');
  const manifest = extension.extension.packageJSON as { version: string };
  const running = session.connection?.binary;
  const facts = {
    extension: manifest.version,
    sidecar: running ? `${running.version} (${running.origin})` : 'not running',
    editor: `${vscode.env.appName} ${vscode.version}, ${vscode.env.language}`,
    system: `${process.platform} ${process.arch}, remote: ${vscode.env.remoteName ?? 'none'}`,
    threads: String(session.threads.all.length),
  };
  const found = { facts, settings: changedSettings(), log };
  try {
    // A sidecar that does not run is when this is needed most.
    const binary = running ?? (await find(places(extension), system));
    return await reported(binary, found);
  } catch (error) {
    const plain = plainDebugInformation(found);
    return `${plain}\nrawr doctor --report: ${said(error).split('\n', 1)[0] ?? ''}`;
  }
}

function reported(binary: Found, found: DebugFacts): Promise<string> {
  const args = ['doctor', '--report', '--append', '-', ...homeArguments()];
  return report(binary.path, args, debugInformation(found), REPORT_WITHIN_MS);
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
