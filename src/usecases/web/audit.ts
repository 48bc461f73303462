import { ok } from "../../domain/result.ts";
import { fields, flag, text, whole } from "../../domain/schema/schema.ts";
import type { AuditEntry, AuditFilter } from "../../ports/store/events.ts";
import type { UseCase } from "../usecase.ts";

export interface AuditRequest extends AuditFilter {
  /** The newest so many. */
  readonly limit: number;
}

/** Newest first. `older`: the `before` that brings the next page; null when there is none. */
export interface AuditRead {
  readonly entries: readonly AuditEntry[];
  readonly older: number | null;
}

/** Requested changes, by the web and by commands, and refusals of requests that only the operator may make. */
export const listAudit: UseCase<AuditRequest, AuditRead> = {
  kind: "read",
  request: fields<AuditRequest>({ limit: whole }, { before: whole, refused: flag, text }),
  operatorOnly: true,
  run: async (tx, _context, { limit, ...filter }) => {
    const found = await tx.audit.list(limit + 1, filter);
    const entries = found.slice(0, limit);
    return ok({ entries, older: found.length > limit ? (entries.at(-1)?.seq ?? null) : null });
  },
};
