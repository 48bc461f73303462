import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Delivery, Message } from "../../src/domain/mail/types.ts";
import type { AgentSampler } from "../../testkit/agent-sampler.ts";
import { findInconsistencies } from "../../testkit/consistency.ts";
import type { TestProject } from "../../testkit/project.ts";

export interface Ending {
  readonly sampler: AgentSampler;
  /** The engine stays for longer than a test can wait, and leaves when asked. */
  readonly patientEngine: boolean;
  /** No agent's program was hit, so that no turn has a reason to run again. */
  readonly noTurnRepeated: boolean;
}

/** What must be true at the end, whoever was killed on the way. */
export async function expectTeamDone(project: TestProject, ending: Ending): Promise<void> {
  const { sampler, patientEngine, noTurnRepeated } = ending;
  await project.settled();
  if (patientEngine) {
    await project.until("only services were left", async () => project.processes().every((pid) => isService(pid)));
    await project.json("engine", "stop");
  }
  await project.until("every process had ended", async () => project.processes().length === 0);
  await expectAgents(project);
  await expectMail(project);
  await expectWork(project);
  if (noTurnRepeated) await expectNoRepeats(project);
  expect(sampler.doubles(project.root)).toEqual([]);
  // What the next engine puts right by itself, such as the notice of a killed successor, is no breach.
  const breaches = (await findInconsistencies(project.root)).filter(({ healedByEngine }) => !healedByEngine);
  expect(breaches.map(({ key, says }) => `${key}: ${says}`)).toEqual([]);
}

/** A turn that went wrong costs money again; the death of one of ours is no reason for that. */
async function expectNoRepeats(project: TestProject): Promise<void> {
  const agents = await project.read((tx) => tx.agents.list({}));
  const turns = await project.read((tx) => Promise.all(agents.map(({ id }) => tx.turns.listFor(id))));
  const repeats = turns.flat().filter(({ trigger }) => trigger !== "mail");
  expect(repeats.map(({ agentName, trigger }) => `${agentName}: ${trigger}`)).toEqual([]);
}

/** The engine, or its keeper, whose words end with those of the engine. */
function isService(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("\0engine\0run\0");
  } catch {
    // Gone since it was listed: nobody who stays.
    return true;
  }
}

async function expectAgents(project: TestProject): Promise<void> {
  const agents = await project.read((tx) => tx.agents.list({}));
  const ends = agents.map(({ name, generation, state, outcome }) => `${name} ${generation} ${state} ${outcome}`);
  expect(ends.toSorted()).toEqual([
    "b1 1 completed done",
    "b2 1 completed done",
    "lead1 1 completed done",
    "s1 1 completed stopped",
  ]);
  const open = await project.read(async (tx) => ({
    running: await tx.turns.running(),
    waits: (await Promise.all(agents.map(({ name }) => tx.waits.of(name)))).flat(),
    queued: (await Promise.all(agents.map(({ id }) => tx.turns.queuedFor(id)))).filter((turn) => turn !== undefined),
  }));
  // No gate has checked the branches, so they wait for the operator's word.
  const waits = open.waits.map(({ agentName, kind }) => `${agentName} ${kind}`).toSorted();
  const approvals = ["b1 approval", "b2 approval", "lead1 merge", "lead1 merge"];
  expect({ ...open, waits }).toEqual({ running: [], waits: approvals, queued: [] });
}

/** Everything that anybody said, once each: a message lost or doubled by a kill shows here. */
const said = [
  "operator > lead1 dispatch: Dispatch: L",
  "lead1 > b1 dispatch: Dispatch: B1",
  "lead1 > b2 dispatch: Dispatch: B2",
  "lead1 > s1 dispatch: Dispatch: S",
  "b1 > lead1 question: Question of b1",
  "b2 > lead1 question: Question of b2",
  "lead1 > b1 status: Hint for b1",
  "lead1 > b2 status: Hint for b2",
  "lead1 > b1 status: Re: Question of b1",
  "lead1 > b2 status: Re: Question of b2",
  "s1 > lead1 status: [ENGINE] stopped: s1",
  "b1 > lead1 worker_done: Done: B1",
  "b2 > lead1 worker_done: Done: B2",
  "lead1 > operator merge_ready: Ready: overstory/b1/B1",
  "system > operator decision_gate: approve merge 1? overstory/b1/B1",
  "lead1 > operator merge_ready: Ready: overstory/b2/B2",
  "system > operator decision_gate: approve merge 2? overstory/b2/B2",
  "lead1 > operator worker_done: Done: L",
];

async function expectMail(project: TestProject): Promise<void> {
  const mail = await project.read(async (tx) => {
    const messages = await tx.messages.list({ limit: 1_000 });
    return Promise.all(
      messages.map(async (message) => ({ message, deliveries: await tx.deliveries.ofMessage(message.seq) })),
    );
  });
  const composed = mail.filter(({ message }) => !message.body.includes("[forwarded: "));
  const lines = composed.map(
    ({ message: { fromAgent, address, type, subject } }) => `${fromAgent} > ${address} ${type}: ${subject}`,
  );
  expect(lines.toSorted()).toEqual(said.toSorted());
  const stuck = mail.flatMap(({ message, deliveries }) =>
    deliveries
      .filter((delivery) => !isAtRest(message, delivery))
      .map(({ toAgent, state }) => `${message.subject} > ${toAgent}: ${state}`),
  );
  expect(stuck).toEqual([]);
}

/** The operator reads when it pleases, and what a stopped agent had not finished waits for its recovery. */
function isAtRest({ type }: Message, { toAgent, state }: Delivery): boolean {
  if (state === "acked" || state === "cancelled") return true;
  return state === "queued" && (toAgent === "operator" || (toAgent === "s1" && type === "dispatch"));
}

async function expectWork(project: TestProject): Promise<void> {
  for (const [name, task] of [
    ["b1", "B1"],
    ["b2", "B2"],
  ] as const) {
    expect(await project.git("show", `overstory/${name}/${task}:${name}.txt`)).toBe(`work of ${name}\n`);
    expect(await notesOf(project, name, task)).toBe(`thoughts of ${name}\n`);
  }
  await project.git("fsck", "--full", "--strict", "--no-dangling");
  expect(await project.git("status", "--porcelain", "--", ".", ":!.overstory")).toBe("");
  expect(await project.git("log", "--format=%s", "HEAD")).toBe("first\n");
  expect((await project.git("symbolic-ref", "HEAD")).trim()).toBe("refs/heads/main");
}

/** Where it was left, in a snapshot, or in the commit of a turn that was repeated. */
async function notesOf(project: TestProject, name: string, task: string): Promise<string | undefined> {
  const file = `notes-${name}.txt`;
  const left = join(project.root, ".overstory", "worktrees", name, file);
  if (existsSync(left)) return readFileSync(left, "utf8");
  const refs = await project.git("for-each-ref", "--format=%(refname)", `refs/overstory/snap/${name}/`);
  for (const ref of [...refs.split("\n").filter((line) => line !== ""), `overstory/${name}/${task}`]) {
    if ((await project.git("ls-tree", "--name-only", ref)).split("\n").includes(file)) {
      return project.git("show", `${ref}:${file}`);
    }
  }
  return undefined;
}
