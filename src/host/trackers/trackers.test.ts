import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prints, trackerFixtures } from "../../../testkit/trackers/fixture.ts";
import { externalTrackers } from "../../domain/tracker/tracker.ts";
import { linuxProcesses } from "../processes.ts";
import { hostTrackers } from "./trackers.ts";

const dir = mkdtempSync(join(tmpdir(), "ov-trackers-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let made = 0;
function newDir(): string {
  const path = join(dir, String(made++));
  mkdirSync(path);
  return path;
}

const soon = { timeMs: 4_000, outputBytes: 10_000 };

describe.each(externalTrackers)("%s", (name) => {
  const fixture = trackerFixtures[name];
  const { program } = fixture;
  const command = `${program} ready --json`;
  const ask = (root: string, more: { env?: Record<string, string>; limits?: typeof soon } = {}) =>
    hostTrackers({ root, env: { PATH: fixture.path }, ...more })
      .open(name)
      .ready();

  test("is asked in the project's root, once per question", async () => {
    const root = newDir();
    fixture.answers(root, fixture.ready("a-1", "a-2"));
    expect(await ask(root)).toEqual({
      ok: true,
      value: ["a-1", "a-2"].map((id) => ({ id, title: `Do ${id}`, status: "open", priority: 2, type: "task" })),
    });
    fixture.answers(root, fixture.ready());
    expect(await ask(root)).toEqual({ ok: true, value: [] });
    expect(fixture.asked(root)).toBe(2);
  });

  test("is missing where its program is not on the PATH, and that is no failure of it", async () => {
    const root = newDir();
    fixture.answers(root, fixture.ready());
    const missing = { ok: false, refusal: { kind: "program-missing", tracker: name, program } } as const;
    expect(await ask(root, { env: { PATH: newDir() } })).toEqual(missing);
    expect(await ask(root, { env: {} })).toEqual(missing);
  });

  test("that cannot be started has failed", async () => {
    const bin = newDir();
    writeFileSync(join(bin, program), "#!/no/such/interpreter\n");
    chmodSync(join(bin, program), 0o755);
    expect(await ask(newDir(), { env: { PATH: bin } })).toMatchObject({
      refusal: { kind: "program-failed", problem: expect.stringMatching(/^could not be started: .*found/) },
    });
  });

  test("that fails is heard", async () => {
    const root = newDir();
    fixture.answers(root, "echo 'the store is locked' >&2; exit 3");
    expect(await ask(root)).toEqual({
      ok: false,
      refusal: { kind: "program-failed", command, problem: "exited 3: the store is locked" },
    });
  });

  test("that says something else is not understood", async () => {
    const root = newDir();
    fixture.answers(root, prints("no open work"));
    expect(await ask(root)).toMatchObject({ refusal: { kind: "malformed-output", command } });
  });

  test("that does not come to an end is ended, with all that it started", async () => {
    const root = newDir();
    fixture.answers(root, `sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 0.05; done' & wait`);
    expect(await ask(root, { limits: soon })).toMatchObject({
      refusal: { kind: "program-failed", command, problem: "did not end within 4 s" },
    });
    const left = linuxProcesses.identify(Number(readFileSync(join(root, "pid"), "utf8")));
    const state = left === undefined ? "gone" : linuxProcesses.check(left);
    if (left !== undefined) await linuxProcesses.endTree(left, 0);
    expect(state).toBe("gone");
  });

  test("that says too much is not listened to for ever", async () => {
    const root = newDir();
    fixture.answers(root, "while :; do echo 'and another thing'; done");
    expect(await ask(root, { limits: { ...soon, timeMs: 30_000 } })).toMatchObject({
      refusal: { kind: "program-failed", problem: "said more than 10000 bytes" },
    });
    fixture.answers(root, prints("x".repeat(10_001)));
    expect(await ask(root, { limits: { ...soon, timeMs: 30_000 } })).toMatchObject({
      refusal: { kind: "program-failed", problem: "said more than 10000 bytes" },
    });
  });

  test("may leave a process of its own behind, which is neither ended nor waited for", async () => {
    const root = newDir();
    fixture.answers(root, `sleep 600 & echo $! >pid\n${fixture.ready("a-1")}`);
    expect(await ask(root)).toMatchObject({ ok: true, value: [{ id: "a-1" }] });
    const left = linuxProcesses.identify(Number(readFileSync(join(root, "pid"), "utf8")));
    if (left === undefined) throw new Error("it was ended");
    expect(linuxProcesses.check(left)).toBe("alive");
    await linuxProcesses.endTree(left, 0);
  });

  test("never passes for the operator: it carries a mark", async () => {
    const root = newDir();
    fixture.answers(root, `grep '^Max file locks' /proc/self/limits >seen\n${fixture.ready()}`);
    expect((await ask(root)).ok).toBe(true);
    expect(readFileSync(join(root, "seen"), "utf8")).toMatch(/^Max file locks +\d+ +\d+/);
  });

  test("gets the person's settings and nothing that is ours", async () => {
    const root = newDir();
    fixture.answers(root, `env >seen\n${fixture.ready()}`);
    const env = { PATH: fixture.path, SOME_DIR: "/somewhere", OVERSTORY_TOKEN: "secret" };
    expect((await ask(root, { env })).ok).toBe(true);
    const seen = readFileSync(join(root, "seen"), "utf8");
    expect(seen).toContain("SOME_DIR=/somewhere");
    expect(seen).not.toContain("secret");
  });

  test("is found by its directory and its program, and looking starts nothing", () => {
    const root = newDir();
    const facts = (path: string) => hostTrackers({ root, env: { PATH: path } }).facts()[name];
    expect(facts(newDir())).toEqual({ files: false, program: false });
    expect(facts(fixture.path)).toEqual({ files: false, program: true });
    writeFileSync(join(root, `.${name}`), "a file of that name is something else");
    expect(facts(fixture.path)).toEqual({ files: false, program: true });
    rmSync(join(root, `.${name}`));
    fixture.answers(root, fixture.ready());
    expect(facts(fixture.path)).toEqual({ files: true, program: true });
    expect(fixture.asked(root)).toBe(0);
  });
});
