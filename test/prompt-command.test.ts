import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../testkit/project.ts";

function writeOwn({ root }: TestProject, file: string, text: string): void {
  mkdirSync(join(root, ".overstory", "agent-defs"), { recursive: true });
  writeFileSync(join(root, ".overstory", "agent-defs", file), text);
}

test("show prints the prompt of a role with its version, and begins a text of one's own", async () => {
  await using project = await makeProject();
  const shown = await project.json("prompt", "show", "lead");
  expect(shown).toMatchObject({ role: "lead", state: "built-in", added: false });
  expect(shown.version).toBe(`lead@${String(shown.hash).slice(0, 12)}`);
  expect((await project.ov("prompt", "show", "lead")).out).toBe(`${shown.text}\n`);
  const begun = await project.ov("prompt", "show", "lead", "--text");
  expect(begun.out).toMatch(/^<!-- overstory:role lead [0-9a-f]{12} -->\n\n## How you work\n/);
  const shipped = readFileSync(join(import.meta.dir, "../agents/lead.md"), "utf8");
  expect(begun.out).toEndWith(shipped);
});

test("show gives the manifest, and refuses what it cannot show", async () => {
  await using project = await makeProject();
  expect(await project.json("prompt", "show", "--manifest")).toMatchObject({ manifest: { version: "1.0" } });
  expect((await project.ov("prompt", "show")).code).toBe(2);
  expect((await project.ov("prompt", "show", "plumber")).code).toBe(2);
  expect((await project.ov("prompt", "show", "--agent", "nobody")).code).toBe(7);
  expect((await project.ov("prompt", "show", "--agent", "../../x")).code).toBe(7);
  expect((await project.ov("prompt", "show", "--kept", "lead@000000000000")).code).toBe(2);
});

test("diff tells texts of one's own from those that ship, and which of them are behind or do not count", async () => {
  await using project = await makeProject();
  expect((await project.ov("prompt", "diff")).out).toContain("No text of the project's own");
  const { text } = await project.json("prompt", "show", "lead", "--text");
  writeOwn(project, "lead.md", String(text).replace("## How many hands", "## How many feet"));
  writeOwn(project, "scout.md", String(text).replace(/role lead [0-9a-f]{12}/, "role scout 000000000000"));
  writeOwn(project, "merger.md", "from an earlier program\n");
  writeOwn(project, "builder.local.md", "Knit.\n");
  const { roles } = (await project.json("prompt", "diff")) as { roles: Record<string, unknown>[] };
  expect(roles.map(({ role, state, added }) => [role, state, added])).toEqual([
    ["lead", "replaced", false],
    ["scout", "outdated", false],
    ["builder", "built-in", true],
    ["merger", "ignored", false],
  ]);
  expect(roles[0]?.changes).toEqual(["-## How many hands", "+## How many feet"]);
  const told = (await project.ov("prompt", "diff")).out;
  expect(told).toContain(".overstory/agent-defs/scout.md: counts, but the text that ships has changed");
  expect(told).toContain(".overstory/agent-defs/merger.md: does not count");
  expect(told).toContain("+ Knit.");
});

test("test finds what a text of one's own asks for in vain", async () => {
  await using project = await makeProject();
  writeOwn(project, "scout.local.md", "Then type `ov sling t1` and `ov fly away`, and send `merge_ready`.\n");
  const answer = await project.ov("prompt", "test", "scout", "--json");
  expect(answer.code).toBe(5);
  const { problems } = JSON.parse(answer.out) as { problems: { kind: string; found: string }[] };
  const own = problems.filter(({ found }) => !found.startsWith("ov done"));
  expect(own.map(({ kind, found }) => [kind, found])).toEqual([
    ["not-its-command", "ov sling t1"],
    ["unknown-command", "ov fly away"],
    ["not-its-mail", "merge_ready"],
  ]);
});
