import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { requestProblem } from "../../domain/schema/check.ts";
import { hasTooManyValues } from "../../domain/text/json-values.ts";
import { isOperationName, isUseCase, operationOf } from "../catalog.ts";
import type { Frame } from "./run-use-case.ts";

/**
 * Reads a request frame from the engine's socket. Another process wrote it, so its request must fit the schema of the
 * operation before anything runs. The token is passed on unread: `identify` alone decides about it.
 */
export async function readFrame(text: string): Promise<Result<Frame, Refusal>> {
  const frame = parsed(text);
  if (typeof frame !== "object" || frame === null) return no(invalid("frame", "must be a JSON object"));
  const { name, request, token, requestId } = frame as Record<string, unknown>;
  if (typeof name !== "string" || !isOperationName(name)) {
    return no(invalid("name", "is not an operation of this engine", { value: String(name).slice(0, longestShown) }));
  }
  if (requestId !== undefined && (typeof requestId !== "string" || requestId.length > longestRequestId)) {
    return no(invalid("requestId", `must be a text of ${longestRequestId} characters at most`));
  }
  const operation = await operationOf(name);
  if (!isUseCase(operation) && operation.place === "caller") {
    return no(invalid("name", "is an operation that runs only in the process of its caller", { value: name }));
  }
  const problem = requestProblem(operation.request, request);
  if (problem !== undefined) return no(problem);
  return ok({ name, request, token, ...(requestId === undefined ? {} : { requestId }) });
}

function parsed(text: string): unknown {
  if (hasTooManyValues(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The reply says that the frame is not JSON.
    return undefined;
  }
}

const longestShown = 80;
const longestRequestId = 200;
