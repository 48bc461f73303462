import { noTokens, type TokenCounts } from "../../domain/budget/usage.ts";
import type { Letter } from "../../domain/mail/letter.ts";
import { isUnverified, type WorkBehind, workLine } from "../../domain/mail/letter.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import { type FailureCause, failureText } from "../../domain/turn/failure.ts";
import { reasonWith } from "../../domain/turn/program-words.ts";
import type { TurnEnd } from "../../domain/turn/settle.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { TurnEnded } from "../../domain/turn/turn-event.ts";
import type { ProcessExit } from "../../ports/agent-process.ts";
import type { Driver, Runtime } from "../../ports/runtime.ts";
import type { WorktreeFacts } from "../../ports/worktrees.ts";
import { markFor } from "../../usecases/identity/identify.ts";
import { type Reporter, reporterOf } from "../../usecases/mail/check.ts";
import { worktreeOf } from "../../usecases/worktrees/owners.ts";
import { exchangeWith } from "./answer.ts";
import { beginTurn, type OwnedTurn } from "./begin.ts";
import { conserve, leftOf } from "./conserve.ts";
import { followOutput } from "./follow.ts";
import { launchAgent, mirrored } from "./launch.ts";
import { keepBeating, type LeaseBeat } from "./lease-beat.ts";
import { type Hopeless, OutputLog } from "./output-log.ts";
import type { SupervisorPorts } from "./ports.ts";
import { type Ending, settleTurn } from "./settle-turn.ts";

/** Owns one turn from launch, or from the place where a lost supervisor left it, to its settling. */
export async function runTurn(ports: SupervisorPorts, turnId: string, fence: number): Promise<void> {
  const owned = await beginTurn(ports, turnId, fence);
  if (owned === undefined) return;
  ports.reach("turn.started");
  const beat = keepBeating(ports, owned);
  let ending: Ending | undefined;
  try {
    ending = await play(ports, owned, beat);
  } finally {
    await beat.stop();
  }
  if (ending === undefined) return;
  // Nothing of the turn runs any more. Whoever dies after it has settled has no successor that would do this.
  mirrored(ports, ({ endMirror }) => endMirror(owned.agent.name, turnId));
  ports.reach("turn.before-settle");
  const settled = await settleTurn(ports, turnId, fence, ending);
  // Another supervisor has taken the turn. The output is its own now.
  if (settled === undefined) return;
  ports.reach("turn.after-settle");
  await compressOutput(ports, owned.turn);
}

/** An output that a killed supervisor left as it was is compressed by the engine. */
async function compressOutput({ files, report }: SupervisorPorts, { logDir }: Turn): Promise<void> {
  try {
    if (logDir !== null) await files.compress(logDir);
  } catch (error) {
    report(error);
  }
}

/** Everything between the taking of a turn and its settling. Undefined when it was taken from us on the way. */
async function play(ports: SupervisorPorts, owned: OwnedTurn, beat: LeaseBeat): Promise<Ending | undefined> {
  const { turn, agent } = owned;
  const runtime = ports.runtime(agent);
  if (runtime === undefined) return unstarted(`there is no runtime called ${agent.runtime}`, "program");
  const driver = runtime.drivers.find(({ id }) => id === agent.driver);
  if (driver === undefined) return unstarted(`${agent.runtime} has no driver called ${agent.driver}`, "program");
  const how = { runtime, driver };
  const process = owned.started === undefined ? await launched(ports, owned, how) : adopted(ports, owned.started);
  if ("unstarted" in process) return process.unstarted;
  ports.reach("turn.after-input");
  const stored = { lines: turn.outputLines, toolStarts: await storedToolStarts(ports, turn) };
  const file = ports.files.outputOf(turn.logDir ?? "");
  const read = driver.reader(await spentBefore(ports, turn), ports.files.openingOf(turn.logDir ?? ""));
  const log = new OutputLog(file, read, stored, () => ports.clock.now());
  const exchange = exchangeWith(ports, owned, driver);
  const { stays = false, abilities } = driver;
  const watch = { log, process, beat, exchange, stays, keepsCost: abilities.costLimit };
  const followed = await followOutput(ports, owned, watch);
  if (followed.kind === "fenced-out") return undefined;
  const exit = await process.exit();
  const kept = await Promise.race([tidyUp(ports, owned, process), beat.lost]);
  if (kept === "fenced-out") return undefined;
  await redactFiles(ports, turn);
  // Some programs report the end of the turn and then do not leave. That report stands, whatever they print while they
  // are ended: the turn must not be paid for twice.
  const said = followed.kind === "exited" ? log.ended : followed.said;
  const hopeless = followed.kind === "exited" ? log.hopeless : followed.hopeless;
  const silent = followed.kind === "stalled" && said === undefined;
  const errorOutput = ports.files.errorTail(turn.logDir ?? "");
  const seen = { runtime, log, said, hopeless, exit, errorOutput, isDiskFull: process.endedOnFullDisk() };
  const end: TurnEnd = silent ? { kind: "stalled", said: reasonWith("", errorOutput, log.words) } : endOf(seen);
  const { text: resultText = null } = said ?? log.ended ?? {};
  const left = kept?.exists === false ? await leftOf(ports, agent) : undefined;
  const facts = { exit, resultText, errorOutput, costUsd: log.costUsd };
  return { end, ...facts, advice: runtime.advice, worktree: kept, kept: left };
}

