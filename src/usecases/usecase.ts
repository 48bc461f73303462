import type { DollarWatch } from "../domain/budget/dollar-watch.ts";
import type { Caller } from "../domain/caller/caller.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";
import type { SchemaOf } from "../domain/schema/schema.ts";
import type { Ids } from "../ports/ids.ts";
import type { ProjectFiles } from "../ports/project-files.ts";
import type { RuntimeChoice, Settings } from "../ports/settings.ts";
import type { Tx } from "../ports/store.ts";

/** What every use case may know: the caller, the time, the settings. */
export interface Context {
  readonly caller: Caller;
  readonly now: number;
  readonly ids: Ids;
  readonly settings: Settings;
}

/**
 * One verb of the product. The command channel opens the transaction, runs it, stores the reply of a remote call in it
 * and wakes the engine after it: a use case never does. A refusal rolls everything back.
 */
export interface UseCase<Request, Reply> {
  /** `read`: works on a read-only connection and writes nothing. */
  readonly kind: "read" | "write";
  /** What a request that comes from another process must look like. The engine refuses others before anything runs. */
  readonly request: SchemaOf<Request>;
  /**
   * Effects that must exist before the transaction refers to them. Runs before it, so it must be safe to repeat and
   * harmless when the transaction never follows. Answers the request to go on with.
   */
  readonly prepare?: (files: ProjectFiles, terms: PrepareTerms, request: Request) => Promise<Result<Request, Refusal>>;
  /** Takes back what `prepare` made, for a request that was refused. */
  readonly discard?: (files: ProjectFiles, prepared: Request) => Promise<void>;
  /** The whole change, in one transaction. May run more than once; must await nothing but `tx`. */
  readonly run: (tx: Tx, context: Context, request: Request) => Promise<Result<Reply, Refusal>>;
  /**
   * Effects that follow from the stored facts, and facts that only files can tell. Runs after the transaction, and
   * again whenever a reply is repeated. The engine must make the same files, in case this process dies before it. It
   * refuses only for a `read`, because a write has happened by then.
   */
  readonly finish?: (files: ProjectFiles, reply: Reply) => Promise<Result<Reply, Refusal>>;
  /** Starts no engine, though work may be due: its caller is about to stop an engine, to be one or to start one itself. */
  readonly startsNoEngine?: boolean;
  /** Does the caller of this `read` write next? Then the store is opened for writing at once: opening it takes milliseconds. */
  readonly beforeWrite?: (request: Request) => boolean;
  /** Only the operator may call it. */
  readonly operatorOnly?: boolean;
  /** A `read` that shows each caller something else: an agent that hides its token must not pass for the operator. */
  readonly guarded?: boolean;
}

/**
 * Could an agent of this runtime start with this PATH? Asked before a seat is reserved for it. `version` is the
 * program's; null for our own program, or when a `note` says why the version is unknown.
 */
export type Preflight = (
  runtime: string,
  path: string | undefined,
) => Promise<Result<{ readonly version: string | null; readonly note?: string }, Refusal>>;

/** Can a limit in dollars hold during a turn of this runtime and driver, with this model? */
export type WatchesDollars = (choice: RuntimeChoice, model: string | null) => Promise<DollarWatch>;

/** Is this the name of a commit: a branch, a tag or an id? */
export type IsCommit = (ref: string) => Promise<boolean>;

/** The tip of a branch of this name; null when there is none. */
export type TipOf = (branch: string) => Promise<string | null>;

export interface PrepareTerms {
  readonly settings: Settings;
  /** The names directly below `overstory/` that are branches, as far as files tell; see `takenName`. */
  readonly takenNames?: (() => Promise<readonly string[]>) | undefined;
  readonly tipOf?: TipOf | undefined;
  readonly isCommit?: IsCommit | undefined;
  readonly preflight?: Preflight | undefined;
  readonly dollarWatch?: WatchesDollars | undefined;
  /** The caller, for effects that need a right. Looked up only when asked for: hot calls do without. */
  readonly caller: () => Promise<Result<Caller, Refusal>>;
  /** What the person's shell had for an agent; its children get the same. Undefined where that is not known. */
  readonly shellOf: (agentId: string) => Promise<Readonly<Record<string, string>> | undefined>;
}
