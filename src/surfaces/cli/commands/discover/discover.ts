import { activeCategories, discoveryBrief, discoveryObjective } from "../../../../domain/coordination/discovery.ts";
import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { list, text } from "../../given.ts";
import { startedOutcome, startHead } from "../coordinator/start.ts";

export const discover: Handler = async (call) => {
  const { flags } = call;
  const categories = activeCategories(list(flags.skip) ?? []);
  if (!categories.ok) return categories;
  const started = await startHead(call, {
    capability: "coordinator",
    name: text(flags.name) ?? "discover-coordinator",
    objective: discoveryObjective,
    brief: discoveryBrief(categories.value),
    profile: "ov-discovery",
  });
  if (!started.ok) return started;
  const outcome = startedOutcome(call, started.value);
  return ok({ ...outcome, json: { ...outcome.json, categories: categories.value } });
};