/**
 * Before anything is read of them to be stored: the end of a text may be the second half of a secret. A turn settles also
 * where that fails, on a full disk for example; the log says so.
 */
async function redactFiles({ files, report }: SupervisorPorts, { logDir }: Turn): Promise<void> {
  try {
    await files.redact(logDir ?? "");
  } catch (error) {
    report(error);
  }
}

/** What our records have of the turn's conversation from before it. */
async function spentBefore({ store }: SupervisorPorts, turn: Turn): Promise<TokenCounts> {
  const { id: except, agentName, resumeRequested: providerSessionId } = turn;
  if (providerSessionId === null) return noTokens;
  return store.read((tx) => tx.usage.inConversation({ agentName, providerSessionId, except }));
}

/** When an earlier supervisor stored the start of each tool's call, by the id of the call. */
async function storedToolStarts({ store }: SupervisorPorts, turn: Turn): Promise<ReadonlyMap<string, number>> {
  if (turn.outputLines === 0) return new Map();
  const starts = await store.read((tx) => tx.events.ofTurn(turn.id, "tool_start"));
  return new Map(starts.map(({ data, createdAt }) => [String(payloadFields(data).id), createdAt]));
}

const unstarted = (reason: string, cause: FailureCause = "unknown", kept?: string): Ending => ({
  end: { kind: "failed", cause, reason },
  exit: unknownExit,
  resultText: null,
  worktree: undefined,
  kept,
});

/** Ends every process that the turn started, so that neither the next turn nor another process works beside them. */
async function tidyUp(
  ports: SupervisorPorts,
  { turn, agent }: OwnedTurn,
  { identity }: WatchedProcess,
): Promise<WorktreeFacts | undefined> {
  const knownBy = { turnId: turn.id, mark: markFor(ports.ids, agent, turn.id) };
  await ports.processes.endTree(identity, ports.limits.graceMs, knownBy);
  return conserve(ports, agent, "turn");
}

/** The agent's process as its supervisor sees it: a child of its own, or a process that an earlier supervisor left. */
export interface WatchedProcess {
  readonly identity: ProcessIdentity;
  isGone(): boolean;
  exit(): Promise<ProcessExit>;
  /** Was the disk full when the process ended? The record of the end waits for room, so a later look would not tell. */
  endedOnFullDisk(): boolean;
}

const unknownExit: ProcessExit = { code: null, signal: null };

async function launched(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  how: { readonly runtime: Runtime; readonly driver: Driver },
): Promise<WatchedProcess | { readonly unstarted: Ending }> {
  const letters = await tellFacts(ports, owned.letters);
  const launch = await launchAgent(ports, { ...owned, letters }, how);
  // Taken from us, or asked to stop before it began: settling tells the two apart.
  if (launch.kind === "taken") return { unstarted: unstarted("it was stopped before it began") };
  if (launch.kind === "failed") {
    return { unstarted: unstarted(`its process could not be started: ${launch.problem}`) };
  }
  if (launch.kind === "unguarded") return { unstarted: unstarted(failureText("guard", launch.problem), "guard") };
  if (launch.kind === "unconfined") return { unstarted: unstarted(failureText("sandbox", launch.problem), "sandbox") };
  if (launch.kind === "homeless") {
    return { unstarted: unstarted(launch.problem, "worktree", await leftOf(ports, owned.agent)) };
  }
  const { child } = launch;
  let gone = false;
  let full = false;
  void child.exited.then(() => {
    gone = true;
    full = ports.isDiskFull();
  });
  return { identity: child.identity, isGone: () => gone, exit: () => child.exited, endedOnFullDisk: () => full };
}

