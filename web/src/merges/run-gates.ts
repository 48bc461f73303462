import { ApiError } from "../api/client.ts";
import { runLong } from "../api/operations.ts";
import { toast } from "../state/toasts.ts";

interface Answer {
  readonly passed: boolean;
  readonly verdict: string | null;
  readonly problems: readonly string[];
}

/** Has the gates run on a branch, a commit or the work of an agent, and says how they ended. */
export async function runGates(ref: string): Promise<void> {
  toast(`The gates run on ${ref}. You are told how they end.`);
  try {
    const { passed, verdict, problems } = await runLong<Answer>("/api/gates", { ref });
    if (!passed) return toast(`The gates did not pass on ${ref}: ${problems.join("; ")}.`, { failed: true });
    toast(verdict === "unverified" ? `No gate failed on ${ref}, but none proved it.` : `The gates passed on ${ref}.`);
  } catch (error) {
    const told = error instanceof ApiError ? error : undefined;
    const hint = told?.hint === undefined ? "" : ` ${told.hint}`;
    toast(`Could not run the gates on ${ref}: ${told?.message ?? String(error)}.${hint}`, { failed: true });
  }
}
