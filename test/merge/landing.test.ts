import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { engineCaller } from "../../src/domain/caller/caller.ts";
import type { KillPoint } from "../../src/ports/kill-points.ts";
import { newOp } from "../../src/usecases/merge/merge-records.ts";
import { type LandingOptions, type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const landing = "overstory/integration/main";
const open: LandingWorld[] = [];
const worldOf = async (options?: LandingOptions): Promise<LandingWorld> => {
  const world = await landingWorld(options);
  open.push(world);
  return world;
};
afterEach(async () => {
  for (const world of open.splice(0)) await world[Symbol.asyncDispose]();
});

const adds = (world: LandingWorld, name: string, path = `${name}.txt`, text = `${name}\n`): string =>
  world.branch(name, () => world.write(world.root, path, text));

/** Everything about a checkout that belongs to its user. */
const userSees = (world: LandingWorld): string =>
  [
    world.git(world.root, "status", "--porcelain=v2", "--branch"),
    world.git(world.root, "stash", "list"),
    world.git(world.root, "rev-parse", "HEAD"),
    world.git(world.root, "diff"),
    world.git(world.root, "diff", "--cached"),
  ].join("\n---\n");

test("branches land on a branch of ours while the target is checked out, and its user sees nothing of it", async () => {
  const world = await worldOf();
  for (const name of ["a", "b", "c"]) adds(world, name);
  world.write(world.root, "staged.txt", "secret\n");
  world.git(world.root, "add", "staged.txt");
  world.write(world.root, "a.txt", "mine, untracked\n");
  const before = userSees(world);
  const ids = [await world.enqueue("a"), await world.enqueue("b"), await world.enqueue("c")];
  await world.work();
  for (const id of ids) {
    expect(await world.entry(id)).toMatchObject({ status: "merged", tier: "clean-merge", targetBranch: landing });
  }
  for (const name of ["a", "b", "c"]) {
    expect(world.show(landing, `${name}.txt`)).toBe(name);
    expect(world.git(world.root, "merge-base", "--is-ancestor", name, landing)).toBe("");
  }
  expect(userSees(world)).toBe(before);
  expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("mine, untracked\n");
});

test("a target that nobody has checked out is landed on itself", async () => {
  const world = await worldOf();
  world.git(world.root, "branch", "release");
  adds(world, "a");
  const id = await world.enqueue("a", { targetBranch: "release" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", targetBranch: "release" });
  expect(world.show("release", "a.txt")).toBe("a");
});

test("each landing has two parents and says in its message what it was", async () => {
  const world = await worldOf();
  const head = adds(world, "a");
  await world.enqueue("a");
  await world.work();
  expect(world.git(world.root, "log", "-1", "--format=%P", landing).split(" ")).toEqual([world.tip("main"), head]);
  const trailers = world.git(world.root, "log", "-1", "--format=%(trailers)", landing);
  expect(trailers).toContain("Overstory-Tier: clean-merge");
  expect(trailers).toContain("Overstory-Queue-Id: 1");
});

/** Lets the worker break off when it comes to this point for the first time; what it reports is kept. */
function breakingAt(world: LandingWorld, point: KillPoint): unknown[] {
  const reports: unknown[] = [];
  let broken = false;
  Object.assign(world.ports, {
    report: (error: unknown) => reports.push(error),
    reach: (reached: KillPoint) => {
      if (reached !== point || broken) return;
      broken = true;
      throw new Error(`broken at ${point}`);
    },
  });
  return reports;
}

describe("a worker that breaks off and lives on", () => {
  test("records what had become visible, once, and leaves nothing open", async () => {
    const world = await worldOf({ gates: ["true"] });
    adds(world, "a");
    const id = await world.enqueue("a");
    const reports = breakingAt(world, "merge.after-land");
    await world.work();
    expect(reports).toHaveLength(1);
    expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified" });
    const ops = await world.store.read((tx) => tx.mergeOps.list({}));
    expect(ops.filter(({ kind }) => kind !== "begin")).toMatchObject([{ kind: "land", status: "done" }]);
    expect(await world.store.read((tx) => tx.receipts.about(`merge:${id}`))).toHaveLength(1);
  });

  test.each(["merge.claimed", "merge.before-land"] as const)(
    "at %s, its entries are free again after a pause",
    async (point) => {
      const world = await worldOf();
      adds(world, "a");
      const id = await world.enqueue("a");
      const reports = breakingAt(world, point);
      await world.work();
      expect(reports).toHaveLength(1);
      expect(await world.entry(id)).toMatchObject({ status: "pending" });
      expect(await world.store.read((tx) => tx.mergeOps.list({ status: "intended" }))).toEqual([]);
      await world.work();
      expect(await world.entry(id)).toMatchObject({ status: "pending" });
      world.later(10_000);
      await world.work();
      expect(await world.entry(id)).toMatchObject({ status: "merged" });
    },
  );
});

describe("gates", () => {
  test("of eight branches the one that breaks the tests is named with its log, and the others land", async () => {
    const runs = join((await worldOf()).root, "..", "runs");
    const world = await worldOf({ gates: [`echo run >> '${runs}'; test ! -e broken.txt`] });
    const names = ["a", "b", "c", "broken", "e", "f", "g", "h"];
    for (const name of names) adds(world, name);
    const ids = new Map<string, number>();
    for (const name of names) ids.set(name, await world.enqueue(name));
    await world.work();
    for (const [name, id] of ids) {
      const entry = await world.entry(id);
      if (name === "broken") {
        expect(entry).toMatchObject({ status: "failed", cause: "gate_failed", causeDetail: { gate: "gate-1" } });
        expect(existsSync(entry.causeDetail?.logPath ?? "")).toBe(true);
      } else expect(entry).toMatchObject({ status: "merged", verdict: "verified" });
    }
    expect(readFileSync(runs, "utf8").trim().split("\n").length).toBeLessThanOrEqual(4 + 3);
    expect(() => world.show(landing, "broken.txt")).toThrow();
  });

  test("output that an earlier candidate left behind, though ignored, helps no later one", async () => {
    const world = await worldOf({
      files: { ".gitignore": "out/\n", "x.txt": "x\n" },
      gates: ["test -e maker.txt && mkdir -p out && touch out/built; test ! -e needs.txt || test -e out/built"],
      merge: { batchSize: 1 },
    });
    adds(world, "maker");
    adds(world, "needs");
    const maker = await world.enqueue("maker");
    await world.work();
    expect(await world.entry(maker)).toMatchObject({ status: "merged" });
    world.git(world.root, "branch", "other", "main");
    const needs = await world.enqueue("needs", { targetBranch: "other" });
    await world.work();
    expect(await world.entry(needs)).toMatchObject({ status: "failed", cause: "gate_failed" });
  });

  test("a gate that passes when repeated lets the branch land, and the gap is on record", async () => {
    const place = await worldOf();
    const mark = join(place.root, "..", "flaky");
    const world = await worldOf({ gates: [`test ! -e a.txt || test -e '${mark}' || { touch '${mark}'; false; }`] });
    adds(world, "a");
    const id = await world.enqueue("a");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified_with_gaps" });
    const [receipt] = await world.store.read((tx) => tx.receipts.about(`merge:${id}`));
    expect(receipt?.gaps.length).toBeGreaterThan(0);
  });

  test("what fails on the landing branch already is nobody's fault, unless the project says so", async () => {
    const failing = { files: { "broken.txt": "yes\n" }, gates: ["test ! -e broken.txt"] };
    const world = await worldOf(failing);
    adds(world, "a");
    const id = await world.enqueue("a");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged" });
    expect((await world.entry(id)).verdict).not.toBe("verified");
    const strict = await worldOf({ ...failing, merge: { baselineFailing: "block" } });
    adds(strict, "a");
    const blocked = await strict.enqueue("a");
    await strict.work();
    expect(await strict.entry(blocked)).toMatchObject({ status: "blocked", cause: "gate_failed" });
  });

  test("without any gate the verdict is unverified", async () => {
    const world = await worldOf();
    adds(world, "a");
    const id = await world.enqueue("a");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "unverified" });
  });

  test("a person who commits to the target while a gate runs loses nothing", async () => {
    const world = await worldOf();
    world.git(world.root, "branch", "release");
    const script = `git -C '${world.root}' update-ref refs/heads/release $(git -C '${world.root}' commit-tree -p refs/heads/release -m human $(git -C '${world.root}' rev-parse refs/heads/human^{tree}))`;
    world.branch("human", () => world.write(world.root, "human.txt", "human\n"));
    const once = join(world.root, "..", "once");
    Object.assign(world.ports.rules.project, {
      qualityGates: [
        {
          name: "human",
          command: `test -e '${once}' || { touch '${once}'; GIT_AUTHOR_NAME=h GIT_AUTHOR_EMAIL=h@h GIT_COMMITTER_NAME=h GIT_COMMITTER_EMAIL=h@h; export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL; ${script}; }`,
          timeoutMs: 30_000,
          required: true,
          paths: [],
        },
      ],
    });
    adds(world, "a");
    const id = await world.enqueue("a", { targetBranch: "release" });
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged" });
    expect([world.show("release", "a.txt"), world.show("release", "human.txt")]).toEqual(["a", "human"]);
  });
});

test("both sides of a conflict in code are kept by structure, and the receipt names how", async () => {
  const base = "export const one = (): number => 1;\n";
  const world = await worldOf({ files: { "x.ts": base }, gates: ["grep -q two x.ts || ! test -e b.mark"] });
  adds(world, "a", "x.ts", `${base}\nexport function two(): number {\n  return 2;\n}\n`);
  adds(world, "b", "x.ts", `${base}\nexport function three(): number {\n  return 3;\n}\n`);
  const [a, b] = [await world.enqueue("a"), await world.enqueue("b")];
  await world.work();
  expect(await world.entry(a)).toMatchObject({ status: "merged", tier: "clean-merge" });
  expect(await world.entry(b)).toMatchObject({ status: "merged", tier: "auto-resolve", strategy: "structured" });
  const text = world.show(landing, "x.ts");
  expect(text).toContain("two()");
  expect(text).toContain("three()");
});

test("a generated file is made again from what both sides brought", async () => {
  const world = await worldOf({
    files: { "list/a": "a\n", "made.lock": "a\n" },
    merge: { generated: [{ paths: ["made.lock"], command: "ls list > made.lock" }] },
  });
  const add = (name: string): string =>
    world.branch(name, () => {
      world.write(world.root, `list/${name}`, `${name}\n`);
      world.write(world.root, "made.lock", `a\n${name}\n`);
    });
  add("b");
  add("c");
  const [b, c] = [await world.enqueue("b"), await world.enqueue("c")];
  await world.work();
  expect(await world.entry(b)).toMatchObject({ status: "merged" });
  expect(await world.entry(c)).toMatchObject({ status: "merged", strategy: "regenerate" });
  expect(world.show(landing, "made.lock")).toBe("a\nb\nc");
});

test("names and contents that trip tools up land as they are", async () => {
  const world = await worldOf();
  const names = ["with space.txt", 'quo"te.txt', "new\nline.txt", "ünïcode-日本.txt", `${"n".repeat(251)}.txt`];
  world.branch("odd", () => {
    for (const name of names) world.write(world.root, name, "x\r\ny\r\n");
    world.write(world.root, "empty.txt", "");
    Bun.spawnSync({ cmd: ["ln", "-s", "README.md", join(world.root, "link")] });
  });
  const id = await world.enqueue("odd");
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  const listed = world.git(world.root, "ls-tree", "-r", "-z", "--name-only", landing).split("\0");
  for (const name of [...names, "empty.txt", "link"]) expect(listed).toContain(name);
});

test("a landing that was intended long ago, and whose candidate is gone, holds nobody up", async () => {
  const world = await worldOf();
  adds(world, "a");
  const context = { caller: engineCaller, now: Date.now(), ids: world.ports.ids };
  const gone = { kind: "land", ref: "refs/heads/main", afterCommit: "1".repeat(40), queueIds: [] } as const;
  const { id: opId } = await world.store.transaction((tx) => newOp(tx, context, gone));
  const id = await world.enqueue("a");
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(await world.store.read((tx) => tx.mergeOps.get(opId))).toMatchObject({ status: "dropped" });
});

test("the changed files of a branch are looked up when its announcement names none", async () => {
  await using world = await landingWorld();
  const headCommit = world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  const id = await world.enqueue("a", { headCommit });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", filesModified: ["a.txt"] });
});
