import { type CheckoutTerms, type Gate, type GateResult, gateHash, setupGate } from "../../domain/gate/gate.ts";
import { applies } from "../../domain/gate/verdict.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CommandRun, GateRunner } from "../../ports/gate-runner.ts";
import type { Ids } from "../../ports/ids.ts";
import type { ReachKillPoint } from "../../ports/kill-points.ts";
import type { KeepTerms, MergeGit, PoolCheckout } from "../../ports/merge-git.ts";

/** Results by what decided them. */
interface GateCache {
  /** The latest result for this tree and hash. */
  find(tree: string, gateHash: string): Promise<GateResult | undefined>;
  store(result: GateResult): Promise<void>;
}

/** What running gates needs of the world. */
export interface GatePorts {
  readonly git: Pick<MergeGit, "checkOut" | "keepInstalled" | "formOfFiles">;
  readonly runner: GateRunner;
  readonly cache: GateCache;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "next" | "digest">;
  newRun(): CommandRun;
  /** Stores a process that starts; the returned function stores its end. */
  recordProcess(identity: ProcessIdentity, run: CommandRun): Promise<() => Promise<void>>;
  /** Writes a list of paths, each ended by a NUL. */
  saveChangedFiles(path: string, files: readonly string[]): Promise<void>;
  readonly reach?: ReachKillPoint;
}

export interface RunGates extends CheckoutTerms {
  readonly commit: string;
  readonly tree: string;
  /** Every gate of the project; those that the changed files do not need are left out. */
  readonly gates: readonly Gate[];
  /** The place in the pool, which is the caller's for as long as this takes. */
  readonly slot: number;
  readonly baseCommit: string | null;
  /** The tip of the branch it is meant for, or another commit that has landed; null where that is not known. */
  readonly landed: string | null;
  /** Undefined: not known, so every gate is needed. */
  readonly changedFiles: readonly string[] | undefined;
  /** Files with variables for the commands, most wanted first; see `environmentsOf`. */
  readonly environments: readonly string[];
  /** A directory for the logs of this run alone. */
  readonly logDir: string;
  /** Earlier results on the same tree count. */
  readonly useCache: boolean;
  /** Earlier failures do not count; a gate that then passes is flaky. */
  readonly rerunFailed?: boolean;
  /** Runs the remaining gates, too, after one has failed. */
  readonly askAll?: boolean;
  readonly signal?: AbortSignal;
  onProgress?(progress: GateProgress): void;
}

export type GateProgress =
  | { readonly kind: "started"; readonly gate: string }
  | { readonly kind: "output"; readonly gate: string; readonly text: string }
  | { readonly kind: "finished"; readonly result: GateResult; readonly cached: boolean };

export interface GatesRun {
  /** In the order of the gates. Gates that were left out or not reached have no result. A failed setup is the last. */
  readonly results: readonly GateResult[];
  /** Setup and every required gate that applies have passed. True when there is none. */
  readonly passed: boolean;
  /** What did not pass though it must; the last one stopped the run unless all were asked. */
  readonly failures: readonly GateFailure[];
}

/** The tail is of this run; an earlier result has only its log. */
export interface GateFailure {
  readonly result: GateResult;
  readonly tail: string | undefined;
}

/**
 * Runs the gates of one tree, one after the other, up to the first required gate that does not pass. Where a failure
 * may be excused, it runs all gates, because the others must then speak for the tree. Files are checked out only when a
 * result is missing. Every result is stored before the next gate starts, so a repetition goes on from there.
 */
