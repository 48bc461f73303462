import type { RunChange } from "../../domain/run/change.ts";
import type { OpenEnd } from "../../domain/run/open-ends.ts";
import type { CheckReply } from "../../usecases/coordinators/check-complete.ts";
import type { ChangeRunReply } from "../../usecases/runs/change-objective.ts";
import type { EndReply } from "../../usecases/runs/change-run.ts";
import type { CriterionDetail } from "../../usecases/runs/checklist.ts";
import type { ChecklistReply } from "../../usecases/runs/criteria.ts";
import type { RunDetail } from "../../usecases/runs/read-runs.ts";
import type { VerdictOnWhole } from "../../usecases/runs/verdict-on-whole.ts";
import type { Overview } from "../../usecases/status/overview.ts";
import type { AgentBrief, PersonBrief } from "../../usecases/status/prime.ts";
import type { DiskState, ShownStatus } from "../../usecases/status/show.ts";
import { olderRunKeys, olderStatusKeys } from "../older-keys.ts";
import { duration, iso } from "../values.ts";
import { fleetAgentView } from "./agent.ts";
import { checkpointView } from "./event.ts";
import { decisionView, questionView } from "./mail.ts";
import { mergesView } from "./merge.ts";

/** One numbered sentence of a run's checklist. */
export const criterionView = ({ criterion, status, tasks }: CriterionDetail) => ({
  number: criterion.number,
  text: criterion.text,
  status,
  tasks,
  proof:
    criterion.proofKind === null
      ? null
      : {
          kind: criterion.proofKind,
          path: criterion.proofPath,
          test: criterion.proofTest,
          commit: criterion.proofCommit,
          by: criterion.provedBy,
          at: iso(criterion.provedAt),
          checkedCommit: criterion.checkedCommit,
          unchanged: criterion.proofUnchanged,
          lost: criterion.proofLost,
        },
  waived:
    criterion.waivedAt === null
      ? null
      : { by: criterion.waivedBy, at: iso(criterion.waivedAt), reason: criterion.waiveReason },
  addedBy: criterion.addedBy,
  addedAt: iso(criterion.addedAt),
});

/** The checklist of a run. */
export const checklistView = ({ run, criteria, unserved, landing, remarks }: ChecklistReply) => ({
  runId: run.id,
  objective: run.objective,
  landing,
  criteria: criteria.map(criterionView),
  unserved,
  ...(remarks.length === 0 ? {} : { warnings: remarks }),
});

/** The checklist of a run after the operator changed its objective. */
export const changedRunView = ({ changed, criterion, withdraws, told, ...checklist }: ChangeRunReply) => ({
  changed,
  criterion,
  withdraws,
  told,
  ...checklistView(checklist),
});

/** One change of what a run is for; with a criterion, of its words. */
export const runChangeView = (change: RunChange) => ({
  number: change.number,
  criterion: change.criterion,
  words: change.words,
  wordsBefore: change.wordsBefore,
  changedBy: change.changedBy,
  changedAt: iso(change.changedAt),
});

/** A run that was to be ended. It is active still while its last review is to be done, which `review` says. */
export const endedRunView = ({ runId, status, review, open }: EndReply) => ({
  runId,
  status,
  ...(review === null ? {} : { review }),
  ...(open.length === 0 ? {} : { leftOpen: open.map(({ what }) => what) }),
});

/** One thing that keeps a run from ending. */
export const openEndView = ({ kind, name, what, fix }: OpenEnd) => ({ kind, name, what, fix });

/** What keeps the run of a coordinator open, and what the operator's triggers say. */
export const exitCheckView = ({ complete, triggers, failures, runId, agentName, open }: CheckReply) => ({
  complete,
  triggers,
  failures,
  runId,
  agentName,
  open: open.map(openEndView),
});

/** The newest verdict on the whole of a run. */
const lastReviewView = (review: VerdictOnWhole | null) =>
  review === null
    ? null
    : {
        by: review.by,
        verdict: review.verdict,
        commit: review.commit,
        findings: review.findings,
        message: review.message,
        givenAt: iso(review.givenAt),
      };

