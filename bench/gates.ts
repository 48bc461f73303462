import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitMergeWorld } from "../testkit/git-merge-world.ts";
import { progress } from "./progress.ts";
import { median, ms, row, times } from "./stats.ts";

const rounds = 7;
/** As many as the dependencies of an ordinary web project have. */
const keptFiles = 30_000;
const changes = [0, 1, 300] as const;

/** What making a checkout ready costs each gate run when installed dependencies are kept, against a bare walk over them. */
export async function main(): Promise<void> {
  if (process.env.BENCH_DIR !== undefined) process.env.TMPDIR = process.env.BENCH_DIR;
  else if (existsSync("/dev/shm")) process.env.TMPDIR = "/dev/shm";
  using world = gitMergeWorld({ files: { ".gitignore": "node_modules/\n", "a.txt": "a\n" } });
  const { merging } = world;
  const main = world.tip("main");
  const keep = { keepIgnored: ["node_modules"], cache: [], setup: "install", landed: main, rest: "goes" } as const;
  const { path } = await merging.checkOut(0, main, keep);
  const nothing = await timesOf(rounds, () => merging.checkOut(0, main));
  install(path);
  const keeping = await timesOf(1, () => merging.keepInstalled(0, main, keep));
  await merging.checkOut(0, main, keep);

  console.log(row(`\n${keptFiles} kept files, per gate run`, "find", "checkout", "more", "x find"));
  for (const count of changes) {
    const floor: number[] = [];
    const own: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (let at = 0; at < count; at++) writeFileSync(join(path, nameOf(at)), "changed by a gate\n");
      floor.push(await timeOf(async () => find(path)));
      own.push(await timeOf(() => merging.checkOut(0, main, keep)));
      progress(`gates, ${count} changed`, round + 1, rounds);
    }
    const more = median(own) - median(nothing);
    console.log(
      row(`${count} changed`, ms(median(floor)), ms(median(own)), ms(more), times(median(own) / median(floor))),
    );
  }
  console.log(row("checkout with nothing kept", "", ms(median(nothing))));
  console.log(row("private copy after setup, once", "", ms(median(keeping))));
}

function install(path: string): void {
  for (let at = 0; at < keptFiles; at++) {
    if (at % filesPerPackage === 0) mkdirSync(join(path, packageOf(at)), { recursive: true });
    writeFileSync(join(path, nameOf(at)), `module.exports = ${at};\n${"// text\n".repeat(20)}`);
  }
}

const filesPerPackage = 20;
const packageOf = (at: number): string => `node_modules/package-${Math.floor(at / filesPerPackage)}/lib`;
const nameOf = (at: number): string => `${packageOf(at)}/file-${at}.js`;

function find(path: string): void {
  const cmd = ["find", join(path, "node_modules"), "-printf", "%i %s %T@ %C@ %m\n"];
  const { exitCode } = Bun.spawnSync({ cmd, stdio: ["ignore", "ignore", "inherit"] });
  if (exitCode !== 0) throw new Error(`find exited ${exitCode}`);
}

async function timesOf(count: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let round = 0; round < count; round++) taken.push(await timeOf(work));
  return taken;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
