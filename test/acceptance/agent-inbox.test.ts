import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../../testkit/project.ts";
import { messagesIn } from "./mail.world.ts";

const scenario = `
- do:
    - shell: printenv OVERSTORY_TOKEN > "$HOME/token"
    - waitFor: { file: "\${env.HOME}/go" }
`;

test("inside an agent, mail check reads the agent's own inbox and no other", async () => {
  await using project = await makeProject({ scenario });
  await project.json("task", "create", "Wait", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1");
  const kept = join(project.home, "token");
  await project.until("the agent was at work", async () => existsSync(kept) && readFileSync(kept, "utf8") !== "");
  const letter = ["--subject", "s", "--no-wake", "--body"];
  await project.json("mail", "send", "--to", "b1", ...letter, "for the agent");
  await project.json("mail", "send", "--to", "operator", ...letter, "for the operator");

  const env = { OVERSTORY_TOKEN: readFileSync(kept, "utf8").trim() };
  const own = await project.ovWith({ env }, "mail", "check", "--json");
  expect(messagesIn(own.out).map(({ body }) => body)).toEqual(["for the agent"]);
  const other = await project.ovWith({ env }, "mail", "check", "--agent", "operator", "--json");
  expect(other.code).toBe(8);
  const operators = await project.ov("mail", "check", "--json");
  expect(messagesIn(operators.out).map(({ body }) => body)).toEqual(["for the operator"]);
});
