import { expect, test } from "bun:test";
import { readIdentity } from "../../src/host/engine-contact/keeper.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { logIn, serveWeb, type WebClient } from "../../testkit/web.ts";

interface EventItem {
  readonly id: number;
}

/** A page that follows a topic, and follows it again from where it was whenever the line breaks. */
class Follower {
  readonly seen: number[] = [];
  gaps = 0;
  breaks = 0;
  #seq: number | undefined;
  #isOver = false;
  readonly #web: WebClient;
  readonly #topic: string;

  constructor(web: WebClient, topic: string) {
    this.#web = web;
    this.#topic = topic;
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      const live = await this.#web.live().catch(() => undefined);
      if (live === undefined) {
        await Bun.sleep(20);
        continue;
      }
      live.send({ op: "sub", id: "e", topic: this.#topic, ...(this.#seq === undefined ? {} : { since: this.#seq }) });
      let at = 0;
      while (!this.#isOver && !(live.isClosed() && at === live.frames.length)) {
        for (; at < live.frames.length; at++) this.#take(live.frames[at] as Record<string, unknown>);
        await Bun.sleep(2);
      }
      this.breaks += 1;
      live.close();
    }
  }

  #take({ op, seq, data, items }: Record<string, unknown>): void {
    if (op === "gap") this.gaps += 1;
    // Newest first in the document, oldest first in what follows it.
    const told = op === "snapshot" ? (data as { items: EventItem[] }).items.toReversed() : op === "delta" ? items : [];
    for (const { id } of told as EventItem[]) this.seen.push(id);
    if (typeof seq === "number") this.#seq = seq;
  }

  /** The page got the document of its topic. */
  get follows(): boolean {
    return this.#seq !== undefined;
  }

  end(): void {
    this.#isOver = true;
  }
}

const enginePid = (project: TestProject): number =>
  readIdentity(statePath(project.root, "run", "engine.json"))?.pid ?? 0;

test("while the engine is killed again and again, a page misses no event, sees none twice and all in order", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const follower = new Follower(web, "events");
  const running = follower.run();
  await project.until("the page follows", async () => follower.follows);
  const writers = Array.from({ length: 3 }, async (_, writer) => {
    for (let at = 0; at < 40; at++) {
      const sent = await project.ov("mail", "send", "--to", "operator", "--subject", `${writer}-${at}`, "--body", "b");
      expect(sent.code).toBe(0);
    }
  });
  const pids = new Set<number>();
  for (let kill = 0; kill < 4; kill++) {
    await Bun.sleep(250);
    const pid = enginePid(project);
    pids.add(pid);
    process.kill(pid, "SIGKILL");
    await project.until("another engine serves", async () => {
      const reply = await web.get("/healthz").catch(() => undefined);
      return reply?.status === 200 && enginePid(project) !== pid;
    });
  }
  await Promise.all(writers);
  const stored = await project.read((tx) => tx.events.after(0, 100_000));
  const last = stored.at(-1)?.seq ?? 0;
  await project.until("the page saw the newest event", async () => (follower.seen.at(-1) ?? 0) >= last, 20_000);
  follower.end();
  await running;
  expect([pids.size, follower.breaks >= 4]).toEqual([4, true]);
  expect(stored.filter(({ type }) => type === "mail_sent").length).toBeGreaterThanOrEqual(120);
  const from = follower.seen[0] ?? 0;
  expect(follower.seen).toEqual(stored.map(({ seq }) => seq).filter((seq) => seq >= from));
  expect(follower.gaps).toBe(0);
}, 90_000);

