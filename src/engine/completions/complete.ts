import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Missing, StoredCheck } from "../../domain/completion/check.ts";
import { hasCode, missingFrom, type WorkSeen } from "../../domain/completion/rules.ts";
import type { Receipt } from "../../domain/gate/gate.ts";
import { steersAgents } from "../../domain/guard/steering-files.ts";
import { joinCommand, lostPointerWords } from "../../domain/merge/words.ts";
import { isLastReviewer } from "../../domain/run/run.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { Tx } from "../../ports/store.ts";
import type { WorktreeFacts } from "../../ports/worktrees.ts";
import { acceptCompletion, lacking, type ProvedWork } from "../../usecases/completions/accept.ts";
import { givenBranches, roleFacts } from "../../usecases/completions/role-facts.ts";
import { tellUnmended, unmendedGap, unmendedReview } from "../../usecases/completions/unmended-review.ts";
import { unreadBeforeFinish, unreadMail } from "../../usecases/mail/before-finish.ts";
import { loadFollower } from "../../usecases/mail/followers.ts";
import { tellOperator } from "../../usecases/mail/post.ts";
import { commandFor } from "../../usecases/merge/generated-files.ts";
import { targetOf } from "../../usecases/merge/landing/landing-target.ts";
import { judgePairs } from "../../usecases/merge/radar.ts";
import { lookAtLanded } from "../../usecases/runs/complete-run.ts";
import { listCriteria } from "../../usecases/runs/criteria.ts";
import type { LandedLook } from "../../usecases/runs/end-after-review.ts";
import { worktreeOf } from "../../usecases/worktrees/owners.ts";
import { droppedByMerges } from "../merge/dropped-by-merge.ts";
import { lostFiles } from "../merge/lost-content.ts";
import { branchRef, mergeContext } from "../merge/ports.ts";
import { baseOfTakenOut } from "../merge/taken-out.ts";
import type { CheckTools, CompletionPorts } from "./ports.ts";
import { requeue } from "./ports.ts";
import { proveForLanding } from "./prove.ts";

/** Looks at the work behind a completion, proves it, and accepts it. Throws `lacking` with the missing points. */
export async function complete(ports: CompletionPorts, tools: CheckTools, check: StoredCheck): Promise<void> {
  if (check.request.kind !== "completion") return;
  const request = check.request.done;
  const agent = await ports.store.read((tx) => tx.agents.get(check.agentId ?? ""));
  if (agent === undefined || hasEnded(agent)) throw lacking([{ ...ended, message: `${check.agentName} has ended` }]);
  const work = await look(ports, agent);
  const head = work?.head ?? null;
  const collision = head === null || !hasCode(work) ? undefined : await collisionOf(ports, agent, head);
  // A parent agent may have a merger settle the conflict. The operator would only be asked the same question again.
  if (collision?.isKnown === true && agent.parentName === "operator") throw lacking([missingFor(collision)]);
  if (await answerAsBefore(ports, check, work)) return;
  const unmended =
    head === null || !hasCode(work) ? undefined : await ports.store.read((tx) => unmendedReview(tx, agent, head));
  const unmerged = await unmergedBy(ports, agent, work);
  const lost = await lostBy(ports, agent, work);
  if (lost.length > 0) throw lacking(lost);
  if (request.expansionReason === null) {
    const leftOut = [...(await leftOutBy(ports, agent, work)), ...(await droppedBy(ports, agent, work))];
    if (leftOut.length > 0) throw lacking(leftOut);
  }
  const missing = await ports.store.read(async (tx) => {
    const told = [
      ...(collision === undefined ? [] : await tellConflict(tx, check, collision)),
      ...(unmended === undefined ? [] : await tellUnmended(tx, check, unmended)),
    ];
    const unread = await unreadBeforeFinish(tx, agent, check, ports.clock.now());
    const facts = { agent, request, work, unmerged, ...(await roleFacts(tx, agent, request)) };
    return [...missingFrom(facts), ...told, ...(unread.length === 0 ? [] : [unreadMail])];
  });
  if (missing.length > 0) throw lacking(missing);
  const steers = await steeringBy(ports, agent, work);
  const doubts = [
    ...(steers.length === 0 ? [] : [steeringGap(steers)]),
    ...(collision === undefined ? [] : [collisionGap(collision)]),
    ...(unmended === undefined ? [] : [unmendedGap(unmended)]),
  ];
  const proved = await proofOf(ports, tools, check, { agent, work, doubts });
  ports.reach("done.after-check");
  if (!isSame(work, await look(ports, agent))) return again(ports, check);
  const landedLook = request.verdict === "pass" ? await lookForRun(ports, agent) : undefined;
  await accept(ports, { check, request, work, unmerged, proved, landedLook }, steers);
  ports.reach("done.after-fact");
}

