import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  deathNotices,
  eventsOf,
  promptsOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A supervisor is given up after twice this time of silence: more than a busy machine makes of it. */
const leaseMs = 3_000;

interface SlowProject extends AsyncDisposable {
  readonly project: TestProject;
  slow(): void;
  /** How often somebody had to wait for git so far. */
  waited(): number;
}

/** A project whose git needs so long for one of its commands, as in a repository of many files, once `slow` is called. */
async function slowProject(command: string, slowMs: number, scenario: string): Promise<SlowProject> {
  const real = Bun.which("git");
  if (real === null) throw new Error("there is no git");
  const before = process.env.PATH ?? "";
  const project = await makeProject({ scenario, env: { OVERSTORY_TEST_LEASE_MS: String(leaseMs) } });
  const bin = join(project.home, "bin");
  const mark = join(project.home, "slow");
  const diary = join(project.home, "waited");
  mkdirSync(bin);
  const wait = `case " $* " in *" ${command} "*) [ -e '${mark}' ] && sleep ${slowMs / 1000} && echo x >>'${diary}';; esac`;
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${wait}\nexec '${real}' "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  const ovWith: TestProject["ovWith"] = (call, ...args) =>
    project.ovWith({ ...call, env: { PATH: `${bin}:${before}`, ...call.env } }, ...args);
  return {
    project: {
      ...project,
      ovWith,
      ov: (...args) => ovWith({}, ...args),
      json: async (...args) => JSON.parse((await ovWith({}, ...args, "--json")).out),
    },
    slow: () => writeFileSync(mark, ""),
    waited: () => (existsSync(diary) ? readFileSync(diary, "utf8").length / "x\n".length : 0),
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

const leavesWork = `
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - touch: "\${env.HOME}/ready"
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?]
`;

test("a turn whose work takes many times the lease to keep is settled by the supervisor that began it", async () => {
  await using world = await slowProject("write-tree", 2.5 * leaseMs, leavesWork);
  const { project } = world;
  world.slow();
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  await untilAgent(project, "b1", "between_turns", "zombie");
  expect(world.waited()).toBePositive();
  expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled", attempt: 1, fence: 1 }]);
  expect(startsOf(project, "b1")).toHaveLength(1);
  expect(await eventsOf(project, "snapshot")).toHaveLength(1);
  expect(await deathNotices(project, "b1")).toEqual([]);
}, 240_000);

test("an agent whose work takes long to keep can be stopped", async () => {
  await using world = await slowProject("write-tree", 2.5 * leaseMs, leavesWork);
  const { project } = world;
  world.slow();
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  await project.json("stop", "b1");
  await untilAgent(project, "b1", "completed/stopped");
  expect(world.waited()).toBePositive();
  expect(await ranTurns(project, "b1")).toMatchObject([{ fence: 1 }]);
}, 240_000);

test("a turn before which many worktrees are looked at starts all the same", async () => {
  const names = ["B1", "B2"];
  // Both together take longer than a supervisor may be silent.
  await using world = await slowProject(
    "status",
    1.5 * leaseMs,
    `
- when: { capability: lead, turn: 1 }
  do:
    - ov: [sling, B1, --name, b1]
    - ov: [sling, B2, --name, b2]
    - waitFor: { file: "\${env.HOME}/b1.told" }
    - waitFor: { file: "\${env.HOME}/b2.told" }
- when: { capability: lead }
  do:
    - ov: [done, --no-code, --reason, nothing to build, --summary, "done \${turn}"]
    - touch: "\${env.HOME}/go"
- do:
    - ov: [done, --no-code, --summary, "\${agent} is done"]
    - touch: "\${env.HOME}/\${agent}.told"
    - waitFor: { file: "\${env.HOME}/go" }
`,
  );
  const { project } = world;
  for (const name of names) await project.json("task", "create", name, "--id", name);
  await slingNew(project, "L", "--capability", "lead");
  await untilFile(project, "b1.told");
  world.slow();
  await project.until("the lead had ended", async () => (await project.agent("l")).endedAt !== null, 200_000);
  expect(await project.agent("l")).toMatchObject({ state: "completed", outcome: "done" });
  expect(world.waited()).toBeGreaterThan(1);
  const turns = await ranTurns(project, "l");
  expect(turns.map(({ fence, status }) => ({ fence, status }))).toEqual(
    Array.from({ length: turns.length }, () => ({ fence: 1, status: "settled" })),
  );
  expect(promptsOf(project, "l").join("\n")).toContain("b2 is done");
}, 240_000);
