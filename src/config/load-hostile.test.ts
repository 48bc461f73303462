import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import fc from "fast-check";
import { inProject, load } from "../../testkit/config-world.ts";
import { type Loaded, loadConfig } from "./load.ts";

const brief = (problems: Loaded["problems"]) =>
  problems.map(({ line, column, key, message }) => `${line}:${column} ${key} ${message}`);

test("names that would reach into an object's insides are not taken", async () => {
  const loaded = await load({
    project: "__proto__: {polluted: 1}\nmodels: {__proto__: opus}\nruntime:\n  capabilities: {__proto__: claude}\n",
  });
  expect(loaded.warnings.map((warning) => warning.key)).toEqual([
    "__proto__",
    "models.__proto__",
    "runtime.capabilities.__proto__",
  ]);
  expect(Object.getPrototypeOf(loaded.config.runtime.capabilities)).toBe(Object.prototype);
  expect({}).not.toHaveProperty("polluted");
});

test("nothing a file holds can steer the terminal its problems are shown on", async () => {
  const project =
    'project:\n  "na\\e[2Jme": x\n  name: "a\\x9bb"\nmerge:\n  closeTask: "\\u202e\\u2028"\n"!<\\x1b>": 1\n';
  const { problems, warnings } = await load({ project });
  expect([problems.length, warnings.length]).toEqual([2, 2]);
  for (const { key, message } of [...problems, ...warnings])
    expect(key + message).not.toMatch(/[\p{Cc}\p{Bidi_C}\u2028]/u);
});

test("aliases that multiply each other or hold themselves end in a problem, not in memory", async () => {
  const rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 9; i++)
    rows.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(", ")}]`,
    );
  expect((await load({ project: rows.join("\n") })).problems[0]?.message).toContain("more than any");
  expect((await load({ project: "agents: &a\n  maxDepth: *a\n" })).ok).toBe(false);
});

test("a file that nests without end is a problem, and a torrent of errors is cut short", async () => {
  expect((await load({ project: `agents: ${"[".repeat(60)}${"]".repeat(60)}\n` })).problems).toHaveLength(1);
  expect((await load({ project: "[".repeat(5000) })).problems).toHaveLength(10);
});

test("an alias without its anchor is a problem at its line", async () => {
  expect(brief((await load({ project: "agents:\n  maxDepth: *gone\n" })).problems)[0]).toBe(
    "2:13  has no anchor named gone",
  );
});

test("a plain alias is followed", async () => {
  const { config } = await load({ project: "agents:\n  maxDepth: &n 3\n  maxRevivals: *n\n" });
  expect(config.agents).toMatchObject({ maxDepth: 3, maxRevivals: 3 });
});

test("a source that is a directory or far too large is a problem of that file", async () => {
  const large = await load({ project: `# ${"x".repeat(1024 * 1024)}\n` });
  expect(large.problems).toMatchObject([{ key: "", line: 0, message: expect.stringContaining("larger") }]);
  const loaded = await inProject({}, async (files) => {
    mkdirSync(files.project);
    return loadConfig(files, {});
  });
  expect(loaded.problems).toMatchObject([
    { file: expect.stringContaining("config.yaml"), message: "cannot be read (EISDIR)" },
  ]);
});

test("no text whatever makes loading throw", async () => {
  const scraps = fc.constantFrom(
    "agents:",
    "  maxDepth: ",
    "- ",
    "{",
    "[",
    "]",
    "&a ",
    "*a",
    "\n",
    "\t",
    "? ",
    "!!x ",
    "|\n",
    "#",
    "1",
    '"',
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(scraps).map((parts) => parts.join("")),
  );
  await fc.assert(
    fc.asyncProperty(text, fc.string(), async (project, variable) => {
      const loaded = await load({ project, env: { [`OVERSTORY__${variable}`]: project } });
      expect(loaded.ok).toBe(loaded.problems.length === 0);
    }),
    { numRuns: 200 },
  );
}, 60_000);

test("a link that leads to itself is a file that cannot be read", () =>
  inProject({}, async (files) => {
    symlinkSync("config.yaml", files.project);
    const { ok, problems } = await loadConfig(files, {});
    expect({ ok, problems }).toMatchObject({ ok: false, problems: [{ message: "cannot be read (ELOOP)" }] });
  }));

test("a pipe in place of a file of settings is named, and nobody waits for it", async () => {
  const { problems } = await inProject({ project: "project: {}\n" }, (files) => {
    Bun.spawnSync(["mkfifo", files.local]);
    return loadConfig(files, {});
  });
  expect(problems.map(({ message }) => message)).toEqual(["is not a file that can be read"]);
});
