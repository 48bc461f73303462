import type * as agents from "../../src/contract/views/agent.ts";
import type * as costs from "../../src/contract/views/cost.ts";
import type * as diffs from "../../src/contract/views/diff.ts";
import type * as doctor from "../../src/contract/views/doctor.ts";
import type * as events from "../../src/contract/views/event.ts";
import type * as gates from "../../src/contract/views/gate.ts";
import type * as mail from "../../src/contract/views/mail.ts";
import type * as merges from "../../src/contract/views/merge.ts";
import type * as notify from "../../src/contract/views/notify.ts";
import type * as projects from "../../src/contract/views/project.ts";
import type * as provenances from "../../src/contract/views/provenance.ts";
import type * as reviews from "../../src/contract/views/review.ts";
import type * as runs from "../../src/contract/views/run.ts";
import type * as runtimes from "../../src/contract/views/runtime.ts";
import type * as searches from "../../src/contract/views/search.ts";
import type * as tasks from "../../src/contract/views/task.ts";
import type * as timelines from "../../src/contract/views/timeline.ts";
import type * as webs from "../../src/contract/views/web.ts";
import type * as worktrees from "../../src/contract/views/worktree.ts";
import { type Agent, freshAgent } from "../../src/domain/agent/agent.ts";
import type { CauseDetail, MergeEntry } from "../../src/domain/merge/entry.ts";
import type { MergeOp, MergeOpRequest } from "../../src/domain/merge/operation.ts";
import { unproved } from "../../src/domain/run/checklist.ts";

type Views = typeof agents &
  typeof diffs &
  typeof reviews &
  typeof doctor &
  typeof notify &
  typeof events &
  typeof costs &
  typeof gates &
  typeof mail &
  typeof merges &
  typeof projects &
  typeof provenances &
  typeof runs &
  typeof runtimes &
  typeof searches &
  typeof tasks &
  typeof timelines &
  typeof webs &
  typeof worktrees;
type ViewName = Extract<keyof Views, `${string}View`>;
type Given<Name extends ViewName> = Parameters<Views[Name]>;
type First<Name extends ViewName> = Given<Name>[0];

const at = 1_763_251_200_000;
const commit = "1".repeat(40);
const wait = { agentName: "b1", kind: "reply", ref: "m-1", since: at, deadline: at } as const;

const doctorCheck = {
  id: "worktree-without-agent:x",
  name: "worktree-without-agent",
  category: "consistency",
  status: "warn",
  message: "x is a worktree of no agent",
  details: ["x"],
  affects: "it takes room",
  fix: "takes it away",
  next: "ov doctor",
  healedByEngine: false,
  isOfEngine: false,
  steps: [{ on: "trash", path: "/x" }],
} as const;
const doctorFix = { id: "x", message: "m", does: "d", outcome: "fixed", actions: ["a"], why: null } as const;

const bare = freshAgent({
  id: "agent-1",
  name: "b1",
  generation: 1,
  capability: "builder",
  runtime: "claude",
  parentName: "lead",
  depth: 2,
  runId: "run-1",
  taskId: null,
  startedAt: at,
});
const agent: Agent = {
  ...bare,
  cliVersion: "2.1.0",
  taskId: "T1",
  scope: ["src"],
  shares: ["CHANGELOG.md"],
  worktreePath: "/p/.overstory/worktrees/b1",
  branch: "overstory/b1/T1",
  baseCommit: commit,
  state: "completed",
  outcome: "done",
  providerSessionId: "session-1",
  stalledSince: at,
  endedAt: at,
};
const toolEvent: First<"eventView"> = {
  seq: 7,
  runId: "run-1",
  agentName: "b1",
  agentId: "agent-1",
  turnId: "turn-1",
  line: 3,
  part: 0,
  source: "agent",
  level: "warn",
  type: "tool_end",
  data: JSON.stringify({
    tool: "Bash",
    id: "c1",
    summary: "ls",
    input: { command: "ls" },
    durationMs: 5,
    failed: true,
  }),
  createdAt: at,
};
const bareEvent: First<"eventView"> = {
  ...toolEvent,
  runId: null,
  agentName: null,
  agentId: null,
  turnId: null,
  type: "engine_error",
  data: null,
};
const mailStep: First<"turnStepView"> = {
  kind: "mail",
  seq: 8,
  at,
  to: "lead",
  type: "status",
  subject: "half",
  messageId: "m-1",
};
const toolStep: First<"turnStepView"> = {
  kind: "tool",
  seq: 7,
  at,
  callId: "c1",
  tool: "Bash",
  summary: "ls",
  durationMs: 5,
  ended: true,
  failed: false,
  denied: "git-push",
};
const openStep: First<"turnStepView"> = { ...toolStep, callId: null, durationMs: null, denied: null };
const ranTurn: First<"tracedTurnView">["turn"] = {
  id: "turn-1",
  agentId: "agent-1",
  agentName: "b1",
  runId: "run-1",
  trigger: "spawn",
  reason: null,
  status: "settled",
  attempt: 1,
  notBefore: 0,
  fence: 1,
  resumeRequested: null,
  resumeObserved: null,
  logDir: null,
  outputOffset: 0,
  outputLines: 0,
  clean: true,
  resultText: null,
  exitCode: 0,
  exitSignal: null,
  terminalMessageSeq: null,
  error: null,
  queuedAt: at,
  startedAt: at,
  endedAt: at + 5,
  failure: "credit",
  advice: null,
  prompt: null,
  costMicros: 12,
  costSource: "reported",
  priceVersion: null,
};
const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
const tracedTurn: First<"tracedTurnView"> = {
  turn: ranTurn,
  story: {
    messages: 1,
    steps: [toolStep, mailStep],
    outcome: { end: "failed", reason: "why", agentState: "zombie", agentOutcome: "crashed" },
  },
  tokens,
  isCut: false,
};
const checkpoint: First<"checkpointView"> = {
  agentName: "b1",
  generation: 1,
  taskId: "T1",
  turnId: "turn-1",
  summary: "half done",
  files: ["a.ts"],
  branch: "overstory/b1/T1",
  pending: "reply m-1",
  updatedAt: at,
};
const inspection: First<"inspectionView"> = {
  agent,
  pid: 1,
  identity: {
    agentName: "b1",
    capability: "builder",
    createdAt: at,
    completed: 1,
    recentTasks: [{ taskId: "T1", summary: "done", completedAt: at }],
  },
  checkpoint,
  waits: [wait],
  unread: 1,
  turnCount: 1,
  turns: [tracedTurn],
  files: ["a.ts"],
  currentFile: "a.ts",
  tokens: { ...tokens, model: "large" },
  costMicros: 12,
  tools: [{ tool: "Bash", count: 1, failed: 0, averageMs: 5, longestMs: 5 }],
  calls: [toolStep],
  now: at,
};
const bareInspection: First<"inspectionView"> = {
  ...inspection,
  agent: bare,
  pid: null,
  identity: null,
  checkpoint: null,
  turns: [],
  currentFile: null,
  tokens: { ...tokens, model: null },
  costMicros: null,
  tools: [{ tool: "Bash", count: 1, failed: 0, averageMs: null, longestMs: null }],
  calls: [openStep],
};
const trouble = { problem: "no credit", failure: "credit", advice: "add credit", command: null, nextTry: at } as const;
const noTrouble = { problem: null, failure: null, advice: null, command: null, nextTry: null };
const needed: First<"attentionView"> = {
  id: "stalled-b1-1",
  kind: "stalled",
  rank: 6,
  sentence: "b1 gives no sign of life",
  details: "look",
  subject: { type: "agent", id: "b1" },
  runId: "run-1",
  since: at,
  blocks: ["lead1"],
  options: [],
  command: "ov nudge b1",
  seen: false,
  snoozedUntil: at,
  snoozed: false,
};

const inFleet: First<"fleetAgentView"> = {
  ...trouble,
  agent,
  submitted: true,
  unread: 1,
  waits: [wait],
  asked: new Map(),
  turns: 2,
  needsOperator: true,
  landedNowhere: false,
  turnSince: at,
  doing: { tool: "Bash", summary: "npm test", since: at },
};

