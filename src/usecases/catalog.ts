import { adviseUseCases } from "./advise/catalog.ts";
import { agentUseCases } from "./agents/catalog.ts";
import { budgetUseCases } from "./budgets/catalog.ts";
import { completionUseCases } from "./completions/catalog.ts";
import { coordinatorUseCases } from "./coordinators/catalog.ts";
import { eventUseCases } from "./events/catalog.ts";
import { gateUseCases } from "./gates/catalog.ts";
import { groupUseCases } from "./groups/catalog.ts";
import { healthUseCases } from "./health/catalog.ts";
import { hookUseCases } from "./hooks/catalog.ts";
import { identityUseCases } from "./identity/catalog.ts";
import { mailUseCases } from "./mail/catalog.ts";
import { mergeUseCases } from "./merge/catalog.ts";
import { operatorUseCases } from "./operator/catalog.ts";
import { runUseCases } from "./runs/catalog.ts";
import { specUseCases } from "./specs/catalog.ts";
import { statusUseCases } from "./status/catalog.ts";
import { taskUseCases } from "./tasks/catalog.ts";
import type { UseCase } from "./usecase.ts";
import { worktreeUseCases } from "./worktrees/catalog.ts";

/** Every use case by name, loaded when called: a command pays only for the one it runs. */
export const catalog = {
  ...adviseUseCases,
  ...agentUseCases,
  ...budgetUseCases,
  ...completionUseCases,
  ...coordinatorUseCases,
  ...eventUseCases,
  ...gateUseCases,
  ...healthUseCases,
  ...hookUseCases,
  ...identityUseCases,
  ...mailUseCases,
  ...mergeUseCases,
  ...operatorUseCases,
  ...statusUseCases,
  ...taskUseCases,
  ...specUseCases,
  ...groupUseCases,
  ...runUseCases,
  ...worktreeUseCases,
};

export type Catalog = typeof catalog;
export type UseCaseName = keyof Catalog;
type UseCaseOf<N extends UseCaseName> = Awaited<ReturnType<Catalog[N]>>;
export type RequestOf<N extends UseCaseName> = UseCaseOf<N> extends UseCase<infer Request, infer _> ? Request : never;
export type ReplyOf<N extends UseCaseName> = UseCaseOf<N> extends UseCase<infer _, infer Reply> ? Reply : never;

export const isUseCaseName = (name: string): name is UseCaseName => Object.hasOwn(catalog, name);
