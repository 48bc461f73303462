import { branchOperations } from "./branches/catalog.ts";
import { completionUseCases } from "./completions/catalog.ts";
import { coordinatorUseCases } from "./coordinators/catalog.ts";
import { demoOperations } from "./demo/catalog.ts";
import { engineOperations } from "./engine/catalog.ts";
import { gateUseCases } from "./gates/catalog.ts";
import { healthUseCases } from "./health/catalog.ts";
import { mergeUseCases } from "./merge/catalog.ts";
import type { Effect, Stream } from "./operation.ts";
import { projectOperations } from "./project/catalog.ts";
import { runUseCases } from "./runs/catalog.ts";
import { trustOperations } from "./trust/catalog.ts";
import type { UseCase } from "./usecase.ts";
import { worktreeOperations } from "./worktrees/catalog.ts";

/** Every operation by name, loaded when called: a command pays only for the one it runs. */
export const catalog = {
  "advise.plan": async () => (await import("./tasks/read-tasks.ts")).advisePlan,
  "agent.sling": async () => (await import("./agents/sling.ts")).sling,
  "agent.plan": async () => (await import("./agents/sling.ts")).drySling,
  "agent.recover": async () => (await import("./agents/recover.ts")).recover,
  "agent.release": async () => (await import("./agents/release-agent.ts")).releaseAgentCommand,
  "agent.stop": async () => (await import("./agents/stop.ts")).stop,
  "agent.requestStop": async () => (await import("./agents/stop.ts")).requestStop,
  "agent.requestStopOfAll": async () => (await import("./agents/stop.ts")).requestStopOfAll,
  "agent.checkStop": async () => (await import("./agents/stop.ts")).checkStop,
  "agent.diff": async () => (await import("./agents/read-agents.ts")).diffAgent,
  "agent.follow": async () => (await import("./agents/read-agents.ts")).followAgent,
  "agent.nudge": async () => (await import("./agents/nudge.ts")).nudgeAgent,
  "agent.pause": async () => (await import("./agents/pause.ts")).pauseAgent,
  "agent.resume": async () => (await import("./agents/pause.ts")).resumeAgent,
  "agent.discover": async () => (await import("./agents/read-agents.ts")).discoverAgents,
  "agent.checkpoint": async () => (await import("./agents/recover.ts")).checkpoint,
  "agent.attach": async () => (await import("./agents/attach.ts")).attach,
  "agent.hold": async () => (await import("./agents/attach.ts")).holdAgent,
  "agent.readAttachment": async () => (await import("./agents/attach.ts")).readAttachment,
  "agent.checkAttach": async () => (await import("./agents/attach.ts")).checkAttach,
  "agent.logs": async () => (await import("./agents/logs.ts")).readLogs,
  "budget.show": async () => (await import("./budgets/show-budgets.ts")).showBudgets,
  "budget.raise": async () => (await import("./budgets/raise-budget.ts")).raiseBudget,
  "config.get": async () => (await import("./config/config.ts")).get,
  "config.set": async () => (await import("./config/config.ts")).set,
  "config.list": async () => (await import("./config/config.ts")).list,
  "config.explain": async () => (await import("./config/config.ts")).explain,
  "config.validate": async () => (await import("./config/config.ts")).validate,
  "event.record": async () => (await import("./hooks/report.ts")).recordHookEvent,
  "group.create": async () => (await import("./groups/change-groups.ts")).createGroup,
  "group.status": async () => (await import("./groups/read-groups.ts")).groupStatus,
  "group.add": async () => (await import("./groups/change-groups.ts")).addMembers,
  "group.remove": async () => (await import("./groups/change-groups.ts")).removeMembers,
  "group.list": async () => (await import("./groups/read-groups.ts")).listGroups,
  "guard.judge": async () => (await import("./guard/judge.ts")).judge,
  "hook.report": async () => (await import("./hooks/report.ts")).reportHook,
  "hook.denied": async () => (await import("./hooks/report.ts")).recordDenial,
  "hooks.install": async () => (await import("./hooks/settings.ts")).install,
  "hooks.uninstall": async () => (await import("./hooks/settings.ts")).uninstall,
  "hooks.status": async () => (await import("./hooks/settings.ts")).status,
  "identity.self": async () => (await import("./identity/caller-rights.ts")).self,
  "identity.tool": async () => (await import("./identity/caller-rights.ts")).mayUseTool,
  "identity.check": async () => (await import("./identity/caller-rights.ts")).checkCaller,
  "identity.requireOperator": async () => (await import("./identity/caller-rights.ts")).requireOperator,
  "identity.mayWrite": async () => (await import("./identity/caller-rights.ts")).mayWrite,
  "mail.send": async () => (await import("./mail/send.ts")).sendMail,
  "mail.reply": async () => (await import("./mail/send.ts")).replyToMail,
  "mail.peek": async () => (await import("./mail/inbox.ts")).peekMail,
  "mail.follow": async () => (await import("./mail/inbox.ts")).followMail,
  "mail.check": async () => (await import("./mail/check.ts")).checkMail,
  "mail.delivered": async () => (await import("./mail/check.ts")).confirmDelivered,
  "mail.list": async () => (await import("./mail/read-mail.ts")).listMail,
  "mail.read": async () => (await import("./mail/read-mail.ts")).readMail,
  "mail.status": async () => (await import("./mail/read-mail.ts")).mailStatus,
  "mail.why": async () => (await import("./mail/read-mail.ts")).whyMail,
  "mail.dead": async () => (await import("./mail/dead-mail.ts")).deadMail,
  "mail.retry": async () => (await import("./mail/dead-mail.ts")).retryMail,
  "mail.purge": async () => (await import("./mail/purge.ts")).purgeMail,
  "operator.inbox": async () => (await import("./operator/inbox.ts")).operatorInbox,
  "operator.decide": async () => (await import("./operator/decide.ts")).decide,
  "prompt.show": async () => (await import("./prompts/prompts.ts")).show,
  "prompt.render": async () => (await import("./prompts/prompts.ts")).render,
  "prompt.compare": async () => (await import("./prompts/prompts.ts")).compare,
  "prompt.begin": async () => (await import("./prompts/prompts.ts")).begin,
  "prompt.showGiven": async () => (await import("./prompts/prompts.ts")).showGiven,
  "prompt.showKept": async () => (await import("./prompts/prompts.ts")).showKept,
  "spec.write": async () => (await import("./specs/specs.ts")).writeSpec,
  "spec.read": async () => (await import("./specs/specs.ts")).readSpec,
  "status.overview": async () => (await import("./status/overview.ts")).overview,
  "status.agent": async () => (await import("./agents/read-agents.ts")).agentDetail,
  "status.values": async () => (await import("./status/values.ts")).values,
  "status.prime": async () => (await import("./status/prime.ts")).prime,
  "task.create": async () => (await import("./tasks/change-tasks.ts")).createTask,
  "task.list": async () => (await import("./tasks/read-tasks.ts")).listTasks,
  "task.show": async () => (await import("./tasks/read-tasks.ts")).showTask,
  "task.ready": async () => (await import("./tasks/read-tasks.ts")).listReady,
  "task.update": async () => (await import("./tasks/change-tasks.ts")).updateTask,
  "task.claim": async () => (await import("./tasks/change-tasks.ts")).claimTask,
  "task.close": async () => (await import("./tasks/close-task.ts")).closeTask,
  "task.reopen": async () => (await import("./tasks/change-tasks.ts")).reopenTask,
  "task.addDependency": async () => (await import("./tasks/dependencies.ts")).addDependency,
  "task.removeDependency": async () => (await import("./tasks/dependencies.ts")).removeDependency,
  "task.import": async () => (await import("./tasks/exchange.ts")).importTasks,
  "task.export": async () => (await import("./tasks/exchange.ts")).exportTasks,
  ...branchOperations,
  ...completionUseCases,
  ...coordinatorUseCases,
  ...demoOperations,
  ...engineOperations,
  ...gateUseCases,
  ...healthUseCases,
  ...mergeUseCases,
  ...projectOperations,
  ...runUseCases,
  ...trustOperations,
  ...worktreeOperations,
};