export async function runGates(ports: GatePorts, request: RunGates): Promise<GatesRun> {
  const { askAll = false } = request;
  const results: GateResult[] = [];
  const failures: GateFailure[] = [];
  const run = (): GatesRun => ({ results, passed: failures.length === 0, failures });
  const terms = { ...request, form: await ports.git.formOfFiles() };
  let checkout: OpenCheckout | undefined;
  for (const [index, gate] of request.gates.entries()) {
    if (!applies(gate, request.changedFiles)) continue;
    request.signal?.throwIfAborted();
    const hash = gateHash(gate, terms, ports.ids.digest);
    const earlier = await ports.cache.find(request.tree, hash);
    if (earlier !== undefined && counts(earlier, request)) {
      const result = { ...earlier, gate: gate.name };
      results.push(result);
      request.onProgress?.({ kind: "finished", result, cached: true });
      if (isRefusal(gate, result)) failures.push({ result, tail: undefined });
      if (failures.length > 0 && !askAll) return run();
      continue;
    }
    checkout ??= await openCheckout(ports, request);
    if (checkout.brokenSetup !== undefined) {
      const { result } = checkout.brokenSetup;
      results.push(result);
      failures.push(checkout.brokenSetup);
      request.onProgress?.({ kind: "finished", result, cached: false });
      return run();
    }
    const logName = `${index + 1}-${fileName(gate.name)}`;
    const hasFailedBefore = earlier !== undefined && (earlier.flaky || hasFailed(earlier));
    const { result, tail } = await checkout.run(gate, { logName, hasFailedBefore });
    results.push(result);
    request.onProgress?.({ kind: "finished", result, cached: false });
    if (isRefusal(gate, result))
      failures.push({ result: neverRan(result) ? { ...result, gate: setupGate } : result, tail });
    if (failures.length > 0 && (!askAll || neverRan(result))) return run();
  }
  return run();
}

/**
 * The command was not started, or left processes that could not be ended. Like a failed setup it proves nothing about
 * any tree. A gate that fails on the base too is excused, this is not.
 */
const neverRan = ({ status, exitCode }: GateResult): boolean => status === "could_not_run" && exitCode === null;

/** What could not be run says something about this machine, not about the tree: it is always tried again. */
function counts(earlier: GateResult, { useCache, rerunFailed = false }: RunGates): boolean {
  return useCache && (earlier.status === "passed" || (hasFailed(earlier) && !rerunFailed));
}

const hasFailed = ({ status }: GateResult): boolean => status === "failed" || status === "timed_out";

const isRefusal = ({ required }: Gate, { status }: GateResult): boolean => required && status !== "passed";

/** The number before it keeps names apart that become the same. */
const fileName = (name: string): string => name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60);

/** What a run of a command proved, and how its output ended. */
interface Proof {
  readonly result: GateResult;
  readonly tail: string;
}

/** The files of one commit, ready for gates. */
interface OpenCheckout {
  /** Dependencies could not be installed: nothing can be checked here. */
  readonly brokenSetup: Proof | undefined;
  /** Runs a gate and stores its result. */
  run(gate: Gate, options: { readonly logName: string; readonly hasFailedBefore: boolean }): Promise<Proof>;
}

/** Installing everything anew takes longer than most gates, and the network has a part in it. */
const setupTimeoutMs = 900_000;

/**
 * Checks a commit out and, where what its setup command installs was not kept, installs it. Setup runs on the files of a
 * landed commit where that has the same dependencies, so that no branch's own scripts decide what others get; only where
 * that does not work, or does not keep everything, it runs on the commit itself.
 */
async function openCheckout(ports: GatePorts, request: RunGates): Promise<OpenCheckout> {
  const { git, reach } = ports;
  const { slot, commit } = request;
  const { keepIgnored, cache, setup, landed } = request;
  const keep: KeepTerms = { keepIgnored, cache, setup, landed, rest: "goes" };
  let checkout = await git.checkOut(slot, commit, keep);
  reach?.("gate.after-checkout");
  const env = await toldOf(ports, request);
  let ran = 0;
  const run: OpenCheckout["run"] = async (gate, { logName, hasFailedBefore }) => {
    // The gate before may have written anything; this one starts from the same files.
    const { form } = ran++ > 0 ? await git.checkOut(slot, commit, { ...keep, rest: "stays" }) : checkout;
    const proof = await runOne(ports, request, { gate, checkout: { ...checkout, form }, env, logName });
    const isFlaky = hasFailedBefore && proof.result.status === "passed";
    return await stored(ports, { ...proof, result: { ...proof.result, flaky: isFlaky } });
  };
  const { installOn } = checkout;
  if (installOn === null) return { run, brokenSetup: undefined };
  if (installOn !== commit) {
    const before = await git.checkOut(slot, installOn, { ...keep, keepIgnored: [] });
    const proof = await install(ports, request, { checkout: before, env, logName: "0-setup-landed" });
    const isKept = proof.result.status === "passed" && (await git.keepInstalled(slot, installOn, keep)).kind === "kept";
    checkout = await git.checkOut(slot, commit, keep);
    if (isKept && checkout.installOn === null) return { run, brokenSetup: undefined };
  }
  const proof = await install(ports, request, { checkout, env, logName: "0-setup" });
  if (proof.result.status !== "passed") {
    return {
      run,
      brokenSetup: await stored(ports, { ...proof, result: { ...proof.result, status: "could_not_run" } }),
    };
  }
  reach?.("gate.after-setup");
  const installed = await git.keepInstalled(slot, commit, keep);
  if (installed.kind === "kept") checkout = { ...(await git.checkOut(slot, commit, keep)), kept: [] };
  return { run, brokenSetup: undefined };
}

