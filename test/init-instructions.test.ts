import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sealed } from "../src/domain/project/generated-state.ts";
import { sectionIn, withSection } from "../src/domain/project/section.ts";
import { randomIds } from "../src/host/ids.ts";
import { parse } from "../src/surfaces/cli/parse.ts";
import { tree } from "../src/surfaces/cli/tree.ts";
import { jsonOf } from "../testkit/ov.ts";
import { initWorld } from "./init.world.ts";

test.each([
  [["claude", "codex"], "CLAUDE.md"],
  [["codex"], "AGENTS.md"],
  [["gemini"], "GEMINI.md"],
  [["opencode"], "AGENTS.md"],
  [["cursor-agent"], "AGENTS.md"],
  [[], "CLAUDE.md"],
])("with %j on the PATH is %s", async (programs, file) => {
  using world = await initWorld();
  world.install(...programs);
  await world.ov("init", "--no-commit");
  expect(world.read(file)).toStartWith("<!-- overstory:begin -->\n");
});

test("keeps every byte its author wrote, whatever the encoding, and its permissions", async () => {
  using world = await initWorld();
  const mine = Buffer.from([0xff, 0xfe, 0x41, 0x0a, 0xe9, 0x0a]);
  world.write("CLAUDE.md", mine);
  chmodSync(join(world.root, "CLAUDE.md"), 0o600);
  await world.ov("init");
  const after = readFileSync(join(world.root, "CLAUDE.md"));
  expect(after.subarray(0, mine.length).equals(mine)).toBe(true);
  expect(statSync(join(world.root, "CLAUDE.md")).mode & 0o777).toBe(0o600);
});

test("keeps a section that was changed by hand and says so, as ov update does, whose --force replaces it", async () => {
  using world = await initWorld();
  await world.ov("init");
  const section = world.read("CLAUDE.md");
  const edited = `before\n${section.replace(/## Overstory/, "## Our team")}after`;
  world.write("CLAUDE.md", edited);
  const said = await world.json("init", "--force");
  expect(said.created).toEqual([]);
  expect(said.warnings).toContainEqual(
    "CLAUDE.md was left alone: our section in it was changed by hand (ov update --force replaces it)",
  );
  expect(world.read("CLAUDE.md")).toBe(edited);
  await world.json("update");
  expect(world.read("CLAUDE.md")).toBe(edited);
  await world.json("update", "--force");
  expect(world.read("CLAUDE.md")).toBe(`before\n${section}after`);
});

/** What an earlier version would have written: other words, and the seal that belongs to them. */
function asAnotherVersion(section: string): string {
  const found = sectionIn(section);
  if (typeof found === "string") throw new Error(`the section is ${found}`);
  const words = found.body.replace(/overstory:generated [0-9a-f]{12}/, "overstory:generated").replace("## ", "## Old ");
  const made = withSection(undefined, sealed(words, randomIds.digest));
  if (made.kind !== "changed") throw new Error(made.kind);
  return made.text;
}

test("gets a section of another version replaced, as it was written then, and nothing else", async () => {
  using world = await initWorld();
  await world.ov("init");
  const section = world.read("CLAUDE.md");
  world.write("CLAUDE.md", `before\n${asAnotherVersion(section)}after`);
  expect(await world.json("init")).toMatchObject({ created: ["CLAUDE.md"] });
  expect(world.read("CLAUDE.md")).toBe(`before\n${section}after`);
});

test("is found behind a link, and left alone where that leads out of the project or the marks are broken", async () => {
  using world = await initWorld();
  world.write("AGENTS.md", "# Shared\n");
  symlinkSync("AGENTS.md", join(world.root, "CLAUDE.md"));
  await world.git("add", ".");
  await world.git("commit", "--quiet", "-m", "first");
  expect(await world.json("init")).toMatchObject({ committed: true });
  expect(world.read("AGENTS.md")).toStartWith("# Shared\n\n<!-- overstory:begin -->");
  expect(await world.git("status", "--porcelain")).toBe("");

  using outside = await initWorld();
  writeFileSync(join(outside.base, "mine.md"), "private");
  symlinkSync("../mine.md", join(outside.root, "CLAUDE.md"));
  const said = await outside.json("init");
  expect(said.warnings).toContainEqual("CLAUDE.md was left alone: it is a link to a file outside the project");
  expect(readFileSync(join(outside.base, "mine.md"), "utf8")).toBe("private");
  expect(said).toMatchObject({ committed: true });

  using broken = await initWorld();
  broken.write("CLAUDE.md", "<!-- overstory:begin -->\nmine\n");
  expect((await broken.json("init")).warnings).toContainEqual(expect.stringContaining("are not one pair"));
  expect(broken.read("CLAUDE.md")).toBe("<!-- overstory:begin -->\nmine\n");
});

test("is not touched with --no-instructions", async () => {
  using world = await initWorld();
  await world.ov("init", "--no-instructions");
  expect(existsSync(join(world.root, "CLAUDE.md"))).toBe(false);
});

test("names only commands that exist", async () => {
  using world = await initWorld();
  await world.ov("init");
  const lines = [...world.read("CLAUDE.md").matchAll(/^ov (.+?)(?: {2,}#.*)?$/gm)].map((match) => match[1] ?? "");
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["task", "sling", "status", "mail", "mail"]);
  for (const line of lines) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    expect([line, parse(tree, words).kind]).toEqual([line, "call"]);
  }
});

test("is left alone where a sparse checkout leaves the tracked file out", async () => {
  using world = await initWorld();
  world.write("CLAUDE.md", "# Ours\n");
  world.write("src/a.txt", "a\n");
  await world.git("add", ".");
  await world.git("commit", "--quiet", "-m", "first");
  await world.git("sparse-checkout", "set", "--no-cone", "/src/");
  const said = await world.json("init");
  expect(said.warnings).toContainEqual(expect.stringContaining("git sparse-checkout add /CLAUDE.md"));
  expect(existsSync(join(world.root, "CLAUDE.md"))).toBe(false);
  expect(await world.git("show", "HEAD:CLAUDE.md")).toBe("# Ours\n");
});

test("settings that a sparse checkout leaves out are not written anew, but named with the way to have them", async () => {
  using world = await initWorld();
  world.write("src/a.txt", "a\n");
  world.write(".overstory/config.yaml", "project:\n  name: ours\n  canonicalBranch: main\n");
  await world.git("add", ".");
  await world.git("commit", "--quiet", "-m", "first");
  await world.git("sparse-checkout", "set", "src");
  const refused = await world.ov("init", "--json");
  expect(jsonOf(refused)).toMatchObject({
    exitCode: 2,
    error: expect.stringContaining("git sparse-checkout add .overstory"),
  });
  expect(existsSync(join(world.root, ".overstory", "config.yaml"))).toBe(false);
  expect(await world.git("status", "--porcelain")).toBe("");
});