export type Catalog = typeof catalog;
export type OperationName = keyof Catalog;
type OperationOf<N extends OperationName> = Awaited<ReturnType<Catalog[N]>>;
type Shape<O> =
  O extends UseCase<infer Request, infer Reply>
    ? { readonly request: Request; readonly reply: Reply; readonly item: never }
    : O extends Effect<infer Request, infer Reply>
      ? { readonly request: Request; readonly reply: Reply; readonly item: never }
      : O extends Stream<infer Request, infer Reply, infer Item>
        ? { readonly request: Request; readonly reply: Reply; readonly item: Item }
        : never;
export type RequestOf<N extends OperationName> = Shape<OperationOf<N>>["request"];
export type ReplyOf<N extends OperationName> = Shape<OperationOf<N>>["reply"];
/** The items of a stream while it runs. */
export type ItemOf<N extends OperationName> = Shape<OperationOf<N>>["item"];
/** Operations that tell how far they are. */
export type StreamName = { [N in OperationName]: OperationOf<N> extends { kind: "stream" } ? N : never }[OperationName];

export const isOperationName = (name: string): name is OperationName => Object.hasOwn(catalog, name);

/** An operation whose types its name no longer tells. */
export type AnyOperation = UseCase<unknown, unknown> | AnyEffect;
export type AnyEffect = Effect<unknown, unknown> | Stream<unknown, unknown, unknown>;

/** Loads an operation. Its caller vouches for the request: the catalogue typed it, or its schema was checked. */
export const operationOf = (name: OperationName): Promise<AnyOperation> => catalog[name]() as Promise<AnyOperation>;

/** One transaction, and nothing beyond it. */
export const isUseCase = (operation: AnyOperation): operation is UseCase<unknown, unknown> =>
  operation.kind === "read" || operation.kind === "write";