function adopted(ports: SupervisorPorts, identity: ProcessIdentity): WatchedProcess {
  return {
    identity,
    isGone: () => ports.processes.check(identity) === "gone",
    // Only a parent learns how its child ended; what the output says must do.
    exit: async () => unknownExit,
    endedOnFullDisk: ports.isDiskFull,
  };
}

interface Seen {
  readonly runtime: Runtime;
  readonly log: OutputLog;
  readonly said: TurnEnded | undefined;
  readonly hopeless: Hopeless | undefined;
  readonly exit: ProcessExit;
  readonly errorOutput: string;
  readonly isDiskFull: boolean;
}

/** The runtime's own report decides. Without a report, a process that is gone has crashed, even with exit code 0. */
function endOf({ runtime, log, said, hopeless, exit, errorOutput, isDiskFull }: Seen): TurnEnd {
  // Programs seldom say that it was the disk.
  const disk = isDiskFull ? "the disk is full: " : "";
  if (said?.failure === null) return { kind: "clean" };
  if (said !== undefined) {
    const own = failureText(said.failure, (said.text ?? "").trim());
    // A cause that is not known is all the more to be explained.
    const reason = said.failure === "unknown" ? reasonWith(`${disk}${own}`, errorOutput, log.words) : own;
    return { kind: "failed", cause: said.failure, reason, resetAt: said.resetAt };
  }
  if (hopeless !== undefined) {
    const { failure: cause, text } = hopeless;
    return { kind: "failed", cause, reason: failureText(cause, text) };
  }
  const how =
    exit.signal !== null ? `was killed by ${exit.signal}` : exit.code !== null ? `exited with ${exit.code}` : "is gone";
  const reason = reasonWith(`${disk}its process ${how} without a result`, errorOutput, log.words);
  const refusedToBegin = log.saidNothing && exit.code !== null && exit.code !== 0;
  const cause = refusedToBegin ? complaintOf(runtime, exit.code, `${errorOutput}\n${log.words}`) : "unknown";
  return { kind: "failed", cause, reason: failureText(cause, reason) };
}

/** Where the shell's gate could not start the program, it leaves with one of these. */
const notStarted: readonly (number | null)[] = [126, 127];

/** Why a program left before it began, as far as that would be the same the next time. */
function complaintOf({ complaints }: Runtime, code: number | null, written: string): FailureCause {
  const known = complaints.find(({ says }) => written.includes(says));
  if (known !== undefined) return known.cause;
  return notStarted.includes(code) ? "program" : "unknown";
}

type Ports = Pick<SupervisorPorts, "store" | "worktrees">;

/**
 * Adds to each bare report the facts about its sender's work at this moment. If a reader is faster than the end of the
 * sender's turn, a look into the worktree gives the facts.
 */
async function tellFacts(ports: Ports, letters: readonly Letter[]): Promise<readonly Letter[]> {
  const told: Letter[] = [];
  for (const letter of letters) {
    const bare = isUnverified(letter.message);
    told.push(bare ? { ...letter, unverified: workLine(await lookBehind(ports, letter)) } : letter);
  }
  return told;
}

async function lookBehind(ports: Ports, { message }: Letter): Promise<WorkBehind> {
  const reporter = await ports.store.read((tx) => reporterOf(tx, message));
  return reporter.work.kind === "unknown" ? look(ports, reporter) : reporter.work;
}

/** What cannot be read stays unknown: a report is delivered all the same. */
async function look({ worktrees }: Ports, { agent, work }: Reporter): Promise<WorkBehind> {
  const worktree = agent === undefined ? undefined : worktreeOf(agent);
  if (worktree === undefined) return work;
  try {
    const { exists, head, ahead, dirty } = await worktrees.inspect(worktree);
    if (!exists) return { kind: "unknown", why: "its worktree is gone" };
    return { kind: "seen", when: "turn-running", facts: { head, base: worktree.baseCommit, ahead, dirty } };
  } catch {
    return { kind: "unknown", why: "its worktree could not be read" };
  }
}
