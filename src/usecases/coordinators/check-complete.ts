import type { Agent } from "../../domain/agent/agent.ts";
import { newestPerName } from "../../domain/agent/agent.ts";
import { asksForShutdown, checkExit, type ExitCheck, type ExitFacts } from "../../domain/coordination/exit-triggers.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import type { Lack, OpenEnd } from "../../domain/run/open-ends.ts";
import { either, fields, flag, list, notSent, oneOf, type SchemaOf, text } from "../../domain/schema/schema.ts";
import { readyTasks } from "../../domain/task/dependency.ts";
import type { TrackerReading } from "../../domain/tracker/tracker.ts";
import {
  externalTrackers,
  resolveTracker,
  type TrackerBackend,
  type TrackerRefusal,
} from "../../domain/tracker/tracker.ts";
import type { Tx } from "../../ports/store.ts";
import type { Trackers } from "../../ports/tracker.ts";
import type { Effect } from "../operation.ts";
import { lookAtLanded } from "../runs/complete-run.ts";
import { lastReviewOf } from "../runs/last-review.ts";
import { openEndsOf } from "../runs/open-ends.ts";
import { runFlagFor } from "../runs/read-runs.ts";
import type { UseCase } from "../usecase.ts";
import { findHead, type HeadQuestion, headCapabilities } from "./find.ts";

export interface CheckRequest extends HeadQuestion {
  /** Overrules the setting of the same name. */
  readonly requireClean?: boolean | undefined;
}

interface TriggersRequest extends CheckRequest {
  /** Gathered before: a program of others must not run inside of our transaction. */
  readonly tracker: TrackerReading;
  /** The tip of the branch where the run lands, which is what a last review has to have read. */
  readonly landed?: string | null | undefined;
  /** Evidence of its checklist that the landed tree lacks. */
  readonly lacks?: readonly Lack[] | undefined;
}

const tracker = oneOf(externalTrackers);
const failed = { command: text, problem: text } as const;
type Kind<K extends TrackerReading["kind"]> = Extract<TrackerReading, { kind: K }>;
type Refused<K extends TrackerRefusal["kind"]> = Extract<TrackerRefusal, { kind: K }>;

const trackerReading: SchemaOf<TrackerReading> = either(
  either(
    fields<Kind<"native">>({ kind: oneOf(["native"]) }),
    fields<Kind<"ready">>({ kind: oneOf(["ready"]), tracker, ids: list(text) }),
  ),
  either(
    fields<Kind<"not-asked">>({ kind: oneOf(["not-asked"]), tracker }),
    fields<Kind<"refused">>({
      kind: oneOf(["refused"]),
      refusal: either(
        fields<Refused<"program-missing">>({ kind: oneOf(["program-missing"]), tracker, program: text }),
        either(
          fields<Refused<"program-failed">>({ kind: oneOf(["program-failed"]), ...failed }),
          fields<Refused<"malformed-output">>({ kind: oneOf(["malformed-output"]), ...failed }),
        ),
      ),
    }),
  ),
);

export interface CheckReply extends ExitCheck {
  readonly agentName: string;
  readonly runId: string;
  /** Everything that keeps the run from ending. Empty: `ov run complete` ends it. */
  readonly open: readonly OpenEnd[];
  /** The triggers are settings of the operator; an agent can do nothing about them. */
  readonly byOperator: boolean;
  /** The flag by which a command names the run; empty where the command takes it by itself. */
  readonly which: string;
}

/** What keeps the run of this one open, and whether it is over by the triggers that are switched on. May start the program of the project's tracker. */
export const checkComplete: Effect<CheckRequest, CheckReply> = {
  kind: "effect",
  request: fields({ capability: oneOf(headCapabilities) }, { name: text, requireClean: flag }),
  place: "engine",
  run: async (world, request) => {
    const { taskTracker, coordinator } = await world.settings();
    const terms = { backend: taskTracker.backend, counts: coordinator.exitTriggers.taskTrackerEmpty };
    const tracker = await readTracker(await world.trackers(), terms);
    const asked = await world.call("coordinator.checkTriggers", { ...request, tracker });
    if (!asked.ok) return asked;
    const listed = await world.call("criterion.list", { runId: asked.value.runId });
    const looked = listed.ok ? await world.lookAhead((git) => lookAtLanded(git, listed.value)) : {};
    return world.call("coordinator.checkTriggers", { ...request, tracker, ...looked });
  },
};

export const checkTriggers: UseCase<TriggersRequest, CheckReply> = {
  kind: "read",
  request: fields(
    { capability: oneOf(headCapabilities), tracker: trackerReading },
    { name: text, requireClean: flag, landed: notSent, lacks: notSent },
  ),
  run: async (tx, context, { requireClean, tracker, landed, lacks, ...question }) => {
    const { caller, settings } = context;
    const found = await findHead(tx, caller, question);
    if (!found.ok) return found;
    const { exitTriggers, requireClean: configured } = settings.coordinator;
    const rules = { triggers: exitTriggers, requireClean: requireClean ?? configured };
    const check = checkExit({ ...(await storedFacts(tx, found.value)), tracker }, rules);
    const { name: agentName, runId } = found.value;
    const run = await tx.runs.get(runId);
    const ends = run === undefined ? [] : await openEndsOf(tx, run, caller.name, lacks);
    const review = run === undefined ? undefined : await lastReviewOf(tx, context, run, landed);
    const open = review?.kind === "no" ? [...ends, review.end] : ends;
    return ok({
      ...check,
      agentName,
      runId,
      open,
      byOperator: caller.kind !== "agent",
      which: await runFlagFor(tx, caller.name, runId),
    });
  },
};

async function storedFacts(tx: Tx, { name, runId }: Agent): Promise<Omit<ExitFacts, "tracker">> {
  const merges = await tx.merges.list({ runId, statuses: openMergeStatuses });
  const tasks = await tx.tasks.list({});
  const ready = readyTasks(tasks, await tx.tasks.dependencies());
  const unclosed = tasks.filter(({ status }) => status !== "closed").length;
  // A request to shut down counts also when it was read long ago.
  const shutdown = (await tx.messages.list({ to: name, runId })).find(asksForShutdown);
  return {
    agents: newestPerName(await tx.agents.list({ runId })),
    openBranches: merges.map(({ branch }) => branch),
    readyTasks: ready.map(({ id }) => id),
    otherTasks: unclosed - ready.length,
    shutdown: shutdown === undefined ? null : { from: shutdown.fromAgent },
  };
}

interface TrackerTerms {
  readonly backend: TrackerBackend;
  /** A trigger depends on the answer. The tracker's program is not started otherwise. */
  readonly counts: boolean;
}

/**
 * What the project's tracker says now, for `coordinator.check`. The caller of that check gathers this before it, in its
 * own process: the program of a tracker never runs inside a transaction, and the engine never starts one, so a run that
 * waits costs nothing.
 */
export async function readTracker(trackers: Trackers, { backend, counts }: TrackerTerms): Promise<TrackerReading> {
  const tracker = resolveTracker(backend, trackers.facts());
  if (tracker === "native") return { kind: "native" };
  if (!counts) return { kind: "not-asked", tracker };
  const ready = await trackers.open(tracker).ready();
  if (!ready.ok) return { kind: "refused", refusal: ready.refusal };
  return { kind: "ready", tracker, ids: ready.value.map(({ id }) => id) };
}
