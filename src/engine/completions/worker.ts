import type { Missing, StoredCheck } from "../../domain/completion/check.ts";
import { Rollback } from "../../ports/store.ts";
import { SingleFlight } from "../single-flight.ts";
import { complete } from "./complete.ts";
import { forgetTyped } from "./forget-typed.ts";
import type { CheckTools, CompletionPorts } from "./ports.ts";
import { problemOf, refuse, refuseBarely } from "./refuse.ts";
import { requeue } from "./requeue.ts";
import { runCheck } from "./run-check.ts";
import { verify } from "./verify.ts";

/** How often an engine may die over a check before the check is taken for the reason. */
const mostAttempts = 5;

/**
 * Answers stored checks, each as soon as it can: a slow gate of one keeps no other from being refused at once. A check
 * that is being answered says so in the database, so the next engine takes up what this one leaves behind.
 */
export class CompletionWorker {
  readonly #ports: CompletionPorts;
  readonly #tools: CheckTools;
  readonly #answering = new Set<Promise<void>>();
  readonly #taking: SingleFlight;
  readonly #ring: () => void;
  #recovered = false;

  /** `ring` is called when a check was answered. */
  constructor(ports: CompletionPorts, tools: CheckTools, ring: () => void) {
    this.#ports = ports;
    this.#tools = tools;
    this.#ring = ring;
    this.#taking = new SingleFlight(() => this.#take(), { report: ports.report, ring });
  }

  look(): void {
    this.#taking.ask();
  }

  /** Resolves when no check is being answered. */
  async settled(): Promise<void> {
    await this.#taking.settled();
    await Promise.all(this.#answering);
  }

  /** Begins to answer what is waiting. */
  async #take(): Promise<false> {
    if (this.#tools.stop.aborted) return false;
    if (!this.#recovered) await this.#takeBack();
    this.#recovered = true;
    const claimed = await this.#claim();
    if (claimed.length > 0) this.#ports.reach("done.after-claim");
    for (const check of claimed) {
      const answering = this.#answer(check).finally(() => {
        this.#answering.delete(answering);
        this.#ring();
      });
      this.#answering.add(answering);
    }
    return false;
  }

  /** What an engine that is no more was answering is asked anew. */
  async #takeBack(): Promise<void> {
    const { store, clock } = this.#ports;
    await store.transaction(async (tx) => {
      for (const check of await tx.checks.running()) {
        if (check.attempts < mostAttempts) await requeue(tx, check, clock.now());
        else {
          const message = `the engine died ${check.attempts} times over it`;
          const problem: Missing[] = [{ kind: "engine", message, fix: "see its log: ov engine status" }];
          await tx.checks.change(check.id, ["running"], { status: "failed", problem, updatedAt: clock.now() });
        }
      }
    });
  }

  async #claim(): Promise<readonly StoredCheck[]> {
    const { store, clock } = this.#ports;
    const waiting = await store.read((tx) => tx.checks.queued());
    if (waiting.length === 0) return [];
    return store.transaction(async (tx) => {
      const claimed: StoredCheck[] = [];
      for (const check of await tx.checks.queued()) {
        const change = { status: "running", attempts: check.attempts + 1, updatedAt: clock.now() } as const;
        if (await tx.checks.change(check.id, ["queued"], change)) claimed.push({ ...check, ...change });
      }
      return claimed;
    });
  }

  /** The one place where the failure of a check ends. */
  async #answer(check: StoredCheck): Promise<void> {
    try {
      await answers[check.kind](this.#ports, this.#tools, check);
    } catch (thrown) {
      if (!(thrown instanceof Rollback) && !this.#tools.stop.aborted) this.#ports.report(thrown);
      await this.#refuse(check, problemOf(thrown));
    }
    await forgetTyped(this.#ports, check);
  }

  /** Until it is on record: somebody waits for the answer, and no other engine takes up what this one is at. */
  async #refuse(check: StoredCheck, problem: readonly Missing[]): Promise<void> {
    const { store, clock, report } = this.#ports;
    for (let tries = 1, pauseMs = firstPauseMs; ; tries++, pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const { aborted } = this.#tools.stop;
      try {
        if (aborted) await store.transaction((tx) => requeue(tx, check, clock.now()));
        else await (tries > mostWholeTries ? refuseBarely : refuse)(this.#ports, check, problem);
        return;
      } catch (error) {
        report(error);
      }
      // The next engine takes back what is not answered by then.
      if (aborted) return;
      await pause(pauseMs, this.#tools.stop);
    }
  }
}

/** A store that is full or busy may take it a moment later; what it never takes must not keep the answer from being given. */
const mostWholeTries = 3;
const firstPauseMs = 200;
const longestPauseMs = 10_000;

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop.addEventListener("abort", end);
    if (stop.aborted) end();
  });
}

const answers = { completion: complete, check: runCheck, verify } as const;
