/** The file of a test, and a sentence that stands in it once. */
type Proof = readonly [file: string, sentence: string];

const settings = "test/switches/settings.test.ts";
const merging = "test/switches/merge-settings.test.ts";
const slinging = "src/usecases/agents/sling.test.ts";
const watching = "src/engine/watchdog/settings.test.ts";
const train = "src/engine/merge/train/train.test.ts";
const ends = "src/domain/coordination/exit-triggers.test.ts";
const limits = "src/usecases/mail/send-limits.test.ts";
const gates = "src/usecases/gates/run-gates.test.ts";

const spending: Proof = [
  "test/switches/budget-settings.test.ts",
  "budgets.%s.%s keeps a turn from starting once it is spent, and nothing else does",
];
const expecting: Proof = [
  "src/domain/budget/usage.test.ts",
  "a new agent is expected to be like others of its capability, and the first of all as configured",
];
const triggers: Proof = [
  ends,
  "a run is complete when at least one trigger is switched on and all that are switched on are met",
];
const depth: Proof = [settings, "agents.maxDepth and agents.maxAgentsPerLead bound who may be slung below whom"];
const places: Proof = [settings, "worktrees.baseDir and worktree.include say where an agent works"];
const retention: Proof = [
  "test/lifecycle/retention.test.ts",
  "snapshot.retentionDays and mail.retentionDays say how long",
];
const history: Proof = [
  "test/lifecycle/retention.test.ts",
  "history.retentionDays, events.retentionDays and logs.retentionDays say how long",
];
const evidence: Proof = [
  "test/merge/evidence-retention.test.ts",
  "what gates left goes with merge.keepReceiptsDays, merge.keepLogsDays and merge.keepAttemptsDays",
];
const notifying = "test/observe/notifications.test.ts";
const told: Proof = [notifying, "notify.command hears of what comes together once and together, and of nothing twice"];
const sent: Proof = [
  notifying,
  "notify.webhook gets the document, notify.desktop shows it, and notify.timeoutMs bounds",
];
const rates: Proof = [limits, "a sender above its rate is refused with the time to wait, and groups have a rate"];
const models = "test/switches/model-settings.test.ts";
const gateways: Proof = [
  models,
  "providers.* lead agents of Claude Code to a gateway, whose token no other agent gets",
];
const ofPi: Proof = [models, "runtime.pi.provider and runtime.pi.modelMap say what Pi is told of a model"];
const runtimes: Proof = [settings, "runtime.capabilities gives a capability another runtime than runtime.default"];

const sandboxed = "test/sandbox/settings.test.ts";

