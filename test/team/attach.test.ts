import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  eventsOf,
  letGo,
  promptsOf,
  queuedTurn,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
  untilLaterTurn,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** The program at a "terminal" made of pipes: lines go in, what it prints is waited for. */
interface Seat {
  readonly pid: number;
  type(line: string): void;
  untilSaid(text: string): Promise<void>;
  leave(): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  kill(): Promise<void>;
}

const attach = (project: TestProject, ...args: string[]): Seat => run(project, "attach", ...args);

function run(project: TestProject, ...args: string[]): Seat {
  const cmd = [ovBinary(), ...args];
  const child = Bun.spawn({ cmd, cwd: project.root, env: { ...project.env }, stdio: ["pipe", "pipe", "pipe"] });
  let out = "";
  let err = "";
  const collect = async (stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) add(decoder.decode(bytes, { stream: true }));
  };
  const reading = Promise.all([
    collect(child.stdout, (text) => {
      out += text;
    }),
    collect(child.stderr, (text) => {
      err += text;
    }),
  ]);
  return {
    pid: child.pid,
    type: (line) => {
      child.stdin.write(`${line}\n`);
      void child.stdin.flush();
    },
    untilSaid: (text) => project.until(`it said ${text}; ${out}${err}`, async () => `${out}${err}`.includes(text)),
    leave: async () => {
      await child.stdin.end();
      await child.exited;
      await reading;
      return { code: child.exitCode, out, err };
    },
    kill: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

const idle = `
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: own.txt, write: "by the agent\\n" }
    - commit: first
    - ov: [mail, send, --to, operator, --type, question, --subject, What, --body, what next]
- when: { agent: b1 }
  do: [{ say: again }]
`;

async function withWaitingBuilder(scenario = idle): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await project.settled();
  return project;
}

test("a person goes on with the agent's own conversation, in its worktree and as the agent; then it is handed back", async () => {
  await using project = await withWaitingBuilder();
  const before = await project.agent("b1");
  const seat = attach(project, "b1");
  await seat.untilSaid(`conversation ${before.providerSessionId}, 1 turns so far`);
  seat.type("hello");
  await seat.untilSaid("you said: hello");
  seat.type("!pwd; ov mail send --to operator --subject Hand --body 'typed by hand' --json");
  await seat.untilSaid('"success":true');
  seat.type("!echo mine > by-hand.txt; echo written");
  await seat.untilSaid("written");

  const live = await project.read((tx) => tx.processes.liveForAgent(before.id));
  expect(live.map(({ role }) => role).toSorted()).toEqual(["agent", "supervisor"]);
  await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "News", "--body", "while away");
  expect(await queuedTurn(project, "b1")).toMatchObject({ trigger: "mail" });
  expect((await project.ov("resume", "b1")).code).toBe(8);
  expect((await project.ov("attach", "b1")).code).toBe(6);
  await untilLaterTurn(project);
  expect(startsOf(project, "b1")).toHaveLength(1);

  const { code, out } = await seat.leave();
  expect(code).toBe(0);
  expect(out).toContain(`${before.worktreePath}\n`);
  expect(out).toContain("Handed back b1");
  await untilTurns(project, "b1", 2);
  expect(promptsOf(project, "b1").at(-1)).toContain("| while away");
  const mail = await project.read((tx) => tx.messages.list({ from: "b1" }));
  expect(mail.find(({ subject }) => subject === "Hand")).toMatchObject({ verified: true, fromAgentId: before.id });
  expect(await project.read((tx) => tx.waits.of("b1"))).not.toContainEqual(
    expect.objectContaining({ kind: "operator" }),
  );
  const snapshots = await eventsOf(project, "snapshot");
  expect(snapshots.length).toBeGreaterThan(0);
  const patch = (await project.ov("diff", "b1")).out;
  expect(patch).toContain("+by the agent");
  expect(patch).toContain("+mine");
  expect((await project.ov("diff", "b1", "--stat")).out).toBe("+1 -0 by-hand.txt\n+1 -0 own.txt\n");
  expect(await project.json("diff", "b1")).toMatchObject({ uncommitted: true, base: before.baseCommit });
}, 120_000);

const busy = `
- when: { agent: b1, turn: 1 }
  do:
    - shell: 'touch "$HOME/busy"; until test -e "$HOME/go"; do sleep 0.05; done'
    - ov: [mail, send, --to, operator, --type, question, --subject, What, --body, what next]
- when: { agent: b1 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, Again, --body, what now]
`;

