import type { ClientFrame, ServerFrame } from "../../contract/http/frames.ts";
import type { WebApp } from "./app.ts";
import { Channel, type Follower } from "./channel.ts";
import { Allowance, stillCounts, type Visitor } from "./guard.ts";
import { Operations } from "./operations.ts";
import { topicOf } from "./topics.ts";

/**
 * The other end of a socket. `send` answers `full` when the connection takes no more after this frame, and `dropped` when
 * it took not even this one.
 */
export interface Peer {
  send(text: string): "sent" | "full" | "dropped";
  close(code: number, reason: string): void;
}

/** While there are subscribers, a commit of another process is noticed within this time. */
const lookMs = 25;
/** A file that somebody follows is read again after this time. */
const fileMs = 250;
const heartbeatMs = 15_000;
/** What waits for a slow client before it is given the whole anew instead. */
const mostQueued = { frames: 1_000, characters: 4 * 1024 * 1024 } as const;
const mostTopics = 64;
/** Topics that are followed or kept, of all clients together. */
const mostChannels = 1_000;
const longestFrame = 64 * 1024;
/** A channel without subscribers is kept so long for those that come back. */
const keptMs = 60_000;
/** After a commit sessions are looked up again, once in this time: it may have ended one of them. */
const recheckMs = 1_000;

/** The live data of one server: which client follows which topic, and what each was sent. */
export class Live {
  readonly #app: WebApp;
  readonly #hello: Pick<Extract<ServerFrame, { op: "hello" }>, "server" | "epoch" | "project">;
  readonly #channels = new Map<string, Channel>();
  readonly #clients = new Map<Client, Visitor>();
  readonly #operations = new Operations((id) => this.#channels.get(`op:${id}`)?.changed());
  /** How to stop looking; empty while nothing is looked at. */
  #watching: readonly (() => void)[] = [];
  #counter: number | undefined;
  #recheckedAt = 0;
  /** Something was committed since sessions were looked up: one may have been ended by it. */
  #mayHaveEnded = false;

  constructor(app: WebApp, epoch: string) {
    this.#app = app;
    this.#hello = { server: `overstory ${app.version}`, epoch, project: app.project };
  }

