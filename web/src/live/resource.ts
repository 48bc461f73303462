import { QueryClient, type QueryKey, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError, type Query, read } from "../api/client.ts";
import type { Replies } from "../api/types.ts";
import { useStore } from "../state/store.ts";
import { type Change, type ConnectionState, LiveConnection } from "./connection.ts";
import { withItems } from "./with-items.ts";

/** What was read stays true until the socket says otherwise, so nothing is read again by a timer. */
export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && error.status > 0),
    },
  },
});

export const connection = new LiveConnection(async () => {
  const reply = await read("/api/me").catch((error: unknown) => error);
  return reply instanceof ApiError && reply.status === 401;
});

export const useConnection = (): ConnectionState => useStore(connection.state);

export const useFrozen = (): number | undefined => useStore(connection.frozenAt);

export interface Resource<Path extends keyof Replies> {
  readonly path: Path;
  readonly given?: Query;
  /** The topic that keeps it true. Without one it is as old as its reading. */
  readonly topic?: string | undefined;
  /** A topic whose changes make it be read anew, where no topic shows it itself. */
  readonly refreshedBy?: string | undefined;
  /** Read anew whenever a component begins to show it: no topic keeps what git says true. */
  readonly isFresh?: boolean;
  /** False: nothing is read yet. */
  readonly isWanted?: boolean;
}

const keyOf = ({ path, given = {} }: Resource<keyof Replies>): QueryKey => [path, given];

/** Reads something of the server and keeps it true while a component shows it. */
export function useResource<Path extends keyof Replies>(resource: Resource<Path>) {
  const key = keyOf(resource);
  const { topic, refreshedBy } = resource;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is a fresh array with the same content
  useEffect(
    () => (topic === undefined ? undefined : connection.subscribe(topic, (changes) => applyChanges(key, changes))),
    [topic, JSON.stringify(key)],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same
  useEffect(() => {
    if (refreshedBy === undefined) return;
    return connection.subscribe(refreshedBy, (changes) => {
      if (changes.some(({ kind }) => kind === "delta" || kind === "gap")) readSoon(key);
    });
  }, [refreshedBy, JSON.stringify(key)]);
  return useQuery(
    queryOptions({
      queryKey: key,
      queryFn: () => read(resource.path, resource.given),
      enabled: resource.isWanted !== false,
      placeholderData: (before) => before,
      refetchOnMount: resource.isFresh === true ? "always" : true,
    }),
  );
}

/** Changes come in swarms; each swarm is one reading, and at most one in two seconds. */
const soon = new Map<string, ReturnType<typeof setTimeout>>();
function readSoon(key: QueryKey): void {
  const name = JSON.stringify(key);
  if (soon.has(name)) return;
  const timer = setTimeout(() => {
    soon.delete(name);
    void cache.invalidateQueries({ queryKey: key });
  }, 2000);
  soon.set(name, timer);
}

function applyChanges(key: QueryKey, changes: readonly Change[]): void {
  if (changes.some(({ kind }) => kind === "gap")) void cache.invalidateQueries({ queryKey: key });
  for (const change of changes) {
    if (change.kind === "snapshot") cache.setQueryData(key, change.data);
    else if (change.kind === "delta") cache.setQueryData(key, (before: unknown) => withItems(before, change.items));
  }
}
