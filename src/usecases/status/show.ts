import { ok } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { StartOfWork } from "../branches/start-of-work.ts";
import type { Unpromoted } from "../merge/landing/unpromoted.ts";
import type { Effect, World } from "../operation.ts";
import type { Overview } from "./overview.ts";

export interface ShownStatus extends Overview {
  /** Where new agents start on landing branches that could not take their target in. */
  readonly starts: readonly StartOfWork[];
}

/** The overview, with what only git knows about the landing branches in it. */
export const showStatus: Effect<{ readonly all: boolean; readonly mailbox: string }, ShownStatus> = {
  kind: "effect",
  request: fields({ all: flag, mailbox: text }),
  place: "caller",
  run: async (world, request) => {
    const found = await world.call("status.overview", request);
    if (!found.ok) return found;
    return ok({ ...found.value, ...(await lookedAt(world, found.value.unpromoted)) });
  },
};

/**
 * Compares landing branches whose work waits with git. A person may have merged one by hand: then nothing waits. And the
 * target may have commits that could not be taken in.
 */
async function lookedAt(
  world: World,
  known: readonly Unpromoted[],
): Promise<Pick<ShownStatus, "unpromoted" | "starts">> {
  const unpromoted: Unpromoted[] = [];
  const starts: StartOfWork[] = [];
  for (const landed of known) {
    const { landing, target, runId } = landed;
    const found = await world.call("branch.findStart", { target, runId });
    const start = found.ok ? found.value : undefined;
    if (start?.promoted.includes(landing) === true) continue;
    unpromoted.push(landed);
    const isOpen = start?.missingCommits === "failed" || start?.missingCommits === "rewritten";
    if (start?.branch === landing && isOpen) starts.push(start);
  }
  return { unpromoted, starts };
}
