import { Failure } from "../../domain/failure.ts";
import { bringsTarget, type MergeEntry } from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import type { RefChange } from "../../ports/merge-git.ts";
import { isUnderWay } from "../../usecases/merge/landing/landing-target.ts";
import { filesBrought } from "../../usecases/merge/landing/taken-out.ts";
import { readyMerges } from "../../usecases/merge/queue/queue-state.ts";
import { blocked, rejected } from "../../usecases/merge/queue/settle-entry.ts";
import { SingleFlight } from "../single-flight.ts";
import { askAhead, claimEntries, endLostGates, freeLostEntries } from "./claims.ts";
import { recoverLandings } from "./land.ts";
import { catchUp, retarget } from "./landing-branch.ts";
import { restoreTip } from "./landing-tip.ts";
import { branchRef, type MergePorts, mergeContext, queueRef, queueRefs } from "./ports.ts";
import { promote } from "./promote.ts";
import { lookForProofs } from "./proofs.ts";
import { leaveOut } from "./rewritten-target.ts";
import type { Slots } from "./slots.ts";
import { concernsOf } from "./steering.ts";
import { takenOutOf } from "./taken-out.ts";
import { runTrainOf, type TrainJob } from "./train/run-train.ts";
import { undo } from "./undo.ts";

interface MergeTools {
  readonly slots: Slots;
  readonly stop: AbortSignal;
  /** Called when something may have changed by a pass. */
  readonly wake: () => void;
}

/**
 * Brings branches in, one pass at a time. What a pass is doing is in the database before it is done, so a worker that
 * dies is followed by one that first finds out how far it had come.
 */
export class MergeWorker {
  readonly #ports: MergePorts;
  readonly #slots: Slots;
  readonly #stop: AbortSignal;
  #gatesEnded = false;
  /** Somebody may have broken off in the middle of a landing: an engine before us, or we ourselves. */
  #inDoubt: "died" | "broke" | undefined = "died";
  readonly #flight: SingleFlight;
  readonly #wake: () => void;
  /** Entries that wait for an approval and were looked at, with their commits. */
  readonly #lookedAt = new Set<string>();

  constructor(ports: MergePorts, { slots, stop, wake }: MergeTools) {
    this.#ports = ports;
    this.#slots = slots;
    this.#stop = stop;
    this.#wake = wake;
    this.#flight = new SingleFlight(() => this.#pass(), { report: ports.report, wake });
  }

  look(): void {
    this.#flight.ask();
  }

  settled(): Promise<void> {
    return this.#flight.settled();
  }

  /** No pass is going on. */
  get isResting(): boolean {
    return !this.#flight.isFlying;
  }

  /** What gates of an earlier engine left behind is out of the way: others may use the pool, too. */
  get poolIsFree(): boolean {
    return this.#gatesEnded;
  }

  async #pass(): Promise<boolean> {
    const isFirst = !this.#gatesEnded;
    if (!this.#gatesEnded) await endLostGates(this.#ports);
    if (this.#inDoubt !== undefined) {
      await recoverLandings(this.#ports);
      await freeLostEntries(this.#ports, this.#inDoubt);
      this.#inDoubt = undefined;
    }
    if (!this.#gatesEnded) {
      this.#gatesEnded = true;
      this.#wake();
    }
    const operated = await this.#operate();
    await this.#alone(() => this.#lookAhead(), undefined);
    const trains = await this.#trains().catch(async (error: unknown) => {
      await noteTrouble(this.#ports, error).catch(this.#ports.report);
      throw error;
    });
    const ended = await Promise.all(
      trains.map((job) => {
        const train = { ...job, slots: this.#slots, stop: this.#stop, onSettled: this.#wake };
        return this.#alone(() => runTrainOf(this.#ports, train).then(() => true), false);
      }),
    );
    if (ended.includes(false)) this.#inDoubt = "broke";
    const mayHaveMoved = operated || trains.length > 0;
    if (mayHaveMoved || isFirst) await this.#alone(() => lookForProofs(this.#ports), undefined);
    return mayHaveMoved;
  }

  /** What breaks is put on record and keeps nothing else from being done; nor does the pass end while others go on. */
  async #alone<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // Cut short on purpose; the next engine takes it up.
      if (!this.#stop.aborted) this.#ports.report(error);
      return otherwise;
    }
  }

  /**
   * The same for what a person asked for and may be waiting for: they read why it did not work yet, and it is tried
   * again by itself.
   */
  async #asked(op: MergeOp, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      if (this.#stop.aborted) return false;
      this.#ports.report(error);
      this.#flight.tryLater();
      const { store, clock } = this.#ports;
      const change = { problem: wordsOf(error), updatedAt: clock.now() };
      // The store may be what is broken; the report above says so.
      await store.transaction((tx) => tx.mergeOps.settle(op.id, change)).catch(this.#ports.report);
      return false;
    }
  }

