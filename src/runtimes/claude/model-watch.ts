import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import { type Fields, fields, text } from "../shared/json-fields.ts";

/**
 * Sees when another model answers than before. Claude Code says so only where a model refused; where one is overloaded
 * (`--fallback-model`) the messages just name another one.
 */
export interface ModelWatch {
  /** The session says which model it will use. */
  began(init: Fields): void;
  /** The program's own word that it went to another model. */
  fellBack(event: Fields): TurnEvent[];
  /** A message of a model. */
  answered(message: Fields): TurnEvent[];
}

export function modelWatch(): ModelWatch {
  let last: string | undefined;
  let hasAnswered = false;
  const changed = (to: string, why: string | null): TurnEvent[] => {
    const from = last;
    last = to;
    return from === undefined || nameOf(from) === nameOf(to) ? [] : [{ kind: "model-changed", from, to, why }];
  };
  return {
    began: (init) => {
      const model = text(init.model);
      if (model !== undefined && isFullName(model)) last ??= model;
    },
    fellBack: (event) => {
      const to = text(event.fallback_model);
      // `local`: one answer beside the conversation came from another model.
      if (to === undefined || event.scope === "local" || event.direction === "revert") return [];
      // Its first answer may have come before.
      if (last !== undefined && nameOf(last) === nameOf(to)) return [];
      last = text(event.original_model) ?? last;
      return changed(to, "the first one refused to answer");
    },
    answered: (message) => {
      const model = text(fields(message.message)?.model);
      // A helper inside of the program has a model of its own; `<synthetic>` are words of the program.
      if (model === undefined || model.startsWith("<") || text(message.parent_tool_use_id) !== undefined) return [];
      // Behind a gateway the first answer may name its model otherwise than the session does: that is no change.
      if (!hasAnswered && !isFullName(model)) last = undefined;
      hasAnswered = true;
      return changed(model, null);
    },
  };
}

const isFullName = (model: string): boolean => /claude-.*\d/.test(model);

/** The name without what platforms put around it, its date and the size of its window. */
const nameOf = (model: string): string =>
  model
    .replace(/^.*(?=claude-)/, "")
    .replace(/\[[^\]]*\]$/, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@](?:\d{8}|latest)$/, "");
