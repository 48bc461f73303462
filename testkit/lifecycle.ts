import { Database } from "bun:sqlite";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Event } from "../src/domain/event/event.ts";
import type { Message } from "../src/domain/mail/types.ts";
import type { Turn } from "../src/domain/turn/turn.ts";
import { readIdentity } from "../src/host/engine-contact/keeper.ts";
import { carries } from "../src/host/linux/process-table.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { jsonOf } from "./ov.ts";
import { makeProject, type TestProject } from "./project.ts";
import { statePath } from "./state.ts";

/** One process of a scripted agent, as its diary has it. */
export interface Start {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
}

/** Every process that was ever started for the agent: the number of model runs. */
export const startsOf = (project: TestProject, name: string): Start[] => diary(project, name, "starts");

/** Every prompt that ever reached the agent. */
export const promptsOf = (project: TestProject, name: string): string[] =>
  diary<{ text: string }>(project, name, "inputs").map(({ text }) => text);

/** Every reply that reached the agent on its input; `none` is a reply without a request. */
export const answersOf = (project: TestProject, name: string): { request: string; answer: object }[] =>
  diary(project, name, "answers");

function diary<T>({ state }: TestProject, name: string, file: string): T[] {
  const path = join(state, name, `${file}.ndjson`);
  if (!existsSync(path)) return [];
  // What follows the last line's end is empty, or a line that is only just being written.
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line): T => JSON.parse(line));
}

/** The turns of the newest incarnation that ran, oldest first. */
export const ranTurns = (project: TestProject, name: string): Promise<Turn[]> =>
  project.read(async (tx) => {
    const agent = await tx.agents.byName(name);
    const turns = agent === undefined ? [] : await tx.turns.listFor(agent.id);
    return turns.filter((turn) => turn.startedAt !== null);
  });

/** Waits until so many turns of the newest incarnation have ended; the next may have begun by then. */
export const untilTurns = (project: TestProject, name: string, count: number): Promise<void> =>
  project.until(`turn ${count} of ${name} had ended`, async () => {
    const turns = await ranTurns(project, name);
    return turns.filter(({ endedAt }) => endedAt !== null).length >= count;
  });

/**
 * Slings one more agent and waits until its first turn has ended. Whatever could start before it has started by then: for
 * tests in which an agent must not.
 */
export async function untilLaterTurn(project: TestProject): Promise<void> {
  await slingNew(project, "LATER");
  await untilTurns(project, "later", 1);
}

export const eventsOf = (project: TestProject, type: string): Promise<Event[]> =>
  project.read(async (tx) => (await tx.events.after(0, 10_000)).filter((event) => event.type === type));

/** Lets an agent crash until its input is given up, jumping over each back-off. The clock is off by the answer then. */
export async function crashOut(project: TestProject, name: string): Promise<number> {
  let offsetMs = 0;
  for (const [index, backOffMs] of [5_000, 30_000, 120_000].entries()) {
    await untilTurns(project, name, index + 1);
    offsetMs += backOffMs;
    await moveClock(project, offsetMs);
  }
  await untilAgent(project, name, "zombie/crashed");
  return offsetMs;
}

/** The turn that waits for its time, if the agent has one. */
export const queuedTurn = (project: TestProject, name: string): Promise<Turn | undefined> =>
  project.read(async (tx) => {
    const agent = await tx.agents.byName(name);
    return agent === undefined ? undefined : tx.turns.queuedFor(agent.id);
  });

/** Notices of this agent's death, each counted once however often it was handed on. */
export const deathNotices = (project: TestProject, name: string): Promise<Message[]> =>
  project.read(async (tx) => {
    const notices = await tx.messages.list({ type: "worker_died" });
    return notices.filter((notice) => notice.fromAgent === name && notice.replyTo === null);
  });

/** Makes a task and slings it under the same name in lower case: `B1` is the task of `b1`. */
export async function slingNew(project: TestProject, task: string, ...flags: string[]): Promise<void> {
  await project.json("task", "create", `Task ${task}`, "--id", task);
  await project.json("sling", task, "--name", task.toLowerCase(), ...flags);
}

/** Waits until the agent is in one of the states of `words`, written as `state` or `state/outcome`. */
export const untilAgent = (project: TestProject, name: string, ...words: string[]): Promise<void> =>
  project.until(`${name} was ${words.join(" or ")}`, async () => {
    const agent = await project.read((tx) => tx.agents.byName(name));
    return agent !== undefined && (words.includes(agent.state) || words.includes(`${agent.state}/${agent.outcome}`));
  });

/** The text of this file in the home, once its last line is whole: files exist before their text. */
export async function textIn(project: TestProject, file: string): Promise<string> {
  const path = join(project.home, file);
  const read = (): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
  await project.until(`${file} was written`, async () => read().endsWith("\n"));
  return read();
}

export const untilFile = (project: TestProject, file: string): Promise<void> =>
  project.until(`${file} was there`, async () => existsSync(join(project.home, file)));

/** Lets agents go on that wait for this file of their home. */
export const letGo = async (project: TestProject, file = "go"): Promise<void> => {
  await Bun.write(join(project.home, file), "");
};

/** Environment of a process whose wall clock is off by this much. */
export const clockAt = (offsetMs: number): Record<string, string> => ({
  OVERSTORY_TEST_CLOCK_OFFSET_MS: String(offsetMs),
});