test("a list that is followed is in the end the list that is read, also for a page that was away", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const live = await web.live();
  live.send({ op: "sub", id: "t", topic: "tasks" });
  const { data, seq } = await live.until(({ op, id }) => op === "snapshot" && id === "t");
  const known = new Map((data as { items: { id: string }[] }).items.map((item) => [item.id, item]));
  for (let at = 0; at < 5; at++) await project.json("task", "create", `Task ${at}`, "--id", `T${at}`);
  await live.until(({ op, items }) => op === "delta" && JSON.stringify(items).includes('"T4"'));
  live.close();
  for (let at = 5; at < 9; at++) await project.json("task", "create", `Task ${at}`, "--id", `T${at}`);
  await project.json("task", "close", "T1", "--reason", "over");
  const later = await web.live();
  const since = live.frames.findLast(({ op }) => op === "delta")?.seq ?? seq;
  later.send({ op: "sub", id: "t", topic: "tasks", since });
  await later.until(({ op, items }) => op === "delta" && JSON.stringify(items).includes('"T8"'));
  const frames = [...live.frames, ...later.frames].filter(({ op }) => op === "delta");
  for (const item of frames.flatMap(({ items }) => items as { id: string; gone?: true }[])) {
    if (item.gone === true) known.delete(item.id);
    else known.set(item.id, item);
  }
  const read = (await (await web.get("/api/tasks")).json()) as { items: { id: string }[] };
  const byId = (items: readonly { id: string }[]) => items.toSorted((a, b) => a.id.localeCompare(b.id));
  expect(byId([...known.values()])).toEqual(byId(read.items));
  const numbers = frames.map((frame) => Number(frame.seq));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  later.close();
}, 60_000);

test("a page that was away for too long, or that comes from another store, is told of the gap and given the whole", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const live = await web.live();
  for (const [id, since] of [
    ["future", 10 ** 12],
    ["negative", -5],
    ["state", 5],
  ] as const) {
    live.send({ op: "sub", id, topic: id === "state" ? "fleet" : "events", since });
    await live.until(({ op, id: of }) => op === "gap" && of === id);
    await live.until(({ op, id: of }) => op === "snapshot" && of === id);
  }
  const order = live.frames.filter(({ id }) => id === "future").map(({ op }) => op);
  expect(order.slice(0, 2)).toEqual(["gap", "snapshot"]);
  live.close();
}, 60_000);

test("rooms of 0.11 in the address of the socket are topics, and a long operation tells how it went", async () => {
  await using project = await makeProject({});
  const web = await serveWeb(project);
  const old = await web.live("&mail=true");
  expect(await old.until(({ op }) => op === "snapshot")).toMatchObject({ id: "mail" });
  const live = await web.live();
  const reply = await web.send("POST", "/api/doctor", { categories: ["config"], dryRun: true });
  const { operation } = (await reply.json()) as { operation: string };
  expect([reply.status, typeof operation]).toEqual([202, "string"]);
  live.send({ op: "sub", id: "o", topic: `op:${operation}` });
  await live.until(({ id, data, items }) => id === "o" && /"status":"done"/.test(JSON.stringify(data ?? items)));
  const stop = await web.send("POST", "/api/agents/nobody/stop", {});
  const failed = (await stop.json()) as { operation: string };
  live.send({ op: "sub", id: "f", topic: `op:${failed.operation}` });
  const told = await live.until(({ id, data, items }) => id === "f" && /"failed"/.test(JSON.stringify(data ?? items)));
  expect(JSON.stringify(told)).toContain("AGENT_ERROR");
  const audit = await project.read((tx) => tx.audit.list(5));
  expect(audit.map(({ action, refused }) => [action, refused])).toContainEqual(["POST /api/agents/:name/stop", true]);
  live.close();
  old.close();
}, 60_000);

test("a second login is another session with the same data", async () => {
  await using project = await makeProject({});
  await serveWeb(project);
  const other = await logIn(String((await project.json("serve", "login", "--role", "viewer")).url));
  const live = await other.live();
  expect(await live.until(({ op }) => op === "hello")).toMatchObject({ user: "viewer", v: 2 });
  live.send({ op: "ping" });
  await live.until(({ op }) => op === "pong");
  live.close();
});
