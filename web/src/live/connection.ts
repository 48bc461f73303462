import { pageKey } from "../api/client.ts";
import { createStore, type Store } from "../state/store.ts";

/**
 * One WebSocket for the page. Topics are subscribed by name; each keeps the number of its newest change, so that after a
 * break the server sends what was missed.
 *
 *   connecting ──hello──▶ live ──close──▶ reconnecting ──hello──▶ catching up ──all topics answered──▶ live
 *        └─────────close───────────────▲        └──401──▶ signed out
 *
 * Frames are collected and handed on every 50 ms by a timer: a hidden page draws nothing, but must stay correct.
 */
export type ConnectionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live"; readonly gap: boolean }
  | { readonly kind: "reconnecting"; readonly since: number; readonly nextTry: number }
  | { readonly kind: "catching-up"; readonly topics: number }
  | { readonly kind: "signed-out" };

/**
 * What a topic tells. `gap`: more was missed than the server keeps, so the topic must be read anew. `unknown`: the server
 * knows nothing of this name, or not any more.
 */
export type Change =
  | { readonly kind: "snapshot"; readonly data: unknown }
  | { readonly kind: "delta"; readonly items: readonly unknown[] }
  | { readonly kind: "gap" }
  | { readonly kind: "unknown" };

type Listener = (changes: readonly Change[]) => void;

interface Subscription {
  readonly id: string;
  readonly topic: string;
  readonly listeners: Set<Listener>;
  seq: number | undefined;
  waiting: Change[];
}

interface Frame {
  readonly op?: string;
  readonly type?: string;
  readonly id?: string;
  readonly seq?: number;
  readonly data?: unknown;
  readonly items?: readonly unknown[];
  readonly code?: string;
}

const batchMs = 50;
const heartbeatMs = 15_000;
const longestPauseMs = 15_000;
/** Of a topic that changes more while the page is frozen, nothing is kept: it is read anew. */
const mostHeld = 1_000;

export class LiveConnection {
  readonly state: Store<ConnectionState> = createStore<ConnectionState>({ kind: "connecting" });
  /** Since when the page shows nothing new, because a person holds it. */
  readonly frozenAt: Store<number | undefined> = createStore<number | undefined>(undefined);
  /** When the page last heard from the server. */
  heardAt = 0;
  private socket: WebSocket | undefined;
  private readonly topics = new Map<string, Subscription>();
  private nextId = 1;
  private tries = 0;
  private lostAt: number | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private flush: ReturnType<typeof setTimeout> | undefined;
  private readonly unanswered = new Set<string>();
  private readonly signedOut: () => Promise<boolean>;

  /** `signedOut` tells, after the socket was refused, whether that is because the session has ended. */
  constructor(signedOut: () => Promise<boolean>) {
    this.signedOut = signedOut;
    setInterval(() => this.beat(), heartbeatMs);
    addEventListener("online", () => this.tryNow());
  }

