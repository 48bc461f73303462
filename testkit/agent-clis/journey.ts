import { expect } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Turn } from "../../src/domain/turn/turn.ts";
import { claudeProject, conversation, scripted, textOf } from "../claude.ts";
import type { CallStep, Step } from "../fake-model/script.ts";
import { type FakeModel, startFakeModel } from "../fake-model/server.ts";
import { eventsOf, ranTurns } from "../lifecycle.ts";
import type { TestProject } from "../project.ts";
import { outputIn } from "../turn-output.ts";

/** What differs between the programs, as far as a builder's journey meets it. */
export interface JourneyCli {
  readonly runtime: string;
  /** Chosen by the longer name; without it, that of most programs. */
  readonly driver?: "acp";
  /** Its model is not told why a tool was refused. */
  readonly withoutReasons?: true;
  /** At times it does not find a conversation again. The agent then begins a new one, which is told where it stood. */
  readonly losesConversations?: true;
  /** It tells the tokens of the last answer of each prompt alone. */
  readonly countsLastAnswers?: true;
  readonly version: string;
  /** What a person has in the shell in which they sling. */
  shell(place: { readonly url: string; readonly home: string }): Readonly<Record<string, string>>;
  /** Files that it needs, below its home. */
  files?(place: { readonly url: string; readonly home: string }): Readonly<Record<string, string>>;
  readonly slingFlags?: readonly string[];
  /** What its model calls a tool of our server; null where it cannot start our server. */
  ownTool(name: string): string | null;
  /** A use of its own tool for files, which writes to `steeringFile` below the worktree. */
  edit(worktree: string): CallStep;
}

/** A file that steers agents of some runtime: no agent may change it. */
export const steeringFile = ".codex/config.toml";

/**
 * A builder of the real program commits, is kept from pushing and from changing what steers agents, finishes, is reopened in the
 * same conversation and finishes again. Each answer of the model counts once.
 */
export async function buildersJourney(cli: JourneyCli, binDir: string): Promise<void> {
  await using model = startFakeModel();
  await using project = await cliProject(cli, binDir, model);
  const worktree = join(project.root, ".overstory/worktrees/b1");
  const first = scripted(
    ...(cli.ownTool("checkpoint") === null ? [] : [ownCall(cli, "checkpoint", { progress: "I have begun" })]),
    { shell: "env A=b git push origin HEAD" },
    cli.edit(worktree),
    { shell: "echo hello > greeting.txt && git add greeting.txt && git commit --quiet -m 'Add a greeting'" },
    { shell: "command -v ov" },
    finishing(cli, "The greeting is there."),
    { text: "All done." },
  );
  await project.json("task", "create", "Greet", "--id", "T1", "--description", `Say hello.\n${first}`);
  await slingCli(cli, project, model);
  await finished(cli, project, 1);

  const read = textOf(conversation(model)[0]);
  expect(read).toContain("You are: `b1` (builder)");
  expect(read).toContain("[OVERSTORY] You are b1, a builder, task T1.");
  const told = textOf(conversation(model).at(-1));
  expect(told).toContain(cli.ownTool("finish") === null ? "accepted and reported" : "your parent has been told");
  if (cli.withoutReasons === undefined) expect(told).toContain("by the operator alone");
  expect(told).toContain("ov-state/run/bin/ov");
  const denials = (await eventsOf(project, "guard_denied")).map(({ data }) => JSON.parse(data ?? "{}").rule);
  expect(denials).toEqual(["git-push", "guard-files"]);
  expect(existsSync(join(worktree, steeringFile))).toBe(false);
  const before = await project.agent("b1");
  expect(before).toMatchObject({
    outcome: "done",
    ahead: 1,
    cliVersion: cli.version,
    driver: cli.driver ?? "exec-json",
  });
  expect((await ranTurns(project, "b1")).at(-1)?.resultText).toBe("All done.");

  const second = scripted(
    { shell: "echo bye > farewell.txt && git add farewell.txt && git commit --quiet -m 'Add a farewell'" },
    { shell: "ov done --summary 'Both are there.'" },
    { text: "Done again." },
  );
  const more = ["--to", "b1", "--type", "dispatch", "--subject", "More", "--body", `Say bye. ${second}`];
  await project.json("mail", "send", ...more);
  await finished(cli, project, 2);
  expect((await project.agent("b1")).ahead).toBe(2);
  if (cli.losesConversations === undefined) {
    expect((await project.agent("b1")).providerSessionId).toBe(before.providerSessionId);
    expect(textOf(conversation(model).at(-1))).toContain("All done.");
  }
  // Some ask for a title beside the conversation, and count that nowhere.
  const answers = conversation(model).length;
  const ledgers = await project.read((tx) => tx.budgets.of([{ scope: "agent", subject: "b1" }]));
  expect(Object.fromEntries(ledgers.map(({ unit, spent }) => [unit, spent]))).toMatchObject({
    tokens: cli.countsLastAnswers === undefined ? answers * 120 : expect.any(Number),
    turns: cli.losesConversations === undefined ? 2 : expect.any(Number),
  });
  await project.until("every process had ended", async () => project.processes().length === 0);
}

/** A project whose agents find the program on their PATH, and the program the fake model in its own settings. */
async function cliProject(cli: JourneyCli, binDir: string, { url }: FakeModel): Promise<TestProject> {
  const project = await claudeProject(binDir, { gates: ["test ! -e broken.txt"] });
  for (const [path, text] of Object.entries(cli.files?.({ url, home: project.home }) ?? {})) {
    mkdirSync(dirname(join(project.home, path)), { recursive: true });
    writeFileSync(join(project.home, path), text);
  }
  return project;
}

async function slingCli(cli: JourneyCli, project: TestProject, { url }: FakeModel): Promise<void> {
  const runtime = cli.driver === undefined ? cli.runtime : `${cli.runtime}:${cli.driver}`;
  const flags = ["--name", "b1", "--runtime", runtime, ...(cli.slingFlags ?? [])];
  const answer = await project.ovWith({ env: cli.shell({ url, home: project.home }) }, "sling", "T1", ...flags);
  expect(answer).toMatchObject({ code: 0 });
}

const ownCall = (cli: JourneyCli, name: string, input: Readonly<Record<string, unknown>>): Step => ({
  tool: cli.ownTool(name) ?? "",
  input,
});

const finishing = (cli: JourneyCli, summary: string): Step =>
  cli.ownTool("finish") === null ? { shell: `ov done --summary '${summary}'` } : ownCall(cli, "finish", { summary });

/** A turn that failed would be tried again for minutes; its reason is what one wants to read. */
async function finished(cli: JourneyCli, project: TestProject, generation: number): Promise<void> {
  const done = async (): Promise<boolean> => {
    const isLost = ({ failure }: Turn): boolean => cli.losesConversations === true && failure === "session_lost";
    const ended = (await ranTurns(project, "b1")).filter((turn) => turn.endedAt !== null && !isLost(turn));
    const failed = ended.find((turn) => turn.clean !== true);
    if (failed !== undefined) throw new Error(`a turn failed: ${failed.error}\n${outputOf(failed)}`);
    const agent = await project.read((tx) => tx.agents.byName("b1"));
    return agent?.generation === generation && agent.state === "completed";
  };
  await project.until(`generation ${generation} was done`, done, 120_000);
}

function outputOf(turn: Turn): string {
  return outputIn(turn.logDir ?? "");
}
