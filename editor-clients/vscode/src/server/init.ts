// Creates the configuration and the prompts with `rawr init`, which keeps existing files.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { homeArguments } from '../settings';
import type { Found } from './binary';
import { run } from './run';

const WITHIN_MS = 20_000;

/** Offers to create a missing file. False if the user declines. */
export async function created(missing: string, binary: Found): Promise<boolean> {
  const create = l10n.t('Create');
  if ((await vscode.window.showInformationMessage(missing, create)) !== create) return false;
  await run(binary.path, ['init', ...homeArguments()], WITHIN_MS);
  return true;
}