/** Which test would fail if a key changed nothing. Keys that nothing uses yet are in `src/config/unused-keys.ts`. */
export const actsBecause: Readonly<Record<string, Proof>> = {
  "project.name": ["src/usecases/tasks/tasks.test.ts", 'useCaseWorld({ projectName: "My App" })'],
  "project.canonicalBranch": [settings, "project.canonicalBranch is what a branch lands on that belongs to no run"],
  "project.qualityGates": ["test/merge/team-lands.test.ts", "without a gate a branch waits for one approval"],
  "project.defaultProfile": [
    slinging,
    "project.defaultProfile is the working style of an agent that is slung without one",
  ],
  "logging.redactSecrets": [
    "test/lifecycle/secrets.test.ts",
    "logging.redactSecrets false keeps everything as it came",
  ],
  "sandbox.required": [sandboxed, "sandbox.required refuses agents where the system cannot confine them"],
  "sandbox.readable": [sandboxed, "sandbox.readable shows a hidden file, and sandbox.writable lets agents write one"],
  "sandbox.writable": [sandboxed, "sandbox.readable shows a hidden file, and sandbox.writable lets agents write one"],
  "sandbox.mode": ["test/lifecycle/guard-program.test.ts", "sandbox.mode off takes the guard away, and says so"],
  "taskTracker.backend": [
    "test/team/check-complete.test.ts",
    "counts our own tasks alone when taskTracker.backend is native, though another tracker is there",
  ],
  "coordinator.exitTriggers.allAgentsDone": triggers,
  "coordinator.exitTriggers.taskTrackerEmpty": triggers,
  "coordinator.exitTriggers.onShutdownSignal": triggers,
  "coordinator.requireClean": [ends, "failures are told separately, and keep the run open only when it must be clean"],
  "coordinator.lastReview": [
    "src/usecases/runs/last-review.test.ts",
    "coordinator.lastReview: false ends a run without one",
  ],
  "worktrees.baseDir": places,
  "worktree.include": places,
  "snapshot.maxFileBytes": [settings, "snapshot.maxFileBytes leaves larger files out of a snapshot"],
  "history.retentionDays": history,
  "history.landedDays": [
    "src/engine/retention/table.test.ts",
    "a whole pass takes each row's days from its key, and 0 days are for ever",
  ],
  "events.retentionDays": history,
  "events.maxRows": [
    "src/engine/retention/table.test.ts",
    "events.maxRows lets the oldest events go before their days are over",
  ],
  "logs.retentionDays": history,
  "costs.retentionDays": history,
  "snapshot.retentionDays": retention,

  "agents.baseDir": [settings, "agents.baseDir is where the project's own role texts are read"],
  "agents.maxConcurrent": ["test/lifecycle/admission.test.ts", "five slings under a limit of three turns all finish"],
  "agents.staggerDelayMs": [slinging, "agents.staggerDelayMs lies between the first turns of agents"],
  "agents.maxDepth": depth,
  "agents.maxSessionsPerRun": [
    "test/lifecycle/admission.test.ts",
    "of fifty slings at once into a run with room for five",
  ],
  "agents.maxAgentsPerLead": depth,
  "agents.maxRevivals": [settings, "agents.maxRevivals: %p is how often a submitted agent is reopened"],
  "agents.continuePrompts": ["test/lifecycle/settle.test.ts", 'config: "agents:\\n  continuePrompts: 0\\n"'],
  "engine.idleExitMs": [settings, "engine.idleExitMs is how long an engine without work stays"],
  "engine.maxTurns": [settings, "engine.maxTurns is the number of turns at once over all runs"],
  "engine.mcpHttp": ["test/mcp/http.test.ts", "without being asked to, the engine does not listen"],
  "serve.port": ["test/web/security.test.ts", "serve.port and serve.host are where it listens"],
  "serve.host": ["test/web/security.test.ts", 'hostname: "127.0.0.2"'],
  "serve.allowedHosts": ["test/web/security.test.ts", "serve.allowedHosts are further names of it"],
  "turn.maxSameFailures": ["test/lifecycle/loops.test.ts", "turn.maxSameFailures ends a turn that does the same"],
  "turn.maxDenials": ["test/lifecycle/loops.test.ts", "turn.maxDenials ends a turn whose calls are denied"],
  "turn.toolTimeoutMs": ["test/lifecycle/settle.test.ts", "toolTimeoutMs: 7000"],
  "turn.stallTimeoutMs": ["test/lifecycle/settle.test.ts", '"turn:\\n  stallTimeoutMs: 5000\\n"'],

  "budgets.agent.usd": spending,
  "budgets.agent.tokens": spending,
  "budgets.agent.turns": spending,
  "budgets.agent.minutes": spending,
  "budgets.task.usd": spending,
  "budgets.task.tokens": spending,
  "budgets.task.turns": spending,
  "budgets.task.minutes": spending,
  "budgets.run.usd": spending,
  "budgets.run.tokens": spending,
  "budgets.run.turns": spending,
  "budgets.run.minutes": spending,
  "budgets.day.usd": spending,
  "budgets.day.tokens": spending,
  "budgets.day.turns": spending,
  "budgets.day.minutes": spending,
  "budgets.estimate.usd": expecting,
  "budgets.estimate.tokens": expecting,
  "budgets.estimate.minutes": expecting,

  "mail.wake.*": ["src/usecases/mail/wake.test.ts", "the project's own wake policy is laid over the default"],
  "mail.coalesceMs": ["src/usecases/mail/wake.test.ts", "a child's report waits a moment for its siblings"],
  "mail.maxAttempts": ["src/usecases/mail/follow.test.ts", "dead mail is listed, and tried again for the operator"],
  "mail.leaseMs": [
    "src/usecases/mail/check.test.ts",
    "mail that was taken but never shown is offered again after the lease",
  ],
  "mail.retentionDays": retention,
  "mail.maxBodyBytes": [limits, "a long body is kept whole in a file and delivered as its beginning"],
  "mail.rateLimits.perMinute": rates,
  "mail.rateLimits.broadcastPerMinute": rates,
  "mail.hopLimit": [limits, "two agents that answer each other for ever are stopped by the hop limit"],

  "merge.mode": [
    "src/domain/merge/entry.test.ts",
    '[{ gated: false, unverified: "land", mode: "approve" }, "waiting"]',
  ],
  "merge.unverified": ["src/domain/merge/entry.test.ts", '[{ gated: false, unverified: "land" }, "parent"]'],
  "merge.promote": [
    "test/merge/promote.test.ts",
    "at the end of a run work is taken over by itself where that is wanted",
  ],
  "merge.keepIgnored": [gates, 'await run([gate("Tests", "true")], { keepIgnored: [] });'],
  "merge.gateChanges": [
    "test/merge/gate-changes.test.ts",
    "merge.gateChanges: allow lands it, and the receipt says what it changed",
  ],
  "merge.guarded": ["test/merge/gate-changes.test.ts", "which merge.guarded names"],
  "merge.cache": ["test/merge/kept-directories.test.ts", "merge.cache keeps a build cache, and the receipt says so"],
  "merge.setup": [gates, "dependencies are installed where none were kept, and then kept"],
  "merge.batchSize": ["test/merge/landing.test.ts", "merge: { batchSize: 1 }"],
  "merge.parallelGates": [train, "where only one gate may run at a time the base is not asked about a flaky failure"],
  "merge.maxRebases": [train, "branches(2), { maxRebases: 2 }"],
  "merge.timeoutMs": [
    "test/merge/slow-merge.test.ts",
    "a merge that takes git longer than merge.timeoutMs is a conflict",
  ],
  "merge.baselineFailing": [train, "a project that lands nothing on a broken base keeps the entries for later"],
  "merge.keepRefsDays": ["test/merge/retention.test.ts", "the refs of a landing go when their days are over"],
  "merge.keepLogsDays": evidence,
  "merge.keepReceiptsDays": evidence,
  "merge.keepAttemptsDays": evidence,
  "merge.closeTask": [merging, "merge.closeTask: %p decides whether landing a branch closes its task"],
  "merge.runGitHooks": [merging, "merge.runGitHooks: %p decides whether the project's hooks are asked"],
  "merge.structured.enabled": [merging, "merge.structured.enabled: %p decides whether structure settles a conflict"],
  "merge.generated": ["test/merge/landing.test.ts", "a generated file is made again from what both sides brought"],

  "runtime.default": runtimes,
  "runtime.capabilities.*": runtimes,
  "models.*": [models, "models.* gives a capability its model, before the manifest"],
  "providers.*.type": gateways,
  "providers.*.baseUrl": gateways,
  "providers.*.authTokenEnv": gateways,
  "runtime.fallbackModels.*": gateways,
  "runtime.pi.provider": ofPi,
  "runtime.pi.modelMap.*": ofPi,

  "notify.command": told,
  "notify.debounceMs": told,
  "notify.webhook": sent,
  "notify.desktop": sent,
  "notify.timeoutMs": sent,
  "notify.bell": [
    "src/surfaces/cli/bell.test.ts",
    "notify.bell rings a terminal that follows once for what is told together",
  ],

  "watchdog.tier0Enabled": [watching, "watchdog.tier0Enabled: false switches it off"],
  "watchdog.tier0IntervalMs": [watching, "watchdog.tier0IntervalMs is the time between two ticks, at least"],
  "watchdog.tier2Enabled": ["test/team/coordinator.test.ts", "a monitor is started only where it is switched on"],
  "watchdog.staleThresholdMs": [watching, "watchdog.staleThresholdMs says when an agent is stalled"],
  "watchdog.zombieThresholdMs": [watching, "watchdog.zombieThresholdMs says when it is given up"],
  "watchdog.nudgeIntervalMs": [watching, "watchdog.nudgeIntervalMs says how fast it climbs"],
  "watchdog.maxEscalationLevel": [watching, "watchdog.maxEscalationLevel says on which level it ends"],
  "watchdog.notifyParentOnDeath": [
    watching,
    "watchdog.notifyParentOnDeath: false ends an agent without telling its parent",
  ],
};
