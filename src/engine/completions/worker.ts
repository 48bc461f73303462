import { hasEnded } from "../../domain/agent/agent.ts";
import type { Missing } from "../../domain/completion/check.ts";
import { environmentOf, isOpenCheck, type StoredCheck, type TrialGate } from "../../domain/completion/check.ts";
import { lastingProblem } from "../../domain/failure.ts";
import { defaultTimeoutMs, type Gate, type GateResult, type Receipt } from "../../domain/gate/gate.ts";
import type { Settings } from "../../ports/settings.ts";
import { Rollback, type Tx } from "../../ports/store.ts";
import { lacking, tellMissing } from "../../usecases/completions/accept.ts";
import { record } from "../../usecases/events/record.ts";
import { showUnread } from "../../usecases/mail/before-finish.ts";
import { worktreeOf } from "../../usecases/worktrees/owners.ts";
import { mergeContext } from "../merge/ports.ts";
import { SingleFlight } from "../single-flight.ts";
import { complete } from "./complete.ts";
import { type CheckTools, type CompletionPorts, requeue } from "./ports.ts";
import { prove } from "./prove.ts";

/** How often an engine may die over a check before the check is taken for the reason. */
const mostAttempts = 5;

/**
 * Answers stored checks, each as soon as it can: a slow gate of one keeps no other from being refused at once. A check
 * that is being answered says so in the database, so the next engine takes up what this one leaves behind.
 */
export class CompletionWorker {
  readonly #ports: CompletionPorts;
  readonly #tools: CheckTools;
  readonly #answering = new Set<Promise<void>>();
  readonly #taking: SingleFlight;
  readonly #wake: () => void;
  #recovered = false;

  /** `wake` is called when a check was answered. */
  constructor(ports: CompletionPorts, tools: CheckTools, wake: () => void) {
    this.#ports = ports;
    this.#tools = tools;
    this.#wake = wake;
    this.#taking = new SingleFlight(() => this.#take(), { report: ports.report, wake });
  }

  look(): void {
    this.#taking.ask();
  }

  /** Resolves when no check is being answered. */
  async settled(): Promise<void> {
    await this.#taking.settled();
    await Promise.all(this.#answering);
  }

  /** Begins to answer waiting checks. */
  async #take(): Promise<false> {
    if (this.#tools.stop.aborted) return false;
    if (!this.#recovered) await this.#takeBack();
    this.#recovered = true;
    const claimed = await this.#claim();
    if (claimed.length > 0) this.#ports.reach("done.after-claim");
    for (const check of claimed) {
      const answering = this.#answer(check).finally(() => {
        this.#answering.delete(answering);
        this.#wake();
      });
      this.#answering.add(answering);
    }
    return false;
  }

  /** What an engine that is no more was answering is asked anew. */
  async #takeBack(): Promise<void> {
    const { store, clock } = this.#ports;
    await store.transaction(async (tx) => {
      for (const check of await tx.checks.running()) {
        if (check.attempts < mostAttempts) await requeue(tx, check, clock.now());
        else {
          const message = `the engine died ${check.attempts} times over it`;
          const problem: Missing[] = [{ kind: "engine", message, fix: "see its log: ov engine status" }];
          await tx.checks.change(check.id, ["running"], { status: "failed", problem, updatedAt: clock.now() });
        }
      }
    });
  }

  async #claim(): Promise<readonly StoredCheck[]> {
    const { store, clock } = this.#ports;
    const waiting = await store.read((tx) => tx.checks.queued());
    if (waiting.length === 0) return [];
    return store.transaction(async (tx) => {
      const claimed: StoredCheck[] = [];
      for (const check of await tx.checks.queued()) {
        const change = { status: "running", attempts: check.attempts + 1, updatedAt: clock.now() } as const;
        if (await tx.checks.change(check.id, ["queued"], change)) claimed.push({ ...check, ...change });
      }
      return claimed;
    });
  }

  /** The one place where the failure of a check ends. */
  async #answer(check: StoredCheck): Promise<void> {
    try {
      await answers[check.kind](this.#ports, this.#tools, check);
    } catch (thrown) {
      if (!(thrown instanceof Rollback) && !this.#tools.stop.aborted) this.#ports.report(thrown);
      await this.#refuse(check, problemOf(thrown));
    }
    await forgetTyped(this.#ports, check);
  }

  /**
   * Retries until the refusal is on record: a caller waits for the answer, and no other engine takes up this engine's
   * check.
   */
  async #refuse(check: StoredCheck, problem: readonly Missing[]): Promise<void> {
    const { store, clock, report } = this.#ports;
    for (let tries = 1, pauseMs = firstPauseMs; ; tries++, pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const { aborted } = this.#tools.stop;
      try {
        if (aborted) await store.transaction((tx) => requeue(tx, check, clock.now()));
        else await (tries > mostWholeTries ? refuseBarely : refuse)(this.#ports, check, problem);
        return;
      } catch (error) {
        report(error);
      }
      // The next engine takes up checks that have no answer by then.
      if (aborted) return;
      await pause(pauseMs, this.#tools.stop);
    }
  }
}

/**
 * How often an answer is stored with all its parts. A full or busy store may take it a moment later; parts that the
 * store never takes must not hold the answer back.
 */
const mostWholeTries = 3;
const firstPauseMs = 200;
const longestPauseMs = 10_000;

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener("abort", end);
    if (stop.aborted) end();
  });
}

