import { expect, test } from "bun:test";
import { ok } from "../../domain/result.ts";
import type { WebApp } from "./app.ts";
import { Live, type Peer } from "./live.ts";

/** An app with a log of events in memory, which tests let grow. */
function appWith(log: { seq: number; text: string }[]) {
  const keys = { count: true, asked: 0, version: 1 };
  const listeners = new Set<() => void>();
  const call = async (name: string, { after = 0, limit = 500 }: { after?: number; limit?: number }) => {
    if (name === "web.readKey") keys.asked++;
    if (name === "web.readKey") return ok({ role: keys.count ? "operator" : null, id: "k", expiresAt: 1 });
    const bare = { agentName: null, agentId: null, runId: null, turnId: null, source: "engine", level: "info" };
    const event = ({ seq, text }: { seq: number; text: string }) => ({
      ...bare,
      seq,
      type: "engine_error",
      data: JSON.stringify({ text }),
      createdAt: 0,
    });
    if (name === "event.list")
      return ok({ events: log.slice(-limit).map(event), older: null, cursor: log.at(-1)?.seq ?? 0 });
    const events = log.filter(({ seq }) => seq > after).slice(0, limit);
    return ok({ events: events.map(event), cursor: log.at(-1)?.seq ?? 0 });
  };
  const app = {
    version: "0",
    project: "p",
    call,
    changeCounter: async () => keys.version,
    onCommit: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    clock: { sleep: Bun.sleep, every },
  } as unknown as WebApp;
  const grow = (count: number, text = "x"): void => {
    for (let at = 0; at < count; at++) log.push({ seq: (log.at(-1)?.seq ?? 0) + 1, text });
    for (const tell of listeners) tell();
  };
  return { app, grow, keys };
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}

const visitor = { role: "operator", id: "k", secret: "s", byCookie: false } as const;
const settled = () => Bun.sleep(5);

interface Frame {
  readonly op: string;
  readonly seq?: number;
  readonly items?: readonly { readonly id: number }[];
}

/** A connection that takes frames until it is full. */
function connection() {
  const frames: Frame[] = [];
  let takes: "sent" | "full" | "dropped" = "sent";
  let closedWith: number | undefined;
  const peer: Peer = {
    send: (text) => {
      if (takes !== "dropped") frames.push(JSON.parse(text));
      return takes;
    },
    close: (code) => {
      closedWith = code;
    },
  };
  const become = (state: typeof takes): void => {
    takes = state;
  };
  return { peer, frames, become, closed: () => closedWith };
}

test("a slow client gets in order what waited for it, once", async () => {
  const log: { seq: number; text: string }[] = [];
  const { app, grow } = appWith(log);
  const live = new Live(app, "e");
  const { peer, frames, become } = connection();
  const client = live.connect(peer, visitor);
  client.receive('{"op":"sub","id":"a","topic":"events"}');
  await settled();
  become("full");
  grow(3);
  await settled();
  become("dropped");
  for (let at = 0; at < 50; at++) {
    grow(2);
    await settled();
  }
  become("sent");
  client.drained();
  grow(1);
  await settled();
  expect(frames.flatMap(({ items = [] }) => items.map(({ id }) => id))).toEqual(log.map(({ seq }) => seq));
  expect(frames.some(({ op }) => op === "gap")).toBe(false);
});

test("what waits for a client is bounded; beyond it the client is told of a gap and gets the whole", async () => {
  const { app, grow } = appWith([]);
  const live = new Live(app, "e");
  const { peer, frames, become } = connection();
  const client = live.connect(peer, visitor);
  client.receive('{"op":"sub","id":"a","topic":"events"}');
  await settled();
  become("full");
  grow(1);
  await settled();
  const before = process.memoryUsage().heapUsed;
  const heavy = "y".repeat(20_000);
  for (let at = 0; at < 600; at++) {
    grow(1, heavy);
    await settled();
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(80 * 1024 * 1024);
  const told = frames.length;
  become("sent");
  client.drained();
  await settled();
  const after = frames.slice(told).map(({ op }) => op);
  expect(after.slice(0, 2)).toEqual(["gap", "snapshot"]);
  grow(2);
  await settled();
  expect(frames.at(-1)?.items?.map(({ id }) => id)).toEqual([602, 603]);
}, 20_000);

test("who comes back is given what was missed; more than is kept is a gap", async () => {
  const { app, grow } = appWith([]);
  const live = new Live(app, "e");
  grow(20);
  const near = connection();
  live.connect(near.peer, visitor).receive('{"op":"sub","id":"a","topic":"events","since":15}');
  await settled();
  expect(near.frames.slice(1).flatMap(({ items = [] }) => items.map(({ id }) => id))).toEqual([16, 17, 18, 19, 20]);
  grow(6_000);
  await settled();
  const far = connection();
  live.connect(far.peer, visitor).receive('{"op":"sub","id":"a","topic":"events","since":20}');
  await settled();
  expect(far.frames.slice(1, 3).map(({ op }) => op)).toEqual(["gap", "snapshot"]);
  expect(near.frames.slice(1).flatMap(({ items = [] }) => items.map(({ id }) => id)).length).toBe(6_005);
});

test("a subscription that is left, or replaced by another of its name, is told nothing more", async () => {
  const { app, grow } = appWith([]);
  const live = new Live(app, "e");
  const { peer, frames } = connection();
  const client = live.connect(peer, visitor);
  client.receive('{"op":"sub","id":"a","topic":"events"}');
  client.receive('{"op":"sub","id":"a","topic":"agent:b1"}');
  client.receive('{"op":"sub","id":"b","topic":"events"}');
  client.receive('{"op":"unsub","id":"b"}');
  await settled();
  expect(frames.filter(({ op }) => op === "snapshot").length).toBe(1);
  live.disconnect(client);
  const told = frames.length;
  grow(5);
  await settled();
  expect(frames.length).toBe(told);
});

test("a session that is revoked right after another commit loses its socket by that commit alone", async () => {
  const { app, grow, keys } = appWith([]);
  const byUs = () => grow(1);
  const byOthers = () => void keys.version++;
  for (const commit of [byUs, byOthers]) {
    keys.count = true;
    const live = new Live(app, "e");
    const { peer, closed } = connection();
    live.connect(peer, visitor);
    commit();
    const before = keys.asked;
    while (keys.asked === before) await settled();
    keys.count = false;
    commit();
    // Well before the heartbeat, which looks them up as well.
    for (const over = performance.now() + 5_000; closed() === undefined && performance.now() < over; ) await settled();
    expect(closed()).toBe(4401);
    live.close();
  }
}, 20_000);
