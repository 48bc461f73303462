import { type Gate, type GateResult, setupGate } from "../../domain/gate/gate.ts";
import { gateHash } from "../../domain/gate/gate-hash.ts";
import type { KeepTerms, PoolCheckout } from "../../ports/merge-git.ts";
import type { GatePorts } from "./ports.ts";
import type { RunGates } from "./run-gates.ts";

/** What a run of a command proved, and how its output ended. */
export interface Proof {
  readonly result: GateResult;
  readonly tail: string;
}

/** The files of one commit, ready for gates. */
export interface OpenCheckout {
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
export async function openCheckout(ports: GatePorts, request: RunGates): Promise<OpenCheckout> {
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
