// The threads view: draws the rows of `model/tree`.
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { isOfSequence } from '../model/banner';
import { reconcile } from '../model/rowChanges';
import type { Row } from '../model/row';
import { rows, spoken } from '../model/tree';
import type { Threads } from '../model/threads';
import { showsDemo } from '../settings';
import type { ThreadsTree } from '../threadsTree';

export class ThreadsView implements vscode.TreeDataProvider<Row> {
  private drawn: Row[] = [];

  constructor(
    private readonly threads: Threads,
    private readonly tree: ThreadsTree,
  ) {
    tree.show(this);
  }

  /** Draws only the rows that differ, because drawing closes the tooltip of a row. */
  refresh(): void {
    const count = this.threads.banners.filter(isOfSequence).length;
    const { view } = this.tree;
    if (view.badge?.value !== (count || undefined))
      view.badge =
        count === 0 ? undefined : { value: count, tooltip: l10n.t('Compactions ahead: {0}', count) };
    const message = showsDemo()
      ? l10n.t('The threads of the demo. Yours come back when it is over.')
      : undefined;
    if (view.message !== message) view.message = message;
    const { rows: current, changed } = reconcile(this.drawn, rows(this.threads, Date.now()));
    this.drawn = current;
    for (const row of changed ?? [undefined]) this.tree.refresh(row);
  }

  getChildren(row?: Row): Row[] {
    return row ? (row.children ?? []) : this.drawn;
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    // The children of an expanded row may be loaded later.
    const state = row.open ? Expanded : row.children?.length ? Collapsed : None;
    const item = new vscode.TreeItem(row.label, state);
    item.id = row.id;
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.contextValue = row.context;
    if (row.icon)
      item.iconPath = new vscode.ThemeIcon(
        row.icon,
        row.color ? new vscode.ThemeColor(row.color) : undefined,
      );
    item.accessibilityInformation = { label: spoken(row) };
    if (row.context === 'decision')
      item.command = { command: 'rawr.explain', title: '', arguments: [row.about] };
    if (row.context.startsWith('compaction') && row.about.sequenceId !== undefined)
      item.command = { command: 'rawr.openPacket', title: '', arguments: [row.about] };
    if (row.context.startsWith('banner'))
      item.command = { command: 'rawr.answer', title: '', arguments: [row.about] };
    return item;
  }
}
