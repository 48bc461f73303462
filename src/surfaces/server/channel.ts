import type { GoneItem } from "../../contract/http/frames.ts";
import type { WebClock } from "./app.ts";
import type { Look, Topic } from "./topics.ts";

/** What a subscription is told. Texts are made once for all that follow. */
export interface Follower {
  /** Takes nothing at present: it gets the whole when it can take something again. */
  readonly isLost: boolean;
  snapshot(seq: number, data: string): void;
  delta(seq: number, items: string): void;
  /** What it has is not to be relied on; the whole follows. */
  gap(): void;
  unknown(): void;
}

interface Following {
  readonly follower: Follower;
  /** The number of the last frame it was sent; undefined: it is to get the whole. */
  seq: number | undefined;
  /** It comes back with the number it saw last, and may have missed more than is kept. */
  isBack: boolean;
}

/** Changes that a client may have missed and still gets one by one. */
const mostReplayed = 5_000;
/** Items of a growing topic in one frame. */
const batch = 500;
/** The shortest time between two looks at a topic that is compared as a whole. */
const pauseMs = 100;
/** A look that takes long is repeated the less often. */
const restShare = 3;

/**
 * One topic with everybody who follows it. A single loop looks and sends, so that all see the same changes in the same
 * order, and each change is looked for once, however many follow. A beat of the loop:
 *
 *   dirty ──rest──▶ look ──▶ bring every follower from its number to the newest one ──▶ dirty again, or idle
 */
export class Channel {
  readonly #topic: Topic;
  readonly #clock: Pick<WebClock, "sleep">;
  readonly #following = new Set<Following>();
  /** What was sent of a topic that is compared as a whole, oldest first, with its number. */
  #sent: { readonly seq: number; readonly count: number; readonly items: string }[] = [];
  #state: { readonly data: string; readonly texts: ReadonlyMap<string, string> } | undefined;
  /** Numbers of an earlier server are smaller, so that a client which comes back from there is told of the gap. */
  #seq = Date.now() * 1_000;
  #oldest = this.#seq;
  #isDirty = true;
  #isRunning = false;
  #restUntil = 0;
  #leftAt = performance.now();

  constructor(topic: Topic, clock: Pick<WebClock, "sleep">) {
    this.#topic = topic;
    this.#clock = clock;
  }

  /** Sends what was missed since a number, or the whole, and what follows. Answers how to leave. */
  join(follower: Follower, since: number | undefined): () => void {
    const one: Following = { follower, seq: since, isBack: since !== undefined };
    this.#following.add(one);
    this.#restUntil = 0;
    this.changed();
    return () => {
      this.#following.delete(one);
      this.#leftAt = performance.now();
    };
  }

  /** The client of this follower fell too far behind, and can take something again. */
  restart(follower: Follower): void {
    for (const one of this.#following) {
      if (one.follower !== follower) continue;
      one.seq = undefined;
      follower.gap();
    }
    this.changed();
  }

  isForgotten(keptMs: number): boolean {
    return this.#following.size === 0 && performance.now() - this.#leftAt > keptMs;
  }

