import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { type LandingWorld, landingWorld } from "../testkit/landing-world.ts";
import type { TestProject } from "../testkit/project.ts";
import { timeInterleaved } from "./interleaved.ts";
import { progress } from "./progress.ts";
import { median, ms, row, times, verdict } from "./stats.ts";
import { benchProject, ov, timeOf } from "./world.ts";

const rounds = 7;
/** Each makes a project and queues all its branches by commands. */
const roundsByCommand = 5;
const branchCounts = [20, 100] as const;
/** The queue, the store and all safety around it may cost half as much again as git alone. */
const landingLimit = 1.5;
/** Putting a branch into the queue, against a program that does nothing. */
const addLimit = 4;
const addRounds = 40;
const radarBranches = 25;
const manyFiles = 5_000;
/** As many as a project of ordinary size has. */
const someFiles = 450;

/** Landing, looking ahead and merging large trees, each against git's own commands in the same run. */
export async function main(): Promise<void> {
  if (process.env.BENCH_DIR !== undefined) process.env.TMPDIR = process.env.BENCH_DIR;
  else if (existsSync("/dev/shm")) process.env.TMPDIR = "/dev/shm";
  console.log(row("clean branches, no gates", "plumbing", "landed", "x plumbing", `<= ${landingLimit}`));
  for (const count of branchCounts) await landingByCommand(count);
  for (const count of branchCounts) await landing(count);
  console.log(row("\nputting one into the queue", "bun -e 0", "ov merge add", "x bun", `<= ${addLimit}`));
  await adding();
  console.log(row("\npairs", "merge-tree", "radar", "x raw", "each"));
  await radar();
  console.log(row("\nfiles", "merge-tree", "merge", "x raw"));
  await largeMerge();
}

/** As a user does it: the branches wait in the queue, the engine is up, and `ov merge --all` ends when all have landed. */
async function landingByCommand(count: number): Promise<void> {
  const measured: { readonly raw: number; readonly own: number }[] = [];
  for (let round = 0; round < roundsByCommand; round++) {
    await using project = await queueProject();
    const branches = makeBranches(project, count);
    for (const branch of branches) await project.json("merge", "add", branch);
    const plumbing = (): number => byPlumbing(project, branches);
    const before = round % 2 === 0 ? plumbing() : undefined;
    const own = await timeOf(project, [ov, "merge", "--all"]);
    measured.push({ raw: before ?? plumbing(), own });
    const merged = await project.read((tx) => tx.merges.list({ statuses: ["merged"] }));
    if (merged.length !== count) throw new Error(`${merged.length} of ${count} branches landed`);
    progress(`merge, ${count} branches by ov merge --all`, round + 1, roundsByCommand);
  }
  const [raw, own] = [median(measured.map((one) => one.raw)), median(measured.map((one) => one.own))];
  const ratio = median(measured.map((one) => one.own / one.raw));
  const cells = [ms(raw), ms(own), times(ratio), verdict(ratio, landingLimit)];
  console.log(row(`${count} by ov merge --all (${ms(own / count)} each)`, ...cells));
}