const blocked = { id: 3, branch: "overstory/b1/T1", why: "the disk is full", next: "ov merge resume 3" };
const run = {
  id: "run-1",
  objective: "make it fast",
  targetBranch: "main",
  landingBranch: "overstory/integration/main",
  coordinatorName: "coordinator",
  checklist: false,
  startCommit: null,
  status: "active",
  startedAt: at,
  completedAt: at,
} as const;
const bareRun = {
  ...run,
  objective: null,
  targetBranch: null,
  landingBranch: null,
  coordinatorName: null,
  checklist: false,
  startCommit: null,
  completedAt: null,
};
const bareCriterion: First<"criterionView"> = {
  criterion: {
    runId: "run-1",
    number: 2,
    text: "it is said in the changelog",
    addedBy: "coordinator",
    addedAt: at,
    waivedBy: null,
    waivedAt: null,
    waiveReason: null,
    ...unproved,
  },
  status: "open",
  tasks: [],
};
const criterion: First<"criterionView"> = {
  criterion: {
    ...bareCriterion.criterion,
    number: 1,
    waivedBy: "operator",
    waivedAt: at,
    waiveReason: "later",
    proofKind: "test",
    proofPath: "a.test.ts",
    proofTest: "is fast",
    proofCommit: "c1",
    provedBy: "coordinator",
    provedAt: at,
    checkedCommit: "c2",
    proofUnchanged: true,
    proofLost: "is gone",
  },
  status: "waived",
  tasks: ["T1"],
};
const checklist: First<"checklistView"> = {
  run,
  criteria: [criterion, bareCriterion],
  unserved: [2],
  landing: "main",
  remarks: ["is old"],
};
const runChange: First<"runChangeView"> = {
  runId: run.id,
  number: 2,
  criterion: 1,
  words: "is very fast",
  wordsBefore: "is fast",
  changedBy: "coordinator",
  changedAt: at,
};
const lastReview = {
  by: "last-review-1",
  reviewerId: "agent-9",
  verdict: "fail",
  commit: "c1",
  findings: 2,
  unmet: [2],
  isVague: true,
  remarks: [],
  notRun: [],
  message: "msg-1",
  givenAt: at,
} as const;
const runDetail: First<"runView"> = {
  run,
  agentCount: 2,
  coordinatorId: "agent-0",
  durationMs: 65_000,
  status: "needs operator",
  approvals: [1],
  merges: {
    pending: [1],
    approvals: [1],
    failed: [2],
    blocked: [blocked],
    troubles: ["promote: locked"],
    paused: null,
  },
  criteria: [criterion, bareCriterion],
  changes: [runChange],
  lastReview,
  leftOpen: ["task T1 is open"],
};
const head: First<"headView"> = {
  agent,
  running: true,
  pid: 7,
  run: runDetail,
  unread: 1,
  waits: [wait],
  workers: ["b2"],
  trouble,
};

const kept = { ref: "refs/overstory/rescue/b1", commit, skipped: ["big.bin"] };
const removed = {
  agentName: "b1",
  path: "/p/w",
  branch: "overstory/b1/T1",
  removed: true,
  branchDeleted: true,
  problem: "the directory was busy",
  rescue: { ...kept, restore: "git branch b1 1111" },
  trash: "trash/1",
};
const keptWorktree = {
  agentName: "b2",
  path: "/p/v",
  branch: "overstory/b2/T2",
  class: "held",
  reason: "its child works",
  next: "ov stop b3",
} as const;
const cleanedWorktrees: First<"cleanedWorktreesView"> = {
  removed: [removed],
  failed: [{ ...removed, agentName: "b4", removed: false }],
  kept: [keptWorktree, { ...keptWorktree, agentName: "b5", class: "running", next: null }],
  pruned: 1,
};
const stopped: First<"stoppedAgentView"> = {
  agentName: "b1",
  sessionId: "agent-1",
  capability: "builder",
  stopped: true,
  alreadyEnded: false,
  wasZombie: false,
  wasCompleted: false,
  killed: [{ pid: 7, role: "agent", escalated: true }],
  survivors: [8],
};
const seat: First<"seatView"> = {
  agentName: "b1",
  generation: 1,
  capability: "builder",
  taskId: "T1",
  branch: "overstory/b1/T1",
  runId: "run-1",
  coordinatorName: "coordinator",
  targetBranch: "main",
  parentAgent: "lead",
  depth: 2,
  runtime: "claude",
  model: "sonnet",
  state: "booting",
  notTakenIn: 3,
  warnings: ["T1 overlaps T2"],
};
const started: First<"startedHeadView"> = {
  agentName: "coordinator",
  agentId: "agent-0",
  generation: 1,
  capability: "coordinator",
  runId: "run-1",
  runtime: "claude",
  objective: "make it fast",
  targetBranch: "main",
  watchdogPreexisting: false,
  monitor: false,
  warnings: ["the limit of $1 for agent coordinator is n/a during a turn"],
};

const message: Required<First<"messageView">> = {
  id: "m-1",
  from: "b1",
  capability: "builder",
  to: "lead",
  subject: "done",
  body: "all of it",
  type: "result",
  priority: "normal",
  threadId: "m-0",
  replyTo: "m-0",
  payload: "{}",
  blobPath: "blobs/1",
  read: true,
  redelivered: false,
  verified: true,
  state: "acked",
  createdAt: at,
  unverified: "no commit",
};
const { capability: _capability, unverified: _unverified, ...listedMessage } = message;
const bareMessage: First<"messageView"> = { ...listedMessage, replyTo: null, payload: null, blobPath: null };
const delivery: First<"deliveryView"> = {
  messageSeq: 1,
  toAgent: "lead",
  state: "acked",
  priorityRank: 2,
  wake: true,
  wakeReason: "it asks for an answer",
  attempts: 1,
  notBefore: at,
  claimedBy: "turn-1",
  claimExpires: at,
  turnId: "turn-1",
  channel: "turn",
  redelivered: false,
  deliveredAt: at,
  ackedAt: at,
  lastError: "the turn was lost",
  updatedAt: at,
};
const bareDelivery: First<"deliveryView"> = {
  ...delivery,
  notBefore: 0,
  claimedBy: null,
  claimExpires: null,
  turnId: null,
  channel: null,
  deliveredAt: null,
  ackedAt: null,
  wakeReason: null,
  lastError: null,
};
const sent: First<"sentView"> = {
  id: "m-1",
  address: "@builders",
  group: true,
  recipients: ["b1"],
  woken: ["b1"],
  startsNoTurn: ["b2"],
  shownAtFinish: ["b2"],
  finish: null,
  duplicate: true,
  queued: null,
  warnings: ["b1 has ended"],
};
const decision: First<"decisionView"> = {
  id: "m-2",
  kind: "decision",
  from: "lead",
  subject: "which way?",
  context: "two ways",
  options: ["a", "b"],
  deadline: "2026-11-16T00:00:00.000Z",
  runId: "run-1",
  createdAt: at,
};
const question: First<"questionView"> = {
  id: "m-3",
  from: "lead",
  subject: "why?",
  body: "tell me",
  runId: "run-1",
  createdAt: at,
};

const task: First<"taskView"> = {
  task: {
    id: "T1",
    title: "make it fast",
    status: "closed",
    type: "task",
    priority: 1,
    description: "as fast as it can be",
    assignee: "b1",
    labels: ["speed"],
    files: ["src/a.ts"],
    shares: ["CHANGELOG.md"],
    parentId: "T0",
    runId: "run-1",
    claimedBy: "b1",
    claimExpires: at,
    mergeState: "merged",
    closeReason: "it is",
    createdAt: at,
    updatedAt: at,
    closedAt: at,
  },
  blockedBy: ["T2"],
  waitsFor: ["T2"],
  blocks: ["T3"],
  criteria: [{ number: 1, text: "it is fast" }],
};
const bareTask: First<"taskView"> = {
  ...task,
  task: {
    ...task.task,
    description: null,
    assignee: null,
    parentId: null,
    runId: null,
    claimedBy: null,
    claimExpires: null,
    closeReason: null,
    closedAt: null,
  },
};
const group: First<"groupProgressView"> = {
  group: {
    id: "group-1",
    name: "speed",
    status: "completed",
    runId: "run-1",
    owner: "lead",
    createdAt: at,
    completedAt: at,
  },
  memberIds: ["T1"],
  progress: { total: 1, completed: 1, inProgress: 0, blocked: 0, open: 0 },
};
const bareGroup = { ...group, group: { ...group.group, runId: null, completedAt: null } };

const gateResult: Required<First<"gateResultView">> = {
  id: "gate-1",
  tree: commit,
  gate: "test",
  command: "npm test",
  gateHash: "h",
  status: "failed",
  exitCode: 1,
  durationMs: 1200,
  logPath: "logs/gates/1",
  logDigest: "d",
  flaky: false,
  kept: ["node_modules"],
  createdAt: at,
};
const receipt: Required<First<"receiptView">> = {
  id: "receipt-1",
  kind: "landing",
  subject: "merge:1",
  baseCommit: commit,
  headCommit: commit,
  tree: commit,
  verdict: "verified_with_gaps",
  results: ["gate-1"],
  gaps: ["test was flaky"],
  createdAt: at,
};
const check: Required<First<"checkView">> = {
  seq: 1,
  id: "check-1",
  kind: "completion",
  agentId: "agent-1",
  agentName: "b1",
  refName: "overstory/b1/T1",
  commitId: commit,
  status: "failed",
  request: { kind: "check", envFile: "/secret" },
  progress: "gate test",
  verdict: "unverified",
  receiptId: "receipt-1",
  problem: [
    {
      kind: "gate",
      message: "gate test failed",
      fix: "mend it",
      names: ["a.ts"],
      gate: "test",
      logPath: "logs/gates/1",
      logTail: "boom",
    },
  ],
  attempts: 1,
  requestedBy: "b1",
  createdAt: at,
  updatedAt: at,
};
const bareCheck: First<"checkView"> = {
  ...check,
  agentId: null,
  agentName: null,
  commitId: null,
  progress: null,
  verdict: null,
  receiptId: null,
};
const answer = { check, receipt, results: [gateResult], messageId: "m-1" };
const bareAnswer = { check: bareCheck, receipt: null, results: [], messageId: null };