  open(): void {
    clearTimeout(this.retry);
    const address = new URL("/ws", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.searchParams.set("key", pageKey() ?? "");
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.onmessage = ({ data }) => this.receive(JSON.parse(String(data)) as Frame);
    socket.onclose = () => {
      if (this.socket === socket) void this.lost();
    };
  }

  tryNow(): void {
    if (this.state.get().kind === "reconnecting") this.open();
  }

  /** Holds the page as it is, or lets it catch up. */
  toggleFreeze(): void {
    this.frozenAt.set((since) => (since === undefined ? Date.now() : undefined));
    if (this.frozenAt.get() === undefined) this.handOnSoon();
  }

  subscribe(topic: string, listener: Listener): () => void {
    const known = this.topics.get(topic);
    const subscription = known ?? {
      id: String(this.nextId++),
      topic,
      listeners: new Set(),
      seq: undefined,
      waiting: [],
    };
    subscription.listeners.add(listener);
    if (known === undefined) {
      this.topics.set(topic, subscription);
      this.ask(subscription);
    }
    return () => {
      subscription.listeners.delete(listener);
      if (subscription.listeners.size > 0) return;
      this.topics.delete(topic);
      this.unanswered.delete(subscription.id);
      this.send({ op: "unsub", id: subscription.id });
    };
  }

  private receive(frame: Frame): void {
    this.heardAt = Date.now();
    const kind = frame.op ?? frame.type;
    if (kind === "hello") this.greeted();
    const subscription = [...this.topics.values()].find(({ id }) => id === frame.id);
    if (subscription === undefined) return;
    if (kind === "snapshot") this.take(subscription, frame.seq, { kind: "snapshot", data: frame.data });
    else if (kind === "gap") this.take(subscription, undefined, { kind: "gap" });
    else if (kind === "error") this.take(subscription, undefined, { kind: "unknown" });
    else if (kind === "delta") {
      // After a break the server may repeat what was under way when the line broke.
      const isOld = frame.seq !== undefined && subscription.seq !== undefined && frame.seq <= subscription.seq;
      if (!isOld) this.take(subscription, frame.seq, { kind: "delta", items: frame.items ?? [] });
    }
    this.answered(subscription.id, kind === "gap");
  }

  private take(subscription: Subscription, seq: number | undefined, change: Change): void {
    subscription.seq = seq ?? (change.kind === "gap" ? undefined : subscription.seq);
    subscription.waiting.push(change);
    if (this.frozenAt.get() === undefined) this.handOnSoon();
    else if (subscription.waiting.length > mostHeld) subscription.waiting = [{ kind: "gap" }];
  }

  private handOnSoon(): void {
    this.flush ??= setTimeout(() => {
      this.flush = undefined;
      if (this.frozenAt.get() !== undefined) return;
      for (const each of this.topics.values()) {
        if (each.waiting.length === 0) continue;
        const changes = each.waiting;
        each.waiting = [];
        for (const listener of each.listeners) listener(changes);
      }
    }, batchMs);
  }

  private greeted(): void {
    this.tries = 0;
    this.unanswered.clear();
    for (const subscription of this.topics.values()) this.ask(subscription);
    const wasLost = this.lostAt !== undefined;
    this.lostAt = undefined;
    this.state.set(
      wasLost && this.unanswered.size > 0
        ? { kind: "catching-up", topics: this.unanswered.size }
        : { kind: "live", gap: false },
    );
    // A topic without changes since the break is answered by silence.
    if (wasLost) setTimeout(() => this.settled(false), 1500);
  }

  private answered(id: string, gap: boolean): void {
    if (!this.unanswered.delete(id) && !gap) return;
    if (gap) this.state.set({ kind: "live", gap: true });
    else if (this.unanswered.size === 0) this.settled(false);
  }

  private settled(gap: boolean): void {
    if (this.state.get().kind === "catching-up") this.state.set({ kind: "live", gap });
  }

  private async lost(): Promise<void> {
    this.socket = undefined;
    this.lostAt ??= Date.now();
    const since = this.lostAt;
    const pause = Math.min(longestPauseMs, 500 * 2 ** this.tries++) * (0.8 + Math.random() * 0.4);
    this.state.set({ kind: "reconnecting", since, nextTry: Date.now() + pause });
    this.retry = setTimeout(() => this.open(), pause);
    if (!(await this.signedOut())) return;
    clearTimeout(this.retry);
    this.state.set({ kind: "signed-out" });
  }

  private ask({ id, topic, seq }: Subscription): void {
    const sent = this.send({ op: "sub", id, topic, ...(seq === undefined ? {} : { since: seq }) });
    if (sent) this.unanswered.add(id);
  }

  private send(frame: object): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ v: 2, ...frame }));
    return true;
  }

  /** A line that is dead without a word is closed, so that it is opened anew. */
  private beat(): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (Date.now() - this.heardAt > 3 * heartbeatMs) this.socket.close();
    else this.send({ op: "ping" });
  }
}