  /** Something was committed: looks as soon as it may. */
  changed(): void {
    this.#isDirty = true;
    if (!this.#isRunning && this.#following.size > 0) void this.#run();
  }

  /** Some time has passed: a file may have grown. */
  tick(): void {
    if (this.#topic.kind === "growing" && this.#topic.isFile === true) this.changed();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isDirty && this.#following.size > 0) {
      const rest = this.#restUntil - performance.now();
      if (this.#topic.kind === "state" && rest > 0) await this.#clock.sleep(rest);
      this.#isDirty = false;
      try {
        if (this.#topic.kind === "state") await this.#compare();
        else await this.#grow();
      } catch {
        // The store was busy, or the project is gone. Whoever follows is not told anything wrong.
        this.#isDirty = true;
        await this.#clock.sleep(pauseMs);
      }
    }
    this.#isRunning = false;
  }

  async #compare(): Promise<void> {
    if (this.#topic.kind !== "state") return;
    const began = performance.now();
    const look = await this.#topic.look();
    const now = performance.now();
    this.#restUntil = now + Math.max(pauseMs, restShare * (now - began));
    if (look === undefined) return this.#turnAway();
    this.#publish(look);
    for (const one of this.#following) this.#bringUp(one);
  }

  #publish({ data, items }: Look): void {
    const texts = new Map([...items].map(([id, item]) => [id, JSON.stringify(item)]));
    const before = this.#state?.texts;
    this.#state = { data: JSON.stringify(data), texts };
    if (before === undefined) return;
    const changed = [...texts].filter(([id, text]) => before.get(id) !== text).map(([, text]) => text);
    for (const id of before.keys())
      if (!texts.has(id)) changed.push(JSON.stringify({ id, gone: true } satisfies GoneItem));
    if (changed.length === 0) return;
    this.#seq += 1;
    this.#sent.push({ seq: this.#seq, count: changed.length, items: `[${changed.join(",")}]` });
    let kept = this.#sent.reduce((sum, { count }) => sum + count, 0);
    while (kept > mostReplayed && this.#sent.length > 1) {
      const dropped = this.#sent.shift();
      kept -= dropped?.count ?? 0;
      this.#oldest = dropped?.seq ?? this.#oldest;
    }
  }

  #bringUp(one: Following): void {
    if (one.follower.isLost || this.#state === undefined) return;
    if (one.seq !== undefined && (one.seq < this.#oldest || one.seq > this.#seq)) {
      one.follower.gap();
      one.seq = undefined;
    }
    if (one.seq === undefined) one.follower.snapshot(this.#seq, this.#state.data);
    else {
      const from = one.seq;
      for (const { seq, items } of this.#sent) if (seq > from) one.follower.delta(seq, items);
    }
    one.seq = this.#seq;
  }

  /** What came since. Clients that are at the same place share one look. */
  async #grow(): Promise<void> {
    const topic = this.#topic;
    if (topic.kind !== "growing") return;
    for (const one of this.#following) if (one.isBack && !one.follower.isLost) await this.#welcomeBack(one);
    const ready = [...this.#following].filter(({ follower }) => !follower.isLost);
    const fresh = ready.filter(({ seq }) => seq === undefined);
    if (fresh.length > 0) {
      const look = await topic.look();
      if (look === undefined) return this.#turnAway();
      const data = JSON.stringify(look.data);
      for (const one of fresh) {
        one.seq = look.seq;
        one.follower.snapshot(look.seq, data);
      }
    }
    for (const place of new Set(ready.flatMap(({ seq }) => (seq === undefined ? [] : [seq])))) {
      const found = await topic.after(place, batch);
      const last = found.at(-1);
      if (last === undefined) continue;
      const items = JSON.stringify(found.map(({ item }) => item));
      for (const one of ready) {
        if (one.seq !== place || !this.#following.has(one)) continue;
        one.seq = last.seq;
        one.follower.delta(last.seq, items);
      }
      if (found.length === batch) this.#isDirty = true;
    }
  }

  /** Whether all that one has missed is still there, and not too much of it. */
  async #welcomeBack(one: Following): Promise<void> {
    const topic = this.#topic;
    if (topic.kind !== "growing" || one.seq === undefined) return;
    const isWhole = await topic.isWholeAfter(one.seq);
    const missed = isWhole ? await topic.after(one.seq, mostReplayed + 1) : [];
    one.isBack = false;
    if (isWhole && missed.length <= mostReplayed) return;
    one.follower.gap();
    one.seq = undefined;
  }

  #turnAway(): void {
    for (const one of this.#following) one.follower.unknown();
    this.#following.clear();
    this.#leftAt = performance.now();
  }
}