test("the running turn is waited for", async () => {
  await using project = await makeProject({ scenario: busy });
  await slingNew(project, "B1");
  await untilFile(project, "busy");
  const seat = attach(project, "b1");
  await seat.untilSaid("Waiting for b1 to end its turn; Ctrl-C ends the waiting, not the agent.");
  await seat.untilSaid("ov attach b1 --interrupt");
  expect((await ranTurns(project, "b1"))[0]).toMatchObject({ status: "running" });
  await letGo(project);
  await seat.untilSaid("conversation");
  expect((await ranTurns(project, "b1"))[0]).toMatchObject({ status: "settled", clean: true });
  expect((await seat.leave()).code).toBe(0);
}, 120_000);

test("a turn that is interrupted is settled, uses no attempt, and its input comes again after the hand-over", async () => {
  await using project = await makeProject({ scenario: busy });
  await slingNew(project, "B1");
  await untilFile(project, "busy");
  const seat = attach(project, "b1", "--interrupt");
  await seat.untilSaid("conversation");
  expect((await ranTurns(project, "b1"))[0]).toMatchObject({ status: "settled", clean: false });
  expect(await queuedTurn(project, "b1")).toMatchObject({ trigger: "retry", attempt: 1 });
  await letGo(project);
  await seat.leave();
  await untilTurns(project, "b1", 2);
  expect((await ranTurns(project, "b1"))[1]).toMatchObject({ trigger: "retry", attempt: 1, status: "settled" });
}, 120_000);

test("a turn whose mail was read at the terminal does not come again with nothing to say", async () => {
  await using project = await makeProject({ scenario: busy });
  await slingNew(project, "B1");
  await untilFile(project, "busy");
  const seat = attach(project, "b1", "--interrupt");
  await seat.untilSaid("conversation");
  expect(await queuedTurn(project, "b1")).toMatchObject({ trigger: "retry", attempt: 1 });
  seat.type("!ov mail check --json; ov mail send --to operator --type question --subject q --body 'which one?' --json");
  await seat.untilSaid('"recipients"');
  await letGo(project);
  await seat.leave();
  await project.settled();
  expect(await queuedTurn(project, "b1")).toBeUndefined();
  expect(startsOf(project, "b1")).toHaveLength(1);
}, 120_000);

const done = `
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: own.txt, write: "done\\n" }
    - commit: first
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: B1", --body, done]
- when: { agent: b1 }
  do: [{ say: again }]
`;

test("an agent that had submitted its work is reopened, and can submit again by hand", async () => {
  await using project = await makeProject({ scenario: done });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const first = await project.agent("b1");
  expect(first.releasedAt).toBeNull();
  const seat = attach(project, "b1");
  await seat.untilSaid(`conversation ${first.providerSessionId}`);
  expect(await project.agent("b1")).toMatchObject({ generation: 2, revivals: 1, worktreePath: first.worktreePath });
  seat.type("!ov mail send --to operator --type worker_done --subject 'Done: again' --body done --json");
  await seat.untilSaid('"success":true');
  await seat.leave();
  expect(await project.agent("b1")).toMatchObject({ generation: 2, state: "completed", outcome: "done" });
  expect(startsOf(project, "b1")).toHaveLength(1);
}, 120_000);

test("just looking at handed-in work takes nothing back: no turn, no reminder, and the agent has submitted as before", async () => {
  await using project = await makeProject({ scenario: done });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const seat = attach(project, "b1");
  await seat.untilSaid("conversation");
  expect(await project.agent("b1")).toMatchObject({ generation: 2, state: "between_turns" });
  await seat.leave();
  await project.settled();
  expect(await project.agent("b1")).toMatchObject({ generation: 2, state: "completed", outcome: "done" });
  expect(startsOf(project, "b1")).toHaveLength(1);
  const mail = await project.read((tx) => tx.messages.list({ to: "operator", type: "worker_died" }));
  expect(mail).toEqual([]);
  const waits = await project.read((tx) => tx.waits.of("b1"));
  expect(waits.map(({ kind }) => kind)).toEqual(["approval"]);
}, 120_000);

