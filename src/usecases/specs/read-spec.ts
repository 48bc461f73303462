import { taskId } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";

export interface ReadSpecRequest {
  readonly taskId: string;
  /** Set by `prepare`, whatever the caller sent. */
  readonly found?: { readonly path: string; readonly text: string } | undefined;
}

export interface ReadSpecReply {
  readonly taskId: string;
  readonly path: string;
  readonly text: string;
  readonly author: string | null;
  /** Null for a file that was put there by other means. */
  readonly updatedAt: number | null;
}

/** The specification of a task. Writes nothing, but only the channel for writes runs `prepare`, and the text is a file. */
export const readSpec: UseCase<ReadSpecRequest, ReadSpecReply> = {
  access: "write",
  prepare: async (files, _context, request) => {
    const id = taskId(request.taskId, "task id");
    return id.ok ? ok({ taskId: id.value, found: await files.readSpec(id.value) }) : id;
  },
  run: async (tx, _context, { taskId: id, found }) => {
    if (found === undefined) {
      const tasks = await tx.tasks.ids();
      return no(notFound("spec", id, tasks.includes(id) ? undefined : nearest(id, tasks)));
    }
    const row = await tx.specs.get(id);
    return ok({ taskId: id, ...found, author: row?.author ?? null, updatedAt: row?.updatedAt ?? null });
  },
};
