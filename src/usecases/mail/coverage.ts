import type { Capability } from "../../domain/agent/capability.ts";
import type { Tx } from "../../ports/store.ts";

/** Warns a parent that approves work of its builders without enough reviews. It never blocks. */
export async function coverageWarnings(tx: Tx, sender: string): Promise<readonly string[]> {
  const children = await tx.agents.list({ parentName: sender });
  const named = (capability: Capability): number =>
    new Set(children.filter((child) => child.capability === capability).map(({ name }) => name)).size;
  const builders = named("builder");
  const reviewers = named("reviewer");
  if (builders === 0 || reviewers >= builders) return [];
  const count = builders === 1 ? "1 builder" : `${builders} builders`;
  if (reviewers === 0) return [`REVIEW_SKIP: ${sender} had ${count} and no reviewer; nobody has looked at this work`];
  const looked = reviewers === 1 ? "1 reviewer" : `${reviewers} reviewers`;
  return [`${sender} had ${count} but only ${looked}; some of the work may not have been reviewed`];
}
