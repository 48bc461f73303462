import { expect, test } from "bun:test";
import { join } from "node:path";
import { eventsOf, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { Tmux } from "../../testkit/tmux.ts";

/** One agent asks, one works on, one has handed its work in. */
const scenario = `
- when: { agent: asker }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, "Which colour?", --body, "Red or 青?"]
- when: { agent: maker }
  do:
    - edit: { file: made.txt, write: "made\\n" }
    - commit: work
    - ov: [done, --summary, It is made]
- when: { agent: chooser }
  do:
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, Which database?, --body, Both would do, --payload, '{"options":["Postgres","SQLite"]}']
- when: { agent: other }
  do:
    - edit: { file: other.txt, write: "other\\n" }
    - commit: other work
    - ov: [done, --summary, It is made too]
- when: { agent: worker }
  do:
    - touch: "\${env.HOME}/working"
    - waitFor: { file: "\${env.HOME}/go" }
`;

async function fleet(): Promise<TestProject> {
  const project = await makeProject({ scenario, gates: ["true"] });
  const start = async (name: string): Promise<void> => {
    await project.json("task", "create", `Work of ${name}`, "--id", `T-${name}`);
    await project.json("sling", `T-${name}`, "--name", name);
  };
  // One after the other, so that what happened is the same list in each run.
  await start("asker");
  await untilAgent(project, "asker", "between_turns");
  await start("maker");
  await untilAgent(project, "maker", "completed/done");
  await project.until("the branch waited for approval", async () => {
    const waiting = await project.read((tx) => tx.merges.list({ approval: "waiting" }));
    return waiting.length === 1;
  });
  await start("worker");
  await untilFile(project, "working");
  return project;
}

const dashboardIn = (project: TestProject, size: readonly [number, number] = [100, 30]): Tmux =>
  new Tmux(
    project,
    size,
    `printf 'before\\n'; stty -a >"$HOME/stty-before"; ${ovBinary()} dashboard; printf 'after %s\\n' $?; \
     stty -a >"$HOME/stty-after"; cmp "$HOME/stty-before" "$HOME/stty-after" && echo same settings; sleep 600`,
  );

/** A screen as it was captured once: UPDATE_SCREENS=1 captures it anew. */
const captured = (name: string): string => join(import.meta.dir, "screens", `${name}.txt`);

test("the first screen shows what needs a person, each view its rows, and quitting gives the terminal back", async () => {
  await using project = await fleet();
  // High enough for all events: which of them are the newest differs by a few lines from run to run.
  using tmux = dashboardIn(project, [100, 48]);
  await tmux.showing("> worker");
  await tmux.shows(captured("overview"));
  tmux.press("2");
  await tmux.showing("[2 agents]");
  await tmux.shows(captured("agents"));
  tmux.press("3");
  await tmux.showing("[3 merges");
  await tmux.shows(captured("merges"));
  tmux.press("4");
  await tmux.showing("[4 mail");
  await tmux.shows(captured("mail"));
  tmux.press("5");
  await tmux.showing("[5 costs]");
  await tmux.shows(captured("costs"));
  tmux.press("6");
  await tmux.showing("[6 logs]");
  await tmux.shows(captured("logs"));
  // A text that is pasted is no row of keys: this one would quit.
  tmux.paste("q");
  tmux.press("1");
  await tmux.showing("[1 overview]");
  tmux.press("q");
  // The screen that was there before is back, and so are the settings of the terminal.
  await tmux.showing("same settings");
  await tmux.shows(captured("after-quit"));
}, 240_000);

test("a question is read and answered, and a branch let land, after being asked", async () => {
  await using project = await fleet();
  using tmux = dashboardIn(project);
  await tmux.showing("asks: Which colour?");
  tmux.press("/");
  tmux.type("colour");
  tmux.press("Enter", "Enter");
  expect(await tmux.showing("Press m on its row to answer")).toContain("| Red or 青?");
  await tmux.shows(captured("question"));
  tmux.press("Escape");
  await tmux.showing('rows with "colour"');
  tmux.press("m");
  await tmux.showing("Answer to asker:");
  tmux.type("blue 青");
  tmux.press("Enter");
  await tmux.showing("the answer was sent");
  const replies = await project.read((tx) => tx.messages.list({ to: "asker", from: "operator" }));
  expect(replies.some(({ body }) => body === "blue 青")).toBe(true);
  tmux.press("Escape", "3");
  await tmux.showing("Queue: 1 branch");
  tmux.press("a");
  await tmux.showing("Let overstory/maker/T-maker land? [y/N]");
  await tmux.shows(captured("confirm"));
  tmux.press("n");
  await tmux.showing("nothing was done");
  expect(await project.read((tx) => tx.merges.list({ approval: "waiting" }))).toHaveLength(1);
  tmux.press("a");
  await tmux.showing("[y/N]");
  tmux.press("y");
  await tmux.showing("may land");
  await tmux.until("it has landed", (lines) => lines.some((line) => /^#1 +merged/.test(line)));
  tmux.press("C-c");
  await tmux.showing("after 0");
}, 120_000);

test("a narrow screen and a resize lose nothing, and no line is wider than the terminal", async () => {
  await using project = await fleet();
  using tmux = dashboardIn(project, [60, 16]);
  await tmux.showing("asks: Which colour?");
  await tmux.showing("> worker");
  await tmux.shows(captured("narrow"));
  tmux.resize(120, 40);
  await tmux.until("the frame fills the screen", (lines) => (lines[2] ?? "").length === 120);
  await tmux.shows(captured("wide"));
  tmux.resize(60, 16);
  const narrow = await tmux.until("the frame fits again", (lines) => (lines[2] ?? "").length === 60);
  expect(narrow[15]).toContain("? keys");
  await tmux.shows(captured("narrow"));
  tmux.press("?");
  await tmux.showing("choose a run");
  await tmux.shows(captured("keys"));
  tmux.press("G");
  await tmux.showing("Every act asks before it is done.");
  tmux.press("q", "q");
  await tmux.showing("after 0");
}, 120_000);

test("without a terminal one frame is printed, and --json is the document of ov status", async () => {
  await using project = await fleet();
  const shown = await project.ov("dashboard");
  expect([shown.code, shown.err]).toEqual([0, ""]);
  expect(shown.out).toContain("2 for you");
  expect(shown.out).not.toContain("\x1b");
  expect(await project.json("dashboard")).toMatchObject({ needsOperator: true, questions: [{ from: "asker" }] });
}, 120_000);

test("what the keys ask for is done by the same operations as the commands", async () => {
  await using project = await fleet();
  for (const name of ["chooser", "other"]) await slingNew(project, name.toUpperCase());
  await untilAgent(project, "chooser", "between_turns");
  await untilAgent(project, "other", "completed/done");
  using tmux = dashboardIn(project);
  await tmux.showing("needs a decision: Which database?");
  const choose = async (view: string, text: string): Promise<void> => {
    tmux.press("Escape", view, "/");
    tmux.type(text);
    tmux.press("Enter");
    await tmux.showing(`rows with "${text}"`);
  };

  await choose("1", "Which database");
  tmux.press("m");
  await tmux.showing("Decision (Postgres | SQLite):");
  tmux.type("SQLite");
  tmux.press("Enter");
  await tmux.showing("decided: SQLite");
  const [question] = await project.read((tx) => tx.messages.list({ from: "chooser", type: "decision_gate" }));
  const decided = await project.read((tx) => tx.messages.list({ to: "chooser", from: "operator" }));
  expect(decided.find(({ replyTo }) => replyTo === question?.id)?.body).toContain("SQLite");

  await choose("2", "worker");
  tmux.press("n");
  await tmux.showing("Nudge worker? [y/N]");
  tmux.press("n");
  await tmux.showing("nothing was done");
  tmux.press("n");
  await tmux.showing("Nudge worker? [y/N]");
  tmux.press("y");
  await tmux.showing("worker was nudged");
  expect((await eventsOf(project, "custom")).map(({ data }) => data)).toEqual([expect.stringContaining("nudge")]);
  tmux.press("m");
  await tmux.showing("Message to worker:");
  tmux.type("Look at README 青");
  tmux.press("Enter");
  await tmux.showing("sent to worker");
  const sent = await project.read((tx) => tx.messages.list({ to: "worker", from: "operator" }));
  expect(sent.map(({ body }) => body)).toContain("Look at README 青");
  tmux.press("s");
  await tmux.showing("Stop worker? Its work is kept. [y/N]");
  tmux.press("y");
  await tmux.showing("worker was stopped");
  await untilAgent(project, "worker", "completed/stopped");

  await choose("3", "OTHER");
  tmux.press("x");
  await tmux.showing("Why is overstory/other/OTHER sent back:");
  tmux.type("Not in this run");
  tmux.press("Enter");
  await tmux.showing("was sent back");
  const entries = await project.read((tx) => tx.merges.list({}));
  expect(entries.find(({ agentName }) => agentName === "other")).toMatchObject({ cause: "approval_denied" });
  const told = await project.read((tx) => tx.messages.list({ to: "other", type: "merge_failed" }));
  expect(told.map(({ body }) => body).join()).toContain("Not in this run");

  await choose("3", "T-maker");
  tmux.press("a");
  await tmux.showing("Let overstory/maker/T-maker land? [y/N]");
  tmux.press("y");
  await tmux.until("it has landed", (lines) => lines.some((line) => /^#1 +merged/.test(line)));
  tmux.press("u");
  await tmux.showing("Take overstory/maker/T-maker out again? [y/N]");
  tmux.press("y");
  await tmux.showing("it is being taken back");
  await tmux.until("it is out again", (lines) => lines.some((line) => /^#1 +reverted/.test(line)));
  tmux.press("q");
  await tmux.showing("same settings");
}, 240_000);
