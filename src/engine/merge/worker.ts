import { bringsTarget, type MergeEntry } from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { isUnderWay } from "../../usecases/merge/landing/landing-target.ts";
import { readyMerges } from "../../usecases/merge/queue/queue-state.ts";
import { SingleFlight } from "../single-flight.ts";
import { askAhead, claimEntries, endLostGates, freeLostEntries, mayLand } from "./claims.ts";
import { recoverLandings } from "./land.ts";
import { catchUp, retarget } from "./landing-branch.ts";
import { restoreTip } from "./landing-tip.ts";
import { type MergePorts, mergeContext, problemOf } from "./ports.ts";
import { promote } from "./promote.ts";
import { lookForProofs } from "./proofs.ts";
import { findHeads, knowHeads, pinHeads, readHeads } from "./queued-commits.ts";
import { leaveOut } from "./rewritten-target.ts";
import type { Slots } from "./slots.ts";
import { type Concerns, concernsOf } from "./steering.ts";
import { runTrainOf, type TrainJob } from "./train/run-train.ts";
import { undo } from "./undo.ts";
import { lookTogether } from "./unreadable-branches.ts";

interface MergeTools {
  readonly slots: Slots;
  readonly stop: AbortSignal;
  /** Called when something may have changed by a pass. */
  readonly wake: () => void;
}

/**
 * Merges branches, one pass at a time. A pass stores each step before it takes it, so the successor of a dead worker
 * first finds out how far the pass had come.
 */
export class MergeWorker {
  readonly #ports: MergePorts;
  readonly #slots: Slots;
  readonly #stop: AbortSignal;
  #gatesEnded = false;
  /** A landing may have been broken off in the middle: by an engine before this one, or by this one. */
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
    const trains = await this.#trains();
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