const answers = { completion: complete, check: runCheck, verify } as const;

/**
 * Deletes the variables that were captured for one question, together with its answer. If the engine dies before,
 * retention deletes them.
 */
async function forgetTyped(
  { store, forgetEnvironment, report }: Pick<CompletionPorts, "store" | "forgetEnvironment" | "report">,
  check: StoredCheck,
): Promise<void> {
  const envFile = environmentOf(check);
  if (envFile === undefined) return;
  try {
    const now = await store.read((tx) => tx.checks.get(check.id));
    if (now === undefined || !isOpenCheck(now)) forgetEnvironment(envFile);
  } catch (error) {
    report(error);
  }
}

/** Why a check was not passed, for its caller: the missing points, or that the engine could not look. */
function problemOf(thrown: unknown): readonly Missing[] {
  if (thrown instanceof Rollback) return thrown.value as readonly Missing[];
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const isLasting = lastingProblem(thrown) !== undefined;
  const fix = isLasting ? "mend that first: it does not pass by itself" : "try again in a moment";
  return [{ kind: isLasting ? "setup" : "engine", message: `the engine could not check it: ${message}`, fix }];
}

/** Answers no, tells an agent that no longer waits for the answer, and puts it on record: all of it, or nothing. */
async function refuse(ports: CompletionPorts, check: StoredCheck, found: readonly Missing[]): Promise<void> {
  const { store, clock } = ports;
  await store.transaction(async (tx) => {
    const now = await tx.checks.get(check.id);
    if (now === undefined || !isOpenCheck(now)) return;
    // Asked in other words meanwhile: those may lack nothing.
    if (JSON.stringify(now.request) !== JSON.stringify(check.request)) return requeue(tx, check, clock.now());
    const problem = await withMail(tx, check, found, clock.now());
    // Unread mail was the only missing point, and the agent has read it meanwhile.
    if (problem.length === 0) return requeue(tx, check, clock.now());
    const change = { status: "failed", problem, progress: null, updatedAt: clock.now() } as const;
    await tx.checks.change(check.id, ["running"], change);
    await tellMissing(tx, mergeContext(ports), check, problem);
    await record(tx, clock.now(), {
      source: "engine",
      agentName: check.agentName,
      agentId: check.agentId,
      type: check.kind === "completion" ? "completion_refused" : "check_failed",
      level: "warn",
      data: {
        checkId: check.id,
        ref: check.refName,
        problem: problem.map(({ kind, message }) => ({ kind, message })),
      },
    });
  });
}

/** Adds the agent's unread mail to a refusal of any kind: each message once, and in full. */
async function withMail(
  tx: Tx,
  check: StoredCheck,
  found: readonly Missing[],
  now: number,
): Promise<readonly Missing[]> {
  const agent = check.kind !== "completion" || check.agentId === null ? undefined : await tx.agents.get(check.agentId);
  if (agent === undefined || hasEnded(agent)) return found;
  const shown = await showUnread(tx, agent, check, now);
  return [...found.filter(({ kind }) => kind !== "unread-mail"), ...(shown === undefined ? [] : [shown])];
}

/**
 * The bare no, where everything that belongs to it could not be stored: a caller attached to the check gets an answer.
 */
async function refuseBarely(
  { store, clock }: Pick<CompletionPorts, "store" | "clock">,
  { id }: StoredCheck,
  problem: readonly Missing[],
): Promise<void> {
  const change = { status: "failed", problem, progress: null, updatedAt: clock.now() } as const;
  await store.transaction((tx) => tx.checks.change(id, ["running"], change));
}

/** Runs what a receipt rests on again, on its commit and without believing earlier results, and compares. */
async function verify(ports: CompletionPorts, tools: CheckTools, check: StoredCheck): Promise<void> {
  if (check.request.kind !== "verify") return;
  const { store, clock, rules } = ports;
  const { receiptId } = check.request;
  const found = await store.read(async (tx) => {
    const receipt = await tx.receipts.get(receiptId);
    return receipt === undefined ? undefined : { receipt, results: await tx.gates.all(receipt.results) };
  });
  if (found === undefined) throw lacking([gone(`the receipt ${receiptId}`)]);
  const { receipt, results: recorded } = found;
  const { headCommit: commit, baseCommit } = receipt;
  await mustBeThere(ports, receipt);
  const gates = recorded.map((result) => gateOf(result, rules));
  const { results } = await prove(ports, tools, { check, commit, baseCommit, gates, useCache: false });
  const problem = differences(recorded, results);
  ports.reach("done.after-check");
  await store.transaction((tx) =>
    tx.checks.change(check.id, ["running"], {
      status: problem.length === 0 ? "done" : "failed",
      commitId: commit,
      verdict: problem.length === 0 ? "reproduced" : "differs",
      receiptId,
      problem,
      progress: null,
      updatedAt: clock.now(),
    }),
  );
}

