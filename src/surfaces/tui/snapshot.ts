import type { Event } from "../../domain/event/event.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import type { CostGroup } from "../../usecases/costs/list-costs.ts";
import type { TrackedMessage } from "../../usecases/mail/tracked-message.ts";
import type { QueuedMerge } from "../../usecases/merge/read-merges.ts";
import type { Call, Follow } from "../../usecases/operation.ts";
import type { RunDetail } from "../../usecases/runs/read-runs.ts";
import type { Overview } from "../../usecases/status/overview.ts";

/** What the dashboard asks of the program. Filled by `compose`. */
export interface DashboardApp {
  readonly version: string;
  readonly call: Call;
  readonly follow: Follow;
}

/** The views in the order of their keys, from 1. */
export const viewNames = ["overview", "agents", "merges", "mail", "costs", "logs"] as const;
export type ViewName = (typeof viewNames)[number];

/** What one look at the project found. Lists that the view does not show are from an earlier look, or empty. */
export interface Snapshot {
  readonly overview: Overview;
  readonly merges: readonly QueuedMerge[];
  readonly operations: readonly MergeOp[];
  readonly mail: readonly TrackedMessage[];
  readonly costs: readonly CostGroup[];
  /** The newest events, the newest last. */
  readonly events: readonly Event[];
  readonly runs: readonly RunDetail[];
}

export interface Scope {
  /** All runs, ended agents included. */
  readonly all: boolean;
  /** A run that was chosen; undefined for the current one. */
  readonly run: string | undefined;
}

/** As many rows as a person scrolls through. */
const mostRows = 200;
const mostRuns = 20;

/** Reads what a view shows. A list that fails keeps its rows of the last look. */
export async function look(
  { call }: Pick<DashboardApp, "call">,
  view: ViewName,
  { all, run }: Scope,
  last: Snapshot | undefined,
): Promise<Result<Snapshot, Refusal>> {
  const overview = await call("status.overview", { all, mailbox: "operator", run });
  if (!overview.ok) return overview;
  const runId = run ?? overview.value.run?.id;
  const inRun = all || runId === undefined ? {} : { runId };
  const snapshot = { ...(last ?? empty), overview: overview.value };
  switch (view) {
    case "overview":
    case "merges": {
      const merges = await call("merge.list", { ...inRun, all: view === "merges", limit: mostRows });
      const log = view === "merges" ? await call("merge.log", { limit: 20 }) : undefined;
      return ok({
        ...snapshot,
        merges: merges.ok ? merges.value.entries : snapshot.merges,
        operations: log?.ok === true ? log.value.operations : snapshot.operations,
      });
    }
    case "mail": {
      const mail = await call("mail.list", {
        limit: mostRows,
        ...(inRun.runId === undefined ? {} : { run: inRun.runId }),
      });
      return ok({ ...snapshot, mail: mail.ok ? mail.value.messages : snapshot.mail });
    }
    case "costs": {
      const costs = await call("cost.group", {
        by: "agent",
        last: mostRows,
        zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        ...inRun,
      });
      return ok({ ...snapshot, costs: costs.ok ? costs.value.groups : snapshot.costs });
    }
    case "agents":
    case "logs":
      return ok(snapshot);
  }
}

/** The runs that can be chosen, newest first. */
export async function lookAtRuns({ call }: Pick<DashboardApp, "call">): Promise<readonly RunDetail[]> {
  const runs = await call("run.list", { last: mostRuns });
  return runs.ok ? runs.value.runs : [];
}

const empty = { merges: [], operations: [], mail: [], costs: [], events: [], runs: [] } as const;