const ended = { kind: "ended", fix: "see what became of it: ov status --all" } as const;

async function look(ports: CompletionPorts, agent: Agent): Promise<WorktreeFacts | null> {
  const { worktrees, store } = ports;
  const worktree = worktreeOf(agent);
  if (worktree === undefined) return null;
  await worktrees.collect(worktree);
  const landing = await store.read((tx) => targetOf(tx, mergeContext(ports), agent.runId));
  const out = await baseOfTakenOut(ports, worktree, branchRef(landing));
  if (out === undefined) return worktrees.inspect(worktree);
  // It may have been taken out after the agent had begun. Later looks at its work go by the stored base.
  if (out.base !== agent.baseCommit) await store.transaction((tx) => tx.agents.setBase(agent.id, out.base));
  return worktrees.inspect({ ...worktree, baseCommit: out.base, baseRef: out.before });
}

const isSame = (a: WorkSeen | null, b: WorkSeen | null): boolean => a?.head === b?.head && a?.dirty === b?.dirty;

/** The same incarnation with the same commit was accepted before: that is still the answer, and nothing is sent twice. */
async function answerAsBefore(ports: CompletionPorts, check: StoredCheck, work: WorkSeen | null): Promise<boolean> {
  return ports.store.transaction(async (tx) => {
    const earlier = await tx.checks.completionsOf(check.agentId ?? "");
    const accepted = earlier.find(({ status, commitId }) => status === "done" && commitId === (work?.head ?? null));
    if (accepted === undefined) return false;
    const { commitId, verdict, receiptId } = accepted;
    const change = {
      status: "done",
      commitId,
      verdict,
      receiptId,
      progress: null,
      updatedAt: ports.clock.now(),
    } as const;
    return tx.checks.change(check.id, ["running"], change);
  });
}

/** Pointers to commits that only the worktree has, such as a repository inside it that was added: landing refuses them too. */
async function lostBy(ports: CompletionPorts, agent: Agent, work: WorkSeen | null): Promise<readonly Missing[]> {
  const head = work?.head;
  if (head == null || !hasCode(work) || agent.baseCommit === null) return [];
  return (await ports.merging.lostPointers(agent.baseCommit, head)).map(({ path, problem }) => ({
    kind: "lost-submodule",
    message: lostPointerWords({ path, problem }),
    fix: `if it is not meant to be one, take it out and commit: git rm --cached ${shellWord(path)}; its files stay in your worktree`,
    names: [path],
  }));
}

/** Changed files that steer agents. Whoever starts from this branch reads them, long before the operator is asked at landing. */
async function steeringBy(ports: CompletionPorts, agent: Agent, work: WorkSeen | null): Promise<readonly string[]> {
  const head = work?.head;
  if (head == null || !hasCode(work) || agent.baseCommit === null) return [];
  const changed = (await ports.merging.changedFiles(agent.baseCommit, head)).filter(steersAgents);
  if (changed.length === 0) return [];
  // What the branch took in of landed work is not its own.
  const landing = await ports.store.read((tx) => targetOf(tx, mergeContext(ports), agent.runId));
  const tip = await ports.merging.commitOf(branchRef(landing));
  const brought = tip === undefined ? changed : await ports.merging.changedFiles(tip, head);
  return changed.filter((file) => brought.includes(file));
}

const steeringGap = (files: readonly string[]): string =>
  `it changes ${namedIn(files)}, which steers each agent that starts from it, its reviewers too`;

/** Branches a merger was given that its own does not contain. */
async function unmergedBy(ports: CompletionPorts, agent: Agent, work: WorkSeen | null): Promise<readonly string[]> {
  const head = work?.head;
  if (agent.capability !== "merger" || head == null) return [];
  const unmerged: string[] = [];
  for (const branch of await ports.store.read((tx) => givenBranches(tx, agent))) {
    const tip = await ports.merging.commitOf(`refs/heads/${branch}`);
    if (tip !== undefined && !(await ports.merging.contains(head, tip))) unmerged.push(branch);
  }
  return unmerged;
}

