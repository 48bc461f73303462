import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aboutProcess } from "../../testkit/about-process.ts";
import type { ProcessIdentity } from "../domain/process/process.ts";
import { allProcesses } from "./linux/process-table.ts";
import { askToEnd, linuxProcesses } from "./processes.ts";

/** For those who are expected to leave: nobody is killed on a slow machine before it could. */
const patienceMs = 15_000;
/** For those who do not leave anyway. */
const shortMs = 300;
const dir = mkdtempSync(join(tmpdir(), "ov-processes-"));
const started: ProcessIdentity[] = [];

afterAll(async () => {
  for (const identity of started) await linuxProcesses.endTree(identity, 0);
  rmSync(dir, { recursive: true, force: true });
});

let files = 0;
const newFile = (): string => join(dir, `pid-${files++}`);

/** Starts a shell script as agents are started: leading a session and a group of its own. */
function start(script: string, env: Readonly<Record<string, string>> = {}): ProcessIdentity {
  const child = Bun.spawn({
    cmd: ["/bin/bash", "-c", script],
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", ...env },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  });
  return remembered(child.pid);
}

function remembered(pid: number): ProcessIdentity {
  const identity = linuxProcesses.identify(pid);
  if (identity === undefined) throw new Error(`there is no process ${pid}`);
  started.push(identity);
  return identity;
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await Bun.sleep(5);
  }
}

/** The process whose pid a script wrote into this file. */
async function named(file: string): Promise<ProcessIdentity> {
  await until(`${file} held a pid`, () => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  return remembered(Number(readFileSync(file, "utf8")));
}

const isGone = (identity: ProcessIdentity): boolean => linuxProcesses.check(identity) === "gone";

/** Ends a tree all of which leaves when it is asked to, and proves that nobody's time was waited for. */
async function end(identity: ProcessIdentity, options: { readonly turnId?: string } = {}) {
  const began = performance.now();
  const report = await linuxProcesses.endTree(identity, patienceMs, options);
  expect(performance.now() - began).toBeLessThan(patienceMs);
  return report;
}

const ready = (file: string): string => `echo $BASHPID >'${file}'`;

describe("ending a tree", () => {
  test("a process that obeys SIGTERM is not killed", async () => {
    const root = start("exec sleep 60");
    const ended = [{ pid: root.pid, escalated: false }];
    expect(await end(root)).toEqual({ signalled: 1, escalated: false, survivors: [], ended });
    expect(isGone(root)).toBe(true);
  });

  test("a childless process that ignores SIGTERM is killed, and the report says so", async () => {
    const file = newFile();
    const root = start(`trap '' TERM; ${ready(file)}; while :; do read -t 60 <> <(:); done`);
    await named(file);
    expect(await linuxProcesses.endTree(root, shortMs)).toMatchObject({ escalated: true, survivors: [] });
    expect(isGone(root)).toBe(true);
  });

  test("a process that closes its output on SIGTERM but goes on is killed", async () => {
    const file = newFile();
    const root = start(`trap 'exec >&- 2>&-' TERM; ${ready(file)}; while :; do read -t 60 <> <(:); done`);
    await named(file);
    expect(await linuxProcesses.endTree(root, shortMs)).toMatchObject({ escalated: true, survivors: [] });
    expect(isGone(root)).toBe(true);
  });

  test("a grandchild in the same group goes too, even one that ignores SIGTERM after its parent left", async () => {
    const file = newFile();
    const root = start(`(trap '' TERM; ${ready(file)}; exec sleep 60) & wait`);
    const grandchild = await named(file);
    // Its parent leaves in time; the grandchild would not, however long it was waited for.
    const { ended, ...report } = await linuxProcesses.endTree(root, 3_000);
    expect(report).toEqual({ signalled: 2, escalated: true, survivors: [] });
    expect(ended).toEqual(
      expect.arrayContaining([
        { pid: root.pid, escalated: false },
        { pid: grandchild.pid, escalated: true },
      ]),
    );
    expect(isGone(root) && isGone(grandchild)).toBe(true);
  });

  const chains = {
    "in one session": "",
    "in a session of its own each time": "os.setsid()",
  };
  for (const [where, step] of Object.entries(chains)) {
    test(`a chain of processes that each fork and leave ends, ${where}`, async () => {
      const file = newFile();
      const root = startChain(file, step);
      await until("the chain runs", () => existsSync(file));
      await until("its root has left", () => isGone(root));
      const report = await linuxProcesses.endTree(root, 0, { turnId: "turn-of-a-chain" });
      expect(report.survivors).toEqual([]);
      expect(report.signalled).toBeGreaterThan(0);
      // Each link of the chain writes the file again. Another chain goes on for a while.
      rmSync(file);
      const other = newFile();
      startChain(other, step);
      for (let links = new Set<string>(); links.size < 20; await Bun.sleep(1))
        if (existsSync(other)) links = links.add(readFileSync(other, "utf8"));
      writeFileSync(`${other}.over`, "");
      expect(existsSync(file)).toBe(false);
    }, 60_000);
  }

  /** A process that forks and leaves, and so on, each time writing its number to the file. */
  function startChain(file: string, step: string): ProcessIdentity {
    // It ends by itself after a minute, so that a failing test leaves nothing behind.
    const program = `import os, time
if os.fork(): os._exit(0)
os.setsid()
end = time.time() + 60
open(${JSON.stringify(file)}, "w").write("1\\n")
while time.time() < end and not os.path.exists(${JSON.stringify(`${file}.over`)}):
    if os.fork(): os._exit(0)
    ${step}
    fd = os.open(${JSON.stringify(file)}, os.O_WRONLY | os.O_CREAT); os.write(fd, str(os.getpid()).encode()); os.close(fd)
`;
    return start(`exec python3 -c '${program}'`, { OVERSTORY_TURN_ID: "turn-of-a-chain" });
  }

  test("a child in a session of its own is found through its parent", async () => {
    const file = newFile();
    const root = start(`setsid bash -c '${ready(file).replaceAll("'", '"')}; exec sleep 60' & wait`);
    const child = await named(file);
    expect(await end(root)).toMatchObject({ escalated: false, survivors: [] });
    expect(isGone(root) && isGone(child)).toBe(true);
  });

  test("what is started while the tree is ended goes too", async () => {
    const file = newFile();
    const late = newFile();
    const root = start(`trap 'sleep 60 & echo $! >${late}; exit' TERM; ${ready(file)}; sleep 60 & wait`);
    await named(file);
    expect(await end(root)).toMatchObject({ escalated: false, survivors: [] });
    const pid = Number(readFileSync(late, "utf8"));
    expect(allProcesses().some((entry) => entry.pid === pid && !entry.defunct)).toBe(false);
  });

  test("a process that left its session and lost its parent is found by the turn in its environment", async () => {
    const file = newFile();
    const inner = `${ready(file).replaceAll("'", '"')}; exec sleep 60`;
    const root = start(`setsid bash -c 'setsid bash -c '"'"'${inner}'"'"' &'; exec sleep 60`, {
      OVERSTORY_TURN_ID: "turn-test-1",
    });
    const orphan = await named(file);
    // The root has become what it is last only when the process between the two has ended.
    await until("its parent was gone", () => commandOf(root.pid).startsWith("sleep") && leadsItself(orphan.pid));
    expect(await end(root, { turnId: "turn-test-1" })).toMatchObject({ signalled: 2, survivors: [] });
    expect(isGone(root) && isGone(orphan)).toBe(true);
  });

  test("orphans of a turn are ended although its own process is long gone", async () => {
    const file = newFile();
    const inner = `${ready(file).replaceAll("'", '"')}; exec sleep 60`;
    const root = start(`setsid bash -c '${inner}' & sleep 0.2`, { OVERSTORY_TURN_ID: "turn-test-2" });
    const orphan = await named(file);
    await until("the root was gone", () => isGone(root));
    expect(await end(root, { turnId: "turn-test-22" })).toMatchObject({ signalled: 0 });
    expect(isGone(orphan)).toBe(false);
    expect(await end(root, { turnId: "turn-test-2" })).toMatchObject({ signalled: 1, survivors: [] });
    expect(isGone(orphan)).toBe(true);
  });

  test("what an agent left running in any of its turns is ended with its children, and nobody else's is", async () => {
    const file = newFile();
    const first = { OVERSTORY_SESSION_ID: "agent-test-1", OVERSTORY_TURN_ID: "turn-test-3" };
    const second = { OVERSTORY_SESSION_ID: "agent-test-1", OVERSTORY_TURN_ID: "turn-test-4" };
    const server = start(`env -i bash -c '${ready(file).replaceAll("'", '"')}; exec sleep 60' & wait`, first);
    const watcher = start("exec sleep 60", second);
    const stranger = start("exec sleep 60", { OVERSTORY_SESSION_ID: "agent-test-11" });
    const child = await named(file);
    expect(await linuxProcesses.endStartedFor("agent-test-1", patienceMs)).toMatchObject({
      signalled: 3,
      survivors: [],
    });
    expect([server, watcher, child].every(isGone)).toBe(true);
    expect(isGone(stranger)).toBe(false);
  });
});

describe("identity", () => {
  test("a pid that another process has by now is never signalled, nor is its process group", async () => {
    const stranger = start("sleep 60 & wait");
    await until("it had a child", () => allProcesses().some((entry) => entry.parent === stranger.pid));
    const recorded = { ...stranger, startToken: "1" };
    expect(linuxProcesses.check(recorded)).toBe("gone");
    expect(await end(recorded)).toEqual({ signalled: 0, escalated: false, survivors: [], ended: [] });
    expect(await end({ ...stranger, bootId: "another boot" }, { turnId: "turn-test-3" })).toMatchObject({
      signalled: 0,
    });
    expect(askToEnd(recorded)).toBe(false);
    expect(linuxProcesses.check(stranger)).toBe("alive");
    await end(stranger);
  });

  test("a process that ended but was not waited for counts as gone, while its group is still ended", async () => {
    const file = newFile();
    const other = newFile();
    // The middle process ends at once; its parent never waits for it.
    const parent = start(`setsid bash -c 'sleep 60 & echo $! >${other}; echo $$ >${file}; exit' & exec sleep 60`);
    const middle = await named(file);
    const left = await named(other);
    await until("it was defunct", () => isGone(middle));
    expect(linuxProcesses.identify(middle.pid)).toEqual(middle);
    expect((await end(middle)).ended).toEqual([{ pid: left.pid, escalated: false }]);
    expect(isGone(left)).toBe(true);
    await end(parent);
  });

  test("asking one process to end leaves its children alone", async () => {
    const file = newFile();
    const root = start(`setsid bash -c '${ready(file).replaceAll("'", '"')}; exec sleep 60' & wait`);
    const child = await named(file);
    expect(askToEnd(root)).toBe(true);
    await until("it was gone", () => isGone(root));
    expect(isGone(child)).toBe(false);
    await end(child);
  });
});

const commandOf = (pid: number): string => aboutProcess(pid, "cmdline");
const leadsItself = (pid: number): boolean =>
  allProcesses().some((entry) => entry.pid === pid && entry.session === pid);