  /** What a person asked for comes before what the queue holds. */
  async #operate(): Promise<boolean> {
    const open = await this.#ports.store.read((tx) => tx.mergeOps.list({ status: "intended" }));
    let did = false;
    for (const op of open.toReversed()) {
      if (op.kind === "undo")
        did = (await this.#asked(op, () => undo(this.#ports, op, { slots: this.#slots, stop: this.#stop }))) || did;
      if (op.kind === "promote")
        did = (await this.#asked(op, () => promote(this.#ports, op, { slots: this.#slots, stop: this.#stop }))) || did;
      if (op.kind === "restore") {
        const tools = { slots: this.#slots, stop: this.#stop };
        const restore = () =>
          op.request.dropped === undefined ? restoreTip(this.#ports, op) : leaveOut(this.#ports, op, tools);
        did = (await this.#asked(op, restore)) || did;
      }
    }
    return did;
  }

  /**
   * Whoever approves an entry should know its commit, and what is asked about it. Each commit is looked at once.
   */
  async #lookAhead(): Promise<void> {
    const pending = await this.#ports.store.read((tx) => tx.merges.list({ statuses: ["pending"] }));
    const waiting = pending.filter(({ approval }) => approval === "waiting");
    const unknown = waiting.filter(({ headCommit }) => headCommit === "");
    const known = [...waiting.filter((entry) => !unknown.includes(entry)), ...(await knowHeads(this.#ports, unknown))];
    const fresh = known.filter(
      ({ id, headCommit, dependsOn, causeDetail }) =>
        // What it depends on is a part of the difference until that has landed.
        dependsOn.length === 0 && causeDetail?.difference === undefined && !this.#lookedAt.has(`${id} ${headCommit}`),
    );
    for (const { id, headCommit } of fresh) this.#lookedAt.add(`${id} ${headCommit}`);
    const { merging } = this.#ports;
    const commits = await Promise.all(fresh.map(({ headCommit }) => merging.commitOf(headCommit)));
    const there = fresh.filter((_, at) => commits[at] !== undefined);
    if (there.length > 0) await askAhead(this.#ports, there, await concernsOf(this.#ports, there));
  }

  async #trains(): Promise<readonly Pick<TrainJob, "target" | "entries" | "concerns">[]> {
    const ready = (): Promise<readonly MergeEntry[]> =>
      this.#ports.store.read((tx) => readyMerges(tx, mergeContext(this.#ports)));
    const first = await ready();
    if (first.length === 0) return [];
    // Git lists them while the landing branch is seen to. Whoever moves a ref since is noticed when it is pinned.
    const refs = readRefs(this.#ports, [heads, ...pins]);
    refs.catch(() => undefined);
    void this.#ports.merging.expectMerges();
    const there = await retarget(this.#ports, first);
    const placed = (await this.#catchUp(there)) ? await retarget(this.#ports, await ready()) : there;
    const headed = await findHeads(this.#ports, placed, await refs);
    const [pinned, concerns] = await Promise.all([
      pinHeads(this.#ports, headed, await refs),
      concernsOf(
        this.#ports,
        headed.map(({ entry, head }) => ({ ...entry, headCommit: head })),
      ),
    ]);
    const claimed = await claimEntries(this.#ports, pinned, concerns);
    const targets = new Map<string, MergeEntry[]>();
    // The target's own commits come first: everything else is judged on top of them.
    const ordered = claimed.toSorted((a, b) => Number(bringsTarget(b)) - Number(bringsTarget(a)));
    for (const entry of ordered) targets.set(entry.targetBranch, [...(targets.get(entry.targetBranch) ?? []), entry]);
    return [...targets].map(([target, entries]) => ({ target, entries, concerns }));
  }

  /** Landing branches get the newest commits of their targets before anything lands there. True when some are queued. */
  async #catchUp(entries: readonly MergeEntry[]): Promise<boolean> {
    const runs = new Map(entries.map(({ targetBranch, runId }) => [targetBranch, runId]));
    let queued = false;
    for (const [landing, runId] of runs) {
      const entry = await catchUp(this.#ports, landing, runId);
      if (entry !== undefined && isUnderWay(entry, this.#ports.clock.now())) queued = true;
    }
    return queued;
  }
}

/** Whoever waits for an entry that could land now reads why the look at the queue failed. */
async function noteTrouble(ports: MergePorts, error: unknown): Promise<void> {
  const context = mergeContext(ports);
  const detail = { cause: "git_error", causeDetail: { message: wordsOf(error) }, updatedAt: context.now } as const;
  await ports.store.transaction(async (tx) => {
    for (const { id } of await readyMerges(tx, context)) await tx.merges.change(id, ["pending"], detail);
  });
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const heads = "refs/heads/";
const rescues = "refs/overstory/rescue/";
/** Where the refs are that pinning reads or writes. */
const pins = [queueRefs, rescues];

interface Headed {
  readonly entry: MergeEntry;
  readonly head: string;
}

/** It is taken up for the first time. */
const isFresh = ({ attempts, headCommit }: MergeEntry): boolean => attempts === 0 || headCommit === "";

/**
 * The entries that can be merged, each with its commit, which is read from the branch where nobody knew it. What has no
 * branch is sent back.
 */
async function findHeads(
  ports: MergePorts,
  entries: readonly MergeEntry[],
  refs: ReadonlyMap<string, string>,
): Promise<readonly Headed[]> {
  const branches = [...refs].filter(([ref]) => ref.startsWith(heads));
  const tips = new Map(branches.map(([ref, commit]) => [ref.slice(heads.length), commit]));
  const known = await existing(ports, entries.filter(isFresh), tips);
  const found: Headed[] = [];
  for (const entry of entries) {
    const { branch, headCommit } = entry;
    const announced = !isFresh(entry) || known.has(headCommit) ? headCommit : undefined;
    const head = headCommit === "" ? tips.get(branch) : announced;
    if (head === undefined) await bounce(ports, entry);
    else found.push({ entry, head });
  }
  return found;
}

/** Pins the commit of every entry that is taken up for the first time. Answers the entries whose commits are pinned. */
async function pinHeads(
  ports: MergePorts,
  headed: readonly Headed[],
  refs: ReadonlyMap<string, string>,
): Promise<readonly MergeEntry[]> {
  const fresh = headed.filter(({ entry }) => isFresh(entry));
  const problems = await pinEach(ports, fresh, refs);
  for (const { entry } of fresh) {
    const problem = problems.get(entry.id);
    if (problem !== undefined) await blockFor(ports, entry, problem);
  }
  return learnHeads(
    ports,
    headed.filter(({ entry }) => !problems.has(entry.id)),
  );
}

/**
 * Pins all commits together where git does it, else one by one: something may be in the way of one ref only. Answers by
 * the number of the entry why its commit is not pinned.
 */
async function pinEach(
  ports: MergePorts,
  fresh: readonly Headed[],
  refs: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<number, string>> {
  const all = await pin(ports, new Map(fresh.map(({ entry, head }) => [entry.id, head])), refs);
  if (all === undefined) return new Map();
  const problems = new Map<number, string>();
  for (const { entry, head } of fresh) {
    const problem =
      fresh.length === 1 ? all : await pin(ports, new Map([[entry.id, head]]), await readRefs(ports, pins));
    if (problem !== undefined) problems.set(entry.id, problem);
  }
  return problems;
}

/** Finds and pins the commits of entries that are not taken up yet. */
async function knowHeads(ports: MergePorts, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  if (entries.length === 0) return [];
  const refs = await readRefs(ports, [heads, ...pins]);
  return pinHeads(ports, await findHeads(ports, entries, refs), refs);
}

/** All of them through one process: a queue may hold a hundred branches. */
async function readRefs({ merging }: MergePorts, prefixes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map((await merging.refsBelow(...prefixes)).map(({ ref, commit }) => [ref, commit]));
}

/** Commits that were announced and exist; most are the tip of their branch. */
async function existing(
  { merging }: MergePorts,
  entries: readonly MergeEntry[],
  tips: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const atTips = new Set(tips.values());
  const known = new Set<string>();
  for (const { headCommit } of entries) {
    if (headCommit === "") continue;
    if (atTips.has(headCommit) || (await merging.commitOf(headCommit)) === headCommit) known.add(headCommit);
  }
  return known;
}

/** Answers what keeps the commits from being pinned. `refs` are the pins as they were a moment ago. */
async function pin(
  ports: MergePorts,
  found: ReadonlyMap<number, string>,
  refs: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const { merging } = ports;
  let problem: string | undefined;
  for (let tries = 0; tries < mostTries; tries++) {
    const there = tries === 0 ? refs : await readRefs(ports, pins);
    const changes = [...found].flatMap(([id, commit]) => pinning(there, id, commit));
    if (changes.length === 0) return undefined;
    try {
      const pinned = await merging.updateRefs(changes, "overstory: queued");
      if (pinned.kind === "updated") return undefined;
      problem = pinned.problem;
      if (pinned.kind === "locked") break;
    } catch (error) {
      if (error instanceof Failure && error.data.kind === "disk-full") throw error;
      problem = wordsOf(error);
      break;
    }
  }
  return problem;
}

/** The merge is tried again, because a lock is released some time. The operator is told which lock is in the way. */
async function blockFor(ports: MergePorts, entry: MergeEntry, problem: string): Promise<void> {
  const context = mergeContext(ports);
  const message = `its commit could not be kept by a ref: ${problem}`;
  const block = { cause: "git_error", detail: { message }, notBefore: context.now + retryLockedMs } as const;
  await ports.store.transaction((tx) => blocked(tx, context, entry, block));
}

const retryLockedMs = 30_000;

/** Somebody else may pin at the same time. */
const mostTries = 3;

/** An entry never changes its head: another one under its number is of a queue that was thrown away, and is kept. */
function pinning(there: ReadonlyMap<string, string>, id: number, to: string): readonly RefChange[] {
  const ref = queueRef(id);
  const from = there.get(ref) ?? null;
  if (from === to) return [];
  const rescue = `${rescues}queue-${id}-${from}`;
  const isKept = from === null || there.has(rescue);
  return [{ ref, from, to }, ...(isKept ? [] : [{ ref: rescue, from: null, to: from }])];
}

/** Puts the commits on record that were read from branches, and the files of those for which nobody named any. */
async function learnHeads(ports: MergePorts, kept: readonly Headed[]): Promise<readonly MergeEntry[]> {
  const news = kept.filter((one) => !isKnown(one));
  const files = await filesOf(
    ports,
    news.filter(({ entry }) => entry.filesModified.length === 0),
  );
  const updatedAt = ports.clock.now();
  const changes = new Map(
    news.map(({ entry: { id, filesModified }, head }) => {
      return [id, { headCommit: head, filesModified: files.get(id) ?? filesModified, updatedAt }];
    }),
  );
  if (changes.size > 0) {
    await ports.store.transaction(async (tx) => {
      for (const [id, change] of changes) await tx.merges.change(id, ["pending", "blocked"], change);
    });
  }
  return kept.map(({ entry }) => ({ ...entry, ...changes.get(entry.id) }));
}

/** The mail that announced the head may have named no files. */
const isKnown = ({ entry: { attempts, headCommit, filesModified }, head }: Headed): boolean =>
  head === headCommit && (attempts > 0 || filesModified.length > 0);

/** The files that each branch brings, by the number of its entry. Where a target is gone, the train says so. */
async function filesOf(ports: MergePorts, all: readonly Headed[]): Promise<ReadonlyMap<number, readonly string[]>> {
  const { merging } = ports;
  const files = new Map<number, readonly string[]>();
  for (const target of new Set(all.map(({ entry }) => entry.targetBranch))) {
    const onto = await merging.commitOf(branchRef(target));
    if (onto === undefined) continue;
    const others: Headed[] = [];
    for (const one of all.filter(({ entry }) => entry.targetBranch === target)) {
      const { entry, head } = one;
      const out = await takenOutOf(ports, entry.branch, onto);
      if (out.length === 0) others.push(one);
      else files.set(entry.id, await filesBrought(merging, { onto, head, out }));
    }
    const lists = await merging.changedFilesOfEach(
      onto,
      others.map(({ head }) => head),
    );
    for (const [at, { entry }] of others.entries()) files.set(entry.id, lists[at] ?? []);
  }
  return files;
}

async function bounce(ports: MergePorts, entry: MergeEntry): Promise<void> {
  const message =
    entry.headCommit === "" ? `there is no branch ${entry.branch}` : `${entry.headCommit} is no commit of this project`;
  await ports.store.transaction((tx) =>
    rejected(tx, mergeContext(ports), entry, { status: "failed", cause: "missing_ref", detail: { message } }),
  );
}
