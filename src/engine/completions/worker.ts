import { isOpenCheck, type StoredCheck } from "../../domain/completion/check.ts";
import type { Missing } from "../../domain/completion/missing.ts";
import { Rollback } from "../../ports/store.ts";
import { tellMissing } from "../../usecases/completions/tell-missing.ts";
import { mergeContext } from "../merge/ports.ts";
import { complete } from "./complete.ts";
import type { CheckTools, CompletionPorts } from "./ports.ts";
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
  #taking: Promise<void> | undefined;
  #missed = false;
  #recovered = false;

  constructor(ports: CompletionPorts, tools: CheckTools) {
    this.#ports = ports;
    this.#tools = tools;
  }

  /** Looks for checks in the background; `onEnd` is called when something may have changed by it. */
  look(onEnd: () => void): void {
    if (this.#taking !== undefined) {
      this.#missed = true;
      return;
    }
    this.#missed = false;
    this.#taking = this.#take(onEnd)
      .catch((error: unknown) => this.#ports.report(error))
      .then(() => {
        this.#taking = undefined;
        if (this.#missed) onEnd();
      });
  }

  /** Resolves when nothing is being answered. */
  async settled(): Promise<void> {
    await this.#taking;
    await Promise.all(this.#answering);
  }

  async #take(onEnd: () => void): Promise<void> {
    if (this.#tools.stop.aborted) return;
    if (!this.#recovered) await this.#takeBack();
    this.#recovered = true;
    const claimed = await this.#claim();
    if (claimed.length > 0) this.#ports.reach("done.after-claim");
    for (const check of claimed) {
      const answering = this.#answer(check).finally(() => {
        this.#answering.delete(answering);
        onEnd();
      });
      this.#answering.add(answering);
    }
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
      await this.#refuse(check, thrown).catch((error: unknown) => this.#ports.report(error));
    }
  }

  async #refuse(check: StoredCheck, thrown: unknown): Promise<void> {
    const { store, clock, report } = this.#ports;
    if (this.#tools.stop.aborted) {
      await store.transaction((tx) => requeue(tx, check, clock.now()));
      return;
    }
    const expected = thrown instanceof Rollback;
    if (!expected) report(thrown);
    const problem = expected ? (thrown.value as readonly Missing[]) : [brokenBy(thrown)];
    await store.transaction(async (tx) => {
      const now = await tx.checks.get(check.id);
      if (now === undefined || !isOpenCheck(now)) return;
      // Asked in other words meanwhile: those may lack nothing.
      if (JSON.stringify(now.request) !== JSON.stringify(check.request)) return requeue(tx, check, clock.now());
      const change = { status: "failed", problem, progress: null, updatedAt: clock.now() } as const;
      await tx.checks.change(check.id, ["running"], change);
      await tellMissing(tx, mergeContext(this.#ports), check, problem);
      await tx.events.append([
        {
          agentName: check.agentName,
          agentId: check.agentId,
          source: "engine",
          type: check.kind === "completion" ? "completion_refused" : "check_failed",
          level: "warn",
          data: {
            checkId: check.id,
            ref: check.refName,
            problem: problem.map(({ kind, message }) => ({ kind, message })),
          },
          createdAt: clock.now(),
        },
      ]);
    });
  }
}

const answers = { completion: complete, check: runCheck, verify } as const;

function brokenBy(thrown: unknown): Missing {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { kind: "engine", message: `the engine could not check it: ${message}`, fix: "try again in a moment" };
}
