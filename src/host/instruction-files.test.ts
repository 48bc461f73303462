import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { instructionMark } from "../domain/role/assignment.ts";
import { placedPaths, placeIgnored } from "./agent-instructions.ts";
import { git } from "./git/git.ts";

const file = ".claude/CLAUDE.md";
const text = `${instructionMark}\nbuild\n`;

describe("in a worktree", () => {
  test("the instructions are there, and git sees nothing new", async () => {
    using world = await repository({ "a.txt": "a" });
    expect(placeIgnored({ worktree: world.dir, file, text, untouched: true })).toBe(true);
    expect(world.read(file)).toBe(text);
    expect(await world.status()).toBe("");
    await git(world.dir, "add", "-A");
    expect(await world.status()).toBe("");
  });

  test.each([".claude", ".claude/.gitignore", ".claude/CLAUDE.md"])(
    "something else in place of %s is left alone, and keeps nobody from working",
    async (place) => {
      using world = await repository({ "a.txt": "a" });
      if (place === ".claude") world.write(place, "mine");
      else mkdirSync(join(world.dir, place), { recursive: true });
      expect(placeIgnored({ worktree: world.dir, file, text, untouched: true })).toBe(false);
      if (place === ".claude") expect(world.read(place)).toBe("mine");
    },
  );

  test("tracked neighbours keep showing their changes", async () => {
    using world = await repository({ ".claude/settings.json": "{}" });
    placeIgnored({ worktree: world.dir, file, text, untouched: true });
    world.write(".claude/settings.json", "{ }");
    world.write(".claude/new.md", "n");
    expect(await world.status()).toBe(" M .claude/settings.json\n?? .claude/new.md\n");
  });

  test("a second time replaces our own text, also if a person changed or deleted it", async () => {
    using world = await repository({ "a.txt": "a" });
    placeIgnored({ worktree: world.dir, file, text, untouched: true });
    world.write(file, `${text}and rebel\n`);
    expect(placeIgnored({ worktree: world.dir, file, text, untouched: false })).toBe(true);
    expect(world.read(file)).toBe(text);
    rmSync(join(world.dir, file));
    expect(placeIgnored({ worktree: world.dir, file, text, untouched: false })).toBe(true);
    expect(world.read(file)).toBe(text);
  });

  test("a tracked instruction file stays as it is, also after an agent deleted it", async () => {
    using world = await repository({ [file]: "theirs" });
    expect(placeIgnored({ worktree: world.dir, file, text, untouched: true })).toBe(false);
    expect(world.read(file)).toBe("theirs");
    rmSync(join(world.dir, file));
    expect(placeIgnored({ worktree: world.dir, file, text, untouched: false })).toBe(false);
    expect(await world.status()).toBe(` D ${file}\n`);
  });

  test("a .gitignore of the project's own beside it stays as it is", async () => {
    using world = await repository({ ".claude/.gitignore": "x\n" });
    expect(placeIgnored({ worktree: world.dir, file, text, untouched: true })).toBe(false);
    expect(existsSync(join(world.dir, file))).toBe(false);
    expect(await world.status()).toBe("");
  });

  test("a link cannot take it somewhere else", async () => {
    using world = await repository({ "a.txt": "a" });
    const outside = mkdtempSync(join(tmpdir(), "ov-outside-"));
    symlinkSync(outside, join(world.dir, ".claude"));
    expect(placeIgnored({ worktree: world.dir, file, text, untouched: true })).toBe(false);
    expect(existsSync(join(outside, "CLAUDE.md"))).toBe(false);
    rmSync(outside, { recursive: true });
  });

  test("at the top, where the project has its own .gitignore, nothing is placed", async () => {
    using world = await repository({ "a.txt": "a" });
    expect(placeIgnored({ worktree: world.dir, file: "AGENTS.md", text, untouched: true })).toBe(false);
    expect(await world.status()).toBe("");
  });
});

test("what is placed is known by its paths", () => {
  expect(placedPaths(file)).toEqual([file, ".claude/.gitignore"]);
  expect(placedPaths("AGENTS.md")).toEqual([]);
});

async function repository(files: Readonly<Record<string, string>>) {
  const dir = mkdtempSync(join(tmpdir(), "ov-instructions-"));
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  await git(dir, "init", "--quiet");
  await git(dir, "add", "-A");
  await git(dir, "-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "--quiet", "-m", "first");
  return {
    dir,
    write,
    read: (path: string) => readFileSync(join(dir, path), "utf8"),
    status: async () => (await git(dir, "status", "--porcelain", "--untracked-files=all")).out,
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