/** Everything done for one objective. */
export const runView = (detail: RunDetail) => ({
  id: detail.run.id,
  startedAt: iso(detail.run.startedAt),
  completedAt: iso(detail.run.completedAt),
  duration: duration(detail.durationMs),
  agentCount: detail.agentCount,
  coordinatorName: detail.run.coordinatorName,
  coordinatorId: detail.coordinatorId,
  status: detail.status,
  objective: detail.run.objective,
  targetBranch: detail.run.targetBranch,
  landingBranch: detail.run.landingBranch,
  merges: mergesView(detail.merges),
  criteria: detail.criteria.map(criterionView),
  changes: detail.changes.map(runChangeView),
  lastReview: lastReviewView(detail.lastReview),
  leftOpen: detail.leftOpen,
  ...olderRunKeys(detail),
});

/** The document of `ov status`. `engine` describes the engine that listens now; undefined when none does. */
export const overviewView = (
  overview: Overview & DiskState & Partial<Pick<ShownStatus, "details">>,
  engine: object | undefined,
) => ({
  currentRunId: overview.run?.id ?? null,
  endedLeader: overview.endedLeader?.coordinatorName ?? null,
  criteria: overview.criteria.map(criterionView),
  lastReview: lastReviewView(overview.lastReview),
  otherRuns: overview.otherRuns.map(
    ({ run: { id, objective, coordinatorName }, liveAgents, waiting, endedLeader }) => ({
      id,
      objective,
      coordinatorName,
      liveAgents,
      waiting,
      endedLeader: endedLeader?.coordinatorName ?? null,
    }),
  ),
  engine: engine ?? null,
  fullDisk: overview.fullDisk,
  agents: overview.agents.map(fleetAgentView),
  unreadMailCount: overview.unreadMailCount,
  unreadMailScope: overview.unreadMailScope,
  // Both names have readers: `mergeQueueCount` those of `ov status`, `openMerges` those of the tool `fleet`.
  mergeQueueCount: overview.openMerges,
  openMerges: overview.openMerges,
  merges: mergesView(overviewMerges(overview)),
  unpromoted: overview.unpromoted,
  unhanded: overview.unhanded,
  missingTargets: [...new Set(overview.missingTargets.map(({ target }) => target))],
  needsOperator: needsOperator(overview),
  decisions: overview.decisions.map(decisionView),
  questions: overview.questions.map(questionView),
  ...olderStatusKeys(
    overview.agents.map(({ agent }) => agent),
    overview,
  ),
});

/** The merges of all runs. */
export const overviewMerges = (overview: Overview) => ({
  pending: overview.openMerges,
  approvals: overview.approvals,
  failed: overview.failedMerges,
  blocked: overview.blockedMerges,
  troubles: overview.mergeTroubles,
  paused: overview.mergePause,
});

function needsOperator({
  approvals,
  blockedMerges,
  decisions,
  questions,
  unhanded,
  otherRuns,
  agents,
  mergePause,
}: Overview): boolean {
  const waiting = [approvals, blockedMerges, decisions, questions, unhanded];
  return (
    waiting.some((list) => list.length > 0) ||
    mergePause !== null ||
    otherRuns.some((other) => other.waiting > 0) ||
    agents.some((view) => view.needsOperator)
  );
}

const noteView = ({ at, ...note }: PersonBrief["remembered"][number]) => ({ ...note, at: iso(at) });

/** What `ov prime` tells an agent about itself, besides the text. */
export const agentBriefView = ({ identity, checkpoint, recentTurns, remembered }: AgentBrief) => ({
  identity:
    identity === null
      ? null
      : { completed: identity.completed, recentTasks: identity.recentTasks.map(({ taskId }) => taskId) },
  checkpoint: checkpoint === null ? null : checkpointView(checkpoint),
  sessions: recentTurns.map(({ id, trigger, status, startedAt, endedAt, resultText }) => ({
    id,
    trigger,
    status,
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
    resultText,
  })),
  remembered: remembered.map(noteView),
});

/** What `ov prime` tells a person, besides the text. */
export const personBriefView = ({ recentRuns, remembered }: PersonBrief) => ({
  sessions: recentRuns.map(({ id, status, objective, startedAt, completedAt }) => ({
    id,
    status,
    objective,
    startedAt: iso(startedAt),
    completedAt: iso(completedAt),
  })),
  remembered: remembered.map(noteView),
});
