import { type GateResult, gateHash } from "../../domain/gate/gate.ts";
import type { CauseDetail, Verdict } from "../../domain/merge/entry.ts";
import type { GatedWork } from "../../usecases/gates/environments.ts";
import { openChecks } from "./checks.ts";
import { keepTerms, type MergePorts } from "./ports.ts";
import type { Slots } from "./slots.ts";
import { openLedger } from "./train/gate-ledger.ts";
import { judge } from "./train/judge.ts";

export interface TipRequest {
  readonly commit: string;
  /** The commit to compare with: a gate that fails there too is not the tip's fault. */
  readonly base: string;
  /** A landed commit whose dependencies setup installs; without it, the base. */
  readonly landed?: string | null;
  /** Uses no dependencies that were installed or built before. */
  readonly nothingKept?: boolean;
  readonly work: readonly GatedWork[];
  readonly logDir: string;
}

export interface TipTools {
  readonly slots: Slots;
  /** The engine is asked to end: gates are cut short, and the next engine takes it up. */
  readonly stop: AbortSignal;
}

export interface JudgedTip {
  /** Undefined: it may land. */
  readonly fault:
    | { readonly gates: readonly string[]; readonly detail: CauseDetail; readonly onBase: boolean }
    | undefined;
  readonly verdict: Verdict;
  readonly gaps: readonly string[];
  readonly results: readonly GateResult[];
}

/**
 * Judges one commit by the rules of landing: what fails is run once more, a gate that fails on the base as well is a gap
 * and no fault (`merge.baselineFailing`), and where setup does not work nothing is proved.
 */
export async function judgeTip(ports: MergePorts, tools: TipTools, request: TipRequest): Promise<JudgedTip> {
  const { commit, base, logDir, work, nothingKept = false, landed = base } = request;
  const keep = nothingKept ? { ...keepTerms(ports, landed), keepIgnored: [], cache: [] } : keepTerms(ports, landed);
  const checks = openChecks(ports, { ...tools, logDir, work, keep });
  const tree = await ports.merging.treeOf(commit);
  const tip = { entry: { id: 0, branch: commit, dependsOn: [] }, tip: { commit, tree } };
  const judged = await judge(
    openLedger({ check: (at, its, asked) => checks.check(at, its, asked) }),
    ports.rules.merge,
    { commit: base, tree: await ports.merging.treeOf(base) },
    [{ ...tip, tier: "clean-merge", strategy: null }],
  );
  const { verdict, gaps } = checks.verdictOf(tree);
  const evidence = judged.kind === "land" ? judged.evidence.gaps : [];
  return {
    fault: judged.kind === "land" ? undefined : { ...judged, onBase: judged.kind === "blocked" },
    verdict,
    gaps: [...gaps, ...evidence.filter((gap) => !gaps.includes(gap))],
    results: checks.on(tree),
  };
}

/**
 * Before work leaves the landing branch its tip is gated once with nothing kept: what setup or other gates left could
 * hide that a tree does not work by itself. Results that had nothing to rest on count. Answers why it may not leave.
 */
export async function proveWithNothingKept(
  ports: MergePorts,
  tools: TipTools,
  request: Omit<TipRequest, "nothingKept" | "logDir">,
): Promise<string | undefined> {
  if (!(await restsOnKept(ports, request.commit))) return undefined;
  const logDir = ports.mergeLogDir(ports.ids.next("tip"));
  const { fault } = await judgeTip(ports, tools, { ...request, logDir, nothingKept: true });
  if (fault === undefined) return undefined;
  const { detail } = fault;
  const log = detail.logPath === undefined ? "" : `; its output: ${detail.logPath}`;
  return `with nothing kept from earlier gates ${detail.message} on ${request.commit.slice(0, 12)}${log}`;
}

/** Is there a gate without a result on this tree, or with a result that used kept directories? */
async function restsOnKept(ports: MergePorts, commit: string): Promise<boolean> {
  const { store, merging, rules, ids } = ports;
  const tree = await merging.treeOf(commit);
  const terms = { ...rules.merge, form: await merging.formOfFiles() };
  return store.read(async (tx) => {
    for (const gate of rules.project.qualityGates) {
      const [latest] = await tx.gates.on(tree, gateHash(gate, terms, ids.digest));
      // A gate for certain files may have been left out; one for all that has no result is newer than the landing.
      if (latest === undefined ? gate.paths.length === 0 : latest.kept.length > 0) return true;
    }
    return false;
  });
}
