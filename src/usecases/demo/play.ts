import { forbiddenToAgents } from "../../domain/caller/caller.ts";
import type { MergeCause, MergeEntry, ResolutionTier } from "../../domain/merge/entry.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, whole } from "../../domain/schema/schema.ts";
import type { DemoRequest, DemoStage } from "../../ports/demo-stage.ts";
import type { Listener, Stream, World } from "../operation.ts";

/** One agent as the demonstration shows it. */
export interface DemoAgent {
  readonly name: string;
  readonly capability: string;
  readonly parentName: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly generation: number;
  readonly taskId: string | null;
  readonly released: boolean;
}

export interface DemoMerge {
  readonly branch: string;
  readonly status: string;
  readonly tier: ResolutionTier | null;
  readonly strategy: string | null;
  readonly verdict: string | null;
  readonly cause: MergeCause | null;
  readonly gate: string | null;
}

/** How things stand at one moment. */
export interface DemoState {
  readonly agents: readonly DemoAgent[];
  readonly merges: readonly DemoMerge[];
  readonly runStatus: string;
}

/** The result, in numbers and names that a person can check. */
export interface DemoSummary {
  readonly complete: boolean;
  /** The user ended the demo early. */
  readonly interrupted: boolean;
  readonly root: string;
  readonly kept: boolean;
  readonly seed: number;
  readonly agents: number;
  readonly turns: number;
  readonly messages: number;
  readonly landed: readonly string[];
  readonly tasksClosed: number;
  readonly tasksOpen: readonly string[];
  readonly gateRuns: number;
  readonly conflicts: readonly { readonly branch: string; readonly strategy: string }[];
  /** Agents whose program died and that went on. */
  readonly recovered: readonly string[];
  readonly reviewsFailed: number;
  readonly caughtByGates: readonly string[];
  readonly testsGreen: boolean;
  readonly promoted: boolean;
  readonly durationMs: number;
}

/** How often the state is looked at to be shown; nothing in the run depends on it. */
const lookMs = 100;
/** A demonstration that takes this long has failed. */
const limitMs = 180_000;

/** A whole run in a throwaway repository, with scripted agents; each item tells how things stand. */
export const play: Stream<DemoRequest, DemoSummary, DemoState> = {
  kind: "stream",
  request: fields({ agents: whole, seed: whole, keep: flag }),
  place: "caller",
  run: async (world, request, listener) => {
    const began = performance.now();
    // A team that is started inside an agent would be ended with its turn.
    const refused = forbiddenToAgents(world.unknownCaller(), "play the demonstration");
    if (refused !== undefined) return no(refused);
    const stage = await world.demoStage(request);
    let complete = false;
    try {
      stage.begin();
      complete = await watch(world, stage, { ...listener, until: began + limitMs });
      const promoted = complete && stage.promote();
      const testsGreen = promoted && stage.test();
      return ok({
        ...(await summaryOf(stage, request)),
        complete,
        interrupted: !complete && listener.signal.aborted,
        promoted,
        testsGreen,
        durationMs: performance.now() - began,
      });
    } finally {
      await stage.end({ isComplete: complete });
    }
  },
};

/** Until the run is complete. False when it takes too long, or the user has seen enough. */
async function watch(
  { sleep }: World,
  stage: DemoStage,
  { until, signal, onItem }: Listener<DemoState> & { readonly until: number },
): Promise<boolean> {
  while (performance.now() < until && !signal.aborted) {
    const state = await stateOf(stage);
    onItem(state);
    if (state.runStatus === "completed") return true;
    await sleep(lookMs);
  }
  return false;
}

const stateOf = (stage: DemoStage): Promise<DemoState> =>
  stage.look(async (tx) => {
    const newest = new Map((await tx.agents.list({})).map((agent) => [agent.name, agent]));
    const [run] = await tx.runs.list(1);
    return {
      runStatus: run?.status ?? "active",
      agents: [...newest.values()].map((agent) => ({
        name: agent.name,
        capability: agent.capability,
        parentName: agent.parentName,
        state: agent.state,
        outcome: agent.outcome,
        generation: agent.generation,
        taskId: agent.taskId,
        released: agent.releasedAt !== null,
      })),
      merges: (await tx.merges.list({})).map(({ branch, status, tier, strategy, verdict, cause, causeDetail }) => ({
        branch,
        status,
        tier,
        strategy,
        verdict,
        cause,
        gate: causeDetail?.gate ?? null,
      })),
    };
  });

type Counted = Omit<DemoSummary, "complete" | "interrupted" | "promoted" | "testsGreen" | "durationMs">;

const summaryOf = ({ root, look }: DemoStage, { seed, keep }: DemoRequest): Promise<Counted> =>
  look(async (tx) => {
    const merges = await tx.merges.list({});
    const agents = await tx.agents.list({});
    const tasks = await tx.tasks.list({});
    const turns = (await Promise.all(agents.map(({ id }) => tx.turns.listFor(id)))).flat();
    const reviews = await tx.messages.list({ type: "review" });
    const caught = merges.filter(({ cause }) => cause === "gate_failed");
    return {
      root,
      kept: keep,
      seed,
      agents: new Set(agents.map(({ name }) => name)).size,
      turns: turns.filter(({ startedAt }) => startedAt !== null).length,
      messages: (await tx.messages.list({})).length,
      landed: merges.filter(({ status }) => status === "merged").map(({ branch }) => branch),
      tasksClosed: tasks.filter(({ status }) => status === "closed").length,
      tasksOpen: tasks.filter(({ status }) => status !== "closed").map(({ id }) => id),
      gateRuns: (await tx.gates.recent(10_000)).length,
      conflicts: merges.filter(isSettledByRule).map(({ branch, strategy }) => ({ branch, strategy: strategy ?? "" })),
      recovered: [...new Set(turns.filter(({ attempt }) => attempt > 1).map(({ agentName }) => agentName))],
      reviewsFailed: reviews.filter(({ payload }) => /"verdict":"(fail|needs_changes)"/.test(payload ?? "")).length,
      caughtByGates: [...new Set(caught.map(({ branch }) => branch))],
    };
  });

const isSettledByRule = ({ status, tier }: MergeEntry): boolean => status === "merged" && tier === "auto-resolve";
