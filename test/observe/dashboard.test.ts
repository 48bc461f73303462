import { afterEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

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
- when: { agent: worker }
  do:
    - touch: "\${env.HOME}/working"
    - waitFor: { file: "\${env.HOME}/go" }
`;

const servers: Tmux[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.end();
});

/** A tmux server of its own with one window, in which the dashboard runs. */
class Tmux {
  readonly #socket = `ov-test-${process.pid}-${servers.length}-${Date.now()}`;
  readonly #project: TestProject;

  constructor(project: TestProject, size: readonly [columns: number, rows: number], command: string) {
    this.#project = project;
    servers.push(this);
    const [columns, rows] = size;
    this.#run("-f", "/dev/null", "new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, command);
    this.#run("set-option", "-g", "remain-on-exit", "on");
  }

  #run(...args: readonly string[]): string {
    const { HOME, PATH } = this.#project.env;
    const env = { ...this.#project.env, HOME, PATH, TERM: "xterm-256color", LC_ALL: "C.UTF-8" };
    const ran = spawnSync("tmux", ["-L", this.#socket, ...args], { cwd: this.#project.root, env, encoding: "utf8" });
    if (ran.status !== 0) throw new Error(`tmux ${args.join(" ")}: ${ran.stderr}`);
    return ran.stdout;
  }

  press(...keys: readonly string[]): void {
    this.#run("send-keys", ...keys);
  }

  type(text: string): void {
    this.#run("send-keys", "-l", text);
  }

  paste(text: string): void {
    this.#run("set-buffer", text);
    this.#run("paste-buffer", "-p");
  }

  resize(columns: number, rows: number): void {
    this.#run("resize-window", "-x", `${columns}`, "-y", `${rows}`);
  }

  /** The lines on the screen; times and ages, which differ from run to run, are masked. */
  screen(): readonly string[] {
    const text = this.#run("capture-pane", "-p");
    return text
      .split("\n")
      .map((line) => line.trimEnd())
      .map((line) => line.replace(/\d\d:\d\d:\d\d/g, "HH:MM:SS").replace(/\b\d+[smh] ago/g, "AGE"));
  }

  async until(what: string, isThere: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    let lines: readonly string[] = [];
    await this.#project
      .until(what, async () => {
        lines = this.screen();
        return isThere(lines);
      })
      .catch((error: unknown) => {
        throw new Error(`${error}\n${lines.join("\n")}`);
      });
    return lines;
  }

  showing(text: string): Promise<readonly string[]> {
    return this.until(`the screen shows ${text}`, (lines) => lines.some((line) => line.includes(text)));
  }

  end(): void {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"]);
  }
}

async function fleet(): Promise<TestProject> {
  const project = await makeProject({ scenario, gates: ["true"] });
  for (const name of ["asker", "maker", "worker"]) {
    await project.json("task", "create", `Work of ${name}`, "--id", `T-${name}`);
    await project.json("sling", `T-${name}`, "--name", name);
  }
  await untilFile(project, "working");
  await untilAgent(project, "asker", "between_turns");
  await untilAgent(project, "maker", "completed/done");
  await project.until("the branch waited for approval", async () => {
    const waiting = await project.read((tx) => tx.merges.list({ approval: "waiting" }));
    return waiting.length === 1;
  });
  return project;
}

const dashboardIn = (project: TestProject, size: readonly [number, number] = [100, 30]): Tmux =>
  new Tmux(project, size, `printf 'before\\n'; ${ovBinary()} dashboard; printf 'after %s\\n' $?; sleep 600`);

test("the first screen shows what needs a person, and each view its rows", async () => {
  await using project = await fleet();
  const tmux = dashboardIn(project);
  await tmux.showing("asks: Which colour?");
  const overview = await tmux.showing("> worker");
  expect(overview[1]).toMatch(/^\[1 overview\] 2 agents {2}3 merges 1 {2}4 mail( \d+)? {2}5 costs {2}6 logs$/);
  expect(overview).toContain("2 for you");
  expect(overview.find((line) => line.includes("overstory/maker/T-maker"))).toContain("waits for your approval");
  expect(overview.find((line) => line.startsWith("> worker"))).toMatch(/^> worker +builder +working +T-worker {2}AGE$/);
  tmux.press("2");
  const agents = await tmux.showing("[2 agents]");
  expect(agents.slice(3, 6).map((line) => line.replace(/ +/g, " "))).toEqual([
    expect.stringMatching(/^~ asker builder waiting T-asker AGE waits for/),
    expect.stringMatching(/^. maker builder submitted T-maker AGE/),
    "> worker builder working T-worker AGE",
  ]);
  tmux.press("3");
  expect(await tmux.showing("Queue: 1 branch")).toContain("No train is under way");
  tmux.press("4");
  await tmux.showing("asker → operator (question) Which colour?");
  tmux.press("5");
  await tmux.until("costs are listed", (lines) => lines.some((line) => /^Agent +Turns +Input/.test(line)));
  tmux.press("6");
  await tmux.until("events are listed", (lines) => lines.some((line) => /^HH:MM:SS (SPAWN|TURN|MAIL|TOOL)/.test(line)));
  // A text that is pasted is no row of keys: this one would quit.
  tmux.paste("q");
  tmux.press("1");
  await tmux.showing("[1 overview]");
  tmux.press("q");
  const after = await tmux.showing("after 0");
  // The screen that was there before is back.
  expect(after[0]).toBe("before");
}, 120_000);

test("a question is read and answered, and a branch let land, after being asked", async () => {
  await using project = await fleet();
  const tmux = dashboardIn(project);
  await tmux.showing("asks: Which colour?");
  tmux.press("/");
  tmux.type("colour");
  tmux.press("Enter", "Enter");
  expect(await tmux.showing("Press m on its row to answer")).toContain("| Red or 青?");
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
  const tmux = dashboardIn(project, [60, 16]);
  await tmux.showing("asks: Which colour?");
  tmux.resize(120, 40);
  const wide = await tmux.until("the frame fills the screen", (lines) => (lines[2] ?? "").length === 120);
  expect(wide).toContainEqual(expect.stringContaining("Latest"));
  tmux.resize(60, 16);
  const narrow = await tmux.until("the frame fits again", (lines) => (lines[2] ?? "").length === 60);
  expect(narrow[15]).toContain("? keys");
  tmux.press("?");
  await tmux.showing("choose a run");
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
