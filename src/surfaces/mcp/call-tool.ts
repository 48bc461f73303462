import { definedTools, isDefined, toolFor } from "../../contract/tools/tools.ts";
import { failureOf } from "../../domain/failure.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { checkArguments } from "../../domain/schema/check.ts";
import { visibleText } from "../../domain/text/visible.ts";
import type { Description } from "../shared/description.ts";
import { describeFailure } from "../shared/failures.ts";
import { describeRefusal } from "../shared/refusals.ts";
import { implementations, offeredTools } from "./implementations.ts";
import { errorCodes, type Params, type RpcError } from "./protocol.ts";
import { Given, type ToolAnswer, type ToolContext } from "./tool-call.ts";

export type CallOutcome =
  | { readonly kind: "result"; readonly result: object; readonly afterSent?: () => Promise<void> }
  /** The call makes no sense to the protocol, as for a tool that does not exist. */
  | { readonly kind: "error"; readonly error: RpcError };

/** One call of a tool. Refusals and failures are results that say so, with the next step, for the model to act on. */
export async function callTool(context: ToolContext, params: Params): Promise<CallOutcome> {
  const { name } = params;
  if (typeof name !== "string" || !isDefined(name)) return unknownTool(name, context);
  const load = implementations[name];
  const tool = toolFor(name, context.role);
  try {
    if (!offeredTools(context.role).includes(name)) {
      const allowed = await context.app.call("identity.tool", { tool: name });
      return allowed.ok ? unknownTool(name, context) : said(describeRefusal(allowed.refusal));
    }
    if (load === undefined || tool === undefined) return unknownTool(name, context);
    const given = checkArguments(tool.input, params.arguments);
    if (!given.ok) return said(withSchema(describeRefusal(given.refusal), tool.input.required));
    const answer = await (await load())(new Given(given.value), context);
    return answer.ok ? result(answer.value) : said(describeRefusal(answer.refusal));
  } catch (error) {
    return said(describeFailure(failureOf(error)));
  }
}

/** Tools make the texts of others visible themselves, where they fence them; doing it twice would show the escapes. */
function result({ text, data, failed, afterSent }: ToolAnswer): CallOutcome {
  return {
    kind: "result",
    result: {
      content: [{ type: "text", text }],
      structuredContent: visibleData(data),
      ...(failed === true ? { isError: true } : {}),
    },
    ...(afterSent === undefined ? {} : { afterSent }),
  };
}

function said({ code, message, hint, details, retryable }: Description): CallOutcome {
  const lines = [`Error [${code}]: ${message}`, ...(hint === undefined ? [] : [hint])];
  return {
    kind: "result",
    result: {
      content: [{ type: "text", text: visibleText(lines.join("\n")) }],
      structuredContent: visibleData({
        error: message,
        code,
        ...(hint === undefined ? {} : { hint }),
        details,
        retryable,
      }),
      isError: true,
    },
  };
}

const withSchema = (description: Description, required: readonly string[]): Description =>
  description.hint !== undefined || required.length === 0
    ? description
    : { ...description, hint: `it needs ${required.join(", ")}` };

function unknownTool(name: unknown, { role }: ToolContext): CallOutcome {
  const offered = offeredTools(role);
  const near = typeof name === "string" ? nearest(name, definedTools) : undefined;
  const hint = near === undefined ? `there are ${offered.join(", ")}` : `did you mean ${near}?`;
  const message = visibleText(`no tool called ${JSON.stringify(name)}; ${hint}`);
  return { kind: "error", error: { code: errorCodes.invalidParams, message } };
}

/** The same data with every text made visible: a client may print it on a terminal or put it before a model as it is. */
function visibleData(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [visibleText(key), visible(item)]));
}

function visible(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== "object" || value === null) return value;
  return visibleData(Object.fromEntries(Object.entries(value)));
}
