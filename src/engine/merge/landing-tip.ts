import { integrationPrefix, isIntegration, isOurTip, type LostLanding } from "../../domain/merge/landing-branch.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import { askAboutTip, closeTipQuestions } from "../../usecases/merge/landing/branch-questions.ts";
import { isOfTarget, leftTips } from "../../usecases/merge/landing/landing-target.ts";
import { hasCommit } from "../../usecases/merge/landing/taken-out.ts";
import { type StrangeTarget, strangeTarget, type TargetPorts } from "./moved-target.ts";
import { backupRef, branchRef, landingRef, type MergePorts, pinLanding } from "./ports.ts";

/** The ports for comparing the tip of a landing branch with the record. */
export type TipPorts = Pick<MergePorts, "settings"> &
  TargetPorts & {
    readonly merging: Pick<MergeGit, "updateRefs" | "treeOf" | "revert">;
  };

/**
 * The tip of a branch. A deleted landing branch of ours is made again where our last operation left it: its work may
 * still be wanted, and everything built on it would stand still. Undefined when the branch does not exist and cannot be
 * made again.
 */
export async function tipOf(ports: TipPorts, branch: string): Promise<string | undefined> {
  const { store, merging } = ports;
  const ref = branchRef(branch);
  const tip = await merging.commitOf(ref);
  if (tip !== undefined || !isIntegration(branch)) return tip;
  const { last } = await store.read((tx) => leftTips(tx, branch));
  // Retention deletes old operations from the record; the pin stays until the branch is promoted.
  const to = (last === null ? undefined : await merging.commitOf(last)) ?? (await merging.commitOf(landingRef(branch)));
  if (to === undefined) return undefined;
  await merging.updateRefs([{ ref, from: null, to }], "overstory: landing branch, made again");
  // If another process made the branch first, its tip counts.
  return merging.commitOf(ref);
}

/**
 * Why a landing branch of ours must not be used: another program or person moved it, and the operator was asked.
 * Undefined when its tip is what our last operation left. The target itself is its users' branch, and may be anywhere;
 * only what `strangeTarget` says about it counts.
 */
export async function foreignTip(ports: TipPorts, landing: string, tip: string): Promise<string | undefined> {
  return (await compareTip(ports, landing, tip))?.problem;
}

export type Start = { readonly commit: string } | { readonly problem: string };

/**
 * The commit that new work on a landing branch starts from. If the branch was moved by hand, this is the commit of our
 * last operation: nothing proves the commits on the tip. Undefined when there is no such branch.
 */
export async function startOn(ports: TipPorts, landing: string): Promise<Start | undefined> {
  const { store, merging } = ports;
  const tip = await tipOf(ports, landing);
  if (tip === undefined) return undefined;
  // The usual case, without more git processes: many agents may start together.
  if ((await store.read((tx) => leftTips(tx, landing))).last === tip) return { commit: tip };
  const foreign = await compareTip(ports, landing, tip);
  if (foreign === undefined) return { commit: tip };
  const commit = foreign.expected === tip ? undefined : await merging.commitOf(foreign.expected);
  return commit === undefined ? { problem: foreign.problem } : { commit };
}

async function compareTip(ports: TipPorts, landing: string, tip: string): Promise<StrangeTarget | undefined> {
  if (!isIntegration(landing)) return strangeTarget(ports, { target: landing, tip });
  const { store, merging, ids } = ports;
  const context = { ids, now: ports.clock.now() };
  const { last, intended } = await store.read((tx) => leftTips(tx, landing));
  const runs = (await store.read((tx) => tx.runs.list(remembered))).filter((run) => run.landingBranch === landing);
  const begun = await store.read((tx) => tx.mergeOps.list({ kind: "begin", status: "done", ref: branchRef(landing) }));
  const targets = [
    ...runs.flatMap(({ targetBranch }) => targetBranch ?? []),
    ...begun.flatMap(({ request }) => request.target ?? []),
    landing.slice(integrationPrefix.length),
    ports.settings.canonicalBranch,
  ];
  const tips = (await Promise.all([...new Set(targets)].map((name) => merging.commitOf(branchRef(name))))).filter(
    (commit) => commit !== undefined,
  );
  const has = async (commit: string): Promise<boolean> =>
    (await Promise.all(tips.map((target) => merging.contains(target, commit)))).includes(true);
  // The last landed commit may be gone from the repository. Then no target has it.
  const isThere = last !== null && (await merging.commitOf(last)) !== undefined;
  const facts = { tip, last, targetHasTip: await has(tip), targetHasLast: isThere && (await has(last)) };
  if (isOurTip(facts) || intended.includes(tip)) {
    await store.transaction((tx) => closeTipQuestions(tx, context, landing));
    return undefined;
  }
  const expected = last ?? tips[0] ?? tip;
  const subject = await merging.subjectOf(tip);
  const runId = runs[0]?.id ?? null;
  const isKnown = (await merging.commitOf(expected)) !== undefined;
  const isBack = isKnown && (await merging.contains(expected, tip));
  const question = { landing, from: tip, to: expected };
  // Moved sideways, it may have landed work in other commits.
  const lost = !isKnown ? [] : await (isBack ? landingsBetween(ports, question) : landingsLost(ports, question));
  const asked = await store.transaction(async (tx) => {
    await closeTipQuestions(tx, context, landing, { except: tip });
    return askAboutTip(tx, context, { landing, tip, expected, subject, isBack, lost, steers: [], runId });
  });
  const where = `${landing} is at ${tip.slice(0, 10)}, not at ${expected.slice(0, 10)} where our last landing left it`;
  const problem = `${where}: somebody else moved it; see: ov inbox, then: ov decide ${asked} accept, or: ov decide ${asked} 'put back'`;
  return { expected, problem };
}

