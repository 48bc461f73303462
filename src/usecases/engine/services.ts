import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Settings } from "../../ports/settings.ts";
import type { WebListener } from "../../ports/store/web.ts";
import type { Effect } from "../operation.ts";
import type { UseCase } from "../usecase.ts";
import type { EngineReport } from "./control.ts";

export interface StoredServices {
  /** The entries that the merge worker still has to do, and the one it works on. */
  readonly merge: {
    readonly mode: Settings["merge"]["mode"];
    readonly open: number;
    /** When the attempt began that goes on; null while the worker is idle. */
    readonly since: number | null;
  };
  readonly watchdog: Settings["watchdog"] & { readonly watched: number; readonly stalled: number };
  readonly listener: WebListener | null;
  readonly sessions: number;
  readonly tokens: number;
}

/** What the store knows of the services of the engine. */
export const readServices: UseCase<object, StoredServices> = {
  kind: "read",
  request: noFields,
  startsNoEngine: true,
  run: async (tx, { now, settings }) => {
    const open = await tx.merges.list({ statuses: openMergeStatuses });
    const [attempt] = await tx.mergeAttempts.unfinished();
    const live = await tx.agents.list({ live: true });
    const keys = await tx.web.keys(now);
    return ok({
      merge: { mode: settings.merge.mode, open: open.length, since: attempt?.startedAt ?? null },
      watchdog: {
        ...settings.watchdog,
        watched: live.length,
        stalled: live.filter(({ state }) => state === "stalled").length,
      },
      listener: (await tx.web.listener()) ?? null,
      sessions: keys.filter(({ kind }) => kind === "session").length,
      tokens: keys.filter(({ kind }) => kind === "token").length,
    });
  },
};

export interface Services extends StoredServices {
  readonly engine: EngineReport;
}

/** The services of the engine: itself, the merge worker, the watchdog, the web page. */
export const services: Effect<object, Services> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const [engine, stored] = [await world.call("engine.status", {}), await world.call("engine.readServices", {})];
    if (!engine.ok) return engine;
    return stored.ok ? ok({ ...stored.value, engine: engine.value }) : stored;
  },
};
