import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockAt, slingNew, untilAgent } from "../testkit/lifecycle.ts";
import { makeProject } from "../testkit/project.ts";

const day = 86_400_000;

test("ov prices show names prices with their version and age, and warns when they are stale", async () => {
  await using project = await makeProject();
  const shown = await project.json("prices", "show", "openai/gpt-5-codex-2026-01-01");
  expect(shown).toMatchObject({
    version: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    problem: null,
    prices: [{ model: "gpt-5-codex", source: "built-in", inputCostPerToken: 1.25e-6, outputCostPerToken: 1e-5 }],
  });
  expect((await project.json("prices", "show")).prices).toBeArray();
  const old = await project.ovWith({ env: clockAt(400 * day) }, "prices", "show");
  expect(old.out).toContain("more than 60 days old");
  const unknown = await project.ov("prices", "show", "gpt-55");
  expect(unknown.code).not.toBe(0);
  expect(unknown.err).toContain("has no price here");
}, 60_000);

test("prices of the project count before the built-in ones, and a broken file is named and not used", async () => {
  await using project = await makeProject();
  const file = join(project.root, ".overstory", "prices.json");
  writeFileSync(file, '{"gpt-5": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}}');
  const own = await project.json("prices", "show", "gpt-5");
  expect(own).toMatchObject({ version: expect.stringContaining("+project-"), prices: [{ source: "project" }] });
  writeFileSync(file, '{"gpt-5": {"input_cost_per_token": 5, "output_cost_per_token": 2}}');
  expect(await project.json("prices", "show", "gpt-5")).toMatchObject({
    problem: "gpt-5: input_cost_per_token must be dollars per token, from 0 to 1",
    prices: [{ source: "built-in" }],
  });
}, 60_000);

/** Ends without a word about its cost, after tokens were used. */
const scenario = (model: string): string => `
- do:
    - malformed: '{"type":"assistant","message":{"id":"m1","model":"${model}","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":1000000,"output_tokens":100000}},"session_id":"s"}'
    - exit: 137
`;

async function played(model: string) {
  const project = await makeProject({ scenario: scenario(model), config: "budgets:\n  run:\n    usd: 5\n" });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  await project.ov("stop", "b1");
  await project.settled();
  const agent = await project.agent("b1");
  const [turn] = await project.read((tx) => tx.turns.listFor(agent.id));
  return { project, turn, budget: (await project.ov("budget")).out };
}

test("a turn that does not say what it cost is priced by the list, and says by which", async () => {
  const { project, turn, budget } = await played("gpt-5");
  await using _ = project;
  expect(turn).toMatchObject({ costMicros: 2_250_000, costSource: "prices", priceVersion: expect.any(String) });
  expect(budget).toContain("2.25");
  // A new price changes nothing about what was.
  writeFileSync(
    join(project.root, ".overstory", "prices.json"),
    '{"gpt-5": {"input_cost_per_token": 1, "output_cost_per_token": 1}}',
  );
  expect((await project.ov("budget")).out).toBe(budget);
}, 120_000);

test("a turn that nobody can price costs n/a, never nothing, and the operator is told", async () => {
  const { project, turn, budget } = await played("model-without-price");
  await using _ = project;
  expect(turn).toMatchObject({ costMicros: null, costSource: "unknown", priceVersion: null });
  expect(budget).toContain("n/a");
  expect(budget).not.toMatch(/\b0\.00\b.*usd/);
  expect((await project.ov("mail", "list")).out).toContain("[ENGINE] budget does not hold: run ");
}, 120_000);

test("where a limit in dollars cannot hold during a turn, the start of an agent says n/a and why", async () => {
  await using project = await makeProject();
  const bin = join(project.home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "codex"), "#!/bin/sh\necho codex-cli 0.166.0\n", { mode: 0o755 });
  writeFileSync(join(bin, "pi"), "#!/bin/sh\necho 0.73.1\n", { mode: 0o755 });
  const shell = { env: { PATH: `${bin}:${process.env.PATH}` } };
  const told = async (name: string, ...flags: string[]): Promise<readonly string[]> => {
    const words = ["sling", `Work of ${name}`, "--name", name, "--no-scout-check", ...flags, "--json"];
    const { out } = await project.ovWith(shell, ...words);
    return JSON.parse(out).warnings.filter((warning: string) => warning.includes("n/a"));
  };
  expect(await told("b1", "--runtime", "codex", "--model", "gpt-5.2")).toEqual([]);
  await project.json("config", "set", "budgets.agent.usd", "2");
  expect(await told("b2", "--runtime", "codex", "--model", "gpt-5.2")).toEqual([
    expect.stringMatching(/^the limit of \$2.00 for agent b2 is n\/a during a turn: codex tells its tokens when/),
  ]);
  expect(await told("b3", "--runtime", "pi", "--model", "x/unheard-of")).toEqual([
    expect.stringContaining("the list of prices has no x/unheard-of"),
  ]);
  expect(await told("b4", "--runtime", "pi", "--model", "anthropic/claude-opus-4-5")).toEqual([]);
  expect(await told("b5", "--runtime", "scripted")).toEqual([]);
}, 120_000);
