import { Failure, type FailureData } from "../../domain/failure.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { ChannelCall, CommandChannel } from "../../ports/command-channel.ts";
import type { EngineContact, EngineNotice } from "../../ports/engine-contact.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Store } from "../../ports/store.ts";
import { isOperationName, isUseCase, operationOf } from "../catalog.ts";
import { silenceWords } from "../engine/engine-work.ts";
import { type ChannelPorts, runUseCase } from "./run-use-case.ts";

/** What a command needs to run use cases on the database file itself. */
export interface DirectTerms {
  hasDatabase(): boolean;
  /** Makes a new database, and refuses where one was lost. A clone of the repository brings settings but no state. */
  makeDatabase(): Promise<void>;
  open(options: { readonly readOnly: boolean }): Store;
  ports(store: Store): ChannelPorts;
  contact(): EngineContact;
  /** The time after which an engine that does not answer has a successor. */
  readonly replacedWithinMs: number;
  /** Asks for an engine where the caller may start none. */
  readonly askForEngine?: (() => Promise<void>) | undefined;
  /** Prints a line for the user at once, while the command still runs. */
  readonly warn?: ((line: string) => void) | undefined;
}

/** Runs the use case here, on the database file; opened for reading only when that is enough. */
export function directChannel(terms: DirectTerms): CommandChannel {
  const { hasDatabase } = terms;
  let askedAt = Number.NEGATIVE_INFINITY;
  let store: { readonly opened: Store; readonly readOnly: boolean; readonly isEmpty: boolean } | undefined;
  // Two connections of one process would wait for each other's locks while neither can run.
  const storeFor = (readOnly: boolean): Store => {
    const isThere = hasDatabase();
    // A read found no database and got an empty store. Another process may have made the database since.
    if (store !== undefined && (readOnly || !store.readOnly) && !(store.isEmpty && isThere)) return store.opened;
    void store?.opened.close();
    store = { opened: terms.open({ readOnly }), readOnly, isEmpty: readOnly && !isThere };
    return store.opened;
  };
  return {
    call: async (call) => {
      const name = known(call);
      const operation = await operationOf(name);
      const isRead = operation.kind === "read";
      const hasNone = store === undefined || store.isEmpty;
      if (!isRead && hasNone && !hasDatabase()) await terms.makeDatabase();
      const isBeforeWrite = isRead && isUseCase(operation) && operation.beforeWrite?.(call.request) === true;
      const direct = terms.ports(storeFor(isRead && !(isBeforeWrite && hasDatabase())));
      const now = direct.clock.monotonic();
      // A command that waits reads again and again. It does not wake the engine at each look. Where a write follows, that
      // asks.
      const hasJustAsked = isRead && (isBeforeWrite || now - askedAt < askAgainMs);
      if (!hasJustAsked || isBeforeWrite) askedAt = now;
      const ports = { ...direct, hasJustAsked, records: () => storeFor(false) };
      const run = () => runUseCase(ports, { ...call, name });
      const { result, due, mayStart } = await run().catch((error) => afterSilence(terms, { error, run }));
      ports.reach("command.after-commit");
      if (due) {
        ports.reach("command.before-wake");
        const contact = terms.contact();
        // Inside an agent an engine is only told, never started.
        if (mayStart) warnOfSilence(await contact.ensure(), terms);
        else if (!(await contact.wake())) await terms.askForEngine?.();
      }
      return result;
    },
    changeCounter: async () => store?.opened.changeCounter(),
    close: async () => {
      await store?.opened.close();
    },
  };
}

/** Less than the longest pause between two looks of a command that waits, so that it notices when the engine dies. */
const askAgainMs = 400;

interface Failed<T> {
  readonly error: unknown;
  readonly run: () => Promise<T>;
}

/**
 * An engine that was stopped in the middle of a transaction holds the database until its successor kills it. A use case
 * that failed with "busy" has changed nothing, so it runs again.
 */
async function afterSilence<T>(terms: DirectTerms, { error, run }: Failed<T>, tries = 1): Promise<T> {
  const isBusy = error instanceof Failure && error.data.kind === "store-busy";
  const contact = terms.contact();
  // If no engine runs, another process holds the database, and a new engine would have to wait for it too.
  const mayBeSilent = isBusy && tries < mostTries && contact.notice() !== undefined;
  const silent = mayBeSilent ? await contact.ensure() : undefined;
  if (silent === undefined) throw error;
  warnOfSilence(silent, terms);
  return run().catch((again) => afterSilence(terms, { error: again, run }, tries + 1));
}

/**
 * Each try waits as long as a writer does, so that six of them outlast the time for which a successor watches a silent
 * engine.
 */
const mostTries = 6;

/** Warns once for each silent engine: a waiting command comes here again and again. */
function warnOfSilence(silent: EngineNotice | undefined, { warn, replacedWithinMs }: DirectTerms): void {
  if (silent === undefined || silent.pid === warnedOf) return;
  warnedOf = silent.pid;
  warn?.(silenceWords({ replacedWithinMs }));
}

let warnedOf: number | undefined;

/** Sends the call to the engine; its request id makes repeating it after a broken connection harmless. */
export const remoteChannel = (send: (frame: string) => Promise<string>, ids: Ids): CommandChannel => ({
  call: async (call) => {
    const frame = JSON.stringify({ ...call, name: known(call), requestId: ids.next("request", 20) });
    const answer = JSON.parse(await send(frame)) as {
      result?: Result<unknown, Refusal>;
      failure?: FailureData;
      problem?: string;
    };
    if (answer.result !== undefined) return answer.result;
    throw new Failure(
      answer.failure ?? { kind: "unexpected", problem: answer.problem ?? "the engine answered nothing" },
    );
  },
  changeCounter: async () => undefined,
  close: async () => {},
});

function known({ name }: ChannelCall) {
  if (!isOperationName(name)) throw new Error(`there is no operation called ${name}`);
  return name;
}
