import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { readyMerges } from "../../usecases/merge/queue/queue-state.ts";
import { SingleFlight } from "../single-flight.ts";
import { askAhead, claimEntries, freeLostEntries } from "./claims.ts";
import { pinHeads } from "./heads.ts";
import { recoverLandings } from "./land.ts";
import { restoreTip } from "./landing-tip.ts";
import { endLostGates } from "./lost-gates.ts";
import { type MergePorts, mergeContext } from "./ports.ts";
import { promote } from "./promote.ts";
import { retarget } from "./retarget.ts";
import { leaveOut } from "./rewritten-target.ts";
import { runTrainOf, type TrainJob } from "./run-train.ts";
import type { Slots } from "./slots.ts";
import { concernsOf } from "./steering.ts";
import { undo } from "./undo.ts";

interface MergeTools {
  readonly slots: Slots;
  readonly stop: AbortSignal;
  /** Called when something may have changed by a pass. */
  readonly ring: () => void;
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
  #inDoubt = true;
  readonly #flight: SingleFlight;
  readonly #ring: () => void;
  /** Entries that wait for an approval and were looked at, with their commits. */
  readonly #lookedAt = new Set<string>();

  constructor(ports: MergePorts, { slots, stop, ring }: MergeTools) {
    this.#ports = ports;
    this.#slots = slots;
    this.#stop = stop;
    this.#ring = ring;
    this.#flight = new SingleFlight(() => this.#pass(), { report: ports.report, ring });
  }

  look(): void {
    this.#flight.ask();
  }

  settled(): Promise<void> {
    return this.#flight.settled();
  }

  /** What gates of an earlier engine left behind is out of the way: others may use the pool, too. */
  get poolIsFree(): boolean {
    return this.#gatesEnded;
  }

  async #pass(): Promise<boolean> {
    if (!this.#gatesEnded) await endLostGates(this.#ports);
    if (this.#inDoubt) {
      await recoverLandings(this.#ports);
      await freeLostEntries(this.#ports);
      this.#inDoubt = false;
    }
    if (!this.#gatesEnded) {
      this.#gatesEnded = true;
      this.#ring();
    }
    const operated = await this.#operate();
    await this.#alone(() => this.#lookAhead(), undefined);
    const trains = await this.#trains().catch(async (error: unknown) => {
      await noteTrouble(this.#ports, error).catch(this.#ports.report);
      throw error;
    });
    const ended = await Promise.all(
      trains.map((job) => {
        const train = { ...job, slots: this.#slots, stop: this.#stop };
        return this.#alone(() => runTrainOf(this.#ports, train).then(() => true), false);
      }),
    );
    if (ended.includes(false)) this.#inDoubt = true;
    return operated || trains.length > 0;
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

  /** Whoever approves an entry should know what is asked about it. Each commit is looked at once. */
  async #lookAhead(): Promise<void> {
    const pending = await this.#ports.store.read((tx) => tx.merges.list({ statuses: ["pending"] }));
    const fresh = pending.filter(
      ({ id, approval, headCommit, dependsOn, causeDetail }) =>
        approval === "waiting" &&
        headCommit !== "" &&
        // What it depends on is a part of the difference until that has landed.
        dependsOn.length === 0 &&
        causeDetail?.difference === undefined &&
        !this.#lookedAt.has(`${id} ${headCommit}`),
    );
    for (const { id, headCommit } of fresh) this.#lookedAt.add(`${id} ${headCommit}`);
    const { merging } = this.#ports;
    const known = await Promise.all(fresh.map(({ headCommit }) => merging.commitOf(headCommit)));
    const there = fresh.filter((_, at) => known[at] !== undefined);
    if (there.length > 0) await askAhead(this.#ports, there, await concernsOf(this.#ports, there));
  }

  async #trains(): Promise<readonly Pick<TrainJob, "target" | "entries" | "concerns">[]> {
    const ready = await this.#ports.store.read((tx) => readyMerges(tx, mergeContext(this.#ports)));
    if (ready.length === 0) return [];
    const placed = await retarget(this.#ports, ready);
    const pinned = await pinHeads(this.#ports, placed);
    const concerns = await concernsOf(this.#ports, pinned);
    const claimed = await claimEntries(this.#ports, pinned, concerns);
    const targets = new Map<string, MergeEntry[]>();
    for (const entry of claimed) targets.set(entry.targetBranch, [...(targets.get(entry.targetBranch) ?? []), entry]);
    return [...targets].map(([target, entries]) => ({ target, entries, concerns }));
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
