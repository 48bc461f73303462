import type { Merge } from "../api/types.ts";
import type { Look } from "../ui/look.tsx";

const looks: Readonly<Record<Merge["status"], Look>> = {
  pending: { glyph: "pending", tone: "idle", word: "Waits" },
  merging: { glyph: "merging", tone: "live", word: "Merging" },
  gating: { glyph: "gating", tone: "live", word: "Being checked" },
  merged: { glyph: "merged", tone: "good", word: "Landed" },
  conflict: { glyph: "conflict", tone: "bad", word: "Conflict" },
  failed: { glyph: "failed", tone: "bad", word: "Failed" },
  blocked: { glyph: "blocked", tone: "attn", word: "Blocked" },
  cancelled: { glyph: "cancelled", tone: "idle", word: "Cancelled" },
  superseded: { glyph: "superseded", tone: "idle", word: "Superseded" },
  reverted: { glyph: "reverted", tone: "park", word: "Taken back" },
};

type Seen = Pick<Merge, "status" | "awaitingApproval"> & { readonly isBack?: boolean };

/** How an entry of the queue looks, wherever it is shown. */
export function mergeLook({ status, awaitingApproval, isBack }: Seen): Look {
  if (awaitingApproval) return { glyph: "approval", tone: "attn", word: "Approval" };
  const look = looks[status];
  // Its agent works on it again: that is no trouble any more.
  return isBack === true ? { ...look, tone: "idle", word: `${look.word}, sent back` } : look;
}

const gateLooks = {
  passed: { glyph: "gate_passed", tone: "good", word: "passed" },
  failed: { glyph: "failed", tone: "bad", word: "failed" },
  timed_out: { glyph: "failed", tone: "bad", word: "took too long" },
  could_not_run: { glyph: "blocked", tone: "attn", word: "could not run" },
  running: { glyph: "gate_running", tone: "live", word: "runs" },
  queued: { glyph: "gate_queued", tone: "idle", word: "waits" },
  not_needed: { glyph: "gate_cached", tone: "idle", word: "not needed" },
} as const satisfies Record<string, Look>;
export type GateState = keyof typeof gateLooks;

/** How a run of a gate looks. One that passed only at its second run is flaky. */
export const gateLook = (status: GateState, isFlaky = false): Look =>
  isFlaky && status === "passed" ? { glyph: "gate_flaky", tone: "attn", word: "flaky" } : gateLooks[status];
