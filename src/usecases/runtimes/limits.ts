import { ok } from "../../domain/result.ts";
import { fields, list, text } from "../../domain/schema/schema.ts";
import type { TurnEnd } from "../../domain/turn/settle.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";

/** The newest limit of a runtime's provider that a turn met. */
export interface KnownLimit {
  readonly runtime: string;
  readonly agent: string;
  readonly seenAt: number;
  /** When it is over, as far as the provider said. */
  readonly resetAt: number | null;
  /** The provider said an end, and it is still to come. */
  readonly lasts: boolean;
  readonly said: string;
}

interface Asked {
  readonly runtimes: readonly string[];
}

/** No program tells its quota unasked: what is known are the limits that agents met. */
export const readLimits: UseCase<Asked, readonly KnownLimit[]> = {
  kind: "read",
  request: fields<Asked>({ runtimes: list(text) }),
  run: async (tx, { now }, { runtimes }) => {
    const known: KnownLimit[] = [];
    for (const runtime of runtimes) {
      const turn = await tx.turns.newestLimited(runtime);
      if (turn === undefined) continue;
      const resetAt = await resetOf(tx, turn);
      known.push({
        runtime,
        agent: turn.agentName,
        seenAt: turn.endedAt ?? now,
        resetAt,
        lasts: resetAt !== null && resetAt > now,
        said: turn.error ?? "",
      });
    }
    return ok(known);
  },
};

/** The record of the turn's end keeps what was said. Null also where that record is so old that it was removed. */
async function resetOf(tx: Tx, turn: Turn): Promise<number | null> {
  const [ended] = await tx.events.newest({ turnId: turn.id, types: ["turn_end"] }, 1);
  if (ended?.data == null) return null;
  const { end } = JSON.parse(ended.data) as { readonly end: TurnEnd };
  return end.kind === "failed" ? (end.resetAt ?? null) : null;
}
