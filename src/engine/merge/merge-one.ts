import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { Conflict } from "../../domain/merge/ladder.ts";
import { landingMessage, lostPointerWords } from "../../domain/merge/words.ts";
import type { HookVeto, LostPointer, ObjectMerge, ResolvedFile } from "../../ports/merge-git.ts";
import { environmentsOf, type GatedWork } from "../../usecases/gates/environments.ts";
import { ownerWithoutCommits } from "../../usecases/merge/branch-owner.ts";
import { commandFor, isMadeAgain, standIn } from "../../usecases/merge/generated-files.ts";
import { gatePorts } from "./checks.ts";
import { askInWork } from "./claims.ts";
import { doubtAboutContent } from "./lost-content.ts";
import { keepTerms, type MergePorts } from "./ports.ts";
import type { Slots } from "./slots.ts";
import { takenOutOf } from "./taken-out.ts";
import type { MergeAnswer } from "./train/steps.ts";

export interface MergeOne {
  /** The commit it is merged onto, and its tree. */
  readonly onto: { readonly commit: string; readonly tree: string };
  readonly entry: MergeEntry;
  readonly slots: Slots;
  readonly stop: AbortSignal;
  /** It is merged directly onto the landing branch, so a question to the operator would be about the real state. */
  readonly mayAsk: boolean;
}

/** Makes a two-parent commit out of a landing branch and one entry, as objects that no ref shows yet. */
export async function mergeOne(ports: MergePorts, request: MergeOne): Promise<MergeAnswer> {
  const { merging } = ports;
  const { onto, entry } = request;
  const out = await takenOutOf(ports, entry.branch, onto.commit);
  if (out.length > 0) return mergeAgain(ports, request, new Set(out.map(({ by }) => by)));
  const merged = await merging.merge(onto.commit, entry.headCommit);
  if (merged.kind === "clean" && merged.tree === onto.tree && (await merging.contains(onto.commit, entry.headCommit))) {
    return alreadyThere(ports, request);
  }
  const settled = await settle(ports, request, merged);
  if (settled.kind !== "settled") return settled;
  const { tree, strategy } = settled;
  const tier = strategy === null ? "clean-merge" : "auto-resolve";
  return commit(ports, request, { tree, tier, strategy });
}

async function alreadyThere(ports: MergePorts, { onto, entry, mayAsk }: MergeOne): Promise<MergeAnswer> {
  const idle = await ports.store.read((tx) => ownerWithoutCommits(tx, entry.branch, entry.headCommit));
  if (idle === undefined) {
    const doubt = await doubtAboutContent(ports, onto.commit, entry);
    if (doubt !== undefined && !mayAsk) return { kind: "later" };
    if (doubt !== undefined && (await askInWork(ports, entry, doubt))) return { kind: "waiting" };
    return { kind: "merged", ...onto, tier: "clean-merge", strategy: null };
  }
  return stop("missing_ref", `${entry.branch} has no commits of its own: ${idle.name} committed nothing to land`);
}

/**
 * Work that landed and was undone is in the history but not in the tree. It is brought back first, and the newer commits
 * of the branch are merged on top.
 */
async function mergeAgain(ports: MergePorts, request: MergeOne, undos: ReadonlySet<string>): Promise<MergeAnswer> {
  const { merging } = ports;
  const { entry } = request;
  const message = `Bring back what was taken out of ${entry.branch}`;
  const strategies = new Set<string>();
  let { onto } = request;
  for (const undo of undos) {
    const back = await settle(ports, { ...request, onto }, await merging.revert(undo, onto.commit));
    if (back.kind !== "settled") return back;
    if (back.strategy !== null) strategies.add(back.strategy);
    onto = { tree: back.tree, commit: await merging.commit({ tree: back.tree, parents: [onto.commit], message }) };
  }
  let { tree } = onto;
  if (!(await merging.contains(request.onto.commit, entry.headCommit))) {
    const settled = await settle(ports, { ...request, onto }, await merging.merge(onto.commit, entry.headCommit));
    if (settled.kind !== "settled") return settled;
    if (settled.strategy !== null) strategies.add(settled.strategy);
    ({ tree } = settled);
  }
  const strategy = [...strategies].toSorted().join("+") || "redo";
  return commit(ports, request, { tree, tier: "auto-resolve", strategy });
}