/** The engine is up, as it is while agents work. */
async function queueProject(): Promise<TestProject> {
  const project = await benchProject({ files: someFiles, env: { OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" } });
  await project.json("task", "create", "Anything");
  await project.json("engine", "start");
  return project;
}

async function adding(): Promise<void> {
  const warmUp = 5;
  await using project = await queueProject();
  const branches = makeBranches(project, addRounds + warmUp);
  const place = { cwd: project.root, env: project.env };
  const [floor, add] = timeInterleaved(
    [
      { name: "bun -e 0", command: [process.execPath, "-e", "0"] },
      { name: "ov merge add", command: (round) => [ov, "merge", "add", branches[round] ?? ""], ...place },
    ],
    addRounds,
    warmUp,
  );
  const ratio = (add?.medianMs ?? Number.NaN) / (floor?.medianMs ?? Number.NaN);
  const cells = [ms(floor?.medianMs ?? 0), ms(add?.medianMs ?? 0), times(ratio), verdict(ratio, addLimit)];
  console.log(row("a branch of its own", ...cells));
}

/** The engine's part alone, in this process. One round of each in turn, so that both meet the same weather. */
async function landing(count: number): Promise<void> {
  const plumbing: number[] = [];
  const landed: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await using world = await landingWorld({ files: sampleFiles(someFiles) });
    const branches = makeBranches(world, count);
    world.git(world.root, "branch", target, "main");
    for (const branch of branches) await world.enqueue(branch, { headCommit: world.tip(branch), targetBranch: target });
    await warm(world);
    const raw = (): void => void plumbing.push(byPlumbing(world, branches));
    if (round % 2 === 0) raw();
    const started = performance.now();
    await world.work();
    landed.push(performance.now() - started);
    if (round % 2 === 1) raw();
    await mustHaveLanded(world, count);
    progress(`merge, ${count} branches`, round + 1, rounds);
  }
  const ratio = median(landed) / median(plumbing);
  const cells = [ms(median(plumbing)), ms(median(landed)), times(ratio), verdict(ratio, landingLimit)];
  console.log(row(`${count} in the engine (${ms(median(landed) / count)} each)`, ...cells));
}

/** Where a run lands whose target somebody has checked out. */
const target = "overstory/integration/run-1";

/** The engine has been up for a while when branches arrive: its code is loaded, and git's files are in memory. */
async function warm(world: LandingWorld): Promise<void> {
  await world.merging.merge("main", "main");
}

/** The same merges by a shell that does nothing else: the floor for any program that starts git for each step. */
function byPlumbing({ root }: { readonly root: string }, branches: readonly string[]): number {
  const script = `set -e
tip=$(git rev-parse refs/heads/main)
for branch in "$@"; do
  tree=$(git merge-tree --write-tree "$tip" "$branch")
  tip=$(git commit-tree -p "$tip" -p "$branch" -m "merge $branch" "$tree")
done
git update-ref refs/bench/plumbing "$tip"`;
  return timed(root, ["/bin/sh", "-c", script, "sh", ...branches]);
}

async function mustHaveLanded({ store }: LandingWorld, count: number): Promise<void> {
  const merged = await store.read((tx) => tx.merges.list({ statuses: ["merged"] }));
  if (merged.length !== count) throw new Error(`${merged.length} of ${count} branches landed`);
}

async function radar(): Promise<void> {
  await using world = await landingWorld({ files: sampleFiles(someFiles) });
  const commits = makeBranches(world, radarBranches).map((branch) => world.tip(branch));
  const pairs = commits.flatMap((ours, at) => commits.slice(at + 1).map((theirs) => ({ ours, theirs })));
  const stdin = pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join("");
  // Into a place that vanishes, as the radar does it: what nobody lands is not kept.
  const script = `dir=$(mktemp -d) && GIT_OBJECT_DIRECTORY="$dir" GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects" \\
  git merge-tree --write-tree -z --stdin && rm -r "$dir"`;
  const found = await compare("radar", {
    raw: () => timed(world.root, ["/bin/sh", "-c", script], stdin),
    own: async () => {
      const merges = await world.ports.lookAhead(({ merging }) => merging.mergePairs(pairs));
      if (merges.some(({ kind }) => kind !== "clean")) throw new Error("these branches do not touch each other");
    },
  });
  console.log(
    row(`${pairs.length}`, ms(found.raw), ms(found.own), times(found.own / found.raw), ms(found.own / pairs.length)),
  );
}

async function largeMerge(): Promise<void> {
  await using world = await landingWorld({ files: sampleFiles(manyFiles) });
  const edit = (name: string, textFor: (at: number) => string): string =>
    world.branch(name, () => {
      for (let at = 0; at < manyFiles; at++) world.write(world.root, nameOf(at), textFor(at));
    });
  // Every file is changed, every tenth by both, so that neither whole directories nor whole files can be taken over.
  const isOurs = (at: number): boolean => Math.floor(at / 50) % 2 === 0 || at % 10 === 0;
  const isTheirs = (at: number): boolean => Math.floor(at / 50) % 2 === 1 || at % 10 === 0;
  const ours = edit("ours", (at) => (isOurs(at) ? `ours\n${textOf(at)}` : textOf(at)));
  const theirs = edit("theirs", (at) => (isTheirs(at) ? `${textOf(at)}theirs\n` : textOf(at)));
  const found = await compare("large merge", {
    raw: () => timed(world.root, ["git", "merge-tree", "--write-tree", ours, theirs]),
    own: async () => {
      if ((await world.merging.merge(ours, theirs)).kind !== "clean") throw new Error("this merge is clean");
    },
  });
  console.log(row(`${manyFiles}, all changed`, ms(found.raw), ms(found.own), times(found.own / found.raw)));
}

interface Contest {
  raw(): number;
  own(): Promise<void>;
}

async function compare(what: string, { raw, own }: Contest): Promise<{ readonly raw: number; readonly own: number }> {
  const taken = { raw: [] as number[], own: [] as number[] };
  // The first one finds neither the objects nor the code in memory.
  for (let round = -1; round < rounds; round++) {
    const floor = raw();
    const started = performance.now();
    await own();
    const took = performance.now() - started;
    if (round >= 0) {
      taken.raw.push(floor);
      taken.own.push(took);
    }
    progress(`merge, ${what}`, round + 1, rounds);
  }
  return { raw: median(taken.raw), own: median(taken.own) };
}

/** Each changes a file of its own and adds one; made by plumbing, for hundreds of checkouts would take minutes. */
function makeBranches({ root }: { readonly root: string }, count: number): readonly string[] {
  const names = Array.from({ length: count }, (_, at) => `overstory/agent-${at}/t-${at}`);
  const script = `set -e
export GIT_INDEX_FILE="$(git rev-parse --absolute-git-dir)/bench-index"
base=$(git rev-parse refs/heads/main)
at=0
for branch in "$@"; do
  git read-tree "$base"
  blob=$(echo "work $at" | git hash-object -w --stdin)
  path=$(git ls-tree -r --name-only "$base" | sed -n "$((at * 4 + 1))p")
  printf '100644 %s\\t%s\\n100644 %s\\tnew/part-%s.txt\\n' "$blob" "$path" "$blob" "$at" | git update-index --index-info
  commit=$(git commit-tree -p "$base" -m "work on $branch" "$(git write-tree)")
  git update-ref "refs/heads/$branch" "$commit"
  at=$((at + 1))
done`;
  timed(root, ["/bin/sh", "-c", script, "sh", ...names]);
  return names;
}

function timed(cwd: string, cmd: readonly string[], stdin = ""): number {
  const who = { NAME: "A", EMAIL: "a@example.invalid" };
  const env = Object.fromEntries(
    Object.entries(who).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  );
  const started = performance.now();
  const ended = Bun.spawnSync({
    cmd: [...cmd],
    cwd,
    env: { PATH: process.env.PATH ?? "", TMPDIR: tmpdir(), HOME: cwd, ...env },
    stdio: [Buffer.from(stdin), "ignore", "pipe"],
  });
  const took = performance.now() - started;
  if (ended.exitCode !== 0) throw new Error(`${cmd[0]} exited ${ended.exitCode}: ${ended.stderr.toString()}`);
  return took;
}

const nameOf = (at: number): string => `src/part-${at % 50}/file-${at}.txt`;
const textOf = (at: number): string => `line one of ${at}\n${"text ".repeat(20)}\n`;

const sampleFiles = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [nameOf(at), textOf(at)]));
