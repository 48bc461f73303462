import { ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

export interface FindRequest {
  /** A hit contains all words of it, in any order, in upper or lower case. */
  readonly q: string;
  /** So many of each kind. */
  readonly limit: number;
}

export type FoundKind = "agent" | "task" | "run" | "branch" | "message";

/** Something by which a person can go on: its page is told by kind and id. */
export interface Found {
  readonly kind: FoundKind;
  readonly id: string;
  readonly title: string;
  readonly status: string | null;
  readonly at: number;
}

/** Older messages are found by the lists of mail. */
const newestMessages = 2_000;

/**
 * Agents, tasks, runs, branches of merges and the newest mail that have these words in them, newest first in each kind. The
 * mail is that of everybody, so no agent may search it.
 */
export const findAnything: UseCase<FindRequest, { readonly found: readonly Found[] }> = {
  kind: "read",
  request: fields({ q: text, limit: whole }),
  operatorOnly: true,
  run: async (tx, _context, { q, limit }) => {
    const words = q
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const fits = (...texts: readonly (string | null)[]): boolean => {
      const text = texts.join("\n").toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const agents = (await tx.agents.list({}))
      .filter((agent) => fits(agent.name, agent.taskId, agent.branch))
      .map((agent) => found("agent", agent.name, `${agent.capability} ${agent.name}`, agent.state, agent.startedAt));
    const tasks = (await tx.tasks.list({}))
      .filter((task) => fits(task.id, task.title, task.description))
      .map((task) => found("task", task.id, task.title, task.status, task.createdAt));
    const runs = (await tx.runs.list(500))
      .filter((run) => fits(run.id, run.objective))
      .map((run) => found("run", run.id, run.objective ?? run.id, run.status, run.startedAt));
    const branches = (await tx.merges.list({}))
      .filter((entry) => fits(entry.branch, entry.taskId))
      .map((entry) => found("branch", String(entry.id), entry.branch, entry.status, entry.enqueuedAt));
    const messages = (await tx.messages.list({ limit: newestMessages }))
      .filter((message) => fits(message.id, message.subject, message.body, message.fromAgent))
      .map((message) => found("message", message.id, message.subject, message.type, message.createdAt));
    const newest = (all: readonly Found[]): readonly Found[] => all.toSorted((a, b) => b.at - a.at).slice(0, limit);
    const byName = new Map(agents.toSorted((a, b) => a.at - b.at).map((agent) => [agent.id, agent]));
    return ok({ found: [[...byName.values()], tasks, runs, branches, messages].flatMap(newest) });
  },
};

const found = (kind: FoundKind, id: string, title: string, status: string | null, at: number): Found => ({
  kind,
  id,
  title,
  status,
  at,
});