const causeDetail: Required<CauseDetail> = {
  message: "a.ts conflicts",
  files: ["a.ts"],
  gate: "test",
  logPath: "logs/gates/1",
  logTail: "boom",
  with: ["overstory/b2/T2"],
  difference: "+a",
};
const entry: MergeEntry = {
  id: 1,
  branch: "overstory/b1/T1",
  headCommit: commit,
  targetBranch: "main",
  taskId: "T1",
  agentName: "b1",
  runId: "run-1",
  filesModified: ["a.ts"],
  dependsOn: [2],
  priority: 1,
  source: "mail",
  enqueuedBy: "lead",
  enqueuedAt: at,
  status: "conflict",
  approval: "parent",
  tier: "auto-resolve",
  strategy: "union",
  verdict: "verified",
  attempts: 1,
  notBefore: at,
  resultCommit: commit,
  cause: "conflict",
  causeDetail,
  updatedAt: at,
};
const note = { at, agentName: "b1", taskId: "T1", note: "slow" } as const;
const brief = {
  kind: "agent",
  project: { name: "p", canonicalBranch: "main" },
  agent,
  submitted: false,
  task: null,
  waits: [],
  unread: 0,
} as const;
const madeCommit: First<"commitView"> = {
  id: commit,
  parents: [],
  author: "A <a@example.invalid>",
  committedAt: at,
  subject: "work",
  isCutOff: false,
  trailers: {},
};
const landingStory: First<"landingStoryView"> = {
  merge: commit,
  entry,
  agent,
  task: task.task,
  messages: [
    {
      seq: 1,
      id: "m-1",
      runId: "run-1",
      fromAgent: "lead",
      fromAgentId: null,
      turnId: null,
      address: "b1",
      subject: "s",
      body: "b",
      type: "dispatch",
      priority: "normal",
      threadId: "m-1",
      replyTo: null,
      payload: null,
      blobPath: null,
      dedupeKey: null,
      hop: 0,
      expectsReply: false,
      verified: true,
      createdAt: at,
    },
  ],
  turn: ranTurn,
  calls: [toolStep],
  receipts: [{ receipt, results: [gateResult] }],
};
const bareStory: First<"landingStoryView"> = {
  ...landingStory,
  agent: null,
  task: null,
  turn: null,
  calls: [],
  receipts: [],
};
const unlandedStory: First<"unlandedStoryView"> = { ...landingStory, agent, branch: "overstory/b1/t" };
const bareUnlanded: First<"unlandedStoryView"> = { ...unlandedStory, task: null, turn: null, calls: [], receipts: [] };
const bareEntry: First<"entryView"> = {
  ...entry,
  id: null,
  taskId: null,
  agentName: null,
  runId: null,
  tier: null,
  strategy: null,
  verdict: null,
  notBefore: 0,
  resultCommit: null,
  cause: null,
  causeDetail: null,
};
const request: Required<MergeOpRequest> = {
  requeue: true,
  runId: "run-1",
  landing: "overstory/integration/main",
  target: "main",
  base: commit,
  dropped: commit,
  tip: "c3",
  onlyIfClean: true,
  cause: "locked",
  removedLocks: [".git/index.lock"],
  members: [{ id: 1, commit, tier: "clean-merge", strategy: "union" }],
  along: [{ id: 2, commit, tier: "clean-merge", strategy: null, head: commit }],
  joined: [{ branch: "overstory/b2/T2", commit, tier: "clean-merge", strategy: null, head: commit }],
  leftOut: [{ id: 3, head: commit }],
  verdict: "verified",
  gaps: ["test was flaky"],
  results: ["gate-1"],
  tree: commit,
  commits: [commit],
};
const operation: MergeOp = {
  seq: 1,
  id: "op-1",
  kind: "land",
  ref: "refs/heads/main",
  beforeCommit: commit,
  afterCommit: commit,
  queueIds: [1],
  actor: "engine",
  status: "intended",
  undoes: "op-0",
  undoneBy: "op-2",
  request,
  problem: "it was locked",
  createdAt: at,
  updatedAt: at,
};
const bareOperation: MergeOp = {
  ...operation,
  beforeCommit: null,
  afterCommit: null,
  undoes: null,
  undoneBy: null,
  request: {},
  problem: null,
};
const attempt = {
  id: "attempt-1",
  trainId: "train-1",
  queueIds: [1],
  baseCommit: commit,
  candidateCommit: commit,
  outcome: "failed",
  gateResults: ["gate-1"],
  startedAt: at,
  finishedAt: at,
  logDir: "logs/merge/1",
} as const;
const standing: First<"entryDetailView">["standing"] = { why: "lands next", isStuck: false, can: ["move"] };
const detail: First<"entryDetailView"> = {
  entry,
  waitsFor: [2],
  place: 1,
  isHeld: false,
  attempts: [attempt, { ...attempt, candidateCommit: null, outcome: null, finishedAt: null, logDir: null }],
  gates: [
    { ...gateResult, on: "entry" },
    { ...gateResult, on: null },
  ],
  receipts: [receipt],
  operations: [operation],
  bringBack: [],
  meantFor: "main",
  promotion: { runId: "run-1", target: null },
  standing,
};
const shownConflicts: First<"conflictsView"> = {
  outlook: "conflicts",
  byHand: { steps: [{ does: "go there", command: "cd ../merge-1" }], busyAgent: "b1", worktree: "/w/b1" },
  entry,
  onto: commit,
  head: commit,
  files: [
    {
      path: "a.ts",
      kind: "content",
      message: "CONFLICT (content): a.ts",
      settledBy: null,
      reason: "both sides changed the same place",
      canTake: true,
      hunks: [
        {
          before: ["a"],
          after: ["b"],
          target: { line: 2, lines: ["t"] },
          base: { line: 2, lines: ["o"] },
          branch: { line: 2, lines: ["n"] },
        },
      ],
      parts: [{ lines: ["a"] }, { hunk: 0 }, { lines: ["b"] }],
      endsWithLine: true,
      notShown: null,
    },
    {
      path: "b.bin",
      kind: "binary",
      message: "CONFLICT (binary): b.bin",
      settledBy: "conflict settled by rule: union",
      reason: null,
      canTake: true,
      hunks: [],
      parts: [],
      endsWithLine: true,
      notShown: "the file is not text",
    },
  ],
  problem: null,
};
const mergeState: First<"mergeStateView"> = {
  mode: "auto",
  gates: ["test"],
  paused: { pausedBy: "operator", reason: null, since: at },
  target: "overstory/integration/main",
  meantFor: "main",
  trains: [
    {
      id: "train-1",
      target: "main",
      baseCommit: commit,
      startedAt: at,
      members: [{ id: 1, branch: "overstory/b1/T1", agentName: "b1", status: "gating" }],
      mostRuns: 3,
      checks: [
        {
          name: "1-train",
          purpose: "train",
          gates: [
            { gate: "lint", status: "passed", log: "gate-1", startedAt: at, durationMs: 5, expectedMs: 5 },
            { gate: "test", status: "queued", log: null, startedAt: null, durationMs: null, expectedMs: null },
          ],
        },
      ],
    },
  ],
  unpromoted: [
    {
      runId: "run-1",
      openRuns: ["run-1"],
      landing: "overstory/integration/main",
      target: "main",
      landings: 2,
      takenOut: 0,
      promoted: "0123abc",
      notTakenIn: 4,
      unverified: ["no gate has checked it"],
      problem: "a.ts is in the way",
      isUnderWay: false,
    },
    {
      runId: null,
      openRuns: [],
      landing: "overstory/integration/main",
      target: "main",
      landings: 2,
      takenOut: 0,
      promoted: null,
      notTakenIn: null,
      unverified: [],
      problem: null,
      isUnderWay: true,
    },
  ],
};
const gateLog: First<"gateLogView"> = {
  id: "gate-1",
  gate: "test",
  status: "failed",
  exitCode: 1,
  durationMs: 5,
  isRunning: false,
  isGone: false,
  parts: [{ text: "1 failed", end: 9 }],
};
const prediction: Required<First<"predictedEntryView">["prediction"]> = {
  predictedTier: "auto-resolve",
  conflictFiles: ["a.ts"],
  wouldRequireAgent: true,
  reason: "both sides changed a.ts",
  strategy: "union",
  cause: "conflict",
  gatesLikely: ["test"],
};
const result: First<"mergeResultView"> = {
  entry,
  success: false,
  tier: "auto-resolve",
  conflictFiles: ["a.ts"],
  errorMessage: "a.ts conflicts",
  warnings: ["test was flaky"],
  meantFor: "main",
  promotion: { runId: null, target: null },
};
const fineResult = { ...result, success: true, errorMessage: null, meantFor: null };

