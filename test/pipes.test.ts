import { expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ovBinary } from "../testkit/ov.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";

// Agents can write to the checkout and to git's directory. To open a pipe in place of a file waits for a writer without
// end, so nothing of ours may open one. A git that stands still at one is ended, and the pipe is named.

/** Commands that read one of the files. */
const commands = [
  ["status"],
  ["prime"],
  ["init", "--no-commit"],
  ["config", "show"],
  ["spec", "show", "t1"],
  ["sling", "t1", "--dry-run"],
  ["doctor"],
  ["trust", "list"],
  ["logs", "b1"],
] as const;

const files = [
  ".overstory/config.local.yaml",
  ".overstory/agent-manifest.json",
  ".overstory/README.md",
  ".overstory/specs/t1.md",
  "CLAUDE.md",
  ".git/info/exclude",
  ".git/info/attributes",
  ".git/ov-state/project.json",
  ".git/ov-state/trust.json",
  ".git/ov-state/run/config.json",
  ".git/ov-state/run/programs.json",
  ".git/ov-state/run/engine.json",
  ".git/ov-state/run/keeper.json",
  ".git/ov-state/run/judging.json",
  ".git/ov-state/run/bin/ov",
  ".git/ov-state/run/engine.log",
];

/** Ends a command that waits, and says so. */
async function hangs(project: TestProject, args: readonly string[]): Promise<boolean> {
  const child = Bun.spawn({
    cmd: [ovBinary(), ...args, "--json"],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const limit = Bun.sleep(patienceMs).then(() => "late" as const);
  const late = (await Promise.race([child.exited, limit])) === "late";
  if (late) child.kill("SIGKILL");
  await child.exited;
  return late;
}

const patienceMs = 20_000;

test("no command waits for a pipe in place of a file", async () => {
  await using project = await makeProject();
  await project.ov("init", "--no-commit");
  await project.json("task", "create", "a task", "--id", "t1");
  const hanging: string[] = [];
  for (const file of files) {
    const path = join(project.root, file);
    const aside = `${path}.aside`;
    if (existsSync(path)) renameSync(path, aside);
    mkdirSync(dirname(path), { recursive: true });
    Bun.spawnSync(["mkfifo", path]);
    const waits = await Promise.all(commands.map((args) => hangs(project, args)));
    hanging.push(...commands.filter((_, at) => waits[at]).map((args) => `${file}: ov ${args.join(" ")}`));
    rmSync(path);
    if (existsSync(aside)) renameSync(aside, path);
  }
  expect(hanging).toEqual([]);
});

test("no command waits for a pipe that it was given as a file; what the shell opened for it is read", async () => {
  await using project = await makeProject();
  const pipe = join(project.root, "pipe");
  Bun.spawnSync(["mkfifo", pipe]);
  for (const args of [
    ["sling", "Do it", "--spec", "pipe", "--dry-run"],
    ["task", "import", "pipe"],
    ["done", "--verdict", "fail", "--summary", "No", "--findings", "pipe"],
    ["merge-file", "pipe", "pipe", "pipe"],
    ["hook", "pre-tool", "--rules", "pipe"],
  ])
    expect([args.join(" "), await hangs(project, args)]).toEqual([args.join(" "), false]);
  const refused = await project.ov("sling", "Do it", "--spec", "pipe", "--dry-run");
  expect(refused.err).toContain(`file cannot be read (it is a pipe) (got "${pipe}")`);
  const opened = `${ovBinary()} task import <(echo '{"id":"t1","title":"Do it"}') --json`;
  const imported = Bun.spawnSync(["bash", "-c", opened], { cwd: project.root, env: { ...project.env } });
  expect(JSON.parse(imported.stdout.toString())).toMatchObject({ success: true });
}, 180_000);

test("no command waits for a pipe where git opens a file of a worktree, and the operator is told of it", async () => {
  const scenario = `
- do:
    - shell: mkdir -p src && mkfifo src/.gitattributes && echo z >src/z.js
    - ov: [mail, send, --to, operator, --type, question, --subject, Which, --body, one]
`;
  await using project = await makeProject({ scenario });
  await project.json("sling", "Do the work", "--name", "b1");
  const told = async (): Promise<readonly string[]> =>
    (await project.read((tx) => tx.messages.list({ to: "operator", type: "status" }))).map(({ body }) => body);
  const pipe = join(project.root, ".overstory/worktrees/b1/src/.gitattributes");
  await project.until("the operator was told", async () =>
    (await told()).some((body) => body.includes(`${pipe} cannot be read by git: it is a pipe`)),
  );
  for (const args of [
    ["diff", "b1"],
    ["worktree", "list"],
    ["stop", "b1", "--force"],
    ["worktree", "clean", "--force"],
  ])
    expect([args.join(" "), await hangs(project, args)]).toEqual([args.join(" "), false]);
  expect((await project.ov("diff", "b1")).err).toContain(`rm ${pipe}`);
  expect(existsSync(join(project.root, ".overstory/worktrees/b1/src/z.js"))).toBe(true);
}, 180_000);

test("a pipe in the place of a committed file hides no commit of the agent", async () => {
  const scenario = `
- do:
    - shell: echo 1 >kept.txt && git add kept.txt && git commit -qm kept && rm kept.txt && mkfifo kept.txt
`;
  await using project = await makeProject({ scenario });
  await project.json("sling", "Do the work", "--name", "b1");
  await project.until("its turn is over", async () =>
    project.read(async (tx) => ((await tx.agents.byName("b1"))?.ahead ?? 0) > 0),
  );
  expect(await project.read(async (tx) => tx.messages.list({ to: "operator", type: "status" }))).toEqual([]);
}, 60_000);

test.each(["config", "packed-refs", "objects/info/alternates"])(
  "a pipe in the place of .git/%s keeps no command waiting",
  async (name) => {
    await using project = await makeProject();
    await project.ov("init", "--no-commit");
    const path = join(project.root, ".git", name);
    if (existsSync(path)) renameSync(path, `${path}.aside`);
    Bun.spawnSync(["mkfifo", path]);
    for (const args of [
      ["trust", "list"],
      ["worktree", "list"],
      ["snapshots", "list"],
    ])
      expect([args.join(" "), await hangs(project, args)]).toEqual([args.join(" "), false]);
    rmSync(path);
    if (existsSync(`${path}.aside`)) renameSync(`${path}.aside`, path);
  },
  180_000,
);