type Stopped = Exclude<MergeAnswer, { kind: "merged" | "waiting" | "later" }>;
type Settling = { readonly kind: "settled"; readonly tree: string; readonly strategy: string | null } | Stopped;

/** Settles the conflicts of a merge by the rules of the ladder, or says why it stops. */
async function settle(ports: MergePorts, request: MergeOne, merged: ObjectMerge): Promise<Settling> {
  const { entry } = request;
  switch (merged.kind) {
    case "clean":
      return { kind: "settled", tree: merged.tree, strategy: null };
    case "unrelated":
      return stop("no_common_history", `${entry.branch} and ${entry.targetBranch} have no common history`);
    case "failed":
      if (merged.files === undefined) return stop("git_error", merged.problem);
      return { kind: "stopped", cause: "conflict", detail: { message: merged.problem, files: merged.files } };
    case "conflicts":
      return settleConflicts(ports, request, merged);
  }
}

interface Unsettled {
  readonly path: string;
  readonly reason: string;
}

async function settleConflicts(
  ports: MergePorts,
  { onto, entry, slots, stop: signal }: MergeOne,
  { tree, conflicts }: Extract<ObjectMerge, { kind: "conflicts" }>,
): Promise<Settling> {
  const made = conflicts.filter((conflict) => isMadeAgain(ports.rules, conflict));
  const files: ResolvedFile[] = [];
  const strategies = new Set<string>();
  const open: Unsettled[] = [];
  for (const conflict of conflicts) {
    if (made.includes(conflict)) continue;
    const answer = await ports.resolve({ conflict, ours: onto.commit, theirs: entry.headCommit });
    if (answer.kind === "escalate") open.push({ path: conflict.path, reason: answer.reason });
    else {
      files.push(answer.file);
      strategies.add(answer.strategy);
    }
  }
  if (open.length > 0) return unsettled(open);
  if (made.length > 0) {
    strategies.add("regenerate");
    const ours = await Promise.all(made.map((conflict) => standIn(ports.merging, conflict)));
    const ready = await ports.merging.withFiles(tree, [...files, ...ours]);
    const answers = await regenerate(ports, {
      tree: ready,
      parent: onto.commit,
      conflicts: made,
      work: entry,
      slots,
      signal,
    });
    for (const [at, { path }] of made.entries()) {
      const file = answers[at];
      if (file !== undefined) files.push(file);
      else open.push({ path, reason: `it could not be made again by: ${commandFor(ports.rules, path)}` });
    }
  }
  if (open.length > 0) return unsettled(open);
  const strategy = [...strategies].toSorted().join("+");
  return { kind: "settled", tree: await ports.merging.withFiles(tree, files), strategy };
}

function unsettled(open: readonly Unsettled[]): Stopped {
  const [first] = open;
  const more = open.length === 1 ? "" : ` (and ${open.length - 1} more)`;
  const message = `${first?.path}: ${first?.reason}${more}`;
  return { kind: "stopped", cause: "conflict", detail: { message, files: open.map(({ path }) => path) } };
}

async function commit(
  ports: MergePorts,
  { onto, entry, slots }: MergeOne,
  how: { tree: string; tier: "clean-merge" | "auto-resolve"; strategy: string | null },
): Promise<MergeAnswer> {
  const { merging, store, rules } = ports;
  const { taskId } = entry;
  const title = taskId === null ? null : ((await store.read((tx) => tx.tasks.get(taskId)))?.title ?? null);
  const message = landingMessage({ ...entry, ...how, title });
  // The commit is made while git looks for the pointers; an unwanted commit is then an object without a ref.
  const [lost, made] = await Promise.all([
    merging.lostPointers(onto.tree, how.tree),
    merging.commit({ tree: how.tree, parents: [onto.commit, entry.headCommit], message }),
  ]);
  if (lost.length > 0) return lostSubmodules(lost);
  if (rules.merge.runGitHooks && (await merging.hooks()).trusted.length > 0) {
    const veto = await slots.use(async (slot) => {
      const { path: checkout } = await merging.checkOut(slot, made, keepTerms(ports, onto.commit));
      const { newRun, recordProcess: record } = gatePorts(ports);
      return merging.runHooks({ checkout, message, newRun, record });
    });
    if (veto !== undefined) return refusedByHook(veto, entry);
  }
  return { kind: "merged", commit: made, ...how };
}

