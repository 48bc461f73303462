import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventsOf, letGo, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/**
 * A coordinator, a lead, a scout, two builders and a reviewer, each following its part of the protocol. The lead begins
 * the next phase only when whoever reported has really ended: who is faster than that has fewer phases.
 */
const team = `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [task, create, The whole job, --id, L]
    - ov: [sling, L, --capability, lead, --name, lead1]
    - say: The lead works; I wait.
- when: { capability: coordinator }
  do:
    - say: Noted.
- when: { capability: lead, turn: 1 }
  do:
    - ov: [task, create, Look around, --id, S]
    - ov: [sling, S, --capability, scout, --name, scout1]
    - say: A scout looks around; I wait.
- when: { capability: lead, turn: 2 }
  do:
    - waitFor: { file: "\${env.HOME}/scouted" }
    - ov: [task, create, First file, --id, B1]
    - ov: [task, create, Second file, --id, B2]
    - ov: [sling, B1, --name, b1, --files, one.txt]
    - ov: [sling, B2, --name, b2, --files, two.txt]
    - say: Two builders build; I wait.
- when: { capability: lead }
  do:
    - shell: |
        if [ -e "$HOME/r1.done" ]; then
          until [ -e "$HOME/reviewed" ]; do sleep 0.05; done
          for branch in overstory/b1/B1 overstory/b2/B2; do
            ov mail send --to coordinator --type merge_ready --subject Ready --body "$branch" --payload "{\\"branch\\":\\"$branch\\"}"
          done
          report() { ov mail send --to coordinator --type worker_done --subject "Done: L" --body "all verified"; }
          report || report
        elif [ -e "$HOME/b1.done" ] && [ -e "$HOME/b2.done" ] && mkdir "$HOME/reviewing" 2>/dev/null; then
          until [ -e "$HOME/built" ]; do sleep 0.05; done
          ov task create "Review both" --id R && ov sling R --capability reviewer --name r1
        fi
- when: { capability: scout }
  do:
    - ov: [done, --no-code, --summary, nothing surprising]
- when: { agent: b1 }
  do:
    - edit: { file: one.txt, write: "one\\n" }
    - commit: write one
    - touch: "\${env.HOME}/b1.done"
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, "Done: B1", --body, one.txt is there]
- when: { agent: b2 }
  do:
    - edit: { file: two.txt, write: "two\\n" }
    - commit: write two
    - touch: "\${env.HOME}/b2.done"
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, "Done: B2", --body, two.txt is there]
- when: { capability: reviewer }
  do:
    - ov: [mail, send, --to, lead1, --type, review, --subject, Review, --body, fine, --payload, '{"verdict":"pass","branch":"overstory/b1/B1","commit":"HEAD","findings":[]}']
    - touch: "\${env.HOME}/r1.done"
    - ov: [done, --no-code, --summary, both are fine]
`;

async function startTeam(): Promise<TestProject> {
  const project = await makeProject({ scenario: team });
  await project.json(
    "sling",
    "Do the whole job",
    "--capability",
    "coordinator",
    "--name",
    "coordinator",
    "--force-hierarchy",
  );
  return project;
}

/** Tells the lead who has ended, until it has itself. */
async function playTeam(project: TestProject): Promise<void> {
  await untilAgent(project, "scout1", "completed/done");
  await letGo(project, "scouted");
  for (const name of ["b1", "b2"]) await untilAgent(project, name, "completed/done");
  await letGo(project, "built");
  await untilAgent(project, "r1", "completed/done");
  await letGo(project, "reviewed");
  await untilAgent(project, "lead1", "completed/done");
}

const phases = (project: TestProject) =>
  project.read(async (tx) =>
    (await tx.messages.list({ to: "coordinator", type: "status" })).filter(({ fromAgent }) => fromAgent === "system"),
  );

test("L5: a run has its three phases on record, and its coordinator is told once, when something is to be decided", async () => {
  await using project = await startTeam();
  await playTeam(project);
  await project.settled();
  expect(await eventsOf(project, "run_phase")).toHaveLength(3);
  // The branches wait for the operator, so the coordinator has nothing to decide yet.
  expect(await phases(project)).toEqual([]);
  const released = () =>
    Promise.all(
      ["scout1", "r1", "b1", "b2", "lead1"].map(async (name) => (await project.agent(name)).releasedAt !== null),
    );
  expect(await released()).toEqual([true, true, false, false, false]);
  const unfinished = await project.ov("run", "complete");
  expect([unfinished.code, unfinished.err]).toEqual([2, expect.stringContaining("task B1 is")]);
  await project.json("merge", "--all");
  await project.settled();
  expect(await released()).toEqual([true, true, true, true, true]);
  expect((await phases(project)).map(({ body }) => body)).toEqual([
    expect.stringContaining("released, and no branch waits to land"),
  ]);
  expect((await project.agent("b1")).cleanedAt).not.toBeNull();
  expect(existsSync(join(project.root, ".overstory/worktrees/b1"))).toBe(false);
  await project.json("run", "complete");
  const dead = await project.read(async (tx) => tx.messages.list({ type: "worker_died" }));
  expect(dead).toEqual([]);
}, 240_000);

test("the lead waited between its turns and was woken by its children's mail alone", async () => {
  await using project = await startTeam();
  await playTeam(project);
  const lead = await project.agent("lead1");
  const turns = await project.read((tx) => tx.turns.listFor(lead.id));
  const ran = turns.filter((turn) => turn.startedAt !== null);
  expect(ran.every((turn) => turn.trigger === "mail" && turn.status === "settled")).toBe(true);
  const inputs = readFileSync(join(project.state, "lead1", "inputs.ndjson"), "utf8");
  expect(inputs).not.toContain("neither finished");
  expect(ran.length).toBeLessThanOrEqual(6);
}, 240_000);