const worktree = {
  agentName: "b1",
  generation: 1,
  path: "/p/w",
  branch: "overstory/b1/T1",
  kind: "linked",
  baseCommit: commit,
} as const;
const surveyed: First<"worktreeView"> = {
  worktree,
  owner: { agent, incarnations: [], parentLives: true, liveChildren: [], targets: [], waitingMerge: null },
  head: commit,
  exists: true,
  names: [],
  words: [],
};
const snapshot: First<"snapshotDetailView"> = {
  name: "snap/b1/1/1",
  ref: "refs/overstory/snap/b1/1/1",
  commit,
  agentName: "b1",
  createdAt: at,
  reason: "turn",
  skipped: ["big.bin"],
  onTop: commit,
  uncommitted: [{ path: "a.ts", status: "M" }],
  files: [{ path: "a.ts", status: "M" }],
  inSubmodules: ["lib/a.ts"],
  trash: ["trash/1"],
};
const plan: First<"cleanPlanView"> = {
  agent: "b1",
  agentId: "agent-1",
  plannedAt: at,
  live: ["b2"],
  worktrees: [
    {
      worktree: surveyed.worktree,
      verdict: { class: "dirty", reason: "", next: null },
      landed: false,
      exists: true,
      names: surveyed.names,
      tip: commit,
      agentId: "agent-1",
      incarnations: ["agent-1"],
    },
  ],
  keptWorktrees: [keptWorktree],
  branches: [{ branch: "overstory/b1/T1", tip: commit }],
  keptBranches: [{ branch: "overstory/b2/T2", reason: "it landed nowhere", next: "--force" }],
  messages: 1,
  usage: 1,
  events: 1,
  sessions: ["b1"],
  endRuns: [{ runId: "run-1", open: ["task T1 is open: one"] }],
  dirs: [{ target: "logs", dir: "logs", entries: 1, backUp: false }],
  rescues: [kept],
  emptiesTrash: false,
  force: false,
};
const cleanReport: Given<"cleanReportView">[1] = {
  backup: { name: "1", path: "backups/1" },
  worktrees: [removed],
  keptWorktrees: [keptWorktree],
  branchesDeleted: ["overstory/b1/T1"],
  problems: ["one file stayed"],
  messages: 1,
  usage: 1,
  events: 1,
  released: ["b1"],
  runs: ["run-1"],
  dirs: plan.dirs,
  rescuesDeleted: 1,
};

const demo: First<"demoView"> = {
  complete: false,
  interrupted: true,
  root: "/p",
  kept: true,
  seed: 7,
  agents: 6,
  turns: 12,
  messages: 20,
  landed: ["overstory/b1/T1"],
  tasksClosed: 4,
  tasksOpen: [],
  gateRuns: 5,
  conflicts: [{ branch: "overstory/b2/T2", strategy: "union" }],
  recovered: ["b3"],
  reviewsFailed: 1,
  caughtByGates: ["overstory/b4/T4"],
  testsGreen: true,
  promoted: true,
  durationMs: 5000,
};

const overviewDetails = new Map([["b1", { name: "b1", logsDir: "/p/logs/b1", sentAt: at, receivedAt: null }]]);

const overview: First<"overviewView"> = {
  bookedTurns: 1,
  missingTargets: [{ target: "main", runId: "run-1" }],
  run,
  endedLeader: { runId: "run-1", coordinatorName: "coordinator", capability: "coordinator" },
  criteria: [criterion, bareCriterion],
  lastReview,
  otherRuns: [
    { run, liveAgents: 1, endedLeader: null, waiting: 1 },
    {
      run: bareRun,
      liveAgents: 1,
      endedLeader: { runId: "run-9", coordinatorName: "lead-9", capability: "lead" },
      waiting: 1,
    },
  ],
  agents: [inFleet],
  unreadMailCount: 1,
  unreadMailScope: "operator",
  openMerges: 1,
  approvals: [1],
  failedMerges: [2],
  blockedMerges: [blocked],
  mergeTroubles: ["promote: locked"],
  mergePause: { pausedBy: "operator", reason: "release day", since: at },
  unpromoted: [
    {
      runId: "run-1",
      openRuns: ["run-1"],
      landing: "l",
      target: "main",
      landings: 1,
      takenOut: 0,
      promoted: "0123abc",
      notTakenIn: 3,
      unverified: ["no gate"],
    },
    {
      runId: null,
      openRuns: [],
      landing: "l",
      target: "main",
      landings: 1,
      takenOut: 0,
      promoted: null,
      notTakenIn: null,
      unverified: [],
    },
  ],
  unhanded: [{ agentName: "b1", branch: "overstory/b1/T1" }],
  decisions: [decision],
  questions: [question],
  fullDisk: "the disk is full",
};
const spent: First<"costTotalsView"> = {
  turns: 2,
  untold: 0,
  unpriced: 1,
  input: 10,
  output: 20,
  cacheRead: 30,
  cacheWrite: 40,
  costMicros: 1_500_000,
  durationMs: 60_000,
};
const nothingKnown: First<"costTotalsView"> = { ...spent, untold: 2, unpriced: 2 };
const costSeries: First<"costSeriesView"> = {
  by: "agent",
  from: at,
  to: at,
  times: [at],
  series: [{ key: "b1", micros: [1_500_000] }],
  rows: [{ key: "b1", totals: spent, share: 12.5, landed: 2 }],
  totals: spent,
  coordinationShare: 31.5,
  rate: { microsPerHour: 3_100_000, overMs: 3_600_000 },
  limit: { scope: "run", subject: "run-1", limitUsd: 40, spentUsd: 14, percent: 35, reachedAt: at },
};
const bareCostSeries: First<"costSeriesView"> = {
  ...costSeries,
  series: [{ key: null, micros: [0] }],
  rows: [{ key: "b1", totals: nothingKnown, share: null, landed: null }],
  coordinationShare: null,
  rate: null,
  limit: null,
};
const sessionCost: First<"sessionCostView"> = {
  sessionId: "agent-1",
  agentName: "b1",
  generation: 1,
  status: "done",
  capability: "builder",
  runtime: "claude",
  model: "claude-opus-4-5",
  taskId: "T1",
  runId: "run-1",
  parentAgent: "lead",
  state: "completed",
  outcome: "done",
  startedAt: at,
  completedAt: at,
  durationMs: 1000,
  exitCode: 0,
  gates: "success",
  verdict: "verified",
  mergeTier: "clean-merge",
  costSource: "reported",
  totals: spent,
  limitUsd: 20,
  usedPercent: 7,
};
const bareSessionCost: First<"sessionCostView"> = {
  ...sessionCost,
  model: null,
  taskId: null,
  runId: null,
  parentAgent: null,
  state: null,
  outcome: null,
  completedAt: null,
  exitCode: null,
  gates: null,
  verdict: null,
  mergeTier: null,
  totals: nothingKnown,
  limitUsd: null,
  usedPercent: null,
};
const costGroup: First<"costGroupView"> = {
  key: "b1",
  totals: spent,
  firstAt: at,
  lastAt: at,
  limitUsd: 20,
  usedPercent: 7,
};
const bareCostGroup = { ...costGroup, totals: nothingKnown, limitUsd: null, usedPercent: null };
const liveCost: First<"liveCostView"> = {
  agentName: "b1",
  capability: "builder",
  runtime: "claude",
  model: "claude-opus-4-5",
  taskId: "T1",
  runId: "run-1",
  startedAt: at,
  totals: spent,
  knownAt: at,
  elapsedMs: 1000,
};
const bareLiveCost = { ...liveCost, model: null, taskId: null, totals: nothingKnown, knownAt: null };
const ownSession = {
  path: "/home/me/.claude/projects/-p/s1.jsonl",
  sessionId: "s1",
  model: "claude-opus-4-5",
  tokens: { input: 10, output: 20, cacheRead: 30, cacheWrite: 40 },
  costUsd: 1.5,
};
const budget: First<"budgetView"> = {
  scope: "run",
  subject: "run-1",
  unit: "usd",
  limit: 20,
  raised: 0,
  spent: 1,
  reserved: 1,
  percent: 5,
  reported: true,
  unpriced: 0,
  parked: ["b1"],
};
const engine: First<"engineView"> = {
  running: true,
  answers: true,
  pid: 7,
  socket: "/run/s",
  version: "1.0.0",
  uptimeMs: 1,
  log: "logs/engine.log",
  fullDisk: "the disk is full",
  runningTurns: 1,
  queuedTurns: 1,
  runningChecks: 1,
  waitingChecks: 1,
};
const work: First<"agentWorkView"> = {
  agentName: "b1",
  branch: "overstory/b1/T1",
  base: commit,
  head: commit,
  uncommitted: true,
  worktreeGone: true,
  patch: "+a",
  skipped: ["big.bin"],
};
const branchWork: First<"branchWorkView"> = {
  branch: "overstory/integration/main",
  against: "main",
  head: commit,
  patch: "+a",
};
const part = { updated: true };
const updated: First<"updateView"> = {
  dryRun: false,
  agentDefs: { updated: ["builder.md"], unchanged: ["lead.md"] },
  manifest: part,
  hooks: part,
  gitignore: part,
  readme: part,
  instructions: part,
  written: ["README.md"],
  kept: [{ part: "readme", path: "README.md", state: "edited", why: "was edited", replaceable: true }],
  backups: ["README.md.bak"],
};
const prompt = { role: "builder", state: "replaced", added: false, text: "build" } as const;