const install = (ports: GatePorts, request: RunGates, command: Omit<Command, "gate">): Promise<Proof> => {
  const gate: Gate = {
    name: setupGate,
    command: request.setup ?? "",
    timeoutMs: setupTimeoutMs,
    required: true,
    paths: [],
  };
  return runOne(ports, request, { ...command, gate });
};

interface Command {
  readonly gate: Gate;
  readonly checkout: PoolCheckout;
  readonly env: Readonly<Record<string, string>>;
  readonly logName: string;
}

async function runOne(ports: GatePorts, request: RunGates, command: Command): Promise<Proof> {
  const { gate, checkout, env, logName } = command;
  const { signal, onProgress, tree } = request;
  const logPath = `${request.logDir}/${logName}.log`;
  const commandRun = ports.newRun();
  let noteEnd: (() => Promise<void>) | undefined;
  onProgress?.({ kind: "started", gate: gate.name });
  try {
    const { tail, ...run } = await ports.runner.run({
      run: commandRun,
      gate,
      cwd: checkout.path,
      logPath,
      env,
      environments: request.environments,
      onStart: async (identity) => {
        noteEnd = await ports.recordProcess(identity, commandRun);
      },
      ...(onProgress && { onOutput: (text) => onProgress({ kind: "output", gate: gate.name, text }) }),
      ...(signal && { signal }),
    });
    const result: GateResult = {
      ...run,
      id: ports.ids.next("gate"),
      tree,
      gate: gate.name,
      command: gate.command,
      gateHash: gateHash(gate, { ...request, form: checkout.form }, ports.ids.digest),
      logPath,
      flaky: false,
      kept: [...checkout.kept, ...checkout.cached].toSorted(),
      createdAt: ports.clock.now(),
    };
    return { result, tail: result.status === "passed" ? tail : tail + aboutSubmodules(checkout) };
  } finally {
    await noteEnd?.();
  }
}

/** A gate that failed may have missed their files. */
const aboutSubmodules = ({ unfilled = [] }: PoolCheckout): string =>
  unfilled
    .map(
      ({ path, problem, fix }) =>
        `\nThe submodule ${path} was empty here: ${problem}${fix === null ? "" : `. ${fix}`}\n`,
    )
    .join("");

async function stored({ cache, reach }: GatePorts, proof: Proof): Promise<Proof> {
  reach?.("gate.after-run");
  await cache.store(proof.result);
  return proof;
}

/** What commands are told about the change. */
async function toldOf(ports: GatePorts, request: RunGates): Promise<Record<string, string>> {
  const { baseCommit, changedFiles, commit, logDir } = request;
  const list = `${logDir}/changed-files`;
  if (changedFiles !== undefined) await ports.saveChangedFiles(list, changedFiles);
  return {
    OVERSTORY_MERGE_HEAD: commit,
    ...(baseCommit === null ? {} : { OVERSTORY_MERGE_BASE: baseCommit }),
    ...(changedFiles === undefined ? {} : { OVERSTORY_CHANGED_FILES: list }),
  };
}
