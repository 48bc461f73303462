import { expect, test } from "bun:test";
import { promptsOf, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** The builder asks by the command that its instructions show, with its own words in it. */
const scenario = `
- when: { capability: lead, turn: 1 }
  do:
    - ov: [task, create, The colour, --id, B1]
    - ov: [sling, B1, --name, b1, --files, colour.txt]
- when: { capability: lead }
  do:
    - say: Nothing to do here.
- when: { agent: b1, turn: 1 }
  do:
    - shell: |
        sed -n 's/^\\(ov mail send --to operator --type decision_gate .*\\)$/\\1/p' .claude/CLAUDE.md >"$HOME/ask"
        sed -i -e 's/<what>/Which colour?/; s/<why>/Both fit./; s/<one>/red/; s/<other>/blue/' "$HOME/ask"
        sh "$HOME/ask"
- when: { agent: b1 }
  do:
    - shell: echo blue >colour.txt; git add -A; git commit -qm colour
    - ov: [done, --summary, It is blue]
`;

test("L13: a builder asks the operator for a decision of taste directly, without a turn of its lead", async () => {
  await using project = await makeProject({ scenario, gates: ["true"] });
  await project.json("task", "create", "The whole job", "--id", "L");
  await project.json("sling", "L", "--capability", "lead", "--name", "lead1");
  const asked = () => project.read((tx) => tx.messages.list({ type: "decision_gate" }));
  await project.until("the operator was asked", async () => (await asked()).length === 1);
  const [question] = await asked();
  expect(question).toMatchObject({ fromAgent: "b1", address: "operator", subject: "Which colour?" });
  expect(promptsOf(project, "lead1")).toHaveLength(1);
  await project.json("mail", "reply", question?.id ?? "", "--body", "blue");
  await untilAgent(project, "b1", "completed/done");
  expect(promptsOf(project, "b1")[1]).toContain("blue");
  // The lead got no turn for the question; with the work it also hears what was answered.
  const [first, ...later] = promptsOf(project, "lead1");
  expect(first).not.toContain("Which colour?");
  for (const prompt of later) expect(prompt).toContain("Done: B1");
}, 60_000);
