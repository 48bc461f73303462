import { type RouteName, routes } from "../../contract/http/routes.ts";
import { eventView } from "../../contract/views/event.ts";
import { gateLogPartView, gateLogView } from "../../contract/views/gate.ts";
import type { WebApp } from "./app.ts";
import { matchRoute, requestOf } from "./request.ts";

/** One look at what a topic shows. `items` are those parts of it that change one by one, by their id. */
export interface Look {
  readonly data: unknown;
  readonly items: ReadonlyMap<string, unknown>;
}

/** A topic whose whole is compared with its last look. */
interface StateTopic {
  readonly kind: "state";
  look(): Promise<Look | undefined>;
}

/** A topic that only grows. `after` answers what came after a number of the store, in order, at most `most` of them. */
interface GrowingTopic {
  readonly kind: "growing";
  /** It grows without a commit, so it is looked at by the clock. */
  readonly isFile?: true;
  look(): Promise<{ readonly data: unknown; readonly seq: number } | undefined>;
  after(seq: number, most: number): Promise<readonly { readonly seq: number; readonly item: unknown }[]>;
  /** Nothing behind this number was deleted, and the number was given out here. */
  isWholeAfter(seq: number): Promise<boolean>;
}

export type Topic = StateTopic | GrowingTopic;

/** The address whose document is the snapshot of a topic. */
const states: Readonly<Record<string, RouteName>> = {
  fleet: "GET /api/agents",
  overview: "GET /api/overview",
  attention: "GET /api/attention",
  merge: "GET /api/merge",
  queue: "GET /api/merge/queue",
  "merge-state": "GET /api/merge/state",
  "merge-ops": "GET /api/merge/ops",
  mail: "GET /api/mail",
  threads: "GET /api/mail/threads",
  tasks: "GET /api/tasks",
  costs: "GET /api/costs",
  runs: "GET /api/runs",
  reviews: "GET /api/reviews",
  coordinator: "GET /api/coordinator",
  audit: "GET /api/audit",
};

/** The topic of this name; undefined when there is none. `fleet?all=true` asks as the address would be asked. */
export function topicOf(app: WebApp, name: string): Topic | undefined {
  const [plain = "", query = ""] = name.split("?");
  // Strangers choose the name: `toString` is one that every object knows.
  const state = Object.hasOwn(states, plain) ? states[plain] : undefined;
  if (state !== undefined) return stateTopic(app, state.slice("GET ".length), query);
  const [kind, ...rest] = plain.split(":");
  const what = rest.join(":");
  if (what === "") return plain === "events" ? eventTopic(app, {}) : undefined;
  if (kind === "agent") return eventTopic(app, { agents: [what] });
  if (kind === "run") return eventTopic(app, { run: what });
  if (kind === "gate") return gateLogTopic(app, what);
  if (kind === "thread") return stateTopic(app, `/api/mail/${encodeURIComponent(what)}/thread`, query);
  if (kind === "conversation") return stateTopic(app, `/api/mail/with/${encodeURIComponent(what)}`, query);
  return undefined;
}

function stateTopic(app: WebApp, address: string, query: string): StateTopic {
  const match = matchRoute("GET", address);
  return {
    kind: "state",
    look: async () => {
      if (match === undefined || "methods" in match) return undefined;
      const request = await requestOf(match, new URLSearchParams(query), {});
      if (!request.ok) return undefined;
      const reply = await app.call(match.route.operation, request.value as never);
      if (!reply.ok) return undefined;
      const data = match.route.view(reply.value as never);
      return { data, items: itemsOf(data) };
    },
  };
}

/** The items of a list by their id or name. A document that is no list is one item. */
function itemsOf(data: unknown): ReadonlyMap<string, unknown> {
  const { items } = data as { readonly items?: unknown };
  if (!Array.isArray(items)) return new Map([["", data]]);
  return new Map(
    items.map((item: { readonly id?: unknown; readonly name?: unknown }) => [String(item.id ?? item.name), item]),
  );
}

/** The output of a gate. Its numbers are bytes. */
const gateLogTopic = (app: WebApp, id: string): GrowingTopic => ({
  kind: "growing",
  isFile: true,
  look: async () => {
    const log = await app.call("gate.readLog", { id });
    return log.ok ? { data: gateLogView(log.value), seq: log.value.parts.at(-1)?.end ?? 0 } : undefined;
  },
  after: async (seq, most) => {
    const log = await app.call("gate.readLog", { id, from: seq });
    const parts = log.ok ? log.value.parts.slice(0, most) : [];
    return parts.map((part) => ({ seq: part.end, item: gateLogPartView(part) }));
  },
  // A log only grows, until its file is deleted.
  isWholeAfter: async (seq) => {
    const log = await app.call("gate.readLog", { id });
    return log.ok && (log.value.parts.at(-1)?.end ?? 0) >= seq;
  },
});

function eventTopic(app: WebApp, of: { readonly agents?: readonly string[]; readonly run?: string }): GrowingTopic {
  return {
    kind: "growing",
    look: async () => {
      const found = await app.call("event.list", { ...of, limit: 100 });
      if (!found.ok) return undefined;
      return { data: routes["GET /api/events"].view(found.value), seq: found.value.cursor };
    },
    after: async (seq, most) => {
      const found = await app.call("event.readAfter", { ...of, after: seq, limit: most });
      return found.ok ? found.value.events.map((event) => ({ seq: event.seq, item: eventView(event) })) : [];
    },
    isWholeAfter: async (seq) => {
      const next = await app.call("event.readAfter", { after: seq, limit: 1 });
      const [first] = next.ok ? next.value.events : [];
      if (first !== undefined) return first.seq === seq + 1;
      const newest = await app.call("event.list", { limit: 1 });
      return newest.ok && newest.value.cursor === seq;
    },
  };
}
