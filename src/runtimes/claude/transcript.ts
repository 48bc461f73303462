import type { Transcript, TranscriptAnswer } from "../../ports/transcripts.ts";
import { fields, number, text } from "../shared/json-fields.ts";

/** Below the configuration directory of Claude Code: where it keeps the conversations of a directory. */
export const transcriptsOf = (dir: string): string => `projects/${dir.replaceAll(/[^A-Za-z0-9]/g, "-")}`;

/**
 * Reads a conversation. Claude Code writes a line for each block of an answer, all with the id and the use of the whole:
 * the last one counts. Undefined when no model has answered in it.
 */
export function readTranscript(path: string, written: string): Transcript | undefined {
  const answers = new Map<string, TranscriptAnswer>();
  const times: number[] = [];
  let sessionId: string | undefined;
  for (const line of written.split("\n")) {
    // Most of a long file is what tools said.
    if (!line.includes('"usage"')) continue;
    const told = objectIn(line);
    const message = fields(told?.message);
    const used = fields(message?.usage);
    const messageId = text(message?.id);
    if (told?.type !== "assistant" || used === undefined || messageId === undefined) continue;
    // An answer that Claude Code wrote itself, such as the words of a failure.
    if (message?.model === "<synthetic>") continue;
    sessionId ??= text(told.sessionId);
    const at = Date.parse(text(told.timestamp) ?? "");
    if (!Number.isNaN(at)) times.push(at);
    answers.set(messageId, {
      messageId,
      model: text(message?.model) ?? null,
      input: number(used.input_tokens) ?? 0,
      output: number(used.output_tokens) ?? 0,
      cacheRead: number(used.cache_read_input_tokens) ?? 0,
      cacheWrite: number(used.cache_creation_input_tokens) ?? 0,
    });
  }
  if (answers.size === 0) return undefined;
  return {
    path,
    sessionId: sessionId ?? path.replace(/^.*\//, "").replace(/\.jsonl$/, ""),
    runtime: "claude",
    answers: [...answers.values()],
    startedAt: times.reduce((a, b) => Math.min(a, b), times[0] ?? 0),
    endedAt: times.reduce((a, b) => Math.max(a, b), times[0] ?? 0),
  };
}

/** A line that was cut short says nothing. */
function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return fields(JSON.parse(line));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
