import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readIdentity } from "../src/host/engine-contact/keeper.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { anAgent, aRun } from "../testkit/contracts/store/rows.ts";
import type { TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";
import { freePort } from "../testkit/web.ts";
import { fillWithHistory } from "./fill.ts";
import { timeInterleaved } from "./interleaved.ts";
import { cpuMs } from "./process-cost.ts";
import { median, ms, quantile, row, times, verdict } from "./stats.ts";
import { benchProject, ov } from "./world.ts";

const samples = Number(process.env.BENCH_ROUNDS ?? 200);
const clients = 100;
const eventsPerSecond = 1_000;
const stormSeconds = 10;

/** How soon a page knows, how many lists the server sends, what many pages cost, and what all of it costs at the start. */
export async function main(): Promise<void> {
  await soonness();
  await lists();
  await storm();
  await starts();
}

interface Served {
  readonly project: TestProject;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

async function served(project: TestProject): Promise<Served> {
  const { url } = await project.json("serve", "--detach", "--port", String(await freePort()));
  const { token } = await project.json("serve", "login", "--token");
  const pid = readIdentity(statePath(project.root, "run", "engine.json"))?.pid ?? 0;
  return { project, url: String(url).replace(/\/$/, ""), token: String(token), pid };
}

const bearer = ({ token }: Served) => ({ authorization: `Bearer ${token}` });

/** From a commit, or from before it, until the page has the frame; and beside each of them an echo of a bare server. */
async function soonness(): Promise<void> {
  await using project = await benchProject();
  await using echo = await echoServer();
  const web = await served(project);
  const page = await follower(web, () => tell());
  let tell = (): void => {};
  const nextDelta = (): Promise<void> =>
    new Promise((resolve) => {
      tell = resolve;
    });
  const found = { echo: [] as number[], inEngine: [] as number[], elsewhere: [] as number[] };
  for (let at = 0; at < samples; at++) {
    found.echo.push(await echo.time());
    const [came, began] = [nextDelta(), performance.now()];
    const sent = fetch(`${web.url}/api/mail`, {
      method: "POST",
      headers: { ...bearer(web), "content-type": "application/json", "x-overstory": "1" },
      body: JSON.stringify({ to: "operator", subject: `n${at}`, body: `n${at}` }),
    });
    await came;
    found.inEngine.push(performance.now() - began);
    if ((await sent).status !== 200) throw new Error(await (await sent).text());
    // The server takes twenty changes a second.
    await Bun.sleep(55);
  }
  const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "process" });
  for (let at = 0; at < samples; at++) {
    const came = nextDelta();
    await store.transaction((tx) => tx.events.append([event(at)]));
    const began = performance.now();
    await came;
    found.elsewhere.push(performance.now() - began);
    await Bun.sleep(20 + Math.random() * 30);
  }
  await store.close();
  page.close();
  console.log(row("until the page has it", "median", "p99", "limit", ""));
  const line = (name: string, times: readonly number[], limit: number): void => {
    const p99 = quantile(times, 0.99);
    console.log(row(name, ms(median(times)), ms(p99), ms(limit), verdict(p99, limit)));
  };
  console.log(row("echo of a bare server", ms(median(found.echo)), ms(quantile(found.echo, 0.99))));
  line("mail sent over HTTP, from its request on", found.inEngine, 20);
  line("event of another process, from its commit on", found.elsewhere, 150);
}

const event = (at: number) =>
  ({
    agentName: null,
    agentId: null,
    runId: null,
    turnId: null,
    source: "engine",
    level: "info",
    type: "engine_error",
    data: { text: `event ${at}` },
    createdAt: Date.now(),
    line: null,
    part: null,
  }) as never;

async function echoServer(): Promise<AsyncDisposable & { time(): Promise<number> }> {
  const program = `const s = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (r, h) => h.upgrade(r) ? undefined : new Response("x"),
    websocket: { message: (w, t) => void w.send(t) } }); console.log(s.port);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const socket = new WebSocket(`ws://127.0.0.1:${new TextDecoder().decode(value).trim()}/`);
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  return {
    time: async () => {
      const began = performance.now();
      const back = new Promise((resolve) => {
        socket.onmessage = resolve;
      });
      socket.send("x");
      await back;
      return performance.now() - began;
    },
    [Symbol.asyncDispose]: async () => {
      socket.close();
      child.kill();
    },
  };
}

