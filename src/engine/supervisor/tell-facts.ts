import { isUnverified, type Letter, type WorkBehind, workLine } from "../../domain/mail/letter.ts";
import { type Reporter, reporterOf } from "../../usecases/mail/work-behind.ts";
import { worktreeOf } from "../../usecases/worktrees/owners.ts";
import type { SupervisorPorts } from "./ports.ts";

type Ports = Pick<SupervisorPorts, "store" | "worktrees">;

/**
 * Puts beside each bare report what is true about its sender's work as it is handed over. A reader that is faster than
 * the end of the sender's turn gets what a look into the worktree shows now.
 */
export async function tellFacts(ports: Ports, letters: readonly Letter[]): Promise<readonly Letter[]> {
  const told: Letter[] = [];
  for (const letter of letters) {
    const bare = isUnverified(letter.message);
    told.push(bare ? { ...letter, unverified: workLine(await lookBehind(ports, letter)) } : letter);
  }
  return told;
}

async function lookBehind(ports: Ports, { message }: Letter): Promise<WorkBehind> {
  const reporter = await ports.store.read((tx) => reporterOf(tx, message));
  return reporter.work.kind === "unknown" ? look(ports, reporter) : reporter.work;
}

/** What cannot be read stays unknown: a report is delivered all the same. */
async function look({ worktrees }: Ports, { agent, work }: Reporter): Promise<WorkBehind> {
  const worktree = agent === undefined ? undefined : worktreeOf(agent);
  if (worktree === undefined) return work;
  try {
    const { exists, head, ahead, dirty } = await worktrees.inspect(worktree);
    if (!exists) return { kind: "unknown", why: "its worktree is gone" };
    return { kind: "seen", when: "turn-running", facts: { head, base: worktree.baseCommit, ahead, dirty } };
  } catch {
    return { kind: "unknown", why: "its worktree could not be read" };
  }
}
