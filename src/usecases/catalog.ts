import { adviseUseCases } from "./advise/catalog.ts";
import { agentUseCases } from "./agents/catalog.ts";
import { branchOperations } from "./branches/catalog.ts";
import { budgetUseCases } from "./budgets/catalog.ts";
import { completionUseCases } from "./completions/catalog.ts";
import { configOperations } from "./config/catalog.ts";
import { coordinatorUseCases } from "./coordinators/catalog.ts";
import { demoOperations } from "./demo/catalog.ts";
import { engineOperations } from "./engine/catalog.ts";
import { eventUseCases } from "./events/catalog.ts";
import { gateUseCases } from "./gates/catalog.ts";
import { groupUseCases } from "./groups/catalog.ts";
import { guardOperations } from "./guard/catalog.ts";
import { healthUseCases } from "./health/catalog.ts";
import { hookUseCases } from "./hooks/catalog.ts";
import { identityUseCases } from "./identity/catalog.ts";
import { mailUseCases } from "./mail/catalog.ts";
import { mergeUseCases } from "./merge/catalog.ts";
import type { Effect, Stream } from "./operation.ts";
import { operatorUseCases } from "./operator/catalog.ts";
import { projectOperations } from "./project/catalog.ts";
import { promptOperations } from "./prompts/catalog.ts";
import { runUseCases } from "./runs/catalog.ts";
import { specUseCases } from "./specs/catalog.ts";
import { statusUseCases } from "./status/catalog.ts";
import { taskUseCases } from "./tasks/catalog.ts";
import { trustOperations } from "./trust/catalog.ts";
import type { UseCase } from "./usecase.ts";
import { worktreeOperations } from "./worktrees/catalog.ts";

/** Every operation by name, loaded when called: a command pays only for the one it runs. */
export const catalog = {
  ...adviseUseCases,
  ...agentUseCases,
  ...branchOperations,
  ...budgetUseCases,
  ...completionUseCases,
  ...configOperations,
  ...coordinatorUseCases,
  ...engineOperations,
  ...demoOperations,
  ...eventUseCases,
  ...gateUseCases,
  ...guardOperations,
  ...healthUseCases,
  ...hookUseCases,
  ...identityUseCases,
  ...mailUseCases,
  ...mergeUseCases,
  ...operatorUseCases,
  ...projectOperations,
  ...promptOperations,
  ...statusUseCases,
  ...taskUseCases,
  ...specUseCases,
  ...groupUseCases,
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
/** What a stream tells while it runs. */
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
