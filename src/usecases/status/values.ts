import type { MergeEntry } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { fields, oneOf, text } from "../../domain/schema/schema.ts";
import { openDecisions } from "../operator/decisions.ts";
import type { UseCase } from "../usecase.ts";

export const valueSources = [
  "agents",
  "liveAgents",
  "tasks",
  "runs",
  "merges",
  "messages",
  "decisions",
  "groups",
  "snapshots",
] as const;
export type ValueSource = (typeof valueSources)[number];

const most = 200;

/** Names and ids that begin with the typed text, for a shell to offer. */
export const values: UseCase<
  { readonly source: ValueSource; readonly prefix: string },
  { readonly values: readonly string[] }
> = {
  kind: "read",
  request: fields({ source: oneOf(valueSources), prefix: text }),
  run: async (tx, _context, { source, prefix }) => {
    const known: Record<ValueSource, () => Promise<readonly string[]>> = {
      agents: () => tx.agents.names(),
      liveAgents: async () => [...new Set((await tx.agents.list({ live: true })).map(({ name }) => name))],
      tasks: () => tx.tasks.ids(),
      runs: async () => (await tx.runs.list(most)).map((run) => run.id),
      merges: async () => mergeValues(await tx.merges.list({ limit: most })),
      messages: () => tx.messages.recentIds(most),
      decisions: async () => (await openDecisions(tx)).map(({ id }) => id),
      snapshots: async () => (await tx.snapshots.all()).map(({ ref }) => ref.slice("refs/overstory/".length)),
      groups: async () => (await tx.groups.list()).flatMap((group) => [group.name, group.id]),
    };
    const found = await known[source]();
    return ok({ values: found.filter((value) => value.startsWith(prefix)).slice(0, most) });
  },
};

/** A branch says more than a number, but where one was queued several times only the number tells them apart. */
const mergeValues = (entries: readonly MergeEntry[]): readonly string[] => {
  const newest = entries.toReversed();
  return [...new Set([...newest.map(({ branch }) => branch), ...newest.map(({ id }) => String(id))])];
};
