import { type DoneRequest, parseDone, type TypedDone } from "../src/domain/completion/request.ts";
import type { WorkSeen } from "../src/domain/completion/rules.ts";

/** The request of an agent that typed these words after `ov done`. */
export function doneRequest(typed: TypedDone): DoneRequest {
  const parsed = parseDone(typed);
  if (!parsed.ok) throw new Error(`${parsed.refusal.field} ${parsed.refusal.problem}`);
  return parsed.value;
}

/** What the engine sees of an agent that changed nothing. */
export const nothingChanged: WorkSeen = {
  exists: true,
  head: "base",
  ahead: 0,
  messages: [],
  dirty: false,
  onBranch: true,
  halfWay: null,
  files: [],
};
