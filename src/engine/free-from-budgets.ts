import { recheckBudgets } from "../usecases/budgets/recheck-budgets.ts";
import type { EnginePorts } from "./ports.ts";

/** Lets agents go on whose budget has room again, as at the turn of a day. True when somebody may run now. */
export async function freeFromBudgets(
  ports: EnginePorts,
  { evenIfNotDue }: { readonly evenIfNotDue: boolean },
): Promise<boolean> {
  const now = ports.clock.now();
  const due = await ports.store.read((tx) => tx.waits.nextDeadline("budget"));
  if (!evenIfNotDue && (due === undefined || due > now)) return false;
  const terms = { limits: ports.settings.budgets, ids: ports.ids, now };
  const { resumed } = await ports.store.transaction((tx) => recheckBudgets(tx, terms));
  return resumed.length > 0;
}
