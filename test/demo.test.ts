import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markOf } from "../src/domain/process/process.ts";
import { allProcesses } from "../src/host/linux/process-table.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { markedCommand } from "../testkit/marked.ts";
import { jsonOf, ovBinary, runOv } from "../testkit/ov.ts";

/** A handful says whether it works at all; the sweep says whether it always does. */
const seeds = process.env.SWEEP === "full" ? Array.from({ length: 20 }, (_, at) => at + 1) : [1, 6];

for (const seed of seeds) {
  test(`the demonstration ends well with seed ${seed}, shows what it promises, and leaves nothing behind`, async () => {
    await using place = emptyPlace();
    const env = { PATH: process.env.PATH ?? "", HOME: place.dir, TMPDIR: place.dir };
    const played = await runOv(["demo", "--json", "--seed", String(seed)], { cwd: place.dir, env });
    expect([played.code, played.err]).toEqual([0, ""]);
    const { root, landed, conflicts, recovered, caughtByGates, ...summary } = jsonOf(played);
    expect(summary).toMatchObject({
      success: true,
      seed,
      agents: 11,
      tasksOpen: [],
      reviewsFailed: 1,
      promoted: true,
      testsGreen: true,
      kept: false,
    });
    expect(landed).toHaveLength(4);
    expect(conflicts).toMatchObject([{ strategy: "structured" }]);
    expect(recovered).toHaveLength(1);
    expect(caughtByGates).toHaveLength(1);
    expect(existsSync(String(root))).toBe(false);
    await expectNothingLeft(place.dir);
  }, 300_000);
}

test("a demonstration is refused inside an agent, and builds nothing", async () => {
  await using place = emptyPlace();
  const env = { PATH: process.env.PATH ?? "", HOME: place.dir, TMPDIR: place.dir };
  const command = markedCommand(markOf("abcdefabcdef", 1), [ovBinary(), "demo"]);
  const asked = Bun.spawnSync(command, { cwd: place.dir, env });
  expect([asked.exitCode, asked.stderr.toString()]).toEqual([8, expect.stringContaining("that is for the operator")]);
  expect(readdirSync(place.dir)).toEqual([]);
}, 60_000);

test("a demonstration that is interrupted ends its team and leaves nothing behind", async () => {
  await using place = emptyPlace();
  const env = { PATH: process.env.PATH ?? "", HOME: place.dir, TMPDIR: place.dir };
  const child = Bun.spawn([ovBinary(), "demo", "--seed", "1"], {
    cwd: place.dir,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const told = child.stderr.getReader();
  for (let said = ""; !said.includes("builder works"); ) {
    const { done, value } = await told.read();
    if (done) throw new Error(`it ended before anybody worked: ${said}`);
    said += new TextDecoder().decode(value);
  }
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  await expectNothingLeft(place.dir);
}, 180_000);

test("Ctrl-C while the team is being started is no failure of the commands that start it", async () => {
  await using place = emptyPlace();
  const env = { PATH: process.env.PATH ?? "", HOME: place.dir, TMPDIR: place.dir };
  const child = Bun.spawn([ovBinary(), "demo", "--seed", "1"], {
    cwd: place.dir,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const set = (): boolean =>
    readdirSync(place.dir).some((name) => existsSync(join(place.dir, name, "tally", ".overstory")));
  while (!set()) await Bun.sleep(10);
  // A terminal sends it to every process of the group.
  process.kill(-child.pid, "SIGINT");
  const said = await new Response(child.stderr).text();
  expect([await child.exited, said]).toEqual([130, expect.not.stringContaining("INTERNAL_ERROR")]);
  await expectNothingLeft(place.dir);
}, 180_000);

/** Whoever was only just leaving has time to leave; nobody may stay. */
async function expectNothingLeft(dir: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (processesIn(dir).length > 0 && performance.now() < deadline) await Bun.sleep(20);
  expect(processesIn(dir)).toEqual([]);
  expect(readdirSync(dir).filter((name) => name.startsWith("ov-demo-"))).toEqual([]);
}

function emptyPlace(): AsyncDisposable & { readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), "ov-demo-test-"));
  return {
    dir,
    [Symbol.asyncDispose]: async () => {
      for (const pid of processesIn(dir)) {
        const left = linuxProcesses.identify(pid);
        if (left !== undefined) await linuxProcesses.endTree(left, 0);
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Whatever still names this place in its environment. */
const processesIn = (dir: string): number[] =>
  allProcesses()
    .filter(({ pid, defunct }) => !defunct && pid !== process.pid && environmentOf(pid).includes(dir))
    .map(({ pid }) => pid);

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    // Gone, or another user's: not one of ours either way.
    return "";
  }
}