async function mustBeThere({ merging }: CompletionPorts, { headCommit, tree }: Receipt): Promise<void> {
  if ((await merging.commitOf(headCommit)) === undefined) throw lacking([gone(`the commit ${headCommit}`)]);
  if ((await merging.treeOf(headCommit)) === tree) return;
  const message = `the commit ${headCommit} does not have the tree ${tree} that is on record`;
  throw lacking([{ kind: "differs", message, fix: "the receipt cannot be trusted: run the gates anew: ov gate run" }]);
}

const gone = (what: string): Missing => ({
  kind: "ref",
  message: `${what} is not there any more`,
  fix: "it cannot be run again; run the gates on what there is: ov gate run <ref>",
});

/** The gate as it was. None stops the others: each outcome is compared. */
function gateOf({ gate, command }: GateResult, { project }: Settings): Gate {
  const known = project.qualityGates.find(({ name }) => name === gate);
  return { name: gate, command, timeoutMs: known?.timeoutMs ?? defaultTimeoutMs, required: false, paths: [] };
}

function differences(recorded: readonly GateResult[], results: readonly GateResult[]): readonly Missing[] {
  return recorded.flatMap((before): Missing[] => {
    const now = results.find(({ gate }) => gate === before.gate);
    if (now !== undefined && now.status === before.status && now.exitCode === before.exitCode) return [];
    const { gate } = before;
    const message = `the gate ${gate} is on record as ${outcome(before)}, and was now ${now === undefined ? "not run" : outcome(now)}`;
    const fix = "look at both outputs: ov gate log";
    return [{ kind: "differs", message, fix, gate, ...(now === undefined ? {} : { logPath: now.logPath }) }];
  });
}

const outcome = ({ status, exitCode }: GateResult): string =>
  exitCode === null ? status.replaceAll("_", " ") : `${status.replaceAll("_", " ")} (exit ${exitCode})`;

/** Runs the gates on the named commit and stores what they prove. Throws `lacking` when a gate does not pass. */
async function runCheck(ports: CompletionPorts, tools: CheckTools, check: StoredCheck): Promise<void> {
  const { store, clock, ids, rules } = ports;
  const { commit, baseCommit } = await commitOf(ports, check);
  const trial = check.request.kind === "check" ? check.request.trial : undefined;
  const gates = [...rules.project.qualityGates, ...(trial ?? []).map(triedGate)];
  const terms = { check, commit, baseCommit, gates, useCache: true, askAll: trial !== undefined };
  const { tree, verdict, gaps, results, failures } = await prove(ports, tools, terms);
  const receipt: Receipt = {
    id: ids.next("receipt"),
    kind: "check",
    subject: check.refName,
    baseCommit,
    headCommit: commit,
    tree,
    verdict,
    results: results.map(({ id }) => id),
    gaps,
    createdAt: clock.now(),
  };
  ports.reach("done.after-check");
  await store.transaction(async (tx) => {
    const answered = await tx.checks.change(check.id, ["running"], {
      status: failures.length === 0 ? "done" : "failed",
      commitId: commit,
      verdict,
      receiptId: receipt.id,
      problem: failures,
      progress: null,
      updatedAt: clock.now(),
    });
    if (answered) await tx.receipts.add(receipt);
  });
}

/** The gate with the defaults of the configuration. */
const triedGate = ({ name, command }: TrialGate): Gate => ({
  name,
  command,
  timeoutMs: defaultTimeoutMs,
  required: true,
  paths: [],
});

async function commitOf(
  ports: CompletionPorts,
  { agentId, refName }: StoredCheck,
): Promise<{ readonly commit: string; readonly baseCommit: string | null }> {
  const agent = agentId === null ? undefined : await ports.store.read((tx) => tx.agents.get(agentId));
  const worktree = agent === undefined ? undefined : worktreeOf(agent);
  if (worktree !== undefined && agent?.cleanedAt === null) await ports.worktrees.collect(worktree);
  const commit = await ports.merging.commitOf(refName);
  if (commit !== undefined) return { commit, baseCommit: agent?.baseCommit ?? null };
  const message = `${refName} is no commit of this project`;
  throw lacking([{ kind: "ref", message, fix: "name a branch, a commit or an agent: ov gate run <ref>" }]);
}