const listed = ["/api/events?limit=100", "/api/mail?limit=100", "/api/events?agent=agent-1&limit=100"] as const;
const leastShare = 0.08;
const mostGrowth = 1.3;

/**
 * Lists of a long history for eight readers at once, against a bare server that sends as much: how many in a second of the
 * server's processor, because seconds of the clock also belong to other programs. Ten times a second something is
 * committed, so that what was read is read anew.
 */
async function lists(): Promise<void> {
  console.log(row("lists in a second of its processor", "bare", "@100000", "share", "", "@1000000", "growth", ""));
  await using few = await historyOf(100_000);
  await using many = await historyOf(1_000_000);
  const [one, other] = [await served(few), await served(many)];
  for (const path of listed) {
    const bytes = (await (await fetch(one.url + path, { headers: bearer(one) })).arrayBuffer()).byteLength;
    const rates = { bare: [] as number[], few: [] as number[], many: [] as number[] };
    await using bare = await bareServer(bytes);
    await using _writers = writing([few, many]);
    for (let round = 0; round < 5; round++) {
      rates.bare.push(await rate(bare, "", {}));
      rates.few.push(await rate(one, path, bearer(one)));
      rates.many.push(await rate(other, path, bearer(other)));
    }
    const best = (found: readonly number[]): number => Math.max(...found);
    const [floor, small, large] = [best(rates.bare), best(rates.few), best(rates.many)];
    const [share, growth] = [small / floor, small / large];
    const cells = [String(Math.round(floor)), String(Math.round(small)), times(share), verdict(leastShare, share)];
    console.log(row(path, ...cells, String(Math.round(large)), times(growth), verdict(growth, mostGrowth)));
  }
}

async function historyOf(size: number): Promise<TestProject> {
  const project = await benchProject();
  await project.json("task", "create", "Anything", "--id", "T1");
  const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "process" });
  const over = { state: "completed", outcome: "done", endedAt: 1, releasedAt: 1, cleanedAt: 1 } as const;
  await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1", { status: "completed", completedAt: 1 }));
    for (let n = 0; n < 50; n++) await tx.agents.reserve(anAgent(`agent-${n}`, over));
  });
  await store.close();
  fillWithHistory(project.root, size);
  return project;
}

