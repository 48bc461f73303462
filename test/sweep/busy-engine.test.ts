import { expect, test } from "bun:test";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const scenario = `
- do:
    - edit: { file: "\${agent}.txt", write: "work\\n" }
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, "by \${agent}"]
`;

const manyFiles = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`src/${i % 30}/${i}.txt`, `${i}\n`]));

const patient = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "120000" };

const project = (): Promise<TestProject> => makeProject({ scenario, files: manyFiles, env: patient });

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
}, 60_000);

test("of several agents slung at once the first works while the worktree of the last is still being made", async () => {
  await using world = await project();
  const names = ["a1", "a2", "a3", "a4", "a5", "a6"];
  // Nobody is told before all of them wait for the engine.
  const env = { OVERSTORY_TEST_KILL_AT: "command.before-wake" };
  for (const name of names) await world.ovWith({ env }, "sling", name, "--name", name, "--skip-task-check");
  await world.json("status");
  await ended(world, ...names);
  const events = await world.read((tx) => tx.events.after(0, 10_000));
  const firstTurn = events.findIndex(({ type }) => type === "turn_start");
  const lastSeat = events.findLastIndex(({ type }) => type === "seated");
  expect(firstTurn).toBeLessThan(lastSeat);
}, 60_000);
