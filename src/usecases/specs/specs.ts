import type { Caller } from "../../domain/caller/caller.ts";
import { agentName, taskId } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, notSent, text } from "../../domain/schema/schema.ts";
import { forbiddenToSpecify, notToSpecify } from "../../domain/task/rights.ts";
import { specText } from "../../domain/task/task.ts";
import { checkSize, sizes } from "../../domain/text/sizes.ts";
import { byCaller, record } from "../events/record.ts";
import { whyNotToSpecify } from "../tasks/team-tasks.ts";
import type { UseCase } from "../usecase.ts";

export interface ReadSpecRequest {
  readonly taskId: string;
}

export interface ReadSpecReply {
  readonly taskId: string;
  readonly path: string;
  readonly text: string;
  readonly author: string | null;
  /** Null for a text that was put there by other means. */
  readonly updatedAt: number | null;
  /** What `finish` needs to find the text; never in an answer. */
  readonly stored?: { readonly digest: string | null; readonly meant: string | undefined };
}

/** The specification of a task: the last text that was written, or what a person put into its file since. */
export const readSpec: UseCase<ReadSpecRequest, ReadSpecReply> = {
  kind: "read",
  request: fields({ taskId: text }),
  run: async (tx, _context, request) => {
    const id = taskId(request.taskId, "task id");
    if (!id.ok) return id;
    const row = await tx.specs.get(id.value);
    const tasks = row === undefined ? await tx.tasks.ids() : [id.value];
    const meant = tasks.includes(id.value) ? undefined : nearest(id.value, tasks);
    const { author = null, updatedAt = null, digest = null } = row ?? {};
    return ok({ taskId: id.value, path: "", text: "", author, updatedAt, stored: { digest, meant } });
  },
  finish: async (files, { taskId: id, author, updatedAt, stored }) => {
    const found = await files.readSpec(id, stored?.digest ?? null);
    if (found === undefined) return no(notFound("spec", id, stored?.meant));
    const { path, text, byHand } = found;
    return ok({ taskId: id, path, text, ...(byHand ? { author: null, updatedAt: null } : { author, updatedAt }) });
  },
};

export interface WriteSpecRequest {
  readonly taskId: string;
  readonly body: string;
  /** The author, as a person states it. An agent writes as itself. */
  readonly agent?: string | undefined;
  /** Set by `prepare`; a value of the caller is ignored. */
  readonly written?: { readonly path: string; readonly digest: string; readonly author: string | null } | undefined;
}

export interface WriteSpecReply {
  readonly taskId: string;
  readonly path: string;
  readonly digest: string;
  /** False: no task of ours has this id; one of another tracker may. */
  readonly isKnown: boolean;
}

/**
 * Replaces the specification of a task, which may live in another tracker. The text is kept before the row that names
 * it, and the readable file follows the row: whenever we die, the two agree or the next reader makes them.
 */
export const writeSpec: UseCase<WriteSpecRequest, WriteSpecReply> = {
  kind: "write",
  request: fields({ taskId: text, body: text }, { agent: text, written: notSent }),
  prepare: async (files, terms, request) => {
    const asking = await terms.caller();
    if (!asking.ok) return asking;
    const caller = asking.value;
    const id = taskId(request.taskId, "task id");
    if (!id.ok) return id;
    if (request.body.trim() === "") return no(invalid("body", "must not be empty"));
    const sized = checkSize("body", request.body, sizes.spec);
    if (!sized.ok) return sized;
    const refused = forbiddenToSpecify(caller, id.value);
    if (refused !== undefined) return no(refused);
    const author = authorOf(caller, request.agent);
    if (!author.ok) return author;
    const file = await files.writeSpec(id.value, specText(request.body, author.value));
    return ok({ ...request, written: { ...file, author: author.value } });
  },
  run: async (tx, context, request) => {
    const { written } = request;
    if (written === undefined) throw new Error("the text of the spec was not kept before its row");
    const { path, digest, author } = written;
    const { caller } = context;
    const task = await tx.tasks.get(request.taskId);
    // A task of another tracker is not among ours, and its team is unknown.
    const why = caller.kind === "agent" && task !== undefined ? await whyNotToSpecify(tx, caller, task) : undefined;
    if (why !== undefined) return no(notToSpecify(caller, request.taskId, why));
    await tx.specs.put({ taskId: request.taskId, path, author, digest, updatedAt: context.now });
    const runId = task?.runId ?? null;
    const data = { taskId: request.taskId, path, author, digest };
    await record(tx, context.now, { ...byCaller(caller, runId), type: "spec_written", data });
    return ok({ taskId: request.taskId, path, digest, isKnown: task !== undefined });
  },
  finish: async (files, reply) => {
    await files.readSpec(reply.taskId, reply.digest);
    return ok(reply);
  },
};

function authorOf(caller: Caller, given: string | undefined): Result<string | null, Refusal> {
  if (caller.kind === "agent" && given !== undefined && given !== caller.name) {
    const why = "an agent writes under its own name";
    return no({ kind: "not-allowed", action: `write a spec as ${given}`, caller: caller.name, why });
  }
  const name = caller.kind === "agent" ? caller.name : given?.trim();
  return name === undefined || name === "" ? ok(null) : agentName(name, "agent");
}
