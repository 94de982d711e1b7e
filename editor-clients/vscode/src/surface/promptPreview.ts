// The preview of a prompt, `rawr://preview/<name>`, which the sidecar serves and updates.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { created } from '../server/init';
import type { Session } from '../session';

const PREVIEW = 'rawr.previewPrompt';

export async function openPreview(session: Session, prompt: vscode.Uri | undefined): Promise<void> {
  const source = prompt ?? vscode.window.activeTextEditor?.document.uri;
  if (!source) throw new Error(l10n.t('Open a prompt first: “Rawr: Open a Prompt”.'));
  const sidecar = await session.sidecar();
  if (!sidecar.can(PREVIEW))
    throw new Error(l10n.t('This version of rawr has no prompt preview; install a newer one.'));
  // The sidecar requests to show the document.
  await sidecar.command(PREVIEW, source.toString());
}

/** Lets the user select a prompt, and opens its file. */
export async function openPrompt(session: Session): Promise<void> {
  const sidecar = await session.sidecar();
  const { prompts } = await sidecar.ask('rawr/prompt/list', {});
  const items = prompts.map((prompt) => ({
    label: prompt.name,
    description: prompt.origin === 'user' ? l10n.t('edited') : l10n.t('as shipped'),
    detail: prompt.problems[0]?.message,
    path: prompt.path,
  }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: l10n.t('Which prompt?') });
  if (!chosen) return;
  if (chosen.path === undefined) {
    await created(l10n.t('There is no file for {0} yet.', chosen.label), sidecar.binary);
    return;
  }
  await vscode.window.showTextDocument(vscode.Uri.file(chosen.path));
  await vscode.commands.executeCommand('setContext', 'rawr.hasOpenedPrompt', true);
}
