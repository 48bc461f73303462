import { type Advice, advise } from "../../domain/coordination/advice.ts";
import { ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context, UseCase } from "../usecase.ts";

/** Every pair is compared; a longer list says the same with more of it. */
const mostTasks = 300;

/** Whether to work in parallel, and how far, judged by the tasks there are. Nothing is stored by looking. */
export const advisePlan: UseCase<object, { readonly advice: Advice }> = {
  kind: "read",
  request: noFields,
  run: async (tx, context) => ok({ advice: await adviceNow(tx, context) }),
};

/** The advice as of this moment. */
export async function adviceNow(tx: Tx, { settings }: Pick<Context, "settings">): Promise<Advice> {
  const tasks = await tx.tasks.list({ unclosed: true, limit: mostTasks });
  return advise({
    tasks,
    dependencies: await tx.tasks.dependencies(),
    maxConcurrent: settings.agents.maxConcurrent,
  });
}
