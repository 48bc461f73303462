import { expect, test } from "bun:test";
import { cliInMemory } from "../../../../testkit/cli-in-memory.ts";
import { ok } from "../../../domain/result.ts";
import { logsCommand } from "../tree/event-commands.ts";

/** What is said where no line was found. */
async function said(agentName: string | null, ended: boolean, ...argv: readonly string[]): Promise<string> {
  const found = ok({ agentName, lines: [], cursor: 7, ended, older: null });
  const { out, err } = await cliInMemory([logsCommand], async () => found, ["logs", ...argv]);
  return (out + err).trim();
}

test("where nothing fits the flags, it does not say that an agent was silent", async () => {
  const narrow = "Nothing on record fits these flags.";
  expect(await said("b1", true, "b1", "--level", "warn")).toBe(narrow);
  expect(await said(null, false, "--since", "1h")).toBe(narrow);
  expect(await said("b1", false, "b1", "--before", "3")).toBe(narrow);
});

test("an agent that has ended may have said what is gone", async () => {
  expect(await said("b1", false, "b1")).toBe("b1 has said nothing yet.");
  expect(await said("b1", true, "b1")).toBe("Nothing that b1 said is on record.");
  expect(await said(null, false)).toBe("Nothing is on record yet.");
});
