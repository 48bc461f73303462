import { record } from "../../usecases/events/record.ts";
import type { Pruned } from "./prune.ts";
import { type RetentionPorts, type RetentionRow, retentionTable } from "./table.ts";

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;

/** The pause before the next pass when old things are left. */
const againMs = 60_000;

/**
 * Deletes old things by `retentionTable`. A pass is small: each row of the table removes a bounded number of things in
 * short transactions. A pass runs when an engine starts, then once an hour; once a minute while old things are left.
 * Only a round of the engine starts a pass, so an idle engine does nothing and no engine stays for it.
 */
export class Retention {
  #nextAt = Number.NEGATIVE_INFINITY;

  /** Ends early, between two rows, when the engine stops; the next engine begins again. */
  async prune(ports: RetentionPorts, stop: AbortSignal): Promise<void> {
    if (ports.clock.monotonic() < this.#nextAt) return;
    this.#nextAt = ports.clock.monotonic() + hourMs;
    const removed: Record<string, number> = {};
    let more = false;
    for (const row of retentionTable) {
      if (stop.aborted) break;
      const pruned = await pruneRow(ports, row);
      if (pruned.removed > 0) removed[row.what] = pruned.removed;
      more ||= pruned.more;
    }
    await sweep(ports);
    if (more) this.#nextAt = ports.clock.monotonic() + againMs;
    if (Object.keys(removed).length === 0) return;
    const now = ports.clock.now();
    await ports.store.transaction((tx) => record(tx, now, { source: "engine", type: "old_pruned", data: { removed } }));
  }
}

/** 0 days keep things for ever. A row that fails does not stop the others. */
async function pruneRow(ports: RetentionPorts, row: RetentionRow): Promise<Pruned> {
  const nothing = { removed: 0, more: false };
  const days = typeof row.days === "number" ? row.days : ports.settings.retention[row.days];
  if (days === 0) return nothing;
  try {
    const now = ports.clock.now();
    return await row.prune(ports, { before: now - days * dayMs, hour: Math.floor(now / hourMs) });
  } catch (error) {
    ports.report(error);
    return nothing;
  }
}

/** Deletes the remains of killed operations at once: no other process uses them. */
async function sweep({ worktrees, clock, report }: RetentionPorts): Promise<void> {
  try {
    await worktrees.sweep(clock.now());
  } catch (error) {
    report(error);
  }
}