/** Work that counts as landed on a landing branch, by commits that `to` has in its history and `from` has not. */
export async function landingsBetween(
  { store, merging }: Pick<TipPorts, "store"> & { readonly merging: Pick<MergeGit, "commitOf" | "contains"> },
  { landing, from, to }: { readonly landing: string; readonly from: string; readonly to: string },
): Promise<readonly (LostLanding & { readonly commit: string })[]> {
  const [isBefore, isIn] = [hasCommit(merging, from), hasCommit(merging, to)];
  const found: (LostLanding & { readonly commit: string })[] = [];
  const ref = branchRef(landing);
  for (const op of await store.read((tx) => tx.mergeOps.list({ kind: "land", status: "done", ref }))) {
    // The newest comes first, so all the others are in it too.
    if (op.afterCommit !== null && (await isBefore(op.afterCommit))) break;
    for (const id of op.queueIds) {
      const entry = await store.read(async (tx) => {
        const one = await tx.merges.get(id);
        return one === undefined || (await isOfTarget(tx, one)) ? undefined : one;
      });
      const commit = entry?.resultCommit ?? null;
      if (entry?.status !== "merged" || commit === null) continue;
      if ((await isIn(commit)) && !(await isBefore(commit))) found.push({ id, branch: entry.branch, commit });
    }
  }
  return found;
}

/**
 * Those of `landingsBetween` that `from` does not have in other commits either: taking their changes out of it would
 * change nothing.
 */
export async function landingsLost(
  ports: Pick<TipPorts, "store"> & { readonly merging: Pick<MergeGit, "commitOf" | "contains" | "treeOf" | "revert"> },
  question: { readonly landing: string; readonly from: string; readonly to: string },
): Promise<readonly LostLanding[]> {
  const { merging } = ports;
  const between = await landingsBetween(ports, question);
  const tree = between.length === 0 ? "" : await merging.treeOf(question.from);
  const lost: LostLanding[] = [];
  for (const { id, branch, commit } of between) {
    const without = await merging.revert(commit, question.from);
    if (without.kind === "clean" && without.tree === tree) lost.push({ id, branch });
  }
  return lost;
}

/** How many runs may have used the same landing branch. */
const remembered = 200;

/**
 * Puts a landing branch back to where our last operation left it. Where that cannot be done, the operator is asked again,
 * with the reason. Answers whether anything was done.
 */
export async function restoreTip(ports: MergePorts, op: MergeOp): Promise<boolean> {
  const { merging, store, clock } = ports;
  const { ref, beforeCommit: from, afterCommit: to } = op;
  const landing = ref.replace(/^refs\/heads\//, "");
  const tip = await tipOf(ports, landing);
  const settle = async (problem: string | null): Promise<boolean> => {
    const change = { status: problem === null ? "done" : "dropped", problem, updatedAt: clock.now() } as const;
    await store.transaction((tx) => tx.mergeOps.settle(op.id, change));
    if (problem !== null && tip !== undefined) await foreignTip(ports, landing, tip);
    return true;
  };
  if (tip === undefined || from === null || to === null) return settle(`there is no ${ref}`);
  if (tip === to) return settle(null);
  if (tip !== from) return settle(`${ref} has moved again`);
  ports.reach("merge.before-land");
  const changes = [
    { ref, from, to },
    { ref: backupRef(op.id), from: null, to: from },
    ...(await pinLanding(ports, landing, to)),
  ];
  const moved = await merging.updateRefs(changes, "overstory: put back what the last landing left");
  ports.reach("merge.after-land");
  return settle(moved.kind === "updated" ? null : moved.problem);
}
