import { describe, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectGit, runGit } from "./git.ts";

const files = 200_000;

/** A repository with so many files, and a worktree of an agent in which a sparse checkout left all of them out. */
function largeWorld() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ov-large-")));
  const root = join(base, "repo");
  const path = join(root, ".overstory", "worktrees", "ann");
  const git = (cwd: string, args: readonly string[], stdin = ""): string => {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    const ran = Bun.spawnSync({ cmd: ["git", ...args], cwd, env, stdin: Buffer.from(stdin), maxBuffer: 1e9 });
    if (ran.exitCode !== 0) throw new Error(`git ${args[0]}: ${ran.stderr}`);
    return ran.stdout.toString();
  };
  git(base, ["init", "--quiet", "-b", "main", root]);
  const lines = Array.from(
    { length: files },
    (_, at) => `M 100644 :1 packages/module-${Math.floor(at / 1000)}/source-directory/file-number-${at}.ts\n`,
  );
  const commit = "commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx";
  git(root, ["fast-import", "--quiet"], `blob\nmark :1\ndata 2\na\n\n${commit}\n${lines.join("")}`);
  git(root, ["worktree", "add", "--quiet", "--no-checkout", "-b", "overstory/ann/t", path, "main"]);
  git(path, ["read-tree", "HEAD"]);
  git(path, ["update-index", "-z", "--skip-worktree", "--stdin"], git(path, ["ls-files", "-z"]));
  writeFileSync(join(path, "new.txt"), "new\n");
  return { root, path, git, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) };
}

/** How much more memory a process of its own takes for one look, in megabytes. */
async function megabytesFor(root: string, path: string, look: string): Promise<number> {
  const code = `
    import { gitWorktrees } from ${JSON.stringify(join(import.meta.dir, "worktrees.ts"))};
    import { problemsWith } from ${JSON.stringify(join(import.meta.dir, "filters.ts"))};
    import { openRepository } from ${JSON.stringify(join(import.meta.dir, "repository.ts"))};
    const [root, path] = ${JSON.stringify([root, path])};
    const repository = await openRepository(root)();
    const worktrees = gitWorktrees(root);
    const baseCommit = await worktrees.resolve("refs/heads/main");
    const owned = { agentName: "ann", generation: 1, kind: "linked", branch: "overstory/ann/t", path, baseCommit, baseRef: "main" };
    const before = process.resourceUsage().maxRSS;
    await (${look});
    console.log((process.resourceUsage().maxRSS - before) / 1024);
  `;
  const child = Bun.spawn({ cmd: [process.execPath, "-e", code], stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(err);
  return Number(out);
}

test("what is done for every turn takes no memory for files that did not change", async () => {
  using world = largeWorld();
  const looks = [
    'problemsWith(repository, "refs/heads/main")',
    "worktrees.inspect(owned)",
    "worktrees.snapshot(owned)",
    "worktrees.changesSince(owned, { headCommit: baseCommit, ahead: 0, dirty: true })",
  ];
  // Held as a whole, a list of all files takes more than 130 MB.
  for (const look of looks) expect(await megabytesFor(world.root, world.path, look)).toBeLessThan(90);
}, 180_000);

describe("the output of git", () => {
  test("is not read beyond a limit, and the failure says so", async () => {
    const answer = await runGit({ cwd: "/", args: ["help", "--all"], mostBytes: 100 });
    expect(answer).toMatchObject({ code: 128, out: "" });
    expect(() => expectGit(answer, "listing commands")).toThrow(
      "git printed more than 1 MB, which is more than ov reads",
    );
  });

  test("can be taken part by part", async () => {
    const whole = await runGit({ cwd: "/", args: ["config", "-z", "--list"], env: settings(3_000) });
    const parts: string[] = [];
    const each = (part: Buffer): void => void parts.push(part.toString());
    const answer = await runGit({ cwd: "/", args: ["config", "-z", "--list"], env: settings(3_000), each });
    expect(answer.out).toBe("");
    expect(parts.length).toBeGreaterThan(3_000);
    expect(parts.map((part) => `${part}\0`).join("")).toBe(whole.out);
  });

  /** More than one piece of a pipe. */
  const settings = (count: number): Record<string, string> => ({
    GIT_CONFIG_COUNT: String(count),
    ...Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        [`GIT_CONFIG_KEY_${at}`, `ov.key${at}`],
        [`GIT_CONFIG_VALUE_${at}`, "value ".repeat(8)],
      ]).flat(),
    ),
  });
});
