import type { Pruned } from "./prune.ts";
import { type RetentionPorts, type RetentionRow, retentionTable } from "./table.ts";

const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;

/** How soon a pass goes on that left old things behind. */
const againMs = 60_000;

/**
 * Lets go of what is old, row by row of one table. A pass is small: each row of the table removes a bounded number in
 * short transactions. It runs when an engine starts, then once an hour; once a minute while it has not caught up. Only
 * a round of the engine starts it, so an idle engine does nothing and no engine stays for it.
 */
export class Retention {
  #nextAt = Number.NEGATIVE_INFINITY;

  /** Ends early, between two rows, when the engine is to stop; the next one begins again. */
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
    const createdAt = ports.clock.now();
    await ports.store.transaction((tx) =>
      tx.events.append([{ source: "engine", type: "old_pruned", data: { removed }, createdAt }]),
    );
  }
}

/** What is kept for ever has 0 days. One row that cannot be pruned must not keep the others from it. */
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

/** What operations that were killed left belongs to no one, however young it is. */
async function sweep({ worktrees, clock, report }: RetentionPorts): Promise<void> {
  try {
    await worktrees.sweep(clock.now());
  } catch (error) {
    report(error);
  }
}
