import { environmentOf, isOpenCheck, type StoredCheck } from "../../domain/completion/check.ts";
import type { CompletionPorts } from "./ports.ts";

/** What was captured for one question goes with its answer; an engine that dies before leaves it to retention. */
export async function forgetTyped(
  { store, forgetEnvironment, report }: Pick<CompletionPorts, "store" | "forgetEnvironment" | "report">,
  check: StoredCheck,
): Promise<void> {
  const envFile = environmentOf(check);
  if (envFile === undefined) return;
  try {
    const now = await store.read((tx) => tx.checks.get(check.id));
    if (now === undefined || !isOpenCheck(now)) forgetEnvironment(envFile);
  } catch (error) {
    report(error);
  }
}
