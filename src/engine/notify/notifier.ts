import { type AttentionItem, notificationOf } from "../../domain/notification/notification.ts";
import { record } from "../../usecases/events/record.ts";
import { attentionItems } from "../../usecases/operator/attention.ts";
import { waitingForOperator } from "../../usecases/operator/inbox.ts";
import type { EnginePorts } from "../ports.ts";

export type NotifyPorts = Pick<EnginePorts, "store" | "clock" | "reach" | "report" | "notifying">;

/** A look that took one part of time is followed by this many parts of rest. */
const restShare = 20;
const shortestRestMs = 500;

/**
 * Tells the operator, by the configured channels, of each thing that waits for them. A thing is stored before it is
 * told, so it is told at most once, even if a process dies in between. A round of the engine asks for a look. A new
 * thing is told after `debounceMs`, together with those that came meanwhile and without those that were answered.
 */
export class Notifier {
  readonly #ports: NotifyPorts;
  readonly #stop: AbortSignal;
  #flight: Promise<void> | undefined;
  #asked = false;
  #isLeaving = false;
  /** Ends the pause that is going on. */
  #hurry = (): void => {};
  #earlierAreMarked = false;

  constructor(ports: NotifyPorts, stop: AbortSignal) {
    this.#ports = ports;
    this.#stop = stop;
  }

  look(): void {
    const { bell, channels } = this.#ports.notifying;
    if (!bell && channels.length === 0) return;
    this.#asked = true;
    this.#flight ??= this.#fly().finally(() => {
      this.#flight = undefined;
    });
  }

  /** Tells at once what waits to be told: an engine does not stay for it, and does not leave without it. */
  async settled(): Promise<void> {
    this.#isLeaving = true;
    this.#hurry();
    while (this.#flight !== undefined) await this.#flight;
    this.#isLeaving = false;
  }

  async #fly(): Promise<void> {
    const { clock, notifying, report } = this.#ports;
    while (this.#asked) {
      this.#asked = false;
      const began = clock.monotonic();
      try {
        await this.#markEarlier();
        const isNew = (await this.#untold()).length > 0;
        const tookMs = clock.monotonic() - began;
        if (isNew) {
          await this.#pause(notifying.debounceMs);
          await this.#tell();
        }
        await this.#pause(Math.max(shortestRestMs, tookMs * restShare));
      } catch (error) {
        report(error);
        await this.#pause(shortestRestMs * restShare);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#isLeaving || ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The things that wait and were never told. */
  #untold(): Promise<readonly AttentionItem[]> {
    return this.#ports.store.read(async (tx) => {
      const items = attentionItems(await waitingForOperator(tx));
      const known = await tx.notifications.known(items.map(({ id }) => id));
      return items.filter(({ id }) => !known.has(id));
    });
  }

  async #tell(): Promise<void> {
    // The next engine tells of things that are not stored by now.
    if (this.#stop.aborted) return;
    const { store, clock, reach, notifying } = this.#ports;
    const found = await this.#untold();
    const items = await store.transaction(async (tx) => {
      const known = await tx.notifications.known(found.map(({ id }) => id));
      const fresh = found.filter(({ id }) => !known.has(id));
      if (fresh.length === 0) return fresh;
      await tx.notifications.claim(idsOf(fresh), clock.now());
      const data = { items: idsOf(fresh), subjects: fresh.map(({ subject }) => subject) };
      await record(tx, clock.now(), { source: "engine", type: "attention", data });
      return fresh;
    });
    if (items.length === 0) return;
    reach("notify.after-claim");
    const notification = notificationOf(notifying.project, items);
    const results = await Promise.all(
      notifying.channels.map(async (channel) => ({
        channel: channel.name,
        problem: await channel.send(notification, this.#stop).catch((error: unknown) => String(error)),
      })),
    );
    reach("notify.after-send");
    await store.transaction(async (tx) => {
      await tx.notifications.settle(idsOf(items), clock.now());
      for (const { channel, problem } of results) {
        if (problem === undefined) continue;
        const data = { channel, problem, items: idsOf(items) };
        await record(tx, clock.now(), { source: "engine", type: "notify_failed", level: "warn", data });
      }
    });
  }

  /** Marks things that an earlier engine was telling when it died. It is unknown whether the operator heard of them. */
  async #markEarlier(): Promise<void> {
    if (this.#earlierAreMarked) return;
    const { store, clock } = this.#ports;
    const items = await store.read((tx) => tx.notifications.unsettled());
    if (items.length > 0) {
      await store.transaction(async (tx) => {
        await tx.notifications.settle(items, clock.now());
        const data = { items };
        await record(tx, clock.now(), { source: "engine", type: "notify_unsure", level: "warn", data });
      });
    }
    this.#earlierAreMarked = true;
  }
}

const idsOf = (items: readonly AttentionItem[]): readonly string[] => items.map(({ id }) => id);
