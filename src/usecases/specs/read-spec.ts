import { taskId } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
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

/** The specification of a task: what was written last, or what a person put into its file since. */
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
