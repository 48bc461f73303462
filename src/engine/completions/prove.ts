import { environmentOf, type Missing, type StoredCheck } from "../../domain/completion/check.ts";
import type { Gate, GateResult } from "../../domain/gate/gate.ts";
import { type Judged, verdictOf } from "../../domain/gate/verdict.ts";
import { steeringGaps } from "../../domain/merge/steering.ts";
import { environmentsOf } from "../../usecases/gates/environments.ts";
import { type GateFailure, type GateProgress, type GatesRun, runGates } from "../../usecases/gates/run-gates.ts";
import { targetOf } from "../../usecases/merge/landing/landing-target.ts";
import { gatePorts, openChecks } from "../merge/checks.ts";
import { judgeTip } from "../merge/judge-tip.ts";
import { branchRef, keepTerms, mergeContext } from "../merge/ports.ts";
import { touchedBy } from "../merge/steering.ts";
import type { CheckTools, CompletionPorts } from "./ports.ts";

export interface ToProve {
  readonly check: StoredCheck;
  readonly commit: string;
  readonly baseCommit: string | null;
  readonly gates: readonly Gate[];
  readonly useCache: boolean;
  /** Run all gates, also after one has failed. */
  readonly askAll?: boolean;
}

/** What the gates said about one commit. */
export interface Proved extends Judged {
  readonly tree: string;
  readonly results: readonly GateResult[];
  /** Why the gates do not prove the work; undefined when every required gate passed, or there is none. */
  readonly failure: Missing | undefined;
}

/** The same, with every gate that did not pass; more than one only with `askAll`. */
interface ProvedAll extends Proved {
  readonly failures: readonly Missing[];
}

/** Lines of output that travel with a failure. */
const tailLines = 60;

/**
 * Runs the gates on exactly this commit, in the pool and not where the agent works. What passed on the same tree
 * counts; what failed there before the check was asked for again is run once more.
 */
export async function prove(ports: CompletionPorts, tools: CheckTools, request: ToProve): Promise<ProvedAll> {
  const { commit, check, gates } = request;
  const tree = await ports.merging.treeOf(commit);
  const environments = await environmentsFor(ports, check);
  const landed = await targetTip(ports, check);
  const changedFiles = await changedBy(ports, request, landed);
  const run = (how: { readonly rerunFailed: boolean; readonly name: string }): Promise<GatesRun> =>
    tools.slots.use((slot) =>
      runGates(gatePorts(ports), {
        commit,
        tree,
        gates,
        slot,
        baseCommit: request.baseCommit,
        changedFiles,
        environments,
        logDir: `${ports.mergeLogDir(check.id)}/${check.attempts}-${how.name}`,
        ...keepTerms(ports, landed),
        useCache: request.useCache,
        rerunFailed: how.rerunFailed,
        askAll: request.askAll ?? false,
        signal: tools.stop,
        onProgress: (progress) => tell(ports, check, gates, progress),
      }),
    );
  const first = await run({ rerunFailed: false, name: "gates" });
  const isOld = first.failures.some(({ result }) => result.createdAt < check.createdAt);
  const answer = isOld ? await run({ rerunFailed: true, name: "again" }) : first;
  const failures = answer.failures.map(missingGate);
  return {
    tree,
    results: answer.results,
    failure: failures[0],
    failures,
    ...verdictOf({ gates, results: answer.results, cache: ports.rules.merge.cache }),
  };
}

/** Proves the work by the rules of landing. The receipt also names changes of those rules. */
export async function proveForLanding(ports: CompletionPorts, tools: CheckTools, request: ToProve): Promise<Proved> {
  const landed = await targetTip(ports, request.check);
  const proved = await judged(ports, tools, request, landed);
  const tip = landed ?? request.baseCommit;
  const touched = tip === null ? [] : await touchedBy(ports, { tip, head: request.commit });
  if (touched.length === 0) return proved;
  const verdict = proved.verdict === "verified" ? "verified_with_gaps" : proved.verdict;
  return { ...proved, verdict, gaps: [...proved.gaps, ...steeringGaps(touched)] };
}

/**
 * A gate that fails on the base commit too is no fault of the work. So the failed gate runs on the base. As a rule it
 * passes there, and the failure stands.
 */