/** The message of a merge commit is ours, so no change of the branch can satisfy a hook that judges messages. */
function refusedByHook({ hook, words }: HookVeto, { taskId }: MergeEntry): Stopped {
  if (hook !== "commit-msg") {
    return stop("hook_rejected", `the hook ${hook} of this project refused the merge: ${words}`);
  }
  const title = taskId === null ? "" : `, or another title of the task (ov task update ${taskId} --title <text>)`;
  const message = [
    `the hook ${hook} of this project refused the message of our merge commit: ${words}`,
    "Nothing is known to be wrong with the branch. The message begins with: Merge <title or branch> into <target>.",
    `Ways on: a hook that accepts such messages${title}, or no merge hooks: ov config set merge.runGitHooks false`,
  ].join("\n");
  return { kind: "blocked", cause: "hook_rejected", detail: { message } };
}

/** A pointer to a commit that only a worktree has, or nothing at all, could not be checked out elsewhere. */
function lostSubmodules(lost: readonly LostPointer[]): Stopped {
  const message = lost.map(lostPointerWords).join("; ");
  return { kind: "stopped", cause: "lost_submodule", detail: { message, files: lost.map(({ path }) => path) } };
}

const stop = (cause: Stopped["cause"], message: string): Stopped => ({ kind: "stopped", cause, detail: { message } });

/** Lock files of large projects take a while. */
const limitMs = 600_000;

interface Generated {
  /** Everything else settled, with our version of the generated files in it. */
  readonly tree: string;
  readonly parent: string;
  readonly conflicts: readonly Conflict[];
  /** The work with the conflict. Commands run with the rights of the agents that made it. */
  readonly work: GatedWork;
  readonly slots: Slots;
  readonly signal: AbortSignal;
}

/**
 * Makes generated files again in a checkout of the merged sources. The command is code of the project: it runs as gates do.
 * Undefined for a file that was not made.
 */
async function regenerate(ports: MergePorts, generated: Generated): Promise<readonly (ResolvedFile | undefined)[]> {
  const { merging } = ports;
  const { tree, parent, conflicts, work, slots, signal } = generated;
  const environments = await ports.store.read((tx) => environmentsOf(tx, [work]));
  const commit = await merging.commit({ tree, parents: [parent], message: "to be made again\n" });
  return slots.use(async (slot) => {
    const { path: root } = await merging.checkOut(slot, commit, keepTerms(ports, parent));
    const made: (ResolvedFile | undefined)[] = [];
    const ran = new Set<string>();
    for (const { path, ours } of conflicts) {
      const command = commandFor(ports.rules, path) ?? "false";
      const directory = path.includes("/") ? `${root}/${path.slice(0, path.lastIndexOf("/"))}` : root;
      const key = `${directory}\0${command}`;
      const passed = ran.has(key) || (await run(ports, { command, cwd: directory, environments, signal }));
      if (passed) ran.add(key);
      const content = passed ? await ports.readFile(`${root}/${path}`) : undefined;
      made.push(content === undefined ? undefined : { path, mode: ours?.mode ?? "100644", content });
    }
    return made;
  });
}

interface Making {
  readonly command: string;
  readonly cwd: string;
  readonly environments: readonly string[];
  readonly signal: AbortSignal;
}

async function run(ports: MergePorts, { command, cwd, environments, signal }: Making): Promise<boolean> {
  const { newRun, recordProcess } = gatePorts(ports);
  const commandRun = newRun();
  let noteEnd: (() => Promise<void>) | undefined;
  const logDir = ports.mergeLogDir(ports.ids.next("made"));
  try {
    const { status } = await ports.gateRunner.run({
      run: commandRun,
      gate: { name: "regenerate", command, timeoutMs: limitMs, required: true, paths: [] },
      cwd,
      logPath: `${logDir}/regenerate.log`,
      env: {},
      environments,
      signal,
      onStart: async (identity) => {
        noteEnd = await recordProcess(identity, commandRun);
      },
    });
    return status === "passed";
  } finally {
    await noteEnd?.();
  }
}
