import { integrationPrefix, isIntegration } from "../../domain/merge/landing-branch.ts";
import { isOurTip } from "../../domain/merge/landing-tip.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { askAboutTip, closeTipQuestions, leftTips } from "../../usecases/merge/landing-tip.ts";
import { backupRef, branchRef, type MergePorts, mergeContext } from "./ports.ts";

/**
 * Why a landing branch of ours must not be used: somebody else moved it, and the operator was asked. Undefined when its
 * tip is what our last operation left. The target itself is its users' branch, and may be anywhere.
 */
export async function foreignTip(ports: MergePorts, landing: string, tip: string): Promise<string | undefined> {
  if (!isIntegration(landing)) return undefined;
  const { store, merging } = ports;
  const { last, intended } = await store.read((tx) => leftTips(tx, landing));
  const runs = (await store.read((tx) => tx.runs.list(remembered))).filter((run) => run.landingBranch === landing);
  const targets = [
    ...runs.flatMap(({ targetBranch }) => targetBranch ?? []),
    landing.slice(integrationPrefix.length),
    ports.settings.canonicalBranch,
  ];
  const tips = (await Promise.all([...new Set(targets)].map((name) => merging.commitOf(branchRef(name))))).filter(
    (commit) => commit !== undefined,
  );
  const has = async (commit: string): Promise<boolean> =>
    (await Promise.all(tips.map((target) => merging.contains(target, commit)))).includes(true);
  const facts = { tip, last, targetHasTip: await has(tip), targetHasLast: last !== null && (await has(last)) };
  if (isOurTip(facts) || intended.includes(tip)) {
    await store.transaction((tx) => closeTipQuestions(tx, mergeContext(ports), landing));
    return undefined;
  }
  const expected = last ?? tips[0] ?? tip;
  const subject = await merging.subjectOf(tip);
  const runId = runs[0]?.id ?? null;
  const asked = await store.transaction(async (tx) => {
    await closeTipQuestions(tx, mergeContext(ports), landing, { except: tip });
    return askAboutTip(tx, mergeContext(ports), { landing, tip, expected, subject, runId });
  });
  const where = `${landing} is at ${tip.slice(0, 10)}, not at ${expected.slice(0, 10)} where our last landing left it`;
  return `${where}: somebody else moved it; see: ov inbox, then: ov decide ${asked} accept, or: ov decide ${asked} 'put back'`;
}

/** How many runs may have used the same landing branch. */
const remembered = 200;

/** Puts a landing branch back to where our last operation left it. Answers whether anything was done. */
export async function restoreTip(ports: MergePorts, op: MergeOp): Promise<boolean> {
  const { merging, store, clock } = ports;
  const { ref, beforeCommit: from, afterCommit: to } = op;
  const tip = await merging.commitOf(ref);
  const settle = async (problem: string | null): Promise<boolean> => {
    const change = { status: problem === null ? "done" : "dropped", problem, updatedAt: clock.now() } as const;
    await store.transaction((tx) => tx.mergeOps.settle(op.id, change));
    return true;
  };
  if (tip === undefined || from === null || to === null) return settle(`there is no ${ref}`);
  if (tip === to) return settle(null);
  if (tip !== from) return settle(`${ref} has moved again`);
  ports.reach("merge.before-land");
  const changes = [
    { ref, from, to },
    { ref: backupRef(op.id), from: null, to: from },
  ];
  const moved = await merging.updateRefs(changes, "overstory: put back what the last landing left");
  ports.reach("merge.after-land");
  return settle(moved.kind === "updated" ? null : moved.problem);
}