test("a terminal that is gone hands the agent back: its program ends, its work is kept, its mail wakes it", async () => {
  await using project = await withWaitingBuilder();
  const seat = attach(project, "b1");
  await seat.untilSaid("conversation");
  seat.type("!echo kept > kept.txt; printenv OVERSTORY_TOKEN > $HOME/token; echo saved");
  await seat.untilSaid("saved");
  await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "News", "--body", "while away");
  const { id } = await project.agent("b1");
  await seat.kill();
  await untilTurns(project, "b1", 2);
  const detached = await eventsOf(project, "detach");
  expect(detached.map(({ data }) => JSON.parse(data ?? "{}").reason)).toEqual(["gone"]);
  const records = await project.read((tx) => tx.processes.liveForAgent(id));
  expect(records.filter(({ role }) => role === "agent")).toEqual([]);
  expect((await project.ov("diff", "b1")).out).toContain("+kept");
  const token = readFileSync(join(project.home, "token"), "utf8").trim();
  expect((await project.ovWith({ env: { OVERSTORY_TOKEN: token } }, "mail", "check")).code).toBe(8);
}, 120_000);

test("stopping an agent ends what a person has open of it", async () => {
  await using project = await withWaitingBuilder();
  const seat = attach(project, "b1");
  await seat.untilSaid("conversation");
  const stopped = await project.json("stop", "b1");
  expect(stopped).toMatchObject({ stopped: true, survivors: [] });
  expect((await seat.leave()).code).toBe(0);
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped", generation: 1 });
  expect(await project.read((tx) => tx.leases.heldBelow("attach:"))).toEqual([]);
}, 120_000);

test("nobody but the operator takes an agent over; one that was stopped is reopened by it", async () => {
  await using project = await withWaitingBuilder();
  expect((await project.ovWith({ env: { OVERSTORY_TOKEN: "made up" } }, "attach", "b1")).code).toBe(8);
  expect((await project.ov("attach", "b2")).code).toBe(7);
  await project.json("stop", "b1");
  const answer = await project.ov("attach", "b1");
  expect(answer.code).toBe(0);
  expect(answer.out).toContain("conversation");
}, 120_000);

test("logs tell what an agent did over its turns, with control bytes made visible, and follow it to its end", async () => {
  const scenario = `
- when: { agent: b1, turn: 1 }
  do:
    - say: "first \\e[31mred"
    - shell: echo one
    - ov: [mail, send, --to, operator, --type, question, --subject, What, --body, what next]
- when: { agent: b1 }
  do:
    - say: second turn
    - ov: [done, --no-code, --summary, done]
`;
  await using project = await withWaitingBuilder(scenario);
  const shown = (await project.ov("logs", "b1")).out;
  expect(shown).toContain("== turn begins: ");
  expect(shown).toContain("first \\u{1b}[31mred");
  expect(shown).toContain("> Bash: echo one");
  expect(shown).toMatch(/> Bash: ov mail send .*\n< mail to operator \(question\): What\n/);
  expect(shown).toContain("== turn ended; agent: waiting ==");
  const nothing = { code: 0, out: "", err: "b1 has changed nothing since it started.\n" };
  expect(await project.ov("diff", "b1")).toMatchObject(nothing);
  expect((await project.ov("logs", "b1", "--lines", "1")).out.trim().split("\n")).toHaveLength(1);
  const following = run(project, "logs", "b1", "-f", "--lines", "1");
  // From here on it follows: what comes now is told, however fast it comes.
  await following.untilSaid("== turn ended");
  await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "Go", "--body", "on");
  const followed = await following.leave();
  expect(followed.code).toBe(0);
  expect(followed.out).toContain("second turn");
  expect(followed.out).toContain("== turn ended; agent: submitted ==");
  expect((await project.ov("logs", "b1", "--turn", "2")).out).not.toContain("first");
  expect((await project.ov("logs", "b1", "--turn", "9")).code).toBe(2);
}, 120_000);

test("an agent that another terminal stops is not said to be handed back", async () => {
  await using project = await makeProject({ scenario: busy });
  await slingNew(project, "B1");
  await letGo(project);
  await untilTurns(project, "b1", 1);
  const seat = attach(project, "b1");
  await seat.untilSaid("conversation");
  seat.type("hello");
  await seat.untilSaid("you said: hello");
  await project.json("stop", "b1", "--yes");
  const { out } = await seat.leave();
  expect(out).toContain("b1 is not handed back: it has ended meanwhile (stopped)");
  expect(out).not.toContain("Handed back");
}, 60_000);
