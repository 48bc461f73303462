import { expect, test } from "bun:test";
import { promptsOf, ranTurns, slingNew, startsOf, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const finishes = "[done, --no-code, --summary, d]";

/** Each reply of the scripted agent costs 0.001346 dollars and counts 162 tokens. */
const scenario = `
- when: { turn: 1 }
  do:
    - repeat: { times: 30, do: [{ tool: { name: Look } }, { sleep: 250 }] }
    - hang: true
- do: [{ ov: ${finishes} }]
`;

const spentBy = async (project: TestProject, unit: string): Promise<number> => {
  const ledgers = await project.read((tx) => tx.budgets.of([{ scope: "agent", subject: "b1" }]));
  return ledgers.find((ledger) => ledger.unit === unit)?.spent ?? 0;
};

/** The program itself stops at a cost; what the stream says of tokens is seen a moment after they were spent: a reply takes 0.25 s. */
test.each([
  ["usd", "0.005", 5_000, 1_346],
  ["tokens", "500", 500, 162 * 10],
] as const)(
  "a budget of %s ends the turn that crosses it, and the agent goes on when it is raised",
  async (...row) => {
    const [unit, limit, most, slack] = row;
    await using project = await makeProject({ scenario, config: `budgets: { agent: { ${unit}: ${limit} } }\n` });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    expect(await ranTurns(project, "b1")).toMatchObject([{ status: "failed", failure: "budget", attempt: 1 }]);
    const spent = await spentBy(project, unit);
    expect(spent).toBeGreaterThanOrEqual(most);
    expect(spent).toBeLessThanOrEqual(most + slack);
    const waits = () => project.read((tx) => tx.waits.of("b1"));
    await project.until("it was parked", async () => (await waits()).some(({ kind }) => kind === "budget"));
    expect(startsOf(project, "b1")).toHaveLength(1);
    await project.json("budget", "raise", "agent", "b1", unit, unit === "usd" ? "1" : "100000");
    await untilAgent(project, "b1", "completed/done");
    expect(promptsOf(project, "b1").at(-1)).toContain("Your previous turn did not finish.");
    expect((await ranTurns(project, "b1")).at(-1)).toMatchObject({ status: "settled", attempt: 1 });
  },
  120_000,
);
