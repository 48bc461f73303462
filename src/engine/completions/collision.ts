import type { Agent } from "../../domain/agent/agent.ts";
import type { Missing } from "../../domain/completion/check.ts";
import { joinCommand } from "../../domain/merge/words.ts";
import { commandFor } from "../../usecases/merge/generated-files.ts";
import { targetOf } from "../../usecases/merge/landing/landing-target.ts";
import { judgePairs } from "../../usecases/merge/radar.ts";
import { branchRef, mergeContext } from "../merge/ports.ts";
import type { CompletionPorts } from "./ports.ts";

/** A conflict that no rule settles, and the branch where the work would land now. */
export interface Collision {
  readonly landing: string;
  readonly files: readonly string[];
  /** The branch was sent back for a conflict, and no commit since then settled it. */
  readonly isKnown: boolean;
}

/** Does this commit conflict with the landing branch? If git cannot say, the merge worker decides later. */
export async function collisionOf(
  ports: CompletionPorts,
  { branch, runId }: Agent,
  head: string,
): Promise<Collision | undefined> {
  if (branch === null) return undefined;
  const { landing, isKnown } = await ports.store.read(async (tx) => {
    const last = (await tx.merges.list({ branch, statuses: ["conflict", "failed", "merged"] })).at(-1);
    const sentBack = last?.status === "conflict" ? last : undefined;
    return {
      landing: sentBack?.targetBranch ?? (await targetOf(tx, mergeContext(ports), runId)),
      isKnown: sentBack !== undefined,
    };
  });
  const tip = await ports.merging.commitOf(branchRef(landing));
  if (tip === undefined) return undefined;
  const isGenerated = (path: string): boolean => commandFor(ports.rules, path) !== undefined;
  const [judged] = await ports.lookAhead((ahead) =>
    judgePairs({ ...ahead, isGenerated }, [{ ours: tip, theirs: head }]),
  );
  return judged?.outcome === "conflict" ? { landing, files: judged.files, isKnown } : undefined;
}

/** The refusal for an agent that reports its branch again before the conflict is settled. */
export const missingFor = ({ landing, files }: Collision): Missing => ({
  kind: "conflict",
  message: `this branch was sent back for a conflict with ${landing}, and still conflicts${inFiles(files)}`,
  fix: `${joinCommand(landing)}, settle the files, commit, and run ov done again`,
  names: files,
});

/** The conflict in words, for the agent or person who decides about the work. */
export const collisionGap = ({ landing, files }: Collision): string =>
  `it conflicts with ${landing}${inFiles(files)}, and does not land before that is settled`;

const inFiles = (files: readonly string[]): string => (files.length === 0 ? "" : ` in ${files.join(", ")}`);
