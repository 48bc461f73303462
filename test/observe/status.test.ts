import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent, untilFile, untilTurns } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { printing } from "../../testkit/printed.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { Tmux } from "../../testkit/tmux.ts";

/** A lead slings a builder; the builder asks the operator and waits. */
const scenario = `
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [task, create, Part, --id, B1]
    - ov: [sling, B1, --name, b1]
    - touch: "\${env.HOME}/slung"
    - waitFor: { file: "\${env.HOME}/go" }
- when: { agent: b1, turn: 1 }
  do:
    - waitFor: { file: "\${env.HOME}/ask" }
    - ov: [mail, send, --to, operator, --type, question, --subject, "Which colour?", --body, "Red?"]
`;

test("the fleet is a tree, what waits comes first, --check says so, and --watch shows it when it happens", async () => {
  await using project = await makeProject({ scenario });
  await project.json("task", "create", "Whole", "--id", "L1");
  await project.json("sling", "L1", "--capability", "lead", "--name", "lead1");
  await untilFile(project, "slung");
  await untilAgent(project, "b1", "in_turn", "working");
  expect((await project.ov("status", "--check")).code).toBe(0);
  await using watch = printing(project, "status", "--watch", "--interval", "500");
  await using documents = printing(project, "status", "--watch", "--interval", "500", "--json");
  await watch.until("the first look", (text) => text.includes("└ b1"));
  await documents.until("the first document", (text) => text.includes("\n"));
  writeFileSync(join(project.home, "ask"), "");
  await watch.until("the question", (text) => text.includes("b1 asks: Which colour?"));
  await documents.until("the question", (text) => text.includes("Which colour?"));
  expect(await Promise.all([watch.interrupt(), documents.interrupt()])).toEqual([0, 0]);
  for (const line of documents.text().trimEnd().split("\n")) {
    expect(JSON.parse(line)).toMatchObject({ success: true, command: "status" });
  }
  const shown = await project.ov("status", "--check", "--verbose");
  expect(shown.code).toBe(5);
  const lines = shown.out.split("\n");
  const at = (words: string): number => lines.findIndex((line) => line.includes(words));
  expect(at("asks: Which colour?")).toBe(1);
  expect(lines[at("lead1  ")]).toMatch(/^. lead1 /);
  expect(lines[at("└ b1")]).toMatch(/^. └ b1 /);
  expect(at("worktree ")).toBeGreaterThan(at("└ b1") - 8);
  expect(JSON.parse((await project.ov("status", "--json", "--check")).out)).toMatchObject({ needsOperator: true });
  expect(shown.out).toContain(`logs ${statePath(project.root, "logs", "b1")}`);
  expect(shown.out).toMatch(/last mail sent \d+s ago, received \d+s ago/);
}, 120_000);

test.skipIf(Bun.which("tmux") === null)(
  "on a small screen --watch keeps what waits in sight, at first and after each change",
  async () => {
    await using project = await makeProject({ scenario: "[]\n" });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    const watched = (...args: readonly string[]) => new Tmux(project, [60, 6], `${ovBinary()} ${args.join(" ")}`);
    const isCut = (lines: readonly string[], first: string): boolean =>
      lines[0]?.startsWith(first) === true && lines.some((line) => /^\.\.\. \d+ more lines: ov /.test(line));
    using status = watched("status", "--all", "--watch", "--interval", "500");
    await status.until("the first look", (lines) => isCut(lines, "Run "));
    await slingNew(project, "B2");
    await status.until("b2", (lines) => isCut(lines, "Run ") && lines.length <= 6);
    status.resize(60, 40);
    await slingNew(project, "B3");
    await status.until("the whole fleet", (lines) => lines.some((line) => line.includes("b3")));
    using inspection = watched("inspect", "b3", "--follow");
    await inspection.until("the top of b3", (lines) => isCut(lines, "b3 "));
  },
  120_000,
);

test("the document has every key of 0.11, and with --verbose what it said of each agent", async () => {
  await using project = await makeProject({ scenario: "[]\n" });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const plain = await project.json("status", "--all");
  const keys = [
    "currentRunId",
    "agents",
    "worktrees",
    "tmuxSessions",
    "unreadMailCount",
    "unreadMailScope",
    "mergeQueueCount",
    "recentMetricsCount",
  ];
  expect(keys.filter((key) => !(key in plain))).toEqual([]);
  expect(plain.recentMetricsCount).toBe(1);
  expect(plain).not.toHaveProperty("verboseDetails");
  const { verboseDetails } = await project.json("status", "--all", "--verbose");
  const { worktreePath } = await project.agent("b1");
  expect(verboseDetails).toEqual({
    b1: {
      worktreePath,
      capability: "builder",
      logsDir: statePath(project.root, "logs", "b1"),
      lastMailSent: null,
      lastMailReceived: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
  });
}, 120_000);
