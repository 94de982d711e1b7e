// A row of the threads view, as data.

export interface Row {
  /** Stable while the row shows the same object. */
  id: string;
  label: string;
  description?: string;
  tooltip?: string;
  /** A codicon's name. */
  icon?: string;
  /** A theme color's name. Never the only sign. */
  color?: string;
  /** Selects its menu. */
  context: string;
  children?: Row[];
  open?: boolean;
  /** The subject of the row's actions. */
  about: About;
}

export interface About {
  threadId: string;
  guardId?: string;
  directiveId?: string;
  decisionId?: string;
  sequenceId?: string;
  /** The saved state before a compaction. */
  capsuleId?: string;
}
