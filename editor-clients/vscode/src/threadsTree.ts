// The view of threads. It exists from the beginning, because a view does not change its provider; who shows rows in it comes later.
import * as vscode from 'vscode';
import type { Row } from './model/row';

export class ThreadsTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Row | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly view: vscode.TreeView<Row>;
  private rows: vscode.TreeDataProvider<Row> | undefined;

  /** `wanted` is called when the view is first shown. */
  constructor(private readonly wanted: () => void) {
    this.view = vscode.window.createTreeView('rawr.threads', {
      treeDataProvider: this,
      showCollapseAll: true,
    });
  }

  /** Shows these rows from now on. */
  show(rows: vscode.TreeDataProvider<Row>): void {
    this.rows = rows;
    this.refresh();
  }

  /** Draws a row again, or all. */
  refresh(row?: Row): void {
    this.changed.fire(row);
  }

  getChildren(row?: Row): vscode.ProviderResult<Row[]> {
    if (!this.rows) this.wanted();
    return this.rows?.getChildren(row);
  }

  getTreeItem(row: Row): vscode.TreeItem | Thenable<vscode.TreeItem> {
    return this.rows?.getTreeItem(row) ?? new vscode.TreeItem(row.label);
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }
}
