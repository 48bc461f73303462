/** The only door to the program's own types. Types alone: nothing of the program is loaded into the page. */
import type { PageAddress } from "../../../src/contract/http/page-addresses.ts";
import type { fleetAgentView, headView } from "../../../src/contract/views/agent.ts";
import type { costGroupView, costSeriesView, liveCostsView } from "../../../src/contract/views/cost.ts";
import type { agentDiffView, diffFileView, mergeDiffView } from "../../../src/contract/views/diff.ts";
import type { examinationView, fixReportView } from "../../../src/contract/views/doctor.ts";
import type { eventView, generationView, inspectionView, outputPartView } from "../../../src/contract/views/event.ts";
import type { gateLogView } from "../../../src/contract/views/gate.ts";
import type { letterView, messageView, threadView } from "../../../src/contract/views/mail.ts";
import type {
  conflictsView,
  entryDetailView,
  mergeStateView,
  operationView,
  queuedEntryView,
  radarView,
  undoPlanView,
  watchedEntryView,
} from "../../../src/contract/views/merge.ts";
import type { budgetView, configKeyView, servicesView } from "../../../src/contract/views/project.ts";
import type { reviewableView, reviewDetailView } from "../../../src/contract/views/review.ts";
import type { criterionView, exitCheckView, overviewView, runView } from "../../../src/contract/views/run.ts";
import type { foundView } from "../../../src/contract/views/search.ts";
import type { boardTaskView } from "../../../src/contract/views/task.ts";
import type { fleetAtView, runFiguresView, runSpansView } from "../../../src/contract/views/timeline.ts";
import type {
  auditEntryView,
  issuedKeyView,
  runPlanView,
  sinceView,
  webKeyView,
} from "../../../src/contract/views/web.ts";
import type { snapshotView } from "../../../src/contract/views/worktree.ts";

/** What a view is after it has travelled as JSON. */
export type { PageAddress };

export type Json<T> = T extends (infer Item)[] | readonly (infer Item)[]
  ? readonly Json<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Json<T[Key]> }
    : T;

export interface List<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
  readonly prev?: string;
}

export interface Me {
  readonly user: "operator" | "viewer";
  readonly project: string;
  readonly epoch: string;
  readonly version: string;
}

export type Verdict = Landed["branches"][number]["verdict"];

/** A condition lies on top of the state of an agent and takes the place of its glyph. */
export interface Condition {
  readonly kind: "parked" | "paused" | "budget";
  readonly words: string;
  readonly until: string | null;
}

export type Agent = Json<ReturnType<typeof fleetAgentView>> & {
  readonly now?: { readonly tool: string; readonly argument: string | null; readonly since: string } | null;
  readonly because?: string | null;
  readonly condition?: Condition | null;
  /** When its running turn began. */
  readonly turnSince?: string | null;
  /** Commits since its base, when its last turn ended; null where that is not known. */
  readonly ahead?: number | null;
  /** Of all its turns; null where no turn reported a cost. Joined by the page. */
  readonly costUsd?: number | null;
  readonly limitUsd?: number | null;
  /** Of the newest entry of its branch in the merge queue. Joined by the table of the fleet. */
  readonly queued?: Pick<Json<ReturnType<typeof queuedEntryView>>, "id" | "headCommit" | "filesModified" | "verdict">;
};
/** What all turns of one agent cost. */
type AgentCost = Json<ReturnType<typeof costGroupView>>;

export type Criterion = Json<ReturnType<typeof criterionView>>;
export type Overview = Json<ReturnType<typeof overviewView>>;
export type Run = Json<ReturnType<typeof runView>>;
export type Task = Json<ReturnType<typeof boardTaskView>>;
export type Budget = Json<ReturnType<typeof budgetView>>;
export type LiveCosts = Json<ReturnType<typeof liveCostsView>>;
/** One move of a landing branch. */
export type Landed = Json<ReturnType<typeof operationView>>;

/** An entry of the merge queue as a person watches it. */
export type Merge = Json<ReturnType<typeof watchedEntryView>> & { readonly id: number };
export type MergeDetail = Json<ReturnType<typeof entryDetailView>>;
export type MergeState = Json<ReturnType<typeof mergeStateView>>;
export type Train = MergeState["trains"][number];
export type UndoPlan = Json<ReturnType<typeof undoPlanView>>;
export type Radar = Json<ReturnType<typeof radarView>>;
export type Conflicts = Json<ReturnType<typeof conflictsView>>;
export type GateLog = Json<ReturnType<typeof gateLogView>>;

export type AttentionKind =
  | "decision"
  | "target"
  | "budget"
  | "risk"
  | "merge"
  | "approval"
  | "stalled"
  | "dead_mail"
  | "question"
  | "budget_soon"
  | "radar"
  | "review";

/** An action as the server offers it: the page calls it and knows nothing else of it. */
export interface OfferedAction {
  readonly id: string;
  readonly label: string;
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly danger?: boolean;
  /** The field of the body that a person has to write. */
  readonly asks?: string;
}

