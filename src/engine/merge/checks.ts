import type { GateResult } from "../../domain/gate/gate.ts";
import { type Judged, verdictOf } from "../../domain/gate/verdict.ts";
import type { CheckAnswer, CheckRequest } from "../../domain/merge/train/steps.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { GatePorts } from "../../usecases/gates/ports.ts";
import { runGates } from "../../usecases/gates/run-gates.ts";
import type { MergePorts } from "./ports.ts";
import type { Slots } from "./slots.ts";

/** The gates as a train asks them, and what they have said about each tree. */
export interface Checks {
  check(commit: string, tree: string, request: CheckRequest): Promise<CheckAnswer>;
  /** What is proved about a tree, with the ids of the results that prove it. */
  verdictOf(tree: string): Judged & { readonly results: readonly string[] };
  /** Ids of all results. */
  all(): readonly string[];
}

/** Lines of a gate's output that travel with a failure. */
const tailLines = 200;

export function openChecks(
  ports: MergePorts,
  { slots, logDir, stop }: { readonly slots: Slots; readonly logDir: string; readonly stop?: AbortSignal },
): Checks {
  const { project, merge } = ports.rules;
  const results = new Map<string, Map<string, GateResult>>();
  const on = (tree: string): Map<string, GateResult> => {
    const known = results.get(tree) ?? new Map<string, GateResult>();
    results.set(tree, known);
    return known;
  };
  let runs = 0;
  return {
    check: async (commit, tree, request) => {
      const gates = project.qualityGates.filter(({ name }) => request.gates?.includes(name) ?? true);
      if (gates.length === 0) return { passed: true, failedGates: [], ran: [], detail: { message: "no gate to run" } };
      const changedFiles =
        request.gates !== undefined || gates.every(({ paths }) => paths.length === 0)
          ? undefined
          : await ports.merging.changedFiles(request.base, commit);
      const run = await slots.use((slot) =>
        runGates(gatePorts(ports), {
          commit,
          tree,
          gates,
          slot,
          baseCommit: request.base,
          changedFiles,
          logDir: `${logDir}/${++runs}-${request.purpose}`,
          keepIgnored: merge.keepIgnored,
          setup: merge.setup,
          useCache: true,
          ...(stop === undefined ? {} : { signal: stop }),
          ...(request.rerunFailed === undefined ? {} : { rerunFailed: request.rerunFailed }),
        }),
      );
      for (const result of run.results) on(tree).set(result.gate, result);
      return answerOf(run);
    },
    verdictOf: (tree) => {
      const known = [...on(tree).values()];
      return { ...verdictOf({ gates: project.qualityGates, results: known }), results: known.map(({ id }) => id) };
    },
    all: () => [...results.values()].flatMap((known) => [...known.values()]).map(({ id }) => id),
  };
}

function answerOf({ results, passed, failure }: Awaited<ReturnType<typeof runGates>>): CheckAnswer {
  const ran = results.map(({ gate }) => gate);
  const flaky = results.some((result) => result.flaky);
  if (passed || failure === undefined) {
    return { passed, flaky, failedGates: [], ran, detail: { message: "the gates passed" } };
  }
  const { gate, status, exitCode, logPath } = failure.result;
  const how = status === "timed_out" ? "took too long" : exitCode === null ? status : `exited ${exitCode}`;
  const logTail = failure.tail?.split("\n").slice(-tailLines).join("\n");
  return {
    passed,
    flaky,
    failedGates: [gate],
    ran,
    detail: {
      message: `the gate ${gate} ${how}`,
      gate,
      logPath,
      ...(logTail === undefined ? {} : { logTail }),
    },
  };
}

export function gatePorts(ports: MergePorts): GatePorts {
  const { store, clock, ids, merging, gateRunner, reach, saveChangedFiles } = ports;
  return {
    git: merging,
    runner: gateRunner,
    clock,
    ids,
    reach,
    saveChangedFiles,
    cache: {
      find: async (tree, gateHash) => (await store.read((tx) => tx.gates.on(tree, gateHash)))[0],
      store: (result) => store.transaction((tx) => tx.gates.add(result)),
    },
    recordProcess: (identity) => recordGate(ports, identity),
  };
}

/** On record before it runs: what it starts is known for agents' code, and what it leaves behind can be found. */
async function recordGate({ store, clock, ids }: MergePorts, identity: ProcessIdentity): Promise<() => Promise<void>> {
  const id = ids.next("process");
  const none = { agentId: null, turnId: null, endedAt: null, endReason: null };
  await store.transaction((tx) =>
    tx.processes.insert({ id, role: "gate", ...identity, ...none, startedAt: clock.now() }),
  );
  return () => store.transaction((tx) => tx.processes.end(id, "ended", clock.now()));
}