function writing(projects: readonly TestProject[]): AsyncDisposable {
  const stores = projects.map(({ root }) => openSqlite({ path: statePath(root, "overstory.db"), life: "process" }));
  let at = 0;
  const timer = setInterval(() => {
    at += 1;
    for (const store of stores) void store.transaction((tx) => tx.events.append([event(at)]));
  }, 100);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

async function bareServer(bytes: number) {
  const program = `const text = JSON.stringify("x".repeat(${bytes} - 2)); const s = Bun.serve({ port: 0, hostname: "127.0.0.1",
    fetch: () => new Response(text, { headers: { "content-type": "application/json" } }) }); console.log(s.port);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const url = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/`;
  return { url, pid: child.pid, [Symbol.asyncDispose]: async () => child.kill() };
}

async function rate(
  { url, pid }: Pick<Served, "url" | "pid">,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const [readers, forMs] = [8, 1_500];
  const until = performance.now() + forMs;
  const before = cpuMs(pid);
  const read = async (): Promise<number> => {
    let count = 0;
    for (; performance.now() < until; count++) await (await fetch(url + path, { headers })).arrayBuffer();
    return count;
  };
  const counts = await Promise.all(Array.from({ length: readers }, read));
  return counts.reduce((sum, count) => sum + count, 0) / ((cpuMs(pid) - before) / 1_000);
}

/** Many pages follow many events, and one of them reads nothing. The engine must not grow with it. */
async function storm(): Promise<void> {
  await using project = await benchProject();
  const web = await served(project);
  const counts = new Array<number>(clients).fill(0);
  const sockets = await Promise.all(
    counts.map((_, at) =>
      follower(web, (items) => {
        counts[at] = (counts[at] ?? 0) + items;
      }),
    ),
  );
  const before = memoryOf(web.pid);
  let peak = before;
  const store = openSqlite({ path: statePath(project.root, "overstory.db"), life: "process" });
  const began = performance.now();
  const batch = 20;
  const total = eventsPerSecond * stormSeconds;
  for (let written = 0; written < total; written += batch) {
    const events = Array.from({ length: batch }, (_, at) => event(written + at));
    await store.transaction((tx) => tx.events.append(events));
    if (written % 1_000 === 0) peak = Math.max(peak, memoryOf(web.pid));
    const due = began + ((written + batch) / eventsPerSecond) * 1_000;
    if (due > performance.now()) await Bun.sleep(due - performance.now());
  }
  const wroteMs = performance.now() - began;
  for (const until = performance.now() + 30_000; performance.now() < until && Math.min(...counts) < total; )
    await Bun.sleep(20);
  const behindMs = performance.now() - began - wroteMs;
  peak = Math.max(peak, memoryOf(web.pid));
  await store.close();
  for (const socket of sockets) socket.close();
  console.log(row(`${clients} pages, ${eventsPerSecond} events/s for ${stormSeconds} s`, "measured", "limit", ""));
  const missed = counts.filter((count) => count !== total).length;
  console.log(row("pages without all of them", String(missed), "0", verdict(missed, 0)));
  console.log(row("the last page has the last event after", ms(behindMs), ms(2_000), verdict(behindMs, 2_000)));
  const grown = peak - before;
  console.log(row("the engine grew by", `${grown.toFixed(0)} MiB`, "150 MiB", verdict(grown, 150)));
}

/** A page that only counts: a hundred of them in one process must not be what is measured. */
async function follower(web: Served, onItems: (count: number) => void): Promise<WebSocket> {
  const socket = new WebSocket(`${web.url.replace("http", "ws")}/ws`, { headers: bearer(web) } as unknown as string[]);
  await new Promise<void>((resolve, reject) => {
    socket.onerror = () => reject(new Error("the socket was refused"));
    socket.onmessage = ({ data }) => {
      const text = String(data);
      if (text.includes('"op":"hello"')) socket.send('{"op":"sub","id":"e","topic":"events"}');
      if (text.includes('"op":"snapshot"')) resolve();
      if (text.includes('"op":"delta"')) onItems((JSON.parse(text) as { items: unknown[] }).items.length);
    };
  });
  return socket;
}

const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** The start of a command with the server in the program, and of the same program built without it. */
async function starts(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "ov-bench-"));
  try {
    const root = resolve(import.meta.dir, "..");
    const without = join(dir, "ov");
    // As scripts/build does it; what is left out is loaded by nothing that runs here.
    const flags =
      "--compile --bytecode --minify --splitting --min-chunk-size=4096 --format=esm --compile-jit-policy=50".split(" ");
    const left = ["../surfaces/server/*", "../host/ui-files.ts"].flatMap((path) => ["--external", path]);
    const build = [join(root, "scripts/bun"), "build", ...flags, ...left, "--define", "OV_TEST_BUILD=false"];
    const built = Bun.spawnSync([...build, join(root, "src/compose/main.ts"), "--outfile", without]);
    if (!built.success) throw new Error(built.stderr.toString());
    await using project = await benchProject();
    await project.json("task", "create", "Anything", "--id", "T1");
    const place = { cwd: project.root, env: { ...project.env } };
    const timings = timeInterleaved(
      [
        { name: "with the server", command: [ov, "mail", "check"], ...place },
        { name: "without it", command: [without, "mail", "check"], ...place },
      ],
      40,
    );
    console.log(row("ov mail check", "median", "p95"));
    for (const { name, medianMs, p95Ms } of timings) console.log(row(name, ms(medianMs), ms(p95Ms)));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
