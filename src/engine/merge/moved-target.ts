import { isIntegration } from "../../domain/merge/landing-branch.ts";
import { steeringGaps } from "../../domain/merge/steering.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import type { Tx } from "../../ports/store.ts";
import { askAboutTip, closeTipQuestions } from "../../usecases/merge/landing/branch-questions.ts";
import { leftTips } from "../../usecases/merge/landing/landing-target.ts";
import type { MergePorts } from "./ports.ts";
import { type SteeringPorts, touchedBy } from "./steering.ts";

export type TargetPorts = Pick<MergePorts, "store" | "clock" | "ids"> &
  SteeringPorts & {
    readonly merging: Pick<MergeGit, "commitOf" | "contains" | "subjectOf" | "headLogs">;
  };

export interface StrangeTarget {
  /** The last commit of the target that is known to be ours or the user's. */
  readonly expected: string;
  readonly problem: string;
}

export interface TargetTip {
  readonly target: string;
  readonly tip: string;
  /** A commit that is known to be right. Undefined: where our last operation left the target, or where work on it began. */
  readonly known?: string;
}

/**
 * Why the tip of a target must not be used: it changes files that decide how work is judged or that steer agents, and
 * neither an operation of ours nor a checkout of the user put it there. The operator was asked. A target is its users'
 * branch: all that they commit, pull or merge in a checkout is in the log of its HEAD, and is never asked about.
 */
export async function strangeTarget(
  ports: TargetPorts,
  { target, tip, known }: TargetTip,
): Promise<StrangeTarget | undefined> {
  const { store, merging, ids } = ports;
  const context = { ids, now: ports.clock.now() };
  const { last, intended } = await store.read((tx) => leftTips(tx, target));
  const isOurs = tip === last || intended.includes(tip);
  const before = isOurs ? tip : (known ?? last ?? (await begunAt(ports, target, tip)));
  const expected = before === undefined || before === tip ? before : await lastOfUser(ports, before, tip);
  const touched = expected === undefined || expected === tip ? [] : await touchedSince(ports, expected, tip);
  if (expected === undefined || touched.length === 0) {
    await store.transaction((tx) => closeTipQuestions(tx, context, target));
    return undefined;
  }
  const subject = await merging.subjectOf(tip);
  const isBack = await merging.contains(expected, tip);
  const runId = (await store.read((tx) => runsOn(tx, target)))[0]?.id ?? null;
  const steers = steeringGaps(touched);
  const asked = await store.transaction(async (tx) => {
    await closeTipQuestions(tx, context, target, { except: tip });
    return askAboutTip(tx, context, { landing: target, tip, expected, subject, isBack, lost: [], steers, runId });
  });
  const what = `${target} is at ${tip.slice(0, 10)}, which no landing and no checkout of yours put there, and ${steers[0]}`;
  const problem = `${what}; see: ov inbox, then: ov decide ${asked} accept, or: ov decide ${asked} 'put back'`;
  return { expected, problem };
}

const runsOn = async (tx: Tx, target: string) =>
  (await tx.runs.list(remembered)).filter(
    (run) => run.targetBranch === target && !isIntegration(run.landingBranch ?? ""),
  );

const remembered = 200;

/** Where the first agent of the newest run that lands on the target itself started. */
async function begunAt({ store, merging }: TargetPorts, target: string, tip: string): Promise<string | undefined> {
  const bases = await store.read(async (tx) => {
    const [run] = await runsOn(tx, target);
    const agents = run === undefined ? [] : await tx.agents.list({ runId: run.id });
    const seated = agents.filter(
      ({ baseCommit, worktreeKind }) => (baseCommit ?? "") !== "" && worktreeKind !== "root",
    );
    return seated
      .toSorted((one, other) => one.startedAt - other.startedAt)
      .flatMap(({ baseCommit }) => baseCommit ?? []);
  });
  // An agent that starts from a branch of its own says nothing about the target.
  for (const base of bases) if (await merging.contains(tip, base)) return base;
  return undefined;
}

/** The newest commit in the history of `tip` that was made or brought in in a checkout of the user; otherwise `before`. */
async function lastOfUser({ store, merging }: TargetPorts, before: string, tip: string): Promise<string> {
  const agents = await store.read((tx) => tx.agents.list({}));
  const theirs = new Set(agents.flatMap((agent) => (agent.worktreeKind === "root" ? [] : (agent.worktreePath ?? []))));
  const logs = (await merging.headLogs()).filter(({ checkout }) => !theirs.has(checkout));
  if (logs.some(({ commits }) => commits.includes(tip))) return tip;
  for (const { commits } of logs) {
    for (const commit of [...new Set(commits.toReversed())].slice(0, mostLooked)) {
      if ((await merging.commitOf(commit)) === undefined || !(await merging.contains(tip, commit))) continue;
      if (!(await merging.contains(before, commit))) return commit;
    }
  }
  return before;
}

/** Each commit takes two git processes, and only a target that looks strange gets here. */
const mostLooked = 20;

async function touchedSince(ports: TargetPorts, from: string, tip: string) {
  const added = await touchedBy(ports, { tip: from, head: tip });
  // Moved back or sideways, it may have lost what judged the work.
  return (await ports.merging.contains(tip, from))
    ? added
    : [...added, ...(await touchedBy(ports, { tip, head: from }))];
}
