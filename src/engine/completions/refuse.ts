import { isOpenCheck, type Missing, type StoredCheck } from "../../domain/completion/check.ts";
import { Rollback } from "../../ports/store.ts";
import { tellMissing } from "../../usecases/completions/accept.ts";
import { record } from "../../usecases/events/record.ts";
import { mergeContext } from "../merge/ports.ts";
import type { CompletionPorts } from "./ports.ts";
import { requeue } from "./requeue.ts";

/** What kept a check from a yes, for whoever asked: what it lacks, or that the engine could not look. */
export function problemOf(thrown: unknown): readonly Missing[] {
  if (thrown instanceof Rollback) return thrown.value as readonly Missing[];
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return [{ kind: "engine", message: `the engine could not check it: ${message}`, fix: "try again in a moment" }];
}

/** Answers no, tells an agent that no longer waits for the answer, and puts it on record: all of it, or nothing. */
export async function refuse(ports: CompletionPorts, check: StoredCheck, problem: readonly Missing[]): Promise<void> {
  const { store, clock } = ports;
  await store.transaction(async (tx) => {
    const now = await tx.checks.get(check.id);
    if (now === undefined || !isOpenCheck(now)) return;
    // Asked in other words meanwhile: those may lack nothing.
    if (JSON.stringify(now.request) !== JSON.stringify(check.request)) return requeue(tx, check, clock.now());
    const change = { status: "failed", problem, progress: null, updatedAt: clock.now() } as const;
    await tx.checks.change(check.id, ["running"], change);
    await tellMissing(tx, mergeContext(ports), check, problem);
    await record(tx, clock.now(), {
      source: "engine",
      agentName: check.agentName,
      agentId: check.agentId,
      type: check.kind === "completion" ? "completion_refused" : "check_failed",
      level: "warn",
      data: {
        checkId: check.id,
        ref: check.refName,
        problem: problem.map(({ kind, message }) => ({ kind, message })),
      },
    });
  });
}

/** The bare no, where everything that belongs to it could not be stored: whoever is attached to the check gets an answer. */
export async function refuseBarely(
  { store, clock }: Pick<CompletionPorts, "store" | "clock">,
  { id }: StoredCheck,
  problem: readonly Missing[],
): Promise<void> {
  const change = { status: "failed", problem, progress: null, updatedAt: clock.now() } as const;
  await store.transaction((tx) => tx.checks.change(id, ["running"], change));
}
