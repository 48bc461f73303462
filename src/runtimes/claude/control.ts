import type { AgentAnswer, Reply } from "../../ports/runtime.ts";
import { type Fields, fields, text } from "../shared/json-fields.ts";
import { claudeToolUse } from "./tools.ts";

/**
 * What the control protocol of Claude Code wants to hear to this line. With `--permission-prompt-tool stdio` the program
 * asks before it uses a tool, and waits. A request that we do not know is refused, so that it never waits in vain.
 */
export function repliesTo(event: Fields): readonly Reply[] {
  if (event.type !== "control_request") return [];
  const id = text(event.request_id) ?? "";
  const request = fields(event.request) ?? {};
  const subtype = text(request.subtype) ?? "unknown";
  if (subtype !== "can_use_tool") {
    return [
      { kind: "say", text: response({ subtype: "error", request_id: id, error: `${subtype} is not supported` }) },
    ];
  }
  const tool = text(request.tool_name) ?? "";
  const use = claudeToolUse(tool, request.input);
  const ask = { kind: "permission", tool, id: text(request.tool_use_id) ?? null, use } as const;
  const form = (answer: AgentAnswer): string =>
    response({ subtype: "success", request_id: id, response: decision(answer, request.input) });
  return [{ kind: "ask", request: ask, form }];
}

/** An allowed tool is used with the input that it is given back. */
const decision = (answer: AgentAnswer, updatedInput: unknown): object =>
  answer.kind === "granted" ? { behavior: "allow", updatedInput } : { behavior: "deny", message: answer.reason };

const response = (body: object): string => `${JSON.stringify({ type: "control_response", response: body })}\n`;
