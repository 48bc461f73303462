import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anAgent, aRun } from "../../testkit/contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const dir = mkdtempSync(join(tmpdir(), "ov-gate-env-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const heard = join(dir, "heard");
beforeEach(() => rmSync(heard, { force: true }));

/** A command that puts what it was given beside the repository. */
const saying = (who: string): string => `echo "${who} $CARGO_HOME$ANTHROPIC_API_KEY" >>'${heard}'`;
const said = (): string[] => (existsSync(heard) ? readFileSync(heard, "utf8").trimEnd().split("\n") : []);

const fileOf = (name: string): string => join(dir, `${name}.json`);

/** Agents of a run, each with variables of its own in a file. */
async function team({ store }: LandingWorld, ...names: readonly string[]): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1", { coordinatorName: "coordinator" }));
    for (const name of ["coordinator", ...names]) {
      writeFileSync(fileOf(name), JSON.stringify({ CARGO_HOME: `/of/${name}`, ANTHROPIC_API_KEY: `key-of-${name}` }));
      await tx.agents.reserve(anAgent(name, { envFile: fileOf(name) }));
    }
  });
}

const of = (agentName: string | null) => ({ agentName, runId: "r1" });

test("what is gated gets the variables of its agent; once those are gone, of its run's coordinator", async () => {
  await using world = await landingWorld({ gates: [saying("gate")], merge: { setup: saying("setup") } });
  await team(world, "b1", "b2");
  for (const name of ["b1", "b2", "nobody"]) world.branch(name, () => world.write(world.root, `${name}.txt`, name));
  const land = async (branch: string, agentName: string | null): Promise<string[]> => {
    rmSync(heard, { force: true });
    const id = await world.enqueue(branch, of(agentName));
    await world.work();
    expect((await world.entry(id)).status).toBe("merged");
    return said();
  };
  // The first time setup also runs on what has landed: only then it is known that it leaves nothing to keep.
  expect(await land("b1", "b1")).toEqual(["setup /of/b1", "setup /of/b1", "gate /of/b1"]);
  rmSync(fileOf("b2"));
  expect(await land("b2", "b2")).toEqual(["setup /of/coordinator", "gate /of/coordinator"]);
  expect(await land("nobody", null)).toEqual(["setup /of/coordinator", "gate /of/coordinator"]);

  rmSync(heard, { force: true });
  expect((await world.undo("b1")).status).toBe("done");
  expect(said()).toEqual(["setup /of/b1", "gate /of/b1"]);
});

test("a train runs as the first of its agents, and what makes a file again as the agent that brings the conflict", async () => {
  await using world = await landingWorld({
    gates: [saying("gate")],
    files: { "list/a": "a\n", "made.lock": "a\n" },
    merge: { generated: [{ paths: ["made.lock"], command: `${saying("make")}; ls list > made.lock` }] },
  });
  await team(world, "b1", "b2");
  for (const name of ["b1", "b2"]) {
    world.branch(name, () => {
      world.write(world.root, `list/${name}`, `${name}\n`);
      world.write(world.root, "made.lock", `a\n${name}\n`);
    });
    await world.enqueue(name, of(name));
  }
  await world.work();
  expect(said()).toEqual(["make /of/b2", "gate /of/b1"]);
});

const variablesIn = (path: string): Map<string, string> =>
  new Map(
    readFileSync(path, "utf8")
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

const kept = ({ root }: TestProject): string[] => readdirSync(statePath(root, "run/env"));

test("from a person's shell to the gates of an agent's work, and of what the person types", async () => {
  const shell = {
    CARGO_HOME: "/ann/cargo",
    HTTP_PROXY: "http://proxy:1",
    NVM_DIR: "/ann/nvm",
    SSH_AUTH_SOCK: "/ann/ssh",
  };
  await using project = await makeProject({
    gates: ['n=$(ls "$HOME" | grep -c "^gate-"); env >"$HOME/given"; mv "$HOME/given" "$HOME/gate-$n"'],
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - touch: "\${env.HOME}/committed"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --summary, Done]
`,
    env: shell,
  });
  const gate = (n: number): Map<string, string> => variablesIn(join(project.home, `gate-${n}`));
  const secrets = {
    ANTHROPIC_API_KEY: "k",
    OVERSTORY_TOKEN: "t",
    BUN_OPTIONS: "b",
    GITHUB_TOKEN: "g",
    MISE_X_TOKEN: "m",
  };
  const expectNoRight = (variables: Map<string, string>): void => {
    for (const name of [...Object.keys(secrets), "SSH_AUTH_SOCK"])
      expect([name, variables.has(name)]).toEqual([name, false]);
  };
  await slingNew(project, "B1");
  await untilFile(project, "committed");
  // As a runtime with a provider leaves it.
  const { envFile } = await project.agent("b1");
  const captured = JSON.parse(readFileSync(envFile ?? "", "utf8"));
  expect(captured).toMatchObject(shell);
  writeFileSync(envFile ?? "", JSON.stringify({ ...captured, ...secrets }));
  writeFileSync(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done");
  expect(gate(0).get("CARGO_HOME")).toBe("/ann/cargo");
  expect(gate(0).get("NVM_DIR")).toBe("/ann/nvm");
  expectNoRight(gate(0));

  // A person's branch lands first, so that what was checked is not what lands. Its gates run as those of its run do.
  await project.git("branch", "other");
  await project.git("worktree", "add", "--quiet", join(dir, "other"), "other");
  writeFileSync(join(dir, "other", "b.txt"), "b\n");
  await project.git("-C", join(dir, "other"), "add", "b.txt");
  await project.git("-C", join(dir, "other"), "commit", "--quiet", "-m", "b");
  const before = kept(project);
  for (const [n, branch] of ["other", "overstory/b1/B1"].entries()) {
    await project.json("merge", "--branch", branch);
    await project.until(`${branch} was gated`, async () => existsSync(join(project.home, `gate-${n + 1}`)));
  }
  expect(gate(1).get("HTTP_PROXY")).toBe("http://proxy:1");
  expectNoRight(gate(1));
  expect(gate(2).get("HTTP_PROXY")).toBe("http://proxy:1");
  expectNoRight(gate(2));

  const bobs = {
    CARGO_HOME: "/bob/cargo",
    ANTHROPIC_API_KEY: "k",
    GITHUB_TOKEN: "g",
    MISE_X_TOKEN: "m",
    BUN_OPTIONS: "",
  };
  const typed = await project.ovWith({ env: bobs }, "gate", "run", "main");
  expect(typed.code).toBe(0);
  expect(gate(3).get("CARGO_HOME")).toBe("/bob/cargo");
  expect(gate(3).get("HTTP_PROXY")).toBe("http://proxy:1");
  expectNoRight(gate(3));
  const news = (): string[] => kept(project).filter((name) => !before.includes(name));
  await project.until("what was captured for one answer was gone", async () => news().length === 0);
}, 60_000);