async function judged(
  ports: CompletionPorts,
  tools: CheckTools,
  request: ToProve,
  landed: string | null,
): Promise<Proved> {
  const proved = await prove(ports, tools, request);
  const { commit, baseCommit: base, check } = request;
  const gate = proved.failure?.gate;
  if (proved.failure === undefined || gate === undefined || base === null) return proved;
  const terms = {
    ...tools,
    keep: keepTerms(ports, landed),
    work: [{ agentName: check.agentName }, { agentName: check.requestedBy }],
    logDir: `${ports.mergeLogDir(check.id)}/${check.attempts}-landing`,
  };
  const baseTree = await ports.merging.treeOf(base);
  const before = await openChecks(ports, terms).check(base, baseTree, { purpose: "baseline", base, gates: [gate] });
  if (before.passed) return proved;
  const { fault, verdict, gaps, results } = await judgeTip(ports, tools, { commit, base, landed, ...terms });
  if (fault === undefined) return { ...proved, verdict, gaps, results, failure: undefined };
  const { message, logPath, logTail } = fault.detail;
  const more = {
    gate: fault.gates[0] ?? gate,
    ...(logPath === undefined ? {} : { logPath }),
    ...(logTail === undefined ? {} : { logTail }),
  };
  if (!fault.onBase) return { ...proved, results, failure: { ...proved.failure, message, ...more } };
  const why = `${message}, as it does on ${base.slice(0, 12)}, where this work began; merge.baselineFailing does not let it land`;
  return { ...proved, results, failure: { ...proved.failure, message: why, fix: blockedFix, ...more } };
}

const blockedFix = "mend it here as well, or tell whoever gave you the task that it was broken before";

/** Where the branch that the work is meant for stands now. */
async function targetTip(ports: CompletionPorts, { agentId }: StoredCheck): Promise<string | null> {
  const target = await ports.store.read(async (tx) => {
    const agent = agentId === null ? undefined : await tx.agents.get(agentId);
    return targetOf(tx, mergeContext(ports), agent?.runId ?? null);
  });
  return (await ports.merging.commitOf(branchRef(target))) ?? null;
}

/** What a person asked for runs as where it was typed; all else as the agent whose work it is, or who asked, runs. */
async function environmentsFor({ store }: CompletionPorts, check: StoredCheck): Promise<readonly string[]> {
  const typed = environmentOf(check);
  const work = [{ agentName: check.agentName }, { agentName: check.requestedBy }];
  const others = await store.read((tx) => environmentsOf(tx, work));
  return typed === undefined ? others : [typed, ...others];
}

/** Also the changes it would make on the landing branch: it may remove work that has landed since it began. */
async function changedBy(
  { merging }: CompletionPorts,
  { baseCommit, commit, gates }: ToProve,
  landed: string | null,
): Promise<readonly string[] | undefined> {
  if (baseCommit === null || gates.every(({ paths }) => paths.length === 0)) return undefined;
  const own = await merging.changedFiles(baseCommit, commit);
  if (landed === null || landed === baseCommit) return own;
  return [...new Set([...own, ...(await merging.changedFiles(landed, commit))])];
}

function missingGate(failure: GateFailure): Missing {
  const { gate, status, exitCode, logPath } = failure.result;
  const how = status === "timed_out" ? "took too long" : exitCode === null ? "could not be run" : `exited ${exitCode}`;
  const logTail = failure.tail?.trimEnd().split("\n").slice(-tailLines).join("\n");
  return {
    kind: "gate",
    message: `the gate ${gate} ${how}`,
    fix: "mend what it found, commit, and ask again",
    gate,
    logPath,
    ...(logTail === undefined ? {} : { logTail }),
  };
}

/** Told in the background: a waiting command sees it a moment later, and nothing depends on it. */
function tell(
  { store, clock, report }: CompletionPorts,
  { id }: StoredCheck,
  gates: readonly Gate[],
  it: GateProgress,
) {
  if (it.kind !== "started") return;
  const place = gates.findIndex(({ name }) => name === it.gate) + 1;
  const progress = place === 0 ? `running ${it.gate}` : `running gate ${place} of ${gates.length}: ${it.gate}`;
  const change = { progress, updatedAt: clock.now() };
  store.transaction((tx) => tx.checks.change(id, ["running"], change)).catch(report);
}
