import { applies } from "../../domain/gate/applies.ts";
import type { Gate, GateResult } from "../../domain/gate/gate.ts";
import { type CheckoutTerms, gateHash } from "../../domain/gate/gate-hash.ts";
import { type OpenCheckout, openCheckout } from "./checkout.ts";
import type { GatePorts } from "./ports.ts";

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
  /** One that does not pass keeps no other from being asked. */
  readonly askAll?: boolean;
  readonly signal?: AbortSignal;
  onProgress?(progress: GateProgress): void;
}

export type GateProgress =
  | { readonly kind: "started"; readonly gate: string }
  | { readonly kind: "output"; readonly gate: string; readonly text: string }
  | { readonly kind: "finished"; readonly result: GateResult; readonly cached: boolean };

export interface GatesRun {
  /** In the order of the gates; what was left out or not reached has none. A setup that failed is the last. */
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
 * Runs the gates of one tree, one after the other, up to the first required one that does not pass; or all of them,
 * where what fails may be excused and the others must then speak for the tree. Files are only checked out when a result
 * is missing. Every result is stored before the next gate starts, so a repetition goes on
 * where this one was cut off.
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
    if (isRefusal(gate, result)) failures.push({ result, tail });
    if (failures.length > 0 && !askAll) return run();
  }
  return run();
}

/** What could not be run says something about this machine, not about the tree: it is always tried again. */
function counts(earlier: GateResult, { useCache, rerunFailed = false }: RunGates): boolean {
  return useCache && (earlier.status === "passed" || (hasFailed(earlier) && !rerunFailed));
}

const hasFailed = ({ status }: GateResult): boolean => status === "failed" || status === "timed_out";

const isRefusal = ({ required }: Gate, { status }: GateResult): boolean => required && status !== "passed";

/** The number before it keeps names apart that become the same. */
const fileName = (name: string): string => name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60);
