import { type Gate, type GateResult, setupGate } from "../../domain/gate/gate.ts";
import { gateHash } from "../../domain/gate/gate-hash.ts";
import type { PoolCheckout } from "../../ports/merge-git.ts";
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

/** Checks a commit out and, where no installed dependencies were kept, installs them. */
export async function openCheckout(ports: GatePorts, request: RunGates): Promise<OpenCheckout> {
  const { git, reach } = ports;
  const checkout = await git.checkOut(request.slot, request.commit, request.keepIgnored);
  reach?.("gate.after-checkout");
  const env = await toldOf(ports, request);
  const run: OpenCheckout["run"] = async (gate, { logName, hasFailedBefore }) => {
    const proof = await runOne(ports, request, { gate, checkout, env, logName });
    const isFlaky = hasFailedBefore && proof.result.status === "passed";
    return await stored(ports, { ...proof, result: { ...proof.result, flaky: isFlaky } });
  };
  const { setup } = request;
  if (setup === undefined || setup.trim() === "" || checkout.kept.length > 0) return { run, brokenSetup: undefined };
  const gate: Gate = { name: setupGate, command: setup, timeoutMs: setupTimeoutMs, required: true, paths: [] };
  return { run, brokenSetup: await brokenBy(ports, request, { gate, checkout, env, logName: "0-setup" }) };
}

/** Half-installed dependencies must not be kept for the next run, which could not tell them from whole ones. */
async function brokenBy(ports: GatePorts, request: RunGates, command: Command): Promise<Proof | undefined> {
  const discard = (): Promise<PoolCheckout> => ports.git.checkOut(request.slot, request.commit, []);
  let proof: Proof;
  try {
    proof = await runOne(ports, request, command);
  } catch (error) {
    await discard();
    throw error;
  }
  if (proof.result.status === "passed") return undefined;
  await discard();
  return await stored(ports, { ...proof, result: { ...proof.result, status: "could_not_run" } });
}

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
  let noteEnd: (() => Promise<void>) | undefined;
  onProgress?.({ kind: "started", gate: gate.name });
  try {
    const { tail, ...run } = await ports.runner.run({
      gate,
      cwd: checkout.path,
      logPath,
      env,
      environments: request.environments,
      onStart: async (identity) => {
        noteEnd = await ports.recordProcess(identity);
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
      gateHash: gateHash(gate, request, ports.ids.digest),
      logPath,
      flaky: false,
      kept: checkout.kept,
      createdAt: ports.clock.now(),
    };
    return { result, tail };
  } finally {
    await noteEnd?.();
  }
}

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
