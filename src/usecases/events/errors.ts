import { type ErrorGroup, errorGroups } from "../../domain/event/error-groups.ts";
import { ok } from "../../domain/result.ts";
import { fields, flag, list, text, whole } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { type EventsRead, type EventsRequest, listEvents } from "./read-events.ts";

export interface ErrorsRequest extends Omit<EventsRequest, "level"> {
  /** Put those together that have one cause. */
  readonly group: boolean;
}

export interface ErrorsRead extends EventsRead {
  /** Null unless groups were asked for. */
  readonly groups: readonly ErrorGroup[] | null;
}

/** What went wrong: warnings and errors, failed tools and denials among them. */
export const listErrors: UseCase<ErrorsRequest, ErrorsRead> = {
  kind: "read",
  request: fields(
    { limit: whole, group: flag },
    { agents: list(text), run: text, since: whole, until: whole, before: whole },
  ),
  run: async (tx, context, { group, ...question }) => {
    const read = await listEvents.run(tx, context, { ...question, level: "warn" });
    if (!read.ok) return read;
    return ok({ ...read.value, groups: group ? errorGroups(read.value.events) : null });
  },
};
