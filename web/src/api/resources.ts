import { useMemo } from "react";
import { useResource } from "../live/resource.ts";
import { useUrl } from "../state/url.ts";
import { addressOf } from "./client.ts";
import type { Agent } from "./types.ts";

/** What several pages read, by name. A page reads what only it shows with `useResource` itself. */

export const useMe = () => useResource({ path: "/api/me" });
export const useRuns = () => useResource({ path: "/api/runs", given: { limit: 50 }, refreshedBy: "overview" });
/** What is ready to be looked at. */
export const useReviews = () => useResource({ path: "/api/reviews", topic: "reviews" });
export const useAttention = () => useResource({ path: "/api/attention", topic: "attention" });

/** The overview of the run in the address, or of the newest active one. */
export function useOverview() {
  const { search } = useUrl();
  const given = search.run === undefined ? {} : { run: search.run };
  return useResource({ path: "/api/overview", given, topic: topicOf("overview", given) });
}

/** The agents of the run in the address, or of the newest active one, each with what it cost. */
export function useAgents() {
  const { search } = useUrl();
  const { data: overview } = useOverview();
  const run = search.run ?? overview?.currentRunId ?? undefined;
  // Of all runs and with those that have ended: a page shows what it wants of them.
  const given = { all: "true" };
  const { data, ...query } = useResource({ path: "/api/agents", given, topic: topicOf("fleet", given) });
  const spent = useResource({ path: "/api/costs", given: { by: "agent", limit: "500" }, refreshedBy: "costs" }).data;
  const agents = useMemo<readonly Agent[] | undefined>(() => {
    const costs = new Map(spent?.groups.map((group) => [group.key, group]));
    return data?.items
      .filter(({ runId }) => run === undefined || runId === run)
      .map((agent) => {
        const cost = costs.get(agent.name);
        return cost === undefined ? agent : { ...agent, costUsd: cost.costUsd, limitUsd: cost.limitUsd };
      });
  }, [data, run, spent]);
  return { ...query, agents };
}

/** All tasks, closed ones too. */
export function useTasks() {
  const given = { all: "true", limit: "500" };
  return useResource({ path: "/api/tasks", given, topic: topicOf("tasks", given) });
}

/** A topic is asked for as its route is: `fleet?all=true`. */
export const topicOf = (name: string, given: Readonly<Record<string, string>>): string => addressOf(name, given);
