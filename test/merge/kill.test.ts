import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readIdentity } from "../../src/host/engine-contact/keeper.ts";
import { type KillPoint, killPoints } from "../../src/ports/kill-points.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const full = process.env.SWEEP === "full";
/** Every gate plays the same cases, so that a red gate means that the change made it red; a full sweep plays new ones. */
const seed = Number(process.env.SWEEP_SEED ?? (full ? Date.now() % 1_000_000 : 453_497));
/** Engines killed at random: fifty-one of them, more when asked for by name. */
const killsPerCase = 3;
const cases = full ? 100 : 17;
const atOnce = 3;

const good = ["a", "b", "c", "d"];
const branches = [...good, "broken", "clash"];

/** Four branches that fit together, one that breaks the gate and one that contradicts the first. */
async function prepared(): Promise<TestProject> {
  const project = await makeProject({
    files: { "x.txt": "one\n", "README.md": "# Sample\n", "mine.txt": "mine\n", ".gitignore": "node_modules/\n" },
    gates: ["sleep 0.03; test -e node_modules/dep && test ! -e broken.txt"],
    config: "merge:\n  setup: mkdir node_modules && sleep 0.03 && touch node_modules/dep\n",
  });
  for (const name of branches) {
    await project.git("checkout", "--quiet", "-b", name, "main");
    writeFileSync(join(project.root, `${name}.txt`), `${name}\n`);
    if (name === "a" || name === "clash") writeFileSync(join(project.root, "x.txt"), `${name}\n`);
    await project.git("add", "-A", "--", `${name}.txt`, "x.txt");
    await project.git("commit", "--quiet", "-m", name);
  }
  await project.git("checkout", "--quiet", "main");
  writeFileSync(join(project.root, "mine.txt"), "changed, not committed\n");
  await project.git("stash", "--quiet");
  writeFileSync(join(project.root, "mine.txt"), "changed again\n");
  writeFileSync(join(project.root, "staged.txt"), "staged\n");
  await project.git("add", "staged.txt");
  writeFileSync(join(project.root, "a.txt"), "untracked, and in the way\n");
  return project;
}

const userSees = async (project: TestProject): Promise<string> => {
  const looks = [
    ["status", "--porcelain=v2", "--branch"],
    ["stash", "list"],
    ["diff"],
    ["diff", "--cached"],
    ["rev-parse", "HEAD"],
  ];
  const seen = [];
  for (const look of looks) seen.push(await project.git(...look));
  return [...seen, readFileSync(join(project.root, "a.txt"), "utf8")].join("\n---\n");
};

const ended = ["merged", "failed", "conflict"];

async function expectLanded(project: TestProject, before: string): Promise<void> {
  await project.until(
    "every branch had come to its end",
    async () => {
      const entries = await project.read((tx) => tx.merges.list({}));
      return entries.length === branches.length && entries.every(({ status }) => ended.includes(status));
    },
    120_000,
  );
  const entries = await project.read((tx) => tx.merges.list({}));
  const status = Object.fromEntries(entries.map(({ branch, status: is, cause }) => [branch, `${is}/${cause}`]));
  const merged = Object.fromEntries(good.map((name) => [name, "merged/null"]));
  expect(status).toEqual({ ...merged, broken: "failed/gate_failed", clash: "conflict/conflict" });
  const ops = await project.read((tx) => tx.mergeOps.list({ kind: "land", status: "done" }));
  const landing = ops[0]?.ref ?? "";
  const stood = (await project.git("reflog", "--format=%H", landing)).trim().split("\n");
  expect(stood.length).toBeGreaterThan(ops.length);
  for (const commit of stood) {
    expect(await project.git("ls-tree", "--name-only", commit)).not.toContain("broken.txt");
  }
  const files = (await project.git("ls-tree", "--name-only", landing)).split("\n");
  for (const name of good) expect(files).toContain(`${name}.txt`);
  expect(await project.git("rev-parse", landing)).toBe(`${ops[0]?.afterCommit}\n`);
  const told = await project.read((tx) => tx.messages.list({ type: "merged" }));
  expect(told.map(({ subject }) => subject).toSorted()).toEqual(good.map((name) => `merged: ${name}`));
  expect(await project.git("fsck", "--no-dangling", "--no-progress")).toBe("");
  expect(await userSees(project)).toBe(before);
  const worktrees = (await project.git("worktree", "list", "--porcelain")).match(/^worktree .*/gm) ?? [];
  expect(worktrees.filter((line) => !line.includes("/.overstory/merge-worktrees/"))).toHaveLength(1);
  await project.settled();
  expect(await project.read((tx) => tx.processes.liveInRole("gate"))).toEqual([]);
}

/** All of them at once, so that they make one train. */
async function addAll(project: TestProject, env: Record<string, string> = {}): Promise<void> {
  for (const name of branches) await project.json("merge", "add", name, "--into", "main");
  const approved = await project.ovWith({ env }, "merge", "approve", "--all", "--json");
  if (approved.code !== 0) throw new Error(`ov merge approve exited ${approved.code}: ${approved.out}${approved.err}`);
}

async function inTurn(jobs: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

test("whoever dies at a kill-point of merging, what lands has passed and the user's checkout is as it was", async () => {
  const points = killPoints.filter((point) => point.startsWith("merge.") || point.startsWith("gate."));
  const failures: string[] = [];
  const survives = async (point: KillPoint): Promise<void> => {
    await using project = await prepared();
    const before = await userSees(project);
    const marker = join(project.state, "killed");
    await addAll(project, { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_ONCE: marker });
    await project.until(`${point} was reached`, async () => existsSync(marker));
    await expectLanded(project, before);
  };
  await inTurn(
    points.map((point) => () => survives(point).catch((error) => void failures.push(`${point}: ${String(error)}`))),
  );
  expect(failures).toEqual([]);
}, 900_000);

test(`engines killed at random instants leave nothing half-landed (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const failures: string[] = [];
  const survives = async (number: number): Promise<void> => {
    await using project = await prepared();
    const before = await userSees(project);
    await addAll(project);
    for (let kill = 0; kill < killsPerCase; kill++) {
      await Bun.sleep(random() * 250);
      const engine = readIdentity(statePath(project.root, "run", "engine.json"));
      if (engine !== undefined) killIfThere(engine.pid);
    }
    await expectLanded(project, before).catch((error) => void failures.push(`case ${number}: ${String(error)}`));
  };
  await inTurn(Array.from({ length: cases }, (_, number) => () => survives(number)));
  expect(failures).toEqual([]);
}, 900_000);

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // It had ended by itself.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function randomFrom(start: number): () => number {
  let state = start + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