/** So long an engine stays without work, so that a command surely finds it. */
const findableMs = 3_000;

/** Replaces the engine by one whose wall clock is off by this much. */
export async function moveClock(project: TestProject, offsetMs: number): Promise<void> {
  const env = { ...clockAt(offsetMs), OVERSTORY__ENGINE__IDLE_EXIT_MS: String(findableMs) };
  await project.until("the engine had the other clock", async () => {
    await project.json("engine", "stop");
    const started = jsonOf(await project.ovWith({ env }, "engine", "start", "--json"));
    // A supervisor that has just settled its turn may have been faster, with the clock it was started with.
    return carries(Number(started.pid), "OVERSTORY_TEST_CLOCK_OFFSET_MS", String(offsetMs));
  });
}

/** Kills engine and keeper as one: neither has time to replace the other. Both are gone afterwards. */
export function killServices(project: TestProject): void {
  const [engine, keeper] = ["engine", "keeper"].map((name) => {
    const identity = readIdentity(statePath(project.root, "run", `${name}.json`));
    if (identity === undefined) throw new Error(`there is no ${name} to kill`);
    return identity;
  });
  if (engine === undefined || keeper === undefined) return;
  process.kill(engine.pid, "SIGSTOP");
  process.kill(keeper.pid, "SIGKILL");
  process.kill(engine.pid, "SIGKILL");
  // On a busy machine a killed process counts as alive for a moment longer.
  for (const killed of [engine, keeper]) while (linuxProcesses.check(killed) === "alive") Bun.sleepSync(1);
}

/** The pid recorded for the agent's supervisor or for its own process. */
export async function pidOf(project: TestProject, name: string, role: "supervisor" | "agent"): Promise<number> {
  const { id } = await project.agent(name);
  const live = await project.read((tx) => tx.processes.liveForAgent(id));
  const found = live.find((record) => record.role === role);
  if (found === undefined) throw new Error(`no ${role} of ${name} is recorded`);
  return found.pid;
}

export const databaseOf = ({ root }: TestProject): string => statePath(root, "overstory.db");

/** A fingerprint of everything the database holds on disk. */
export function databaseBytes(project: TestProject): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const path of [databaseOf(project), `${databaseOf(project)}-wal`]) {
    if (existsSync(path)) hasher.update(readFileSync(path));
  }
  return hasher.digest("hex");
}

/** Another process that holds the writer's lock from the moment this resolves until it is told to let go. */
export async function lockDatabase(project: TestProject): Promise<{ release(): Promise<void> }> {
  const program = resolve(import.meta.dir, "sqlite-process.ts");
  const cmd = [process.execPath, program, "hold", databaseOf(project)];
  const holder = Bun.spawn({ cmd, stdio: ["pipe", "pipe", "inherit"] });
  const first = await holder.stdout.getReader().read();
  if (first.done) throw new Error("the database could not be locked");
  return {
    release: async () => {
      await holder.stdin.end();
      await holder.exited;
    },
  };
}

/** Kills these processes when one of them first reaches the point. The file `marker` exists from then on. */
export function killOnceAt(project: TestProject, point: string, who: string) {
  const marker = join(project.state, "killed");
  const env = {
    OVERSTORY_TEST_KILL_AT: point,
    OVERSTORY_TEST_KILL_WHO: who,
    OVERSTORY_TEST_KILL_ONCE: marker,
    OVERSTORY_PROJECT_ROOT: project.root,
  };
  return { marker, env };
}

/**
 * Slings agents one after the other, each when the one before has its worktree. Turns that could start before the last one
 * came have started by then: the engine looks for them each time.
 */
export async function seatedLater(project: TestProject, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await project.json("sling", `Work of ${name}`, "--name", name);
    await project.until(`${name} was seated`, async () => (await project.agent(name)).worktreePath !== null);
  }
}

/** Waits until no process works for the project any more. */
export const nobodyLeft = (project: TestProject): Promise<void> =>
  project.until("every process had ended", async () => project.processes().length === 0);

/** The engine of another project, which is started now and has nothing to do, has left. */
export async function anotherEngineLeft(): Promise<void> {
  await using other = await makeProject();
  await other.json("engine", "start");
  await nobodyLeft(other);
}

/** Stops a process. Waits for its state: on a busy machine a stopped process counts as running for a moment longer. */
export function freeze(pid: number): void {
  process.kill(pid, "SIGSTOP");
  while (!isFrozen(pid)) Bun.sleepSync(1);
}

/** Whether a signal has stopped the process. A kill-point writes its marker file a moment before it stops its process. */
export function isFrozen(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

export function thaw(pid: number): void {
  if (linuxProcesses.identify(pid) !== undefined) process.kill(pid, "SIGCONT");
}

/** Stops a process while it has no transaction open. One that stops inside a transaction holds the database. */
export async function freezeAtRest(project: TestProject, pid: number): Promise<void> {
  freeze(pid);
  for (; !isWritable(project); freeze(pid)) {
    thaw(pid);
    await Bun.sleep(20);
  }
}

function isWritable(project: TestProject): boolean {
  using database = new Database(databaseOf(project));
  try {
    database.run("BEGIN IMMEDIATE");
    database.run("ROLLBACK");
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return false;
    throw error;
  }
}