export interface AttentionItem {
  readonly id: string;
  readonly kind: AttentionKind;
  readonly rank: number;
  readonly sentence: string;
  readonly detail: string | null;
  readonly since: string | null;
  readonly agent: string | null;
  readonly blocks: readonly string[];
  readonly subject: string;
  readonly options: readonly { readonly number: number; readonly label: string }[];
  readonly actions: readonly OfferedAction[];
  readonly seen: boolean;
  readonly snoozedUntil: string | null;
}

export type AgentEvent = Json<ReturnType<typeof eventView>>;
export type Inspection = Json<ReturnType<typeof inspectionView>>;
export type Message = Json<ReturnType<typeof messageView>>;
export type Thread = Json<ReturnType<typeof threadView>>;
/** A message as the operator reads it. */
export type Letter = Json<ReturnType<typeof letterView>>;
export type Delivery = Letter["deliveries"][number];
/** A coordinator with its run. */
export type Head = Json<ReturnType<typeof headView>>;
export type RunPlan = Json<ReturnType<typeof runPlanView>>;
export type ExitCheck = Json<ReturnType<typeof exitCheckView>>;
export type Since = Json<ReturnType<typeof sinceView>>;

export type DiffFile = Json<ReturnType<typeof diffFileView>>;
export type AgentDiff = Json<ReturnType<typeof agentDiffView>>;
export type Generation = Json<ReturnType<typeof generationView>>;
export type Reviewable = Json<ReturnType<typeof reviewableView>>;
export type ReviewDetail = Json<ReturnType<typeof reviewDetailView>>;

export type CostSeries = Json<ReturnType<typeof costSeriesView>>;
export type RunFigures = Json<ReturnType<typeof runFiguresView>>;
export type RunSpans = Json<ReturnType<typeof runSpansView>>;
export type FleetAt = Json<ReturnType<typeof fleetAtView>>;
export type Examination = Json<ReturnType<typeof examinationView>>;
export type FixReport = Json<ReturnType<typeof fixReportView>>;
export type Services = Json<ReturnType<typeof servicesView>>;
export type AuditEntry = Json<ReturnType<typeof auditEntryView>>;
export type ConfigKey = Json<ReturnType<typeof configKeyView>>;
export type WebKey = Json<ReturnType<typeof webKeyView>>;
export type IssuedKey = Json<ReturnType<typeof issuedKeyView>>;

/** A hit of the search over everything. */
export type Found = Json<ReturnType<typeof foundView>>;

/** What each route that pages read replies. A page that needs another route adds its line here. */
export interface Replies {
  "/api/me": Me;
  "/api/overview": Overview;
  "/api/runs": List<Run>;
  "/api/agents": List<Agent>;
  "/api/agents/:name/inspect": Inspection;
  "/api/agents/:agents/events": List<AgentEvent>;
  "/api/agents/:name/diff": AgentDiff;
  "/api/agents/:name/turns": List<Generation>;
  "/api/agents/:agent/snapshots": List<Json<ReturnType<typeof snapshotView>>>;
  "/api/turns/:turn/output": Json<ReturnType<typeof outputPartView>>;
  "/api/merge/:of/diff": Json<ReturnType<typeof mergeDiffView>>;
  "/api/reviews": List<Reviewable>;
  "/api/reviews/:name": ReviewDetail;
  "/api/mail": List<Message>;
  "/api/mail/threads": List<Thread>;
  "/api/mail/:thread/thread": List<Letter>;
  "/api/mail/with/:with": List<Letter>;
  "/api/coordinator": { readonly asked: Head | null; readonly all: readonly Head[] };
  "/api/coordinator/check": ExitCheck;
  "/api/coordinator/plan": RunPlan;
  "/api/since": Since;
  "/api/tasks": List<Task>;
  "/api/merge/ops": List<Landed>;
  "/api/merge": List<Json<ReturnType<typeof queuedEntryView>>>;
  "/api/merge/queue": List<Merge>;
  "/api/merge/state": MergeState;
  "/api/merge/radar": Radar;
  "/api/merge/ops/:of/undo": UndoPlan;
  "/api/merge/:of": MergeDetail;
  "/api/merge/:of/conflicts": Conflicts;
  "/api/gates/:id/log": GateLog;
  "/api/budgets": List<Budget>;
  "/api/costs": { readonly groups: readonly AgentCost[] };
  "/api/costs/live": LiveCosts;
  "/api/costs/series": CostSeries;
  "/api/runs/figures": List<RunFigures>;
  "/api/runs/:id/spans": RunSpans;
  "/api/runs/:id/at": FleetAt;
  "/api/doctor": Examination;
  "/api/services": Services;
  "/api/audit": List<AuditEntry>;
  "/api/config": List<ConfigKey>;
  "/api/config/file": { readonly file: string; readonly text: string };
  "/api/keys": List<WebKey>;
  "/api/search": List<Found>;
  "/api/attention": List<AttentionItem> & { readonly snoozed: readonly AttentionItem[] };
}
