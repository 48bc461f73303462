import type { Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";
import type { Processes } from "../ports/process.ts";
import type { ItemOf, OperationName, ReplyOf, RequestOf, StreamName } from "./catalog.ts";

/**
 * An operation is one verb of the product, as the catalogue names it: `noun.verb`. Surfaces know nothing else of the
 * program. A `read` or `write` is one transaction (see `UseCase`). An `effect` reaches further, into git, processes and
 * files, and keeps the order intent, effect, fact by calling reads and writes. A `stream` is an effect that tells how far
 * it is.
 */
interface Beyond {
  /** Only the operator may call it. */
  readonly operatorOnly?: boolean;
  /**
   * `engine`: for callers that cannot reach the project's files the engine runs it. `caller`: it acts on the terminal or
   * the files of whoever calls, so such callers are refused.
   */
  readonly place: "engine" | "caller";
}

export interface Effect<Request, Reply> extends Beyond {
  readonly kind: "effect";
  /** May be the last thing this process does at any of its lines: what is called again must go on from there. */
  readonly run: (world: World, request: Request) => Promise<Result<Reply, Refusal>>;
}

/** Runs until it has its reply or is cancelled; each item tells how things stand at one moment. */
export interface Stream<Request, Reply, Item> extends Beyond {
  readonly kind: "stream";
  readonly run: (world: World, request: Request, listener: Listener<Item>) => Promise<Result<Reply, Refusal>>;
}

export interface Listener<Item> {
  readonly onItem: (item: Item) => void;
  /** Whoever listened has left: the operation ends soon, and what it set in motion goes on without it. */
  readonly signal: AbortSignal;
}

/** Calls an operation as the same caller. */
export type Call = <N extends OperationName>(name: N, request: RequestOf<N>) => Promise<Result<ReplyOf<N>, Refusal>>;

export type Follow = <N extends StreamName>(
  name: N,
  request: RequestOf<N>,
  listener?: Partial<Listener<ItemOf<N>>>,
) => Promise<Result<ReplyOf<N>, Refusal>>;

/** What effects and streams may use. Each port is loaded when it is asked for: a command pays only for what it uses. */
export interface World {
  readonly call: Call;
  /** Prints a line for the user at once, while the operation still runs. */
  readonly warn: (line: string) => void;
  readonly sleep: (ms: number) => Promise<void>;
  processes(): Promise<Processes>;
}
