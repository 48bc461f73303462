import type { GateResult, GateStatus } from "../../domain/gate/gate.ts";
import type { MergeAttempt } from "../../domain/merge/attempt.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { QueuePause } from "../../domain/merge/queue-pause.ts";
import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { GateLogFile } from "../../ports/gate-logs.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Tx } from "../../ports/store.ts";
import type { Effect } from "../operation.ts";
import { currentRun } from "../runs/read-runs.ts";
import type { UseCase } from "../usecase.ts";
import { purposeOf, targetOf } from "./landing/landing-target.ts";
import { type Unpromoted, unpromotedWork } from "./landing/unpromoted.ts";

/** What lands how and where, apart from the entries themselves. */
export interface MergeState {
  readonly mode: Settings["merge"]["mode"];
  /** Names of the gates, in the order in which they are asked. */
  readonly gates: readonly string[];
  /** Where work of the current run lands, and the branch it is promoted to later; null where it lands there directly. */
  readonly target: string;
  readonly meantFor: string | null;
  /** Null while the queue is not paused. */
  readonly paused: QueuePause | null;
  readonly trains: readonly Train[];
  readonly unpromoted: readonly WaitingPromotion[];
}

/** Entries that are merged one onto the other and checked together, now. */
interface Train {
  readonly id: string;
  readonly target: string;
  readonly baseCommit: string;
  readonly startedAt: number;
  readonly members: readonly Pick<MergeEntry, "id" | "branch" | "agentName" | "status">[];
  /** Where the logs of its gates are. */
  readonly logDir: string | null;
  readonly results: readonly GateResult[];
  /** How often gates run at most when they fail: to find the branch that breaks them, halves are tried. */
  readonly mostRuns: number;
}

interface WaitingPromotion extends Unpromoted {
  /** Why the last try did not work; null when there was none. */
  readonly problem: string | null;
  readonly isUnderWay: boolean;
}

export interface ReadStateRequest {
  readonly runId?: string | undefined;
}

export const readState: UseCase<ReadStateRequest, MergeState> = {
  kind: "read",
  request: fields({}, { runId: text }),
  run: async (tx, context, { runId }) => {
    const { project, merge } = context.settings;
    const target = await targetOf(tx, context, runId ?? (await currentRun(tx, context.caller))?.id ?? null);
    const purpose = await purposeOf(tx, context, target);
    const trains: Train[] = [];
    for (const attempt of await tx.mergeAttempts.unfinished()) trains.push(await trainOf(tx, attempt));
    const unpromoted: WaitingPromotion[] = [];
    for (const work of await unpromotedWork(tx, context)) unpromoted.push(await promotionOf(tx, work));
    return ok({
      mode: merge.mode,
      gates: project.qualityGates.map(({ name }) => name),
      target,
      meantFor: purpose === null || purpose.target === target ? null : purpose.target,
      paused: (await tx.merges.pause()) ?? null,
      trains,
      unpromoted,
    });
  },
};

/** More results than the gates of a train have left since it began. */
const recently = 200;

async function trainOf(tx: Tx, { id, queueIds, baseCommit, startedAt, logDir }: MergeAttempt): Promise<Train> {
  const members: MergeEntry[] = [];
  for (const number of queueIds) {
    const entry = await tx.merges.get(number);
    if (entry !== undefined) members.push(entry);
  }
  const recent = logDir === null ? [] : await tx.gates.recent(recently);
  return {
    id,
    target: members[0]?.targetBranch ?? "",
    baseCommit,
    startedAt,
    members,
    logDir,
    results: recent.filter(({ logPath }) => logPath.startsWith(`${logDir}/`)),
    mostRuns: 2 + Math.ceil(Math.log2(Math.max(1, members.length))),
  };
}

async function promotionOf(tx: Tx, work: Unpromoted): Promise<WaitingPromotion> {
  const tries = await tx.mergeOps.list({ kind: "promote", ref: `refs/heads/${work.target}`, limit: 20 });
  const newest = tries.find(({ request }) => request.landing === work.landing);
  const isUnderWay = newest?.status === "intended";
  return { ...work, problem: newest?.status === "done" ? null : (newest?.problem ?? null), isUnderWay };
}

/** One look of the gates at a tree of a train. */
interface TrainCheck {
  /** Its place and purpose, such as `1-train` or `2-bisect`. */
  readonly name: string;
  readonly purpose: string;
  readonly gates: readonly TrainGate[];
}

interface TrainGate {
  readonly gate: string;
  /** `not_needed`: the result on the same tree is known, or no changed file asks for it. */
  readonly status: GateStatus | "queued" | "running" | "not_needed";
  /** By which its output is read; null where it has none. */
  readonly log: string | null;
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  /** How long it took the last time it passed. */
  readonly expectedMs: number | null;
}

export interface ShownState extends Omit<MergeState, "trains"> {
  readonly trains: readonly (Omit<Train, "results" | "logDir"> & { readonly checks: readonly TrainCheck[] })[];
}

/** The same with what the gates of each train do now, which only their logs tell. */
export const showState: Effect<ReadStateRequest, ShownState> = {
  kind: "effect",
  request: fields({}, { runId: text }),
  place: "engine",
  run: async (world, request) => {
    const found = await world.call("merge.readState", request);
    if (!found.ok) return found;
    const { trains, gates } = found.value;
    const shown: ShownState["trains"][number][] = [];
    for (const { results, logDir, ...train } of trains) {
      const logs = logDir === null ? [] : await (await world.gateLogs()).list(logDir);
      const earlier = await world.call("gate.list", { limit: recently });
      if (!earlier.ok) return earlier;
      const facts = { train: train.id, gates, logs, results, earlier: earlier.value.results };
      shown.push({ ...train, checks: checksOf(facts) });
    }
    return ok({ ...found.value, trains: shown });
  },
};

interface CheckFacts {
  readonly train: string;
  readonly gates: readonly string[];
  readonly logs: readonly GateLogFile[];
  readonly results: readonly GateResult[];
  readonly earlier: readonly GateResult[];
}

function checksOf({ train, gates, logs, results, earlier }: CheckFacts): readonly TrainCheck[] {
  const byCheck = Map.groupBy(logs, ({ name }) => name.split("/")[0] ?? "");
  return [...byCheck].map(([check, own], at) => {
    const isNewest = at === byCheck.size - 1;
    const begun = own.map((log): TrainGate => {
      const result = results.find(({ logPath }) => logPath.endsWith(`/${log.name}.log`));
      const place = /\/(\d+)-/.exec(log.name)?.[1];
      const gate = result?.gate ?? gates[Number(place) - 1] ?? "setup";
      const passed = earlier.find((one) => one.gate === gate && one.status === "passed");
      return {
        gate,
        status: result?.status ?? (isNewest ? "running" : "not_needed"),
        log: `${train}/${log.name}`,
        startedAt: log.startedAt,
        durationMs: result?.durationMs ?? null,
        expectedMs: passed?.durationMs ?? null,
      };
    });
    const last = Math.max(...begun.map(({ gate }) => gates.indexOf(gate)));
    const others = gates
      .filter((gate) => !begun.some((one) => one.gate === gate))
      .map(
        (gate): TrainGate => ({
          gate,
          status: isNewest && gates.indexOf(gate) > last ? "queued" : "not_needed",
          log: null,
          startedAt: null,
          durationMs: null,
          expectedMs: null,
        }),
      );
    const inOrder = [...begun, ...others].toSorted((a, b) => gates.indexOf(a.gate) - gates.indexOf(b.gate));
    return { name: check, purpose: check.replace(/^\d+-/, ""), gates: inOrder };
  });
}