  connect(peer: Peer, visitor: Visitor): Client {
    const client = new Client(peer, (frame) => this.#handle(client, frame));
    this.#clients.set(client, visitor);
    client.send({ v: 2, op: "hello", ...this.#hello, user: visitor.role });
    this.#watch();
    return client;
  }

  disconnect(client: Client): void {
    this.#clients.delete(client);
    client.leaveAll();
    this.#rest();
  }

  /** See `Operations.start`. */
  startOperation(work: Parameters<Operations["start"]>[0]): string | undefined {
    return this.#operations.start(work);
  }

  /** Closes the sockets of sessions and tokens that do not count any more. */
  async dropEnded(): Promise<void> {
    this.#recheckedAt = performance.now();
    this.#mayHaveEnded = false;
    const known = new Map<string, Promise<boolean>>();
    for (const [client, visitor] of this.#clients) {
      const fine = known.get(visitor.id) ?? stillCounts(this.#app, visitor).catch(() => this.#lookAgain());
      known.set(visitor.id, fine);
      if (!(await fine)) client.peer.close(4401, "the session has ended");
    }
  }

  /** The store was busy. Nobody is shut out for that. */
  #lookAgain(): true {
    this.#mayHaveEnded = true;
    return true;
  }

  close(): void {
    for (const client of this.#clients.keys()) client.peer.close(1001, "the server stops listening");
    this.#clients.clear();
    this.#rest();
  }

  #handle(client: Client, text: string): void {
    const frame = parsed(text);
    if (frame === undefined) {
      client.send({ v: 2, op: "error", id: "", code: "BAD_FRAME", message: "no frame of this protocol" });
    } else if (frame.op === "ping") {
      client.send({ v: 2, op: "pong" });
    } else {
      client.leave(frame.id);
      if (frame.op === "sub") this.#subscribe(client, frame);
    }
  }

  #subscribe(client: Client, { id, topic, since }: Extract<ClientFrame, { op: "sub" }>): void {
    const channel = client.topicCount < mostTopics ? this.#channelOf(topic) : "TOO_MANY_TOPICS";
    if (channel instanceof Channel) client.follow(id, channel, since);
    else client.send({ v: 2, op: "error", id, code: channel, message: `cannot follow ${topic.slice(0, 100)}` });
  }

  #channelOf(topic: string): Channel | "UNKNOWN_TOPIC" | "TOO_MANY_TOPICS" {
    const known = this.#channels.get(topic);
    if (known !== undefined) return known;
    const source = this.#operations.topicOf(topic) ?? topicOf(this.#app, topic);
    if (source === undefined) return "UNKNOWN_TOPIC";
    if (this.#channels.size >= mostChannels) this.#forget(0);
    if (this.#channels.size >= mostChannels) return "TOO_MANY_TOPICS";
    const made = new Channel(source, this.#app.clock);
    this.#channels.set(topic, made);
    return made;
  }

  #watch(): void {
    if (this.#watching.length > 0) return;
    const { clock } = this.#app;
    this.#watching = [
      this.#app.onCommit(() => this.#changed()),
      clock.every(lookMs, () => void this.#look()),
      clock.every(fileMs, () => {
        for (const channel of this.#channels.values()) channel.tick();
      }),
      clock.every(heartbeatMs, () => this.#beat()),
    ];
  }

  /** Tells clients that the server lives, and forgets what nothing asks for any more. */
  #beat(): void {
    for (const client of this.#clients.keys()) client.send({ v: 2, op: "pong" });
    void this.dropEnded();
    this.#forget(keptMs);
    this.#operations.forget(10 * keptMs);
  }

  #forget(olderThanMs: number): void {
    for (const [topic, channel] of this.#channels) if (channel.isForgotten(olderThanMs)) this.#channels.delete(topic);
  }

  /** Without clients nothing is looked at. */
  #rest(): void {
    if (this.#clients.size > 0) return;
    for (const stop of this.#watching) stop();
    this.#watching = [];
    this.#counter = undefined;
  }

  async #look(): Promise<void> {
    const counter = await this.#app.changeCounter().catch(() => undefined);
    if (counter !== undefined && counter !== this.#counter) {
      this.#counter = counter;
      // Between the first client and the first look something may have been committed.
      this.#changed();
    }
    if (this.#mayHaveEnded && performance.now() - this.#recheckedAt > recheckMs) await this.dropEnded();
  }

  #changed(): void {
    this.#mayHaveEnded = true;
    for (const channel of this.#channels.values()) channel.changed();
  }
}

interface Subscription {
  readonly channel: Channel;
  readonly follower: Follower;
  readonly leave: () => void;
}

/** One browser. Frames wait here while its connection is slow. */
export class Client {
  readonly peer: Peer;
  readonly #onFrame: (text: string) => void;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #allowance = new Allowance(300, 50);
  #queue: string[] = [];
  #queued = 0;
  #isSlow = false;
  #isLost = false;

  constructor(peer: Peer, onFrame: (text: string) => void) {
    this.peer = peer;
    this.#onFrame = onFrame;
  }

  get topicCount(): number {
    return this.#subscriptions.size;
  }

  receive(text: string): void {
    if (!this.#allowance.take()) this.peer.close(1008, "too many frames");
    else {
      try {
        this.#onFrame(text.length > longestFrame ? "" : text);
      } catch {
        // What goes wrong with one client must not end the engine, which serves the agents too.
        this.peer.close(1011, "the server could not handle this frame");
      }
    }
  }

  follow(id: string, channel: Channel, since: number | undefined): void {
    const name = JSON.stringify(id);
    const isOver = () => this.#subscriptions.get(id)?.follower !== follower;
    const tell = (op: string, rest = ""): void => {
      if (!isOver()) this.#sendText(`{"v":2,"op":"${op}","id":${name}${rest}}`);
    };
    const isLost = (): boolean => this.#isLost;
    const follower: Follower = {
      get isLost() {
        return isLost();
      },
      snapshot: (seq, data) => tell("snapshot", `,"seq":${seq},"data":${data}`),
      delta: (seq, items) => tell("delta", `,"seq":${seq},"items":${items}`),
      gap: () => tell("gap"),
      unknown: () => tell("error", `,"code":"NOT_FOUND","message":"there is nothing of this name to follow"`),
    };
    let leave = () => {};
    this.#subscriptions.set(id, { channel, follower, leave: () => leave() });
    leave = channel.join(follower, since);
  }

  leave(id: string): void {
    this.#subscriptions.get(id)?.leave();
    this.#subscriptions.delete(id);
  }

  leaveAll(): void {
    for (const id of [...this.#subscriptions.keys()]) this.leave(id);
    this.#queue = [];
  }

  send(frame: ServerFrame): void {
    this.#sendText(JSON.stringify(frame));
  }

  #sendText(text: string): void {
    if (this.#isLost) return;
    if (!this.#isSlow && this.#hand(text)) return;
    this.#queue.push(text);
    this.#queued += text.length;
    if (this.#queue.length <= mostQueued.frames && this.#queued <= mostQueued.characters) return;
    // It would fall further behind with each of them. When it can take something again, it gets the whole.
    this.#queue = [];
    this.#queued = 0;
    this.#isLost = true;
  }

  /** False when the connection did not take it. */
  #hand(text: string): boolean {
    const outcome = this.peer.send(text);
    this.#isSlow = outcome !== "sent";
    return outcome !== "dropped";
  }

  /** The connection can take more. */
  drained(): void {
    this.#isSlow = false;
    for (let next = this.#queue[0]; next !== undefined && !this.#isSlow; next = this.#queue[0]) {
      if (!this.#hand(next)) break;
      this.#queue.shift();
      this.#queued -= next.length;
    }
    if (!this.#isLost || this.#isSlow) return;
    this.#isLost = false;
    for (const { channel, follower } of this.#subscriptions.values()) channel.restart(follower);
  }
}

function parsed(text: string): ClientFrame | undefined {
  try {
    const frame = JSON.parse(text) as Record<string, unknown>;
    if (frame.op === "ping") return { op: "ping" };
    const { op, id, topic, since } = frame;
    if (typeof id !== "string" || id.length > 100) return undefined;
    if (op === "unsub") return { op, id };
    if (op !== "sub" || typeof topic !== "string" || topic.length > 500) return undefined;
    if (since === undefined) return { op, id, topic };
    return typeof since === "number" && Number.isSafeInteger(since) ? { op, id, topic, since } : undefined;
  } catch {
    // The client is told that this is no frame.
    return undefined;
  }
}
