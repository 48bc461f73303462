import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const scenario = `
- do:
    - edit: { file: "\${agent}.txt", write: "work\\n" }
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, "by \${agent}"]
`;

const manyFiles = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`src/${i % 30}/${i}.txt`, `${i}\n`]));

const patient = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "120000" };

const project = (env: Readonly<Record<string, string>> = {}): Promise<TestProject> =>
  makeProject({ scenario, files: manyFiles, env: { ...patient, ...env } });

const ended = (world: TestProject, ...names: string[]): Promise<void> =>
  world.until(`${names.join(", ")} had ended`, async () => {
    const agents = await world.read((tx) => Promise.all(names.map((name) => tx.agents.byName(name))));
    return agents.every((agent) => agent?.state === "completed");
  });

test("an agent that is slung while the engine takes a worktree away starts right after that", async () => {
  await using world = await project();
  await world.json("sling", "First", "--name", "a1", "--skip-task-check");
  await ended(world, "a1");
  await world.json("release", "a1");
  await world.json("sling", "Second", "--name", "a2", "--skip-task-check");
  await ended(world, "a2");
}, 120_000);

/** A PATH whose git does nothing in the worktree of this agent before it is let go. */
function gitThatWaits(name: string): Disposable & { readonly path: string; letGo(): void } {
  const dir = mkdtempSync(join(tmpdir(), "ov-waiting-git-"));
  const wait = `case "$PWD/ $* " in */worktrees/${name}[/\\ ]*) until [ -e '${dir}/go' ]; do sleep 0.05; done ;; esac`;
  writeFileSync(join(dir, "git"), `#!/bin/sh\n${wait}\nexec '${Bun.which("git")}' "$@"\n`, { mode: 0o755 });
  return {
    path: `${dir}:${process.env.PATH}`,
    letGo: () => writeFileSync(join(dir, "go"), ""),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}

test("of several agents slung at once the first works while the worktree of the last is still being made", async () => {
  using waiting = gitThatWaits("a6");
  await using world = await project({ PATH: waiting.path });
  const names = ["a1", "a2", "a3", "a4", "a5", "a6"];
  // Nobody is told before all of them wait for the engine.
  const env = { OVERSTORY_TEST_KILL_AT: "command.before-wake" };
  for (const name of names) await world.ovWith({ env }, "sling", name, "--name", name, "--skip-task-check");
  await world.json("status");
  await ended(world, "a1");
  expect(await world.agent("a6")).toMatchObject({ state: "booting", worktreePath: null });
  waiting.letGo();
  await ended(world, ...names);
}, 120_000);