/** Branches that a merger joined in name only: it has their commits, but not their changes. */
async function leftOutBy(ports: CompletionPorts, agent: Agent, work: WorkSeen | null): Promise<readonly Missing[]> {
  const { baseCommit: before } = agent;
  const after = work?.head;
  if (agent.capability !== "merger" || after == null || before === null) return [];
  const missing: Missing[] = [];
  for (const branch of await ports.store.read((tx) => givenBranches(tx, agent))) {
    const head = await ports.merging.commitOf(branchRef(branch));
    if (head === undefined || !(await ports.merging.contains(after, head))) continue;
    const files = await lostFiles(ports.merging, { before, after, head });
    if (files.length === 0) continue;
    missing.push({
      kind: "not-merged",
      message: `${branch} is in the history, but its changes of ${namedIn(files)} are not in the files`,
      fix: 'bring them in and commit, or say why they are left out: ov done --expansion-reason "<why>"; then the operator decides',
      names: [branch, ...files],
    });
  }
  return missing;
}

/** Merges of the branch that left out lines which others have landed. */
async function droppedBy(ports: CompletionPorts, agent: Agent, work: WorkSeen | null): Promise<readonly Missing[]> {
  const head = work?.head;
  if (head == null || !hasCode(work)) return [];
  const landing = await ports.store.read((tx) => targetOf(tx, mergeContext(ports), agent.runId));
  const tip = await ports.merging.commitOf(branchRef(landing));
  if (tip === undefined) return [];
  return (await droppedByMerges(ports, { tip, head })).dropped.flatMap(({ merge, files }) => {
    // The operator is asked at landing about files that were not compared.
    if (files.length === 0) return [];
    const id = merge.slice(0, 12);
    return {
      kind: "not-merged",
      message: `the merge ${id} left out lines that others have landed and that git would have taken in: ${namedIn(files)}`,
      fix: `git show --remerge-diff ${id} shows them: bring them back and commit, or say why they are left out: ov done --expansion-reason "<why>"; then the operator decides`,
      names: files,
    };
  });
}

async function proofOf(
  ports: CompletionPorts,
  tools: CheckTools,
  check: StoredCheck,
  {
    agent,
    work,
    doubts,
  }: { readonly agent: Agent; readonly work: WorkSeen | null; readonly doubts: readonly string[] },
): Promise<ProvedWork["proved"]> {
  if (work?.head == null || !hasCode(work)) return null;
  const { baseCommit } = agent;
  const gates = ports.rules.project.qualityGates;
  const proved = await proveForLanding(ports, tools, { check, commit: work.head, baseCommit, gates, useCache: true });
  const { failure, results, tree } = proved;
  const verdict = doubts.length > 0 && proved.verdict === "verified" ? "verified_with_gaps" : proved.verdict;
  const gaps = [...proved.gaps, ...doubts];
  if (failure !== undefined) throw lacking([await withWhatLanded(ports, agent, work.head, failure)]);
  const receipt: Receipt = {
    id: ports.ids.next("receipt"),
    kind: "completion",
    subject: `${agent.name}#${agent.generation}`,
    baseCommit,
    headCommit: work.head,
    tree,
    verdict,
    results: results.map(({ id }) => id),
    gaps,
    createdAt: ports.clock.now(),
  };
  return { receipt, proof: { receiptId: receipt.id, verdict, gaps, results } };
}

/**
 * A gate may fail because the branch lacks a newer landing. A builder merges only the branches that it is told to
 * merge.
 */
async function withWhatLanded(
  ports: CompletionPorts,
  { runId }: Agent,
  head: string,
  failure: Missing,
): Promise<Missing> {
  if (failure.kind !== "gate") return failure;
  const landing = await ports.store.read((tx) => targetOf(tx, mergeContext(ports), runId));
  const tip = await ports.merging.commitOf(branchRef(landing));
  if (tip === undefined || (await ports.merging.contains(head, tip))) return failure;
  const take = `if it needs what has landed since you began, take that in: ${joinCommand(landing)}`;
  return { ...failure, fix: `${failure.fix}; ${take}` };
}

