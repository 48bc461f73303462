import { expect, test } from "bun:test";
import { slingNew } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** Two builders that ask each other, and never answer. */
const scenario = `
- when: { agent: b1, turn: 1 }
  do:
    - shell: |
        until ov status --json | grep '"b2"'; do sleep 0.1; done
        ov mail send --to b2 --type question --expects-reply --subject "how is it spelled?" --body "hello or hallo?"
- when: { agent: b2, turn: 1 }
  do:
    - shell: |
        ov mail send --to b1 --type question --expects-reply --subject "which file?" --body "one.txt or two.txt?"
- do:
    - shell: ov mail check
`;

test("two agents that wait for each other are told to the operator, whose answer ends it", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await slingNew(project, "B2");
  const letters = () => project.read((tx) => tx.messages.list({ to: "operator", type: "escalation" }));
  await project.until("the operator was told", async () => (await letters()).length > 0, 100_000);
  expect((await letters()).map(({ subject }) => subject)).toEqual(["b1 and b2 wait for each other"]);
  const { out: status } = await project.ov("status");
  expect(status).toMatch(/! b1 .*\n.*\n.*it waits for an answer of b2/);
  const { out: inbox } = await project.ov("inbox");
  expect(inbox).toContain("it waits for an answer of b2");
  const [, asked = ""] = /ov mail reply (\S+) /.exec(inbox) ?? [];
  await project.json("mail", "reply", asked, "--body", "hello");
  const waiting = async () => (await project.read((tx) => tx.waits.ofKind("reply"))).map(({ ref }) => ref);
  expect(await waiting()).not.toContain(asked);
}, 180_000);