const denial = {
  event: 412,
  at: 1_700_000_000_000,
  agentName: "b1",
  turnId: "turn-1",
  tool: "Bash",
  summary: "git add -A && git push",
  ruleId: "git-push",
  of: "git push",
  reason: "branches leave this machine by the operator alone",
  means: "what the rule is about",
  instead: "what to do",
} as const;
const untold = { summary: null, of: null, reason: null } as const;

const runtime: First<"runtimeView"> = {
  id: "claude",
  file: null,
  program: "claude",
  guarded: true,
  usedFor: ["builder"],
  environment: ["ANTHROPIC_*"],
  drivers: [
    { id: "stream-json", resume: true, terminal: true, costLimit: true, tokens: "answer", tools: true, steer: false },
  ],
  advice: {},
};

const listener = {
  host: "127.0.0.1",
  port: 4040,
  strictPort: false,
  owner: null,
  boundPort: 4040,
  problem: null,
  askedAt: at,
} as const;
const services: First<"servicesView"> = {
  engine,
  merge: { mode: "auto", open: 1, since: at },
  watchdog: {
    staleThresholdMs: 1,
    zombieThresholdMs: 2,
    nudgeIntervalMs: 3,
    maxEscalationLevel: 3,
    notifyParentOnDeath: true,
    watched: 2,
    stalled: 1,
  },
  listener,
  sessions: 1,
  tokens: 1,
};
const span = {
  kind: "turn",
  from: at,
  to: at,
  turnId: "turn-1",
  words: "by mail",
  failed: true,
  costMicros: 12,
} as const;
const openSpan = { ...span, kind: "waiting", to: null, turnId: null, failed: false, costMicros: null } as const;
const spanRow = (of: Agent, one: First<"runSpansView">["rows"][number]["spans"][number]) => ({
  agent: of,
  spans: [one],
});
const landingMark = { at, kind: "landed", queueId: 7, branch: "overstory/b1/T1" } as const;
const runInTime: First<"runSpansView"> = {
  run,
  range: { from: at, to: at },
  rows: [spanRow(agent, span)],
  merges: [
    {
      attempt: { ...attempt, members: [] },
      entries: [{ id: 7, branch: "overstory/b1/T1", agentName: "b1", status: "merged" }],
    },
  ],
  marks: [landingMark],
  gates: [gateResult],
  idle: [{ from: at, to: at }],
  path: [{ agent: "b1", from: at, to: at }],
};
const noEvents = { event: null, previousAt: null, nextAt: null } as const;
const fleetThen: First<"fleetAtView"> = {
  run,
  at,
  agents: [{ agent, span, doing: { tool: "Bash", summary: "bun test", since: at } }],
  landed: [landingMark],
  totals: spent,
  event: toolEvent,
  previousAt: at,
  nextAt: at,
};
const runInFigures: First<"runFiguresView"> = {
  run,
  durationMs: 65_000,
  agents: 2,
  liveAgents: 1,
  landed: 1,
  reverted: 1,
  failed: 1,
  totals: spent,
  coordinationShare: 31.5,
};

/**
 * For every view what it is given: once with everything filled, and again with everything left out that may be. A view
 * without an example does not compile.
 */
const diffFile: First<"diffFileView"> = {
  path: "b.ts",
  oldPath: "a.ts",
  status: "renamed",
  added: 1,
  removed: 1,
  oldBlob: commit,
  newBlob: commit,
  risks: ["outside its scope"],
  closed: null,
  hunks: [{ oldStart: 1, newStart: 1, heading: "f()", lines: ["-a", "+b"], words: [[0, 1, 2]] }],
};
const closedFile: First<"diffFileView"> = {
  ...diffFile,
  oldPath: null,
  added: null,
  removed: null,
  oldBlob: null,
  newBlob: null,
  closed: "binary",
  hunks: [],
};
const diff: First<"diffView"> = { files: [diffFile, closedFile], added: 1, removed: 1 };
const workSeen = { uncommitted: true, worktreeGone: false, skipped: ["big.bin"] };
const finding = { file: "a.ts", severity: "error", text: "wrong" };
const reviewed: First<"givenReviewView"> = {
  by: "r1",
  at,
  verdict: "fail",
  commit,
  body: "no",
  findings: [{ file: "a.ts", line: 3, severity: "error", text: "wrong" }],
};
const reviewable: First<"reviewDetailView"> = {
  agent,
  branch: "overstory/b1/T1",
  task: task.task,
  head: commit,
  since: at,
  files: 2,
  receipt,
  entry,
  lastReview: reviewed,
  needsOperator: true,
  isReady: true,
  summary: "done",
  gates: [gateResult],
  doubts: ["a doubt"],
  reviews: [reviewed],
  goesTo: { name: "b1", generation: 2 },
};
const bareReviewable: First<"reviewDetailView"> = {
  ...reviewable,
  agent: { ...bare, branch: "overstory/b1/T1" },
  task: undefined,
  head: null,
  files: null,
  receipt: undefined,
  entry: undefined,
  lastReview: undefined,
  summary: null,
};

