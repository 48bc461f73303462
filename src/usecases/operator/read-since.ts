import { quarterMs } from "../../domain/cost/spending.ts";
import { ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";

export interface SinceRequest {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Id of a run; without it, of all. */
  readonly run?: string | undefined;
}

export const newsKinds = ["landed", "undone", "closed", "failed", "asked", "decided"] as const;
export type NewsKind = (typeof newsKinds)[number];

/** One thing that happened. */
export interface News {
  readonly kind: NewsKind;
  readonly at: number;
  readonly sentence: string;
  /** `agent:<name>`, `task:<id>`, `msg:<id>` or `merge:<number>`. */
  readonly subject: string;
}

export interface SinceReply {
  readonly since: number;
  readonly counts: Readonly<Record<NewsKind, number>>;
  /** By turns that began in the time, to a quarter of an hour; null where no runtime reported any. */
  readonly costUsd: number | null;
  /** The newest. */
  readonly news: readonly News[];
}

const mostNews = 30;

/** What happened since the operator last looked. */
export const readSince: UseCase<SinceRequest, SinceReply> = {
  kind: "read",
  request: fields({ since: whole }, { run: text }),
  operatorOnly: true,
  run: async (tx, { now }, { since: asked, run }) => {
    const since = Math.max(0, Math.min(asked, now));
    const all = [...(await landings(tx, since)), ...(await endings(tx, since, run)), ...(await words(tx, since, run))];
    const news = all.toSorted((a, b) => b.at - a.at);
    const counts = Object.fromEntries(newsKinds.map((kind) => [kind, news.filter((one) => one.kind === kind).length]));
    return ok({
      since,
      counts: counts as Record<NewsKind, number>,
      costUsd: await spent(tx, since, now, run),
      news: news.slice(0, mostNews),
    });
  },
};

async function landings(tx: Tx, since: number): Promise<readonly News[]> {
  const found: News[] = [];
  for (const op of await tx.mergeOps.list({ limit: mostLookedAt })) {
    if (op.status !== "done" || op.updatedAt < since || (op.kind !== "land" && op.kind !== "undo")) continue;
    for (const id of op.queueIds) {
      const entry = await tx.merges.get(id);
      if (entry === undefined) continue;
      const landed = op.kind === "land";
      found.push({
        kind: landed ? "landed" : "undone",
        at: op.updatedAt,
        sentence: `${entry.branch} ${landed ? `landed on ${entry.targetBranch}` : "was taken back"}`,
        subject: `merge:${id}`,
      });
    }
  }
  return found;
}

async function endings(tx: Tx, since: number, run: string | undefined): Promise<readonly News[]> {
  const tasks = await tx.tasks.list(run === undefined ? {} : { runId: run });
  const agents = await tx.agents.list(run === undefined ? {} : { runId: run });
  return [
    // A landing closes its task, and is told as a landing.
    ...tasks
      .filter(({ closedAt, mergeState }) => (closedAt ?? 0) >= since && mergeState !== "merged")
      .map(({ id, title, closedAt, mergeState }): News => {
        const how = mergeState === "abandoned" ? "was dropped" : "was closed";
        return { kind: "closed", at: closedAt ?? 0, sentence: `${id} ${how}: ${title}`, subject: `task:${id}` };
      }),
    ...agents
      .filter(({ state, endedAt }) => state === "zombie" && (endedAt ?? 0) >= since)
      .map(({ name, endedAt }): News => {
        return {
          kind: "failed",
          at: endedAt ?? 0,
          sentence: `${name} ended without a report`,
          subject: `agent:${name}`,
        };
      }),
  ];
}

async function words(tx: Tx, since: number, run: string | undefined): Promise<readonly News[]> {
  const ofRun = { limit: mostLookedAt, ...(run === undefined ? {} : { runId: run }) };
  const found: News[] = [];
  for (const type of ["decision_gate", "question"] as const) {
    for (const { id, fromAgent, subject, createdAt } of await tx.messages.list({ to: "operator", type, ...ofRun })) {
      if (createdAt < since) continue;
      found.push({ kind: "asked", at: createdAt, sentence: `${fromAgent} asked: ${subject}`, subject: `msg:${id}` });
    }
  }
  for (const { id, fromAgent, subject, createdAt } of await tx.messages.list({ type: "decision", ...ofRun })) {
    if (createdAt < since) continue;
    found.push({ kind: "decided", at: createdAt, sentence: `${fromAgent} decided: ${subject}`, subject: `msg:${id}` });
  }
  return found;
}

/** Enough for a night. */
const mostLookedAt = 500;

async function spent(tx: Tx, since: number, now: number, run: string | undefined): Promise<number | null> {
  const quarters = Math.ceil((now - since) / quarterMs) + 1;
  const sums = await tx.spending.sums("quarter", run === undefined ? {} : { runId: run }, quarters);
  const counted = sums.filter(({ key }) => (Number(key) + 1) * quarterMs > since);
  const priced = counted.filter(({ turns, unpriced }) => turns > unpriced);
  return priced.length === 0 ? null : priced.reduce((total, { costMicros }) => total + costMicros, 0) / 1_000_000;
}