  /** Stores a failure and lets all other work go on; the pass does not end before that other work has ended. */
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
      const change = { problem: problemOf(error), updatedAt: clock.now() };
      // The broken part may be the store itself; the report above says so.
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
   * Looks at each new commit once before a person approves it: they should know the commit, and the questions about it.
   */
  async #lookAhead(): Promise<void> {
    const waiting = async (): Promise<readonly MergeEntry[]> => {
      const pending = await this.#ports.store.read((tx) => tx.merges.list({ statuses: ["pending"] }));
      return pending.filter(({ approval }) => approval === "waiting");
    };
    const noteLook = (entries: readonly MergeEntry[]): void => {
      for (const { id, headCommit } of entries) this.#lookedAt.add(`${id} ${headCommit}`);
    };
    try {
      noteLook(await lookTogether(this.#ports, waiting, (entries) => this.#lookAt(entries)));
    } catch (error) {
      noteLook(await waiting());
      throw error;
    }
  }

  async #lookAt(waiting: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
    const unknown = waiting.filter(({ headCommit }) => headCommit === "");
    const known = [...waiting.filter((entry) => !unknown.includes(entry)), ...(await knowHeads(this.#ports, unknown))];
    const fresh = known.filter(
      ({ id, headCommit, dependsOn, causeDetail }) =>
        // Until the entries that it depends on have landed, their work is part of its difference.
        dependsOn.length === 0 && causeDetail?.difference === undefined && !this.#lookedAt.has(`${id} ${headCommit}`),
    );
    const { merging } = this.#ports;
    const commits = await Promise.all(fresh.map(({ headCommit }) => merging.commitOf(headCommit)));
    const there = fresh.filter((_, at) => commits[at] !== undefined);
    if (there.length > 0) await askAhead(this.#ports, there, (await concernsOf(this.#ports, there)).concerns);
    return fresh;
  }

  async #trains(): Promise<readonly Pick<TrainJob, "target" | "entries" | "concerns" | "lookedOn">[]> {
    const looks = await this.#looks();
    const concerns = new Map(looks.flatMap((look) => [...look.concerns]));
    const pinned = looks.flatMap((look) => look.pinned);
    const claimed = await claimEntries(this.#ports, pinned, concerns);
    const targets = new Map<string, MergeEntry[]>();
    // Entries with the target's own commits come first: all others are judged on top of them.
    const ordered = claimed.toSorted((a, b) => Number(bringsTarget(b)) - Number(bringsTarget(a)));
    for (const entry of ordered) targets.set(entry.targetBranch, [...(targets.get(entry.targetBranch) ?? []), entry]);
    return [...targets].map(([target, entries]) => {
      const tips = new Set(looks.flatMap((look) => look.tips.get(target) ?? []));
      return { target, entries, concerns, lookedOn: tips.size === 1 ? [...tips][0] : undefined };
    });
  }

  readonly #ready = (): Promise<readonly MergeEntry[]> =>
    this.#ports.store.read(async (tx) => mayLand(tx, await readyMerges(tx, mergeContext(this.#ports))));

  /**
   * One look at everything that could land now. Where it fails, and git can read every branch, each run and target gets
   * a look of its own, and where that fails, each entry: trouble with one keeps no other one waiting.
   */
  async #looks(): Promise<readonly Look[]> {
    try {
      return [await lookTogether(this.#ports, this.#ready, (entries) => this.#lookAtReady(entries))];
    } catch (error) {
      const groupOf = ({ targetBranch, runId }: MergeEntry): string => JSON.stringify([targetBranch, runId]);
      const groups = new Set((await this.#ready()).map(groupOf));
      const looks: Look[] = [];
      let [last, hasTrouble] = [error, false];
      for (const group of groups) {
        const here = (await this.#ready()).filter((entry) => groupOf(entry) === group);
        const lookAt = (entries: readonly MergeEntry[]): Promise<Look | undefined> =>
          this.#lookAtReady(entries).catch((own: unknown) => {
            last = own;
            return undefined;
          });
        const together = groups.size === 1 ? undefined : await lookAt(here);
        if (together !== undefined) looks.push(together);
        const troubled: MergeEntry[] = together === undefined && here.length === 1 ? [...here] : [];
        for (const entry of together === undefined && here.length > 1 ? here : []) {
          const look = await lookAt([entry]);
          if (look === undefined) troubled.push(entry);
          else looks.push(look);
        }
        hasTrouble ||= troubled.length > 0;
        if (troubled.length > 0) await noteTrouble(this.#ports, troubled, last).catch(this.#ports.report);
      }
      if (looks.length === 0) throw last;
      if (hasTrouble) {
        this.#ports.report(last);
        this.#flight.tryLater();
      }
      return looks;
    }
  }

  async #lookAtReady(first: readonly MergeEntry[]): Promise<Look> {
    if (first.length === 0) return { pinned: [], concerns: new Map(), tips: new Map() };
    // Git lists them while the landing branch is prepared. A ref that moves since is noticed when it is pinned.
    const refs = readHeads(this.#ports);
    refs.catch(() => undefined);
    void this.#ports.merging.expectMerges();
    const there = await retarget(this.#ports, first);
    const placed = (await this.#catchUp(there)) ? await retarget(this.#ports, await this.#alsoReady(there)) : there;
    const headed = await findHeads(this.#ports, placed, await refs);
    const [pinned, { concerns, tips }] = await Promise.all([
      pinHeads(this.#ports, headed, await refs),
      concernsOf(
        this.#ports,
        headed.map(({ entry, head }) => ({ ...entry, headCommit: head })),
      ),
    ]);
    return { pinned, concerns, tips };
  }

  /** These entries, and those that bring the commits of their targets. */
  async #alsoReady(entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
    const landings = new Set(entries.map(({ targetBranch }) => targetBranch));
    const ids = new Set(entries.map(({ id }) => id));
    return (await this.#ready()).filter(
      (entry) => ids.has(entry.id) || (bringsTarget(entry) && landings.has(entry.targetBranch)),
    );
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

/** The facts about entries before they are claimed. */
interface Look extends Concerns {
  /** Those whose commits are pinned. */
  readonly pinned: readonly MergeEntry[];
}

/** A command that waits for an entry that could land now reads why the look at the queue failed. */
async function noteTrouble(ports: MergePorts, entries: readonly MergeEntry[], error: unknown): Promise<void> {
  const updatedAt = ports.clock.now();
  const detail = { cause: "git_error", causeDetail: { message: problemOf(error) }, updatedAt } as const;
  await ports.store.transaction(async (tx) => {
    for (const { id } of entries) await tx.merges.change(id, ["pending"], detail);
  });
}