export const viewExamples: { readonly [Name in ViewName]: readonly Given<Name>[] } = {
  agentView: [[agent], [bare]],
  foundView: [[{ kind: "task", id: "T1", title: "t", status: "open", at }]],
  webAgentView: [[inFleet], [{ ...inFleet, ...noTrouble, agent: bare, waits: [], doing: null }]],
  sinceView: [
    [
      {
        since: at,
        counts: { landed: 1, undone: 0, closed: 0, failed: 0, asked: 0, decided: 0 },
        costUsd: 4.1,
        news: [{ kind: "landed", at, sentence: "b1 landed", subject: "merge:1" }],
      },
    ],
    [
      {
        since: at,
        counts: { landed: 0, undone: 0, closed: 0, failed: 0, asked: 0, decided: 0 },
        costUsd: null,
        news: [],
      },
    ],
  ],
  runPlanView: [
    [
      {
        target: "main",
        gathers: true,
        runtime: "claude",
        otherRuntimes: [{ capability: "reviewer", runtime: "codex" }],
        gates: ["bun test"],
        unverified: "wait",
        budgetUsd: 0,
        maxConcurrent: 5,
        maxAgents: 0,
        advice: ["one agent is enough"],
      },
    ],
  ],
  startedRunView: [
    [
      {
        agentName: "coordinator",
        agentId: "agent-1",
        generation: 1,
        capability: "coordinator",
        runId: "run-1",
        runtime: "claude",
        objective: "Replace cookies",
        targetBranch: "main",
        warnings: ["x"],
      },
    ],
    [
      {
        agentName: "coordinator",
        agentId: "agent-1",
        generation: 1,
        capability: "coordinator",
        runId: "run-1",
        runtime: "claude",
        objective: null,
        targetBranch: null,
        warnings: [],
      },
    ],
  ],
  stoppedRunView: [
    [
      {
        agentName: "coordinator",
        runId: "run-1",
        runCompleted: true,
        leftOpen: ["task T1 is open"],
        workersStopped: ["b1"],
        workersLeft: ["b2"],
        unpromoted: "overstory/integration/run-1",
      },
    ],
    [
      {
        agentName: "coordinator",
        runId: "run-1",
        runCompleted: false,
        leftOpen: [],
        workersStopped: [],
        workersLeft: [],
        unpromoted: null,
      },
    ],
  ],
  budgetSoonView: [
    [
      {
        scope: "run",
        subject: "run-1",
        unit: "usd",
        limit: 10_000_000,
        spent: 8_500_000,
        percent: 85,
        sentence: "run run-1 has used at least 85 % of $10.00",
        details: "$8.50 of $10.00 (85 %) spent.",
        agents: ["b1"],
        since: at,
        command: "ov budget raise run run-1 usd <amount>",
      },
    ],
  ],
  collisionView: [
    [
      {
        agents: ["b1", "b2"],
        branches: ["overstory/b1/t", "overstory/b2/t"],
        runId: "run-1",
        files: ["a.ts"],
        since: at,
      },
    ],
  ],
  attentionView: [[needed], [{ ...needed, kind: "decision", options: ["yes"], details: null, since: 0 }]],
  fleetAgentView: [[inFleet], [{ ...inFleet, ...noTrouble, agent: bare }]],
  headView: [[head], [{ ...head, agent: bare, pid: null, run: null, trouble: noTrouble }]],
  runAgentView: [
    [{ agent, durationMs: 65_000, turns: [{ id: "turn-1", status: "settled", startedAt: at, endedAt: at }] }],
    [{ agent: bare, durationMs: 1, turns: [{ id: "turn-1", status: "running", startedAt: at, endedAt: null }] }],
  ],
  troubledAgentView: [[{ agent, ...trouble, lastTurnId: "turn-1" }], [{ agent: bare, ...noTrouble, lastTurnId: null }]],
  notifyTestView: [
    [
      {
        results: [
          { channel: "command", problem: null },
          { channel: "webhook", problem: "p" },
        ],
        unavailable: ["u"],
        bell: true,
      },
    ],
  ],
  seatView: [[seat], [{ ...seat, coordinatorName: null, targetBranch: null }]],
  waitedSeatView: [
    [seat, agent],
    [{ ...seat, coordinatorName: null, targetBranch: null }, bare],
  ],
  startedHeadView: [[started], [{ ...started, objective: null, targetBranch: null }]],
  stoppedAgentView: [
    [stopped, { force: true, cleaned: cleanedWorktrees }],
    [
      { ...stopped, agentName: "b2" },
      { force: true, cleaned: cleanedWorktrees },
    ],
  ],
  endedRunView: [
    [
      {
        runId: "run-1",
        status: "completed",
        open: [{ kind: "task", name: "T1", what: "task T1 is open: one", fix: "ov task drop T1" }],
        review: "nobody has read all of it",
      },
    ],
    [{ runId: "run-1", status: "completed", open: [], review: null }],
  ],
  ledRunView: [[{ runId: "run-1", coordinatorName: "coordinator", capability: "coordinator" }]],
  stoppedHeadView: [
    [
      {
        agentId: "agent-0",
        agentName: "coordinator",
        runId: "run-1",
        runCompleted: true,
        monitorStopped: false,
        workers: "leave",
        workersStopped: ["b1"],
        workersLeft: ["b2"],
        leftOpen: ["task T1 is open: one"],
        unhanded: [{ agentName: "b1", branch: "overstory/b1/T1" }],
      },
    ],
  ],
  pausedAgentsView: [[{ paused: ["b1"], alreadyPaused: ["b2"], running: ["b1"] }]],
  resumedAgentsView: [
    [
      {
        resumed: ["b1"],
        unchanged: ["b2"],
        waiting: [
          { name: "b2", reason: "paused by lead", until: at, next: "ov resume b2" },
          { name: "b3", reason: "paused by lead", until: null, next: null },
        ],
        queued: ["b1"],
      },
    ],
  ],
  releasedAgentsView: [[{ agentName: "b1", alreadyReleased: false, released: ["b1"] }]],
  attachedAgentView: [
    [
      {
        agentName: "b1",
        generation: 1,
        reopened: false,
        interrupted: false,
        exitCode: 1,
        signal: "SIGINT",
        ended: "stopped",
      },
    ],
    [
      {
        agentName: "b1",
        generation: 1,
        reopened: false,
        interrupted: false,
        exitCode: null,
        signal: null,
        ended: null,
      },
    ],
  ],
  nudgeView: [
    [{ agentName: "b1", delivered: true, queued: true, reason: "it is paused", messageId: "m-1" }],
    [{ agentName: "b1", delivered: true, queued: true, reason: null, messageId: null }],
  ],
  messageView: [[message], [{ ...bareMessage, capability: null }], [bareMessage]],
  inboxView: [[{ messages: [message], remaining: 1 }], [{ messages: [], remaining: 0 }]],
  deliveryView: [[delivery], [bareDelivery]],
  turnReasonsView: [
    [
      {
        agentName: "b1",
        turns: [
          {
            id: "turn-1",
            status: "settled",
            trigger: "nudge",
            queuedAt: at,
            startedAt: at,
            because: ["it was resumed"],
          },
          { id: "turn-2", status: "queued", trigger: "mail", queuedAt: at, startedAt: null, because: [] },
        ],
      },
    ],
  ],
  deadLetterView: [[{ message, delivery }], [{ message: bareMessage, delivery: bareDelivery }]],
  threadView: [
    [
      {
        id: "m-1",
        subject: "Cookies?",
        newest: message,
        messages: 2,
        asks: "decision",
        dead: [{ messageId: "m-1", to: "b1", attempts: 5, error: "it crashed" }],
        seen: true,
        away: false,
      },
    ],
    [
      {
        id: "m-1",
        subject: "",
        newest: bareMessage,
        messages: 1,
        asks: null,
        dead: [{ messageId: "m-1", to: "b1", attempts: 1, error: null }],
        seen: false,
        away: true,
      },
    ],
  ],
  letterView: [
    [{ message, deliveries: [delivery], seen: true, asks: { kind: "decision", options: ["a"] } }],
    [{ message: bareMessage, deliveries: [bareDelivery], seen: false, asks: null }],
  ],
  webSentView: [[sent], [{ ...sent, id: null, group: false, duplicate: false, warnings: [] }]],
  sentView: [[sent], [{ ...sent, id: null, group: false, duplicate: false, warnings: [] }]],
  decisionView: [[decision], [{ ...decision, deadline: null, runId: null }]],
  questionView: [[question], [{ ...question, runId: null }]],
  decidedView: [
    [
      {
        id: "m-2",
        kind: "decision",
        option: "a",
        messageId: "m-4",
        to: "lead",
        woken: ["lead"],
        gone: "b1",
        noLongerLanded: ["overstory/b1/T1"],
      },
    ],
    [{ id: "merge:1", kind: "merge", option: "approve", messageId: null, to: null, woken: [], noLongerLanded: [] }],
  ],
  taskView: [[task], [bareTask]],
  boardTaskView: [[task], [bareTask]],
  closedTaskView: [[{ ...task, ready: [task, bareTask], completedGroups: [group.group] }]],
  droppedTaskView: [
    [
      {
        ...task,
        alreadyDropped: false,
        alsoDropped: ["T2"],
        agents: [stopped],
        kept: [{ agentName: "b1", branch: "overstory/b1/T1", commits: 2, offBranch: 1, uncommitted: true }],
        ready: [task, bareTask],
        completedGroups: [group.group],
        unserved: [2],
        which: "",
        told: ["coordinator"],
      },
    ],
    [
      {
        ...bareTask,
        alreadyDropped: true,
        alsoDropped: [],
        agents: [],
        kept: [{ agentName: "b1", branch: null, commits: 0, offBranch: 0, uncommitted: false }],
        ready: [],
        completedGroups: [],
        unserved: [],
        which: "",
        told: [],
      },
    ],
  ],
  importedTasksView: [
    [
      {
        created: ["T1"],
        updated: ["T2"],
        unchanged: 1,
        unknownDependencies: [{ taskId: "T1", dependsOn: "T9" }],
        ready: [task],
        completedGroups: [group.group],
      },
    ],
  ],
  groupView: [[group], [bareGroup]],
  groupProgressView: [[group], [bareGroup]],
  specView: [
    [{ taskId: "T1", path: "specs/T1.md", text: "do it", author: "lead", updatedAt: at }],
    [{ taskId: "T1", path: "specs/T1.md", text: "do it", author: null, updatedAt: null }],
  ],
  diffFileView: [[diffFile], [closedFile]],
  diffView: [[diff]],
  agentDiffView: [
    [{ ...diff, agentName: "b1", branch: "overstory/b1/T1", base: commit, head: commit, ...workSeen }],
    [{ ...diff, agentName: "b1", branch: null, base: commit, head: commit, ...workSeen }],
  ],
  comparisonView: [[{ ...diff, base: commit, head: commit }]],
  mergeDiffView: [[{ ...diff, id: 1, branch: "overstory/b1/T1", base: commit, head: commit }]],
  reviewableView: [[reviewable], [bareReviewable]],
  givenReviewView: [[reviewed], [{ ...reviewed, commit: null, findings: [{ ...finding, line: null }] }]],
  reviewDetailView: [[reviewable], [bareReviewable]],
  generationView: [
    [{ agent, turns: [ranTurn] }],
    [{ agent: bare, turns: [{ ...ranTurn, startedAt: null, endedAt: null, failure: null, costMicros: null }] }],
  ],
  outputPartView: [
    [{ turn: ranTurn, lines: ["{}"], from: 3, size: 9, older: 3 }],
    [{ turn: ranTurn, lines: [], from: 0, size: 0, older: null }],
  ],
  gateResultView: [[gateResult], [{ ...gateResult, exitCode: null }]],
  receiptView: [[receipt], [{ ...receipt, baseCommit: null }]],
  evidenceView: [[answer], [bareAnswer]],
  checkView: [[check], [bareCheck]],
  checkAnswerView: [
    [answer, { attached: true }],
    [bareAnswer, { attached: false }],
  ],
  openCheckView: [["check-1"]],
  gateLogView: [
    [gateLog],
    [{ ...gateLog, status: null, exitCode: null, durationMs: null, isRunning: true, parts: [] }],
  ],
  gateLogPartView: [[{ text: "1 failed", end: 9 }]],
  entryView: [[entry], [bareEntry]],
  queuedEntryView: [
    [{ entry, waitsFor: [2], place: 1, isHeld: false }],
    [{ entry, waitsFor: [], place: null, isHeld: true }],
  ],
  watchedEntryView: [
    [{ entry, waitsFor: [2], place: 1, isHeld: false, title: "Token store", standing, isBack: true, rank: 1 }],
    [{ entry, waitsFor: [], place: null, isHeld: true, title: null, standing, isBack: false, rank: 0 }],
  ],
  waitingEntryView: [[{ view: { entry, waitsFor: [2], place: null, isHeld: false }, why: "waits for #2" }]],
  addedEntryView: [[{ entry, added: true }]],
  predictedEntryView: [
    [{ entry, prediction }],
    [{ entry: bareEntry, prediction: { ...prediction, strategy: null, cause: null } }],
  ],
  queuePlanView: [
    [
      {
        predicted: [{ entry, prediction }],
        waiting: [{ merge: { entry, waitsFor: [2], place: null, isHeld: false }, why: null }],
      },
    ],
  ],
  entryDetailView: [[detail], [{ ...detail, meantFor: null }]],
  conflictsView: [
    [shownConflicts],
    [
      {
        ...shownConflicts,
        onto: null,
        head: null,
        files: [],
        problem: "broken",
        byHand: { steps: [], busyAgent: null, worktree: null },
      },
    ],
  ],
  mergeStateView: [[mergeState], [{ ...mergeState, meantFor: null, trains: [], unpromoted: [] }]],
  entryPatchView: [[entry, "+a"]],
  mergeResultView: [[result], [fineResult]],
  mergeResultsView: [[[result, fineResult]]],
  operationView: [
    [operation, [entry]],
    [bareOperation, []],
  ],
  undoPlanView: [
    [{ op: operation, entries: [entry], whole: true, promoted: "main", later: 1 }],
    [{ op: operation, entries: [], whole: false, promoted: null, later: 0 }],
  ],
  lostLandingView: [[{ branch: "overstory/b1/T1", opId: "op-1", head: commit, commit, hasBranch: true }]],
  radarView: [
    [
      {
        branches: [
          { branch: "a", commit, agentName: "b1", landsOn: "main", moved: true },
          { branch: "main", commit, agentName: null, landsOn: "main", moved: false },
        ],
        pairs: [{ a: "a", b: "main", ours: commit, theirs: commit, outcome: null, files: ["a.ts"] }],
      },
    ],
  ],
  pauseView: [[{ pausedBy: "operator", reason: "release day", since: at }], [null]],
  mergesView: [[runDetail.merges], [{ pending: 0, approvals: [], failed: [], blocked: [] }]],
  criterionView: [[criterion], [bareCriterion]],
  checklistView: [[checklist]],
  changedRunView: [
    [{ ...checklist, changed: true, criterion: 3, withdraws: false, earlier: [], told: "coordinator" }],
    [{ ...checklist, changed: false, criterion: null, withdraws: false, earlier: [], told: null }],
  ],
  runChangeView: [[runChange], [{ ...runChange, criterion: null, wordsBefore: null }]],
  exitCheckView: [
    [
      {
        complete: false,
        triggers: {
          allAgentsDone: { enabled: true, met: false, detail: "b1 works" },
          taskTrackerEmpty: { enabled: false, met: true, detail: "" },
          onShutdownSignal: { enabled: false, met: false, detail: "" },
        },
        failures: [{ name: "b1", capability: "builder", outcome: "crashed" }],
        runId: "run-1",
        agentName: "coordinator",
        open: [{ kind: "task", name: "T1", what: "task T1 is open", fix: "ov sling T1" }],
        byOperator: true,
        which: "",
      },
    ],
  ],
  openEndView: [[{ kind: "criterion", name: "2", what: "criterion 2 has no proof", fix: "show it" }]],
  runView: [[runDetail], [{ ...runDetail, run: bareRun, coordinatorId: null, lastReview: null }]],
  overviewView: [
    [overview, { pid: 7, socket: "/run/s", version: "1.0.0" }],
    [{ ...overview, run: null, missingTargets: [], fullDisk: null, details: overviewDetails }, undefined],
  ],
  setUpView: [
    [
      {
        report: {
          status: "initialized",
          project: "app",
          isAdopted: false,
          root: "/p",
          canonicalBranch: "main",
          runtime: "claude",
          gates: [{ name: "Tests", command: "npm test", description: "all tests", from: "package.json" }],
          created: [".overstory/config.yaml"],
          unchanged: [".gitignore"],
          backups: [".overstory/config.yaml.bak"],
          putAside: null,
          committed: true,
          committedFiles: [".overstory/config.yaml"],
          committedOn: "main",
          warnings: ["no runtime was found"],
        },
        setup: { command: "npm ci", from: "package-lock.json", taken: true },
        unusableGates: [{ name: "Lint", command: "lint", why: "there is no program lint", removed: false }],
        unconfirmed: [{ name: "lfs", kind: "filter", standing: "confirmed", runs: ["git-lfs"], needed: true }],
      },
    ],
    [
      {
        report: {
          status: "already_initialized",
          project: "app",
          isAdopted: false,
          root: "/p",
          canonicalBranch: "main",
          runtime: "claude",
          gates: [],
          created: [],
          unchanged: [],
          backups: [],
          putAside: null,
          committed: false,
          committedFiles: [],
          committedOn: null,
          warnings: [],
        },
        setup: undefined,
        unusableGates: [],
        unconfirmed: [],
      },
    ],
  ],
  demoView: [[{ ...demo, tasksOpen: ["T5"] }], [{ ...demo, complete: true }]],
  idleReportView: [
    [{ ending: "idle", runningTurns: 0, queuedTurns: 0, runningChecks: 0, waitingChecks: 0, blocked: [] }],
  ],
  adviceView: [
    [
      {
        verdict: "parallel",
        openTasks: 3,
        readyTasks: ["T1"],
        criticalPath: ["T1", "T2"],
        width: 2,
        clusters: [{ tasks: ["T1", "T3"], file: "a.ts" }],
        withoutFiles: ["T2"],
        builders: 2,
        roundsAlone: 3,
        rounds: 2,
      },
      ["Two builders would be faster."],
    ],
  ],
  worktreeView: [
    [surveyed, entry],
    [{ ...surveyed, owner: undefined, head: null }, undefined],
  ],
  agentWorkView: [
    [work, [{ path: "a.ts", added: 1, removed: 1 }], { patch: true }],
    [{ ...work, branch: null }, [], { patch: false }],
  ],
  branchWorkView: [
    [branchWork, [{ path: "a.ts", added: 1, removed: 1 }], { patch: true }],
    [branchWork, [], { patch: false }],
  ],
  changedFileView: [[{ path: "a.ts", added: 1, removed: 1 }]],
  cleanedWorktreesView: [[cleanedWorktrees]],
  cleanPlanView: [[plan]],
  emptyCleanView: [[plan]],
  restoredCleanView: [
    [{ name: "1", refs: ["refs/heads/overstory/b1/T1"], rows: 1, files: ["logs/b1"], putAside: null }],
  ],
  cleanReportView: [
    [plan, cleanReport],
    [{ ...plan, agent: undefined }, cleanReport],
  ],
  snapshotView: [[snapshot], [{ ...snapshot, reason: null }]],
  snapshotDetailView: [[snapshot], [{ ...snapshot, reason: null, onTop: null }]],
  restoredSnapshotView: [
    [{ ...snapshot, dir: "/tmp/x", branch: "back", files: 1 }],
    [{ ...snapshot, dir: null, branch: null, files: 1 }],
  ],
  configKeyView: [
    [
      {
        key: "merge.mode",
        value: "train",
        default: "train",
        defaultIs: "the mode",
        type: "string",
        takes: "a mode",
        choices: ["train"],
        min: 1,
        max: 2,
        doc: "How it merges",
        origin: "default",
        variable: "OVERSTORY_MERGE_MODE",
      },
    ],
    [
      {
        key: "merge.mode",
        value: undefined,
        default: undefined,
        type: "string",
        takes: "a mode",
        doc: "How it merges",
        origin: "default",
        variable: "OVERSTORY_MERGE_MODE",
      },
    ],
  ],
  savedConfigView: [[{ file: "config.yaml", isWritten: true, keys: [] }]],
  servicesView: [
    [services],
    [{ ...services, merge: { ...services.merge, since: null }, listener: null }],
    [{ ...services, listener: { ...listener, boundPort: null, problem: "the port is taken" } }],
  ],
  webKeyView: [[{ id: "key-1", kind: "token", role: "viewer", createdAt: at, expiresAt: at, usedAt: at }]],
  issuedKeyView: [[{ id: "key-1", secret: "s", role: "viewer", expiresAt: at }]],
  auditEntryView: [[{ seq: 1, caller: "operator", action: "stop", refused: false, detail: "{}", createdAt: at }]],
  runSpansView: [[runInTime], [{ ...runInTime, run: bareRun, rows: [spanRow(bare, openSpan)] }]],
  fleetAtView: [
    [fleetThen],
    [{ ...fleetThen, agents: [{ agent: bare, span: null, doing: null }], totals: nothingKnown, ...noEvents }],
  ],
  runFiguresView: [[runInFigures], [{ ...runInFigures, run: bareRun, totals: nothingKnown, coordinationShare: null }]],
  priceView: [
    [{ model: "m", source: "built-in", from: null, input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cacheWrite1h: 5 }],
  ],
  costTotalsView: [[spent], [nothingKnown]],
  sessionCostView: [[sessionCost], [bareSessionCost]],
  costSeriesView: [
    [costSeries],
    [bareCostSeries],
    [{ ...costSeries, limit: costSeries.limit === null ? null : { ...costSeries.limit, reachedAt: null } }],
  ],
  costGroupView: [[costGroup], [bareCostGroup]],
  costGroupsView: [[[costGroup]], [[]]],
  liveCostView: [[liveCost], [bareLiveCost]],
  liveCostsView: [
    [{ agents: [liveCost], totals: spent, usdPerMinute: 0.5, tokensPerMinute: 100 }],
    [{ agents: [], totals: nothingKnown, usdPerMinute: null, tokensPerMinute: null }],
  ],
  ownSessionView: [[ownSession], [{ ...ownSession, model: null, costUsd: null }]],
  metricsView: [
    [
      {
        sessions: [sessionCost],
        total: 1,
        completed: 1,
        averageDurationMs: 1000,
        mergeTiers: { "clean-merge": 1 },
        gates: { success: 1 },
        byCapability: [{ capability: "builder", total: 1, completed: 1, averageDurationMs: null }],
        totals: spent,
      },
    ],
    [
      {
        sessions: [],
        total: 0,
        completed: 0,
        averageDurationMs: null,
        mergeTiers: {},
        gates: {},
        byCapability: [],
        totals: nothingKnown,
      },
    ],
  ],
  budgetView: [[budget], [{ ...budget, limit: null, percent: null }]],
  raisedBudgetView: [[{ ...budget, limit: 20, resumed: ["b1"], parked: ["b2"], exhausted: false }]],
  engineView: [
    [engine],
    [{ ...engine, answers: null, pid: null, socket: null, version: null, uptimeMs: null, log: null, fullDisk: null }],
  ],
  startedEngineView: [[{ pid: 7, started: true }]],
  stoppedEngineView: [
    [{ wasRunning: true, stopped: true, pid: 7, runningTurns: 1, queuedTurns: 1, runningChecks: 1, waitingChecks: 1 }],
    [
      {
        wasRunning: false,
        stopped: true,
        pid: null,
        runningTurns: 0,
        queuedTurns: 0,
        runningChecks: 0,
        waitingChecks: 0,
      },
    ],
  ],
  installedEngineView: [
    [{ path: "/u", unit: "overstory.service", text: "[Unit]", written: true, enable: "systemctl --user enable" }],
  ],
  eventView: [[toolEvent], [bareEvent]],
  eventListView: [[{ events: [toolEvent], older: 7, cursor: 9 }], [{ events: [], older: null, cursor: 0 }]],
  agentBriefView: [
    [{ ...brief, identity: inspection.identity, checkpoint, recentTurns: [ranTurn], remembered: [note] }],
    [
      {
        ...brief,
        identity: null,
        checkpoint: null,
        recentTurns: [{ ...ranTurn, startedAt: null, endedAt: null, resultText: "done" }],
        remembered: [{ ...note, agentName: null, taskId: null }],
      },
    ],
  ],
  personBriefView: [
    [
      {
        kind: "person",
        project: { name: "p", canonicalBranch: "main" },
        limits: { maxConcurrent: 1, maxDepth: 1, maxAgentsPerLead: 1, maxSessionsPerRun: 1 },
        run: null,
        liveAgents: 0,
        openTasks: 0,
        readyTasks: 0,
        unread: 0,
        waiting: 0,
        recentRuns: [
          {
            id: "run-1",
            objective: "ship",
            targetBranch: null,
            landingBranch: null,
            coordinatorName: null,
            status: "completed",
            checklist: false,
            startCommit: null,
            startedAt: at,
            completedAt: at,
          },
          {
            id: "run-2",
            objective: null,
            targetBranch: null,
            landingBranch: null,
            coordinatorName: null,
            status: "active",
            checklist: false,
            startCommit: null,
            startedAt: at,
            completedAt: null,
          },
        ],
        remembered: [note],
      },
    ],
  ],
  checkpointView: [[checkpoint], [{ ...checkpoint, taskId: null, turnId: null, branch: null }]],
  inspectionView: [[inspection], [bareInspection]],
  commitView: [[madeCommit]],
  landingStoryView: [[landingStory], [bareStory]],
  unlandedStoryView: [[unlandedStory], [bareUnlanded]],
  explainedLinesView: [
    [{ from: 1, to: 2, text: "x", commit: madeCommit, landing: landingStory, unlanded: null }],
    [{ from: 1, to: 2, text: "x", commit: madeCommit, landing: null, unlanded: unlandedStory }],
    [{ from: 1, to: 2, text: "x", commit: null, landing: null, unlanded: null }],
  ],
  whyView: [
    [
      {
        path: "a.ts",
        branch: "main",
        tip: commit,
        parts: [{ from: 1, to: 2, text: "x", commit: madeCommit, landing: landingStory, unlanded: null }],
        left: 0,
        isChanged: true,
      },
    ],
    [{ path: "a.ts", branch: null, tip: commit, parts: [], left: 0, isChanged: false }],
  ],
  turnStepView: [[toolStep], [openStep], [mailStep]],
  tracedTurnView: [
    [
      {
        turn: ranTurn,
        story: {
          messages: 1,
          steps: [toolStep, mailStep],
          outcome: { end: "failed", reason: "why", agentState: "zombie", agentOutcome: "crashed" },
        },
        tokens,
        isCut: false,
      },
    ],
    [
      {
        turn: { ...ranTurn, startedAt: null, endedAt: null, failure: null, costMicros: null, costSource: null },
        story: { messages: 1, steps: [openStep], outcome: null },
        tokens,
        isCut: true,
      },
    ],
  ],
  errorGroupView: [
    [
      {
        key: "tool_end:no",
        cause: "no",
        count: 2,
        firstAt: at,
        lastAt: at,
        agents: ["b1"],
        example: toolEvent,
        next: "ov logs b1 --turn turn-1",
      },
    ],
  ],
  logLineView: [
    [{ seq: 1, at, agentName: "b1", turnId: "turn-1", level: "info", type: "progress", text: "hello" }],
    [{ seq: 1, at, agentName: null, turnId: null, level: "info", type: "progress", text: "hello" }],
  ],
  promptView: [[{ ...prompt, agent: "b1", version: "builder@1", hash: "1", bytes: 5 }], [{ text: "build" }]],
  updateView: [[updated]],
  importView: [
    [
      {
        dryRun: false,
        parts: [
          {
            part: "messages",
            source: "mail.db messages",
            rows: 3,
            taken: 1,
            before: 1,
            present: 0,
            leftOut: "the project's tasks stay in seeds",
          },
        ],
        problems: [{ where: "mail.db messages row 3", problem: "has no id" }],
        settings: ["logging.verbose has no effect"],
        remarks: ["branches of no agent stay as they are: overstory/x/y"],
      },
    ],
  ],
  hooksView: [[{ path: ".claude/settings.local.json", changed: true }, { installed: true }]],
  comparedPromptView: [
    [
      {
        ...prompt,
        files: { replacement: "agents/builder.md", addition: "agents/builder.add.md" },
        lines: [{ mark: "+", text: "build" }],
      },
    ],
  ],
  explainedDenialView: [[denial], [{ ...denial, agentName: null, turnId: null, tool: null, ...untold }]],
  runtimeView: [[runtime], [{ ...runtime, program: null }]],
  brokenRuntimeView: [
    [
      {
        id: "heron",
        file: ".overstory/runtimes/heron.yaml",
        line: 3,
        column: 7,
        key: "args",
        message: "must be a list",
      },
    ],
  ],
  probedRuntimeView: [
    [
      {
        ...runtime,
        found: { at: "/bin/claude", version: "2.1.0" },
        problem: null,
        login: { kind: "seen", by: "KEY" },
        limit: { runtime: "claude", agent: "b1", seenAt: at, resetAt: at, lasts: true, said: "try again later" },
      },
    ],
    [{ ...runtime, found: null, problem: "claude is not on the PATH", login: { kind: "unknown" }, limit: null }],
  ],
  runtimeFindingView: [
    [{ runtime: "claude", check: "login", level: "bad", says: "not logged in", next: "claude auth login" }],
    [{ runtime: null, check: "committer", level: "ok", says: "git knows who commits", next: null }],
  ],
  programView: [[{ name: "lfs", kind: "filter", standing: "confirmed", runs: ["git-lfs"], needed: true }]],
  doctorCheckView: [
    [doctorCheck],
    [{ ...doctorCheck, status: "pass", affects: null, fix: null, next: null, steps: [] }],
  ],
  examinationView: [[[doctorCheck]]],
  fixView: [[doctorFix], [{ ...doctorFix, why: "the engine owns it" }]],
  fixReportView: [[{ before: [doctorCheck], fixes: [doctorFix], after: [] }]],
  versionsView: [
    [{ program: "1.0.0", engine: "1.0.0", database: 20, newest: 21 }],
    [{ program: "1.0.0", engine: null, database: null, newest: 21 }],
  ],
  companionView: [
    [{ name: "mulch", cli: "ml", version: "0.6.0", isInstalled: true }],
    [{ name: "mulch", cli: "ml", version: null, isInstalled: false }],
  ],
  companionsView: [[[{ name: "mulch", cli: "ml", version: "0.6.0", isInstalled: true }]]],
};
