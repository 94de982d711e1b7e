// Context keys for menus, key bindings and the palette.
import * as vscode from 'vscode';
import { type Threads, canRespond, hasPacket } from '../model/threads';
import { showsDemo } from '../settings';

const set = new Map<string, boolean>();

export function setContexts({ all }: Threads): void {
  setContext('rawr.asking', all.some(canRespond));
  setContext('rawr.demo', showsDemo());
  setContext('rawr.hasThread', all.length > 0);
  setContext('rawr.hasPacket', all.some(hasPacket));
}

function setContext(key: string, value: boolean): void {
  if (set.get(key) === value) return;
  set.set(key, value);
  void vscode.commands.executeCommand('setContext', key, value);
}