/** The landed work of a run whose last reviewer passed all of it; undefined for every other reviewer. */
async function lookForRun(ports: CompletionPorts, agent: Agent): Promise<LandedLook | undefined> {
  const listed = await ports.store.read(async (tx) => {
    const run = await tx.runs.get(agent.runId);
    if (run === undefined || run.status !== "active" || !isLastReviewer(run, agent)) return undefined;
    return listCriteria.run(tx, mergeContext(ports), { runId: run.id });
  });
  return listed?.ok === true ? lookAtLanded(ports.merging, listed.value) : undefined;
}

/** Queues the check again: the agent went on while its gates ran, so the proved commit is not its newest. */
async function again({ store, clock }: CompletionPorts, check: StoredCheck): Promise<void> {
  await store.transaction((tx) => requeue(tx, check, clock.now()));
}

async function accept(ports: CompletionPorts, proved: ProvedWork, steers: readonly string[]): Promise<void> {
  for (const type of ["review", "worker_done", "merged"]) await loadFollower(type);
  await ports.store.transaction(async (tx) => {
    const now = await tx.checks.get(proved.check.id);
    if (now?.status !== "running") return;
    // Asked again in other words meanwhile: those count, and the gates need not run once more for them.
    if (JSON.stringify(now.request) !== JSON.stringify(proved.check.request)) {
      await requeue(tx, proved.check, ports.clock.now());
      return;
    }
    await acceptCompletion(tx, mergeContext(ports), proved);
    if (steers.length > 0) await tellOfSteering(tx, mergeContext(ports), proved.check, steers);
  });
}

async function tellOfSteering(
  tx: Tx,
  context: ReturnType<typeof mergeContext>,
  { agentName, agentId }: StoredCheck,
  files: readonly string[],
): Promise<void> {
  const agent = agentId === null ? undefined : await tx.agents.get(agentId);
  const name = agentName ?? "operator";
  await tellOperator(tx, context, {
    type: "status",
    priority: "normal",
    runId: agent?.runId ?? null,
    subject: `${name} changed what steers agents: ${files.length === 1 ? files[0] : `${files.length} files`}`,
    body: [
      `The finished work of ${name} changes ${namedIn(files)}. Each agent that starts from it reads that, its reviewers too.`,
      "It does not land before your word, where merge.gateChanges is ask. Look at it before you believe such a review:",
      `ov diff ${shellWord(name)}`,
    ].join("\n"),
  });
}

/** A conflict that no rule settles, and the branch where the work would land now. */
interface Collision {
  readonly landing: string;
  readonly files: readonly string[];
  /** The branch was sent back for a conflict, and no commit since then settled it. */
  readonly isKnown: boolean;
}

/** Does this commit conflict with the landing branch? If git cannot say, the merge worker decides later. */
async function collisionOf(
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
const missingFor = ({ landing, files }: Collision): Missing => ({
  kind: "conflict",
  message: `this branch was sent back for a conflict with ${landing}, and still conflicts${inFiles(files)}`,
  fix: `${joinCommand(landing)}, settle the files, commit, and run ov done again`,
  names: files,
});

/**
 * An agent whose work does not merge is told once, while it still has everything at hand: to settle it here takes no
 * further turn. When it finishes again as it was, its parent decides, which may have a merger for it.
 */
async function tellConflict(
  tx: Tx,
  { agentId, agentName, requestedBy }: StoredCheck,
  { landing, files, isKnown }: Collision,
): Promise<readonly Missing[]> {
  if (requestedBy !== agentName) return [];
  const before = await tx.checks.completionsOf(agentId ?? "");
  if (before.some(({ problem }) => problem.some(({ kind }) => kind === "conflict"))) return [];
  const what = isKnown ? "was sent back for a conflict with" : "conflicts with what has landed meanwhile on";
  return [
    {
      kind: "conflict",
      message: `this branch ${what} ${landing}${inFiles(files)}; it does not land before that is settled`,
      fix: `${joinCommand(landing)}, settle the files, commit, and run ov done again. If you cannot, run ov done again as it is: this is said once`,
      names: files,
    },
  ];
}

/** The conflict in words, for the agent or person who decides about the work. */
const collisionGap = ({ landing, files }: Collision): string =>
  `it conflicts with ${landing}${inFiles(files)}, and does not land before that is settled`;

const inFiles = (files: readonly string[]): string => (files.length === 0 ? "" : ` in ${namedIn(files)}`);
