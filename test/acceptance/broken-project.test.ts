import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leaves, shortestLine } from "../../testkit/leaves.ts";
import { jsonOf, type OvAnswer, ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";
import { snapshotOf } from "../../testkit/snapshot.ts";
import { statePath } from "../../testkit/state.ts";
import { bytesOf, type Expected, expectRefusal, stateOf } from "./refusal.world.ts";

const send = ["mail", "send", "--to", "operator", "--subject", "s", "--body", "b"];
/** One that only reads, one that writes, one that sets up. */
const any = [["status"], send, ["init"]];
/** With broken settings, looking at what goes on, stopping it, mail and reports of agents work; these do not. */
const anyButLooking = [["task", "list"], ["task", "create", "Another task"], ["init"]];

/** Set a project up themselves, bring their own, or look at none; a hook answers in the exit codes of whoever calls it. */
const needNone = ["init", "go", "demo", "merge-file", "completions", "__complete", "hook", "guard test"];

/** Words without which a line asks for nothing, though no single flag is required. */
const completing: Readonly<Record<string, readonly string[]>> = {
  "prompt show": ["builder"],
  "task update": ["--title", "t"],
  clean: ["--logs"],
  merge: ["--all"],
  "merge approve": ["--all"],
  "merge undo": ["--last"],
  discover: ["--yes"],
  "run criteria prove": ["--file", "README.md"],
  "merge move": ["--priority", "1"],
  "serve revoke": ["--all"],
};

const setup = (code: string, says: string): Expected => ({ exit: 3, code, says });
const configFile = ({ root }: TestProject): string => join(root, ".overstory", "config.yaml");
const database = ({ root }: TestProject): string => statePath(root, "overstory.db");

/** A project that is set up completely and holds a task. */
async function usedProject(): Promise<TestProject> {
  const project = await makeProject();
  await project.json("init");
  await project.json("task", "create", "A task", "--id", "T1");
  return project;
}

async function refused(project: TestProject, commands: readonly (readonly string[])[], expected: Expected) {
  const before = stateOf(project.root);
  for (const args of commands) await expectRefusal(project.ov, args, expected);
  expect(stateOf(project.root)).toEqual(before);
}

describe.concurrent("a project that cannot be used is reported and left alone", () => {
  test("outside of git nothing can be set up", async () => {
    await using project = await makeProject({ bare: true });
    const place = join(project.home, "plain");
    mkdirSync(place);
    const there = (...args: string[]) => project.ovWith({ cwd: place }, ...args);
    await expectRefusal(there, ["init"], setup("WORKTREE_ERROR", "is not inside a git repository"));
    expect(snapshotOf(place)).toEqual({});
  });

  test("where nothing was set up, every command that needs a project says so", async () => {
    await using project = await makeProject({ bare: true });
    const before = snapshotOf(project.root);
    const needs = leaves().filter(({ path }) => !needNone.includes(path.join(" ")));
    expect(needs.length).toBeGreaterThan(30);
    for (const leaf of needs) {
      // A change of nothing is refused even before there is anything to change.
      const more = completing[leaf.path.join(" ")] ?? [];
      const line = shortestLine(leaf, { configKeys: "agents.maxDepth" });
      const answer = await project.ovWith({ stdin: "x" }, ...line, ...more, "--json");
      const { exitCode, details } = jsonOf(answer);
      const kind = { kind: "not-initialised" };
      const expected = { path: leaf.path, code: 3, exitCode: 3, details: kind };
      expect({ path: leaf.path, code: answer.code, exitCode, details }).toMatchObject(expected);
    }
    await expectRefusal(project.ov, ["status"], setup("CONFIG_ERROR", "is not an Overstory project"));
    expect(snapshotOf(project.root)).toEqual(before);
  }, 240_000);

  test("--project that points to nothing, to a file or to a directory without a project is refused", async () => {
    await using project = await usedProject();
    const places = [
      ["/nowhere/at/all", "/nowhere/at/all does not exist"],
      ["README.md", "README.md is a file, not a directory"],
      [project.home, "is not an Overstory project"],
    ] as const;
    for (const [where, says] of places) {
      await refused(project, [["status", "--project", where]], setup("CONFIG_ERROR", says));
    }
  });

  test("files of a project without their repository are told from a project that was never set up", async () => {
    await using project = await usedProject();
    const [git, away] = [join(project.root, ".git"), join(project.home, "away.git")];
    renameSync(git, away);
    const missing = setup("WORKTREE_ERROR", `${project.root} is not inside a git repository`);
    await expectRefusal(project.ov, ["status"], missing);
    writeFileSync(git, "gitdir: nowhere\n");
    await expectRefusal(project.ov, ["doctor"], missing);
    rmSync(git);
    renameSync(away, git);
    expect(await project.json("task", "list")).toMatchObject({ tasks: [{ id: "T1" }] });
  });

  test("settings that are no YAML are refused with the line", async () => {
    await using project = await usedProject();
    writeFileSync(configFile(project), "agents: [oops\n x: {\n");
    const commands = [...anyButLooking, ["config", "get", "agents.maxDepth"]];
    await refused(project, commands, setup("CONFIG_ERROR", "is not valid YAML"));
    await refused(project, [["task", "list"]], setup("CONFIG_ERROR", "(line 1, column 10)"));
    expect((await project.json("status")).notices).toEqual([expect.stringContaining("(line 1, column 10)")]);
  });

  test("unknown keys, wrong types and values out of range are reported together, each with its line", async () => {
    await using project = await usedProject();
    writeFileSync(configFile(project), "agents:\n  maxDepth: deep\n  maxConcurrent: 0\nmerge:\n  mod: auto\n");
    await refused(project, anyButLooking, setup("CONFIG_ERROR", "agents.maxDepth must be a whole number"));
    await refused(project, [["task", "list"]], setup("CONFIG_ERROR", "agents.maxConcurrent"));
    const checked = await project.ov("config", "validate", "--json");
    const at = (found: unknown): unknown[] =>
      (found as { key: string; line: number }[]).map(({ key, line }) => `${key}:${line}`);
    const { problems, warnings } = jsonOf(checked);
    expect({ code: checked.code, problems: at(problems), warnings: at(warnings) }).toEqual({
      code: 3,
      problems: ["agents.maxDepth:2", "agents.maxConcurrent:3"],
      warnings: ["merge.mod:5"],
    });
  });

  test("one valid setting alone is enough", async () => {
    await using project = await makeProject();
    writeFileSync(configFile(project), "watchdog:\n  tier1Enabled: true\n");
    expect(await project.json("config", "validate")).toMatchObject({ valid: true });
  });

  test("a database that is none is refused byte for byte untouched", async () => {
    await using project = await usedProject();
    for (const suffix of ["-wal", "-shm"]) rmSync(database(project) + suffix, { force: true });
    const garbage = new Bun.CryptoHasher("sha512").update("seed").digest();
    writeFileSync(database(project), Buffer.concat(Array.from({ length: 400 }, () => garbage)));
    const before = bytesOf(project.root);
    for (const args of any) await expectRefusal(project.ov, args, setup("STORE_ERROR", "is damaged"));
    expect(bytesOf(project.root)).toEqual(before);
  });

  test("a database of a newer version is refused and left alone", async () => {
    await using project = await usedProject();
    const db = rawDatabase(project, "write");
    db.run("PRAGMA user_version = 999");
    db.close();
    await refused(project, any, setup("STORE_ERROR", "has version 999"));
  });

  test("a database that another process holds for longer than the patience is busy, and the same command may be retried", async () => {
    await using project = await usedProject();
    const before = stateOf(project.root);
    const holder = rawDatabase(project, "write");
    holder.run("BEGIN IMMEDIATE");
    expect(await project.json("task", "list")).toMatchObject({ success: true });
    await expectRefusal(project.ov, send, { exit: 6, code: "BUSY_ERROR", says: "was locked by another process" });
    holder.run("ROLLBACK");
    holder.close();
    expect(stateOf(project.root)).toEqual(before);
    expect(await project.json(...send)).toMatchObject({ success: true });
  }, 120_000);

  test.skipIf(!canMountReadOnly())("where nothing can be written, whatever writes says so", async () => {
    await using project = await usedProject();
    const before = stateOf(project.root);
    const run = (...args: string[]) => runReadOnly(project, args);
    const writing = [
      send,
      ["task", "create", "Another"],
      ["sling", "T1"],
      ["spec", "write", "T1", "--body", "text"],
      ["config", "set", "agents.maxDepth", "1"],
      ["config", "set", "agents.maxDepth", "1", "--local"],
    ];
    for (const args of writing) await expectRefusal(run, args, setup("STORE_ERROR", "cannot be written"));
    expect((await run("task", "list", "--json")).code).toBe(0);
    expect(stateOf(project.root)).toEqual(before);
  });
});

test("an init that is refused because of the database has made nothing", async () => {
  await using project = await makeProject();
  writeFileSync(database(project), "not a database, and long enough to be taken for one ".repeat(50));
  const before = snapshotOf(project.root);
  await expectRefusal(project.ov, ["init"], setup("STORE_ERROR", "nothing was changed"));
  expect(snapshotOf(project.root)).toEqual(before);
});

const mountReadOnly = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"';
const within = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c", mountReadOnly, "sh"];

/** Where the system lets nobody have mounts of their own, this cannot be tried. */
function canMountReadOnly(): boolean {
  if (Bun.which("unshare") === null) return false;
  // A directory of its own: other tests may have mounts below the common temporary directory.
  const dir = mkdtempSync(join(tmpdir(), "ov-read-only-"));
  try {
    return Bun.spawnSync([...within, dir, "/bin/true"]).exitCode === 0;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Runs the program where nothing of the project can be written. Permissions do not bind root, a read-only mount does. */
async function runReadOnly({ root, env }: TestProject, args: readonly string[]): Promise<OvAnswer> {
  const child = Bun.spawn({
    cmd: [...within, root, ovBinary(), ...args],
    cwd: root,
    env: { ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}
