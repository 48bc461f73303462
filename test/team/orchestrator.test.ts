import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

test("an orchestrator starts, asks and stops a coordinator in another repository; a builder cannot even look", async () => {
  await using other = await makeProject();
  await using project = await makeProject({
    // What a coordinator gets from the shell of whoever starts it comes from the orchestrator, this file included.
    scenario: `
- when: { capability: coordinator, input: "operator request" }
  do:
    - shell: |
        id=$(ov mail list --to coordinator --type question --json | sed 's/.*"messages":\\[{"id":"\\([^"]*\\)".*/\\1/')
        ov mail reply "$id" --body "all is well here"
- when: { capability: coordinator }
  do: [{ say: At work elsewhere. }]
- when: { capability: orchestrator, turn: 1 }
  do:
    - ov: [--project, ${other.root}, coordinator, start, --objective, The part of this repository]
    - shell: ov --project ${other.root} coordinator ask --body "How are you?" --timeout 50 > "$HOME/answer"
    - say: Asked.
- when: { capability: orchestrator, input: "That is enough" }
  do:
    - ov: [--project, ${other.root}, coordinator, stop]
    - shell: ov --project "${"$"}OVERSTORY_PROJECT_ROOT/." coordinator start --name sneaky --json > "$HOME/own"
      allowFail: true
    - say: Stopped.
- when: { capability: orchestrator }
  do: [{ say: Noted. }]
- when: { capability: builder }
  do:
    - shell: ov --project ${other.root} coordinator start --name forged --json > "$HOME/forged"
      allowFail: true
    - ov: [done, --no-code, --summary, d]
`,
  });
  await project.json("orchestrator", "start", "--objective", "Two repositories");
  await untilTurns(project, "orchestrator", 1);
  const run = await other.read((tx) => tx.runs.current());
  expect(run).toMatchObject({ objective: "The part of this repository", coordinatorName: "coordinator" });
  expect(readFileSync(join(project.home, "answer"), "utf8")).toBe("all is well here\n");
  expect(await other.agent("coordinator")).toMatchObject({ parentName: "operator" });
  await other.until("it waited", async () => (await other.agent("coordinator")).state === "between_turns");

  await project.json("sling", "Look elsewhere", "--name", "b1");
  await project.until("b1 had ended", async () => (await project.agent("b1")).state === "completed");
  expect(readFileSync(join(project.home, "forged"), "utf8")).toContain("PERMISSION_ERROR");
  expect(await other.read((tx) => tx.agents.byName("forged"))).toBeUndefined();

  await project.json("orchestrator", "send", "--body", "That is enough.");
  await project.until("it had done its part", async () => existsSync(join(project.home, "own")));
  await project.settled();
  expect(await other.agent("coordinator")).toMatchObject({ state: "completed", outcome: "stopped" });
  expect((await other.read((tx) => tx.runs.get(run?.id ?? "")))?.status).toBe("completed");
  expect(await project.agent("sneaky")).toMatchObject({ parentName: "orchestrator" });
}, 180_000);
