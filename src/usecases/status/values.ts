import { ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";

export const valueSources = ["agents", "tasks", "runs", "messages", "groups"] as const;
export type ValueSource = (typeof valueSources)[number];

const most = 200;

/** What a shell may offer while somebody types: names and ids that exist now, by their beginning. */
export const values: UseCase<
  { readonly source: ValueSource; readonly prefix: string },
  { readonly values: readonly string[] }
> = {
  access: "read",
  run: async (tx, _context, { source, prefix }) => {
    const known: Record<ValueSource, () => Promise<readonly string[]>> = {
      agents: () => tx.agents.names(),
      tasks: () => tx.tasks.ids(),
      runs: async () => (await tx.runs.list(most)).map((run) => run.id),
      messages: () => tx.messages.recentIds(most),
      groups: async () => (await tx.groups.list()).flatMap((group) => [group.name, group.id]),
    };
    const found = await known[source]();
    return ok({ values: found.filter((value) => value.startsWith(prefix)).slice(0, most) });
  },
};
