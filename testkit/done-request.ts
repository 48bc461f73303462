import { type DoneRequest, parseDone, type TypedDone } from "../src/domain/completion/request.ts";

/** The request of an agent that typed these words after `ov done`. */
export function doneRequest(typed: TypedDone): DoneRequest {
  const parsed = parseDone(typed);
  if (!parsed.ok) throw new Error(`${parsed.refusal.field} ${parsed.refusal.problem}`);
  return parsed.value;
}
