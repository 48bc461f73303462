import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { letGo, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { plantPrograms } from "../../testkit/planted-programs.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const repository = resolve(import.meta.dir, "../..");

interface Trap {
  readonly path: string;
  /** What ran, one line each. */
  said(): string;
}

/** A program that leaves its name behind when it runs; it passes on what a filter is given. */
function makeTrap({ home }: TestProject): Trap {
  const dir = join(home, "traps");
  mkdirSync(dir, { recursive: true });
  const [path, mark] = [join(dir, "trap"), join(dir, "sprung")];
  writeFileSync(path, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`);
  chmodSync(path, 0o755);
  return { path, said: () => (existsSync(mark) ? readFileSync(mark, "utf8") : "") };
}

const filter = (trap: string): string => `[filter "x"]\n\tclean = ${trap}\n\tsmudge = ${trap}\n\tprocess = ${trap}\n`;

/** Where programs can be planted. Each answers nothing; all of them are readable by plain git in the project. */
const plants: Readonly<Record<string, (project: TestProject, trap: string) => Promise<void>>> = {
  "the repository's configuration and hooks": async ({ root }, trap) => plantPrograms({ trap }, join(root, ".git")),
  "a file that the configuration includes on a condition": async ({ root, home }, trap) => {
    mkdirSync(join(home, "included", "hooks"), { recursive: true });
    plantPrograms({ trap }, join(home, "included"));
    writeFileSync(join(root, ".git", "config"), `[includeIf "gitdir:**"]\n\tpath = ${home}/included/config\n`, {
      flag: "a",
    });
  },
  "the configuration of worktrees": async ({ root, git, home }, trap) => {
    await git("config", "extensions.worktreeConfig", "true");
    mkdirSync(join(home, "wt", "hooks"), { recursive: true });
    plantPrograms({ trap }, join(home, "wt"));
    const text = readFileSync(join(home, "wt", "config"), "utf8").replace("gpgSign = true", "gpgSign = false");
    const admins = join(root, ".git", "worktrees");
    const dirs = existsSync(admins) ? readdirSync(admins).map((name) => join(admins, name)) : [];
    for (const dir of [join(root, ".git"), ...dirs]) writeFileSync(join(dir, "config.worktree"), text);
  },
};

/** What an agent's own git runs is not ours, so an agent that is brought back only waits until it is stopped. */
const scenario = `
- do:
    - shell: if [ -e "$HOME/committed" ]; then sleep 20; fi
    - edit: { file: a.x, write: "by b1\\n" }
    - commit: work
    - touch: "\${env.HOME}/committed"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --summary, Done]
`;

const files = { "a.x": "a\n", ".gitattributes": "* diff=x merge=x\n" };

describe("nothing that somebody planted runs", () => {
  for (const [where, plant] of Object.entries(plants)) {
    test(`in ${where}: from a second init to a promotion and back`, async () => {
      await using project = await makeProject({
        files,
        gates: ["test -f a.x"],
        scenario,
        env: { GIT_CONFIG_NOSYSTEM: "1" },
      });
      const trap = makeTrap(project);
      const ov = async (...args: string[]): Promise<void> => {
        const answer = await project.ov(...args);
        expect([args.join(" "), answer.code, trap.said()]).toEqual([args.join(" "), 0, ""]);
      };
      await ov("init");
      await slingNew(project, "B1");
      await untilFile(project, "committed");
      await plant(project, trap.path);
      await project.git("-c", "core.fsmonitor=false", "config", "commit.gpgSign", "false");
      await ov("init");
      await ov("init", "--reset", "--name", "other");
      await letGo(project);
      await untilAgent(project, "b1", "completed/done");
      expect(trap.said()).toBe("");
      writeFileSync(join((await project.agent("b1")).worktreePath ?? "", "loose.x"), "not committed\n");
      await ov("diff", "b1");
      await ov("merge", "radar");
      await ov("gate", "run", "main");
      await ov("worktree", "list");
      await ov("merge", "add", "overstory/b1/B1", "--leave-rest");
      await ov("merge", "plan");
      await ov("merge", "approve", "overstory/b1/B1", "--leave-rest");
      await project.until("it landed", async () =>
        (await project.read((tx) => tx.merges.list({}))).every(({ status }) => status === "merged"),
      );
      await ov("merge", "promote");
      expect(readFileSync(join(project.root, "a.x"), "utf8")).toBe("by b1\n");
      await ov("merge", "undo", "--last", "--yes");
      await project.until("its place is free", async () => (await project.agent("b1")).cleanedAt !== null);
      await ov("recover", "b1");
      await ov("stop", "b1", "--force");
      await ov("release", "b1");
      await ov("worktree", "clean", "--force");
      await ov("clean", "--all", "--yes");
      expect(trap.said()).toBe("");
    });
  }

  test("a filter that attributes name, wherever they stand, is refused and not run", async () => {
    await using project = await makeProject({
      files,
      gates: ["test -f a.x"],
      scenario,
      env: { GIT_CONFIG_NOSYSTEM: "1" },
    });
    const trap = makeTrap(project);
    await project.json("init");
    await slingNew(project, "B1");
    await untilFile(project, "committed");
    writeFileSync(join(project.root, ".git", "config"), filter(trap.path), { flag: "a" });
    writeFileSync(join(project.root, ".git", "info", "attributes"), "*.x filter=x\n");
    // The agent's own git would run it, and no command of ours.
    await project.json("init", "--reset");
    const gate = [{ name: "gate-1", command: "test -f a.x" }];
    await project.json("config", "set", "project.qualityGates", JSON.stringify(gate));
    const refused = await project.ov("sling", "other work", "--json");
    expect([refused.code, refused.out]).toEqual([3, expect.stringContaining("ov trust add x")]);
    await project.ov("diff", "b1");
    await project.json("stop", "b1", "--force");
    await project.json("merge", "add", "overstory/b1/B1");
    await project.json("merge", "approve", "overstory/b1/B1");
    await project.until("it is blocked by name", async () => {
      const [entry] = await project.read((tx) => tx.merges.list({}));
      return entry?.status === "blocked" && entry.causeDetail?.message.includes('the filter "x"') === true;
    });
    expect((await project.ov("inbox")).out).toContain("ov trust add x");
    expect(trap.said()).toBe("");
  });
});

test("a commit that cannot be signed blocks the queue by name, and lands once it can", async () => {
  await using project = await makeProject({ files: { "a.txt": "a\n" }, gates: ["true"] });
  await project.git("checkout", "--quiet", "-b", "work");
  writeFileSync(join(project.root, "b.txt"), "b\n");
  await project.git("add", "b.txt");
  await project.git("commit", "--quiet", "-m", "b");
  await project.git("checkout", "--quiet", "-b", "elsewhere");
  // The user's own wish: without a key nothing can be signed.
  await project.git("config", "--global", "commit.gpgSign", "true");
  const gpg = join(project.home, "gpg");
  writeFileSync(gpg, "#!/bin/sh\necho 'no secret key' >&2\nexit 2\n");
  chmodSync(gpg, 0o755);
  await project.git("config", "--global", "gpg.program", gpg);
  await project.json("merge", "add", "work", "--into", "main");
  await project.json("merge", "approve", "work");
  const entry = async () => (await project.read((tx) => tx.merges.list({})))[0];
  await project.until("it is blocked", async () => (await entry())?.status === "blocked");
  expect((await entry())?.causeDetail?.message).toContain("could not be signed");
  expect((await project.ov("inbox")).out).toContain("could not be signed");
  await project.git("config", "--global", "commit.gpgSign", "false");
  // Of an agent: nothing that lands is signed for it, nor waits for it.
  await project.git("config", "commit.gpgSign", "true");
  await project.json("merge", "resume", String((await entry())?.id));
  await project.until("it landed", async () => (await entry())?.status === "merged");
});

test("there is one way to run git", () => {
  const sources = [...new Glob("src/**/*.ts").scanSync({ cwd: repository })].filter(
    (file) => !file.endsWith(".test.ts"),
  );
  const starters = sources.filter((file) =>
    /(cmd|argv)(:| =) \["git"|\[gitProgram\(\)|spawn(Sync)?\(("git"|gitProgram)/.test(
      readFileSync(join(repository, file), "utf8"),
    ),
  );
  // The scripted agent is an agent: it runs git as one.
  expect(starters.toSorted()).toEqual(["src/host/git/git.ts", "src/runtimes/scripted/program/main.ts"]);
});
