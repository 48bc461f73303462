import { type Gate, type GateResult, gateHash, setupGate } from "../../domain/gate/gate.ts";
import { type Judged, verdictOf } from "../../domain/gate/verdict.ts";
import type { CauseDetail } from "../../domain/merge/entry.ts";
import { gateMark, type ProcessIdentity } from "../../domain/process/process.ts";
import type { CommandRun } from "../../ports/gate-runner.ts";
import type { KeepTerms } from "../../ports/merge-git.ts";
import { environmentsOf, type GatedWork } from "../../usecases/gates/environments.ts";
import type { GatePorts } from "../../usecases/gates/run-gates.ts";
import { type GateFailure, type GatesRun, runGates } from "../../usecases/gates/run-gates.ts";
import { keepTerms, type MergePorts } from "./ports.ts";
import type { Slots } from "./slots.ts";
import type { CheckAnswer, CheckRequest } from "./train/steps.ts";

/** The gates as a train asks them, and their results for each tree. */
export interface Checks {
  check(commit: string, tree: string, request: CheckRequest): Promise<CheckAnswer>;
  /** The verdict about a tree, with the ids of the results that prove it. */
  verdictOf(tree: string): Judged & { readonly results: readonly string[] };
  /** Takes over what the gates said about a tree before this, where nothing was asked about it now. */
  recall(tree: string): Promise<void>;
  on(tree: string): readonly GateResult[];
  /** Ids of all results. */
  all(): readonly string[];
}

/** Lines of a gate's output that travel with a failure. */
const tailLines = 200;

export interface CheckTerms {
  readonly slots: Slots;
  readonly logDir: string;
  readonly stop: AbortSignal;
  /** The work under check: its gates run with the rights of its authors. */
  readonly work: readonly GatedWork[];
  /** Which directories checkouts keep besides their files; without it, as the project is configured. */
  readonly keep?: KeepTerms;
}

export function openChecks(ports: MergePorts, { slots, logDir, stop, work, keep }: CheckTerms): Checks {
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
      const { gates, whateverChanged, anew } = asked(project.qualityGates, commit, request);
      if (gates.length === 0) return { passed: true, failedGates: [], ran: [], detail: { message: "no gate to run" } };
      const changedFiles =
        whateverChanged || gates.every(({ paths }) => paths.length === 0)
          ? undefined
          : await ports.merging.changedFiles(request.base, commit);
      const environments = await ports.store.read((tx) => environmentsOf(tx, work));
      const run = await slots.use((slot) =>
        runGates(gatePorts(ports), {
          commit,
          tree,
          gates,
          slot,
          baseCommit: request.base,
          changedFiles,
          environments,
          logDir: `${logDir}/${++runs}-${request.purpose}`,
          ...(keep ?? keepTerms(ports, request.base)),
          useCache: !anew,
          // A failure may be excused by the base or turn out to be flaky; then the others speak for the tree.
          askAll: true,
          signal: stop,
          ...(request.rerunFailed === undefined ? {} : { rerunFailed: request.rerunFailed }),
        }),
      );
      for (const result of run.results) on(tree).set(result.gate, result);
      return answerOf(run);
    },
    verdictOf: (tree) => {
      const known = [...on(tree).values()];
      const judged = verdictOf({ gates: project.qualityGates, results: known, cache: merge.cache });
      return { ...judged, results: known.map(({ id }) => id) };
    },
    recall: async (tree) => {
      const terms = { ...(keep ?? merge), form: await ports.merging.formOfFiles() };
      for (const gate of project.qualityGates) {
        if (on(tree).has(gate.name)) continue;
        const hash = gateHash(gate, terms, ports.ids.digest);
        const [latest] = await ports.store.read((tx) => tx.gates.on(tree, hash));
        if (latest !== undefined) on(tree).set(gate.name, { ...latest, gate: gate.name });
      }
    },
    on: (tree) => [...on(tree).values()],
    all: () => [...results.values()].flatMap((known) => [...known.values()]).map(({ id }) => id),
  };
}

interface Asked {
  readonly gates: readonly Gate[];
  /** Those for other files, too. */
  readonly whateverChanged: boolean;
  /** No earlier result counts. */
  readonly anew: boolean;
}

/**
 * Setup is no gate that could be asked by itself: it is part of asking any of them. On the base the question is whether
 * it works there now, which no earlier result of a gate tells.
 */
function asked(all: readonly Gate[], commit: string, { gates: named, base }: CheckRequest): Asked {
  if (named === undefined) return { gates: all, whateverChanged: false, anew: false };
  const isBase = commit === base;
  if (named.includes(setupGate)) return { gates: all, whateverChanged: isBase, anew: isBase };
  return { gates: all.filter(({ name }) => named.includes(name)), whateverChanged: true, anew: false };
}

function answerOf({ results, passed, failures }: GatesRun): CheckAnswer {
  const details = new Map(failures.map((failure) => [failure.result.gate, detailOf(failure)]));
  const [detail = { message: "the gates passed" }] = details.values();
  return {
    passed,
    flaky: results.some((result) => result.flaky),
    failedGates: [...details.keys()],
    ran: results.map(({ gate }) => gate),
    detail,
    details,
  };
}

function detailOf({ result, tail }: GateFailure): CauseDetail {
  const { gate, status, exitCode, logPath } = result;
  const how = status === "timed_out" ? "took too long" : exitCode === null ? status : `exited ${exitCode}`;
  const logTail = tail?.split("\n").slice(-tailLines).join("\n");
  return { message: `the gate ${gate} ${how}`, gate, logPath, ...(logTail === undefined ? {} : { logTail }) };
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
    newRun: () => runOf(ports, ids.next("process")),
    recordProcess: (identity, run) => recordGate(ports, identity, run),
  };
}

/** A run of a command that is stored under this id. The id alone tells which processes and files it left. */
export const runOf = ({ ids }: Pick<MergePorts, "ids">, id: string): CommandRun => ({
  id,
  mark: gateMark(ids.digest(id)),
});

/** Stores a gate before it runs, so that its processes are known as agents' code and its remains can be found. */
async function recordGate(
  { store, clock }: MergePorts,
  identity: ProcessIdentity,
  { id }: CommandRun,
): Promise<() => Promise<void>> {
  const none = { agentId: null, turnId: null, endedAt: null, endReason: null };
  await store.transaction((tx) =>
    tx.processes.insert({ id, role: "gate", ...identity, ...none, startedAt: clock.now() }),
  );
  return () => store.transaction((tx) => tx.processes.end(id, "ended", clock.now()));
}
