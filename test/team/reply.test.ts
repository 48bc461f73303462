import { expect, test } from "bun:test";
import { promptsOf, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** The lead answers its builder's report, with data, and goes on waiting for the other one. */
const scenario = `
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [task, create, First, --id, B1]
    - ov: [task, create, Second, --id, B2]
    - ov: [sling, B1, --name, b1]
    - ov: [sling, B2, --name, b2]
- when: { agent: lead1, turn: 2 }
  do:
    - shell: |
        id=$(ov mail list --to lead1 --type worker_done --json | sed 's/.*"messages":\\[{"id":"\\([^"]*\\)".*/\\1/')
        ov mail reply "$id" --type question --body "Is it fast?" --payload '{"limitMs":5}' --json >"$HOME/answer"
    - touch: "\${env.HOME}/answered"
- when: { agent: b1, turn: 1 }
  do: [{ ov: [done, --no-code, --summary, Nothing to change] }]
- do: [{ hang: true }]
`;

test("whoever answers a report is not finished by it, and the answer carries its data", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "LEAD1", "--capability", "lead");
  await untilFile(project, "answered");
  await untilAgent(project, "lead1", "between_turns");
  await project.until("b1 was asked", async () => promptsOf(project, "b1").length === 2);
  expect(await project.agent("lead1")).toMatchObject({ outcome: null });
  const [report] = await project.read((tx) => tx.messages.list({ type: "worker_done" }));
  const [answer] = await project.read((tx) => tx.messages.list({ from: "lead1", type: "question" }));
  expect(answer).toMatchObject({ address: "b1", replyTo: report?.id ?? "", threadId: report?.threadId ?? "" });
  expect(JSON.parse(answer?.payload ?? "{}")).toEqual({ limitMs: 5 });
  const [, prompt = ""] = promptsOf(project, "b1");
  expect(prompt).toContain('payload:\n| {"limitMs":5}');
  expect(prompt).toContain("| Is it fast?");
  expect(await project.agent("b1")).toMatchObject({ generation: 2 });
  expect(await project.read((tx) => tx.messages.list({ from: "lead1", type: "worker_done" }))).toEqual([]);
}, 60_000);
