import { rmSync } from "node:fs";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { databaseIn, stateDir } from "../../host/project-place.ts";
import type { Store } from "../../ports/store.ts";
import { openSqlite } from "../../store/sqlite.ts";
import type { DemoFacet, DemoRequest, DemoState, DemoSummary } from "../../surfaces/cli/facets/demo.ts";
import type { Environment } from "../project.ts";
import { demoGate } from "./repository.ts";
import { planOf } from "./scenario.ts";
import { buildStage, type Stage } from "./stage.ts";

/** How often the state is looked at to be shown; nothing in the run depends on it. */
const lookMs = 100;
/** A demonstration that takes this long has failed. */
const limitMs = 180_000;

export const makeDemoFacet = (env: Environment): DemoFacet => ({
  play: (request, onState) => play(request, env, onState),
});

async function play(request: DemoRequest, env: Environment, onState: (state: DemoState) => void): Promise<DemoSummary> {
  const began = performance.now();
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  for (const signal of endings) process.on(signal, interrupt);
  const stage = buildStage(planOf(request), env);
  let store: Store | undefined;
  let complete = false;
  try {
    begin(stage, request);
    store = openSqlite({ path: databaseIn(stateDir(stage.root)), life: "process", readOnly: true });
    complete = await watch(store, onState, { until: began + limitMs, interrupted: interrupted.signal });
    const promoted = complete && stage.run(...ovWords(stage, "merge", "promote"));
    const testsGreen = promoted && stage.run("sh", "-c", demoGate);
    return {
      ...(await summaryOf(store, stage, request)),
      complete,
      interrupted: !complete && interrupted.signal.aborted,
      promoted,
      testsGreen,
      durationMs: performance.now() - began,
    };
  } finally {
    await store?.close();
    // A team that nobody watches any more must not work on in a directory that nobody will look into.
    if (!complete) stage.run(...ovWords(stage, "coordinator", "stop", "--workers", "stop"));
    stage.run(...ovWords(stage, "engine", "stop"));
    if (!request.keep) rmSync(stage.base, { recursive: true, force: true });
    for (const signal of endings) process.off(signal, interrupt);
  }
}

/** Pressed twice, they still wait until the team has ended. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const ovWords = (stage: Stage, ...words: string[]): string[] => [...stage.self, ...words];

/** Everything that follows is the agents' doing. */
function begin(stage: Stage, { agents }: DemoRequest): void {
  stage.ov("init", "--yes");
  stage.ov("config", "set", "runtime.default", "scripted");
  stage.ov("config", "set", "engine.idleExitMs", "500");
  stage.ov("config", "set", "agents.maxConcurrent", String(Math.max(4, agents)));
  const objective = "Make tally useful: averages, the largest entry, thousands, and an export";
  stage.ov("go", objective, "--runtime", "scripted", "--gate", demoGate, "--no-attach", "--yes");
}

/** Until the run is complete. False when it takes too long, or somebody has seen enough. */
async function watch(
  store: Store,
  onState: (state: DemoState) => void,
  { until, interrupted }: { readonly until: number; readonly interrupted: AbortSignal },
): Promise<boolean> {
  while (performance.now() < until && !interrupted.aborted) {
    const state = await stateOf(store);
    onState(state);
    if (state.runStatus === "completed") return true;
    await new Promise((wake) => setTimeout(wake, lookMs));
  }
  return false;
}

const stateOf = (store: Store): Promise<DemoState> =>
  store.read(async (tx) => {
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

const summaryOf = (store: Store, { root }: Stage, { seed, keep }: DemoRequest): Promise<Counted> =>
  store.read(async (tx) => {
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
