import { visibleLine } from "../../../../domain/text/visible.ts";
import type { ConfigProblem } from "../../../../usecases/config/config.ts";
import type { App } from "../../app.ts";
import type { Io } from "../../command.ts";

/** A value on one line, as it could be typed again: text as it is, everything else as JSON, nothing when unset. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  return visibleLine(typeof value === "string" ? value : JSON.stringify(value));
}

/** JSON has no undefined: a key that is not set is null. */
export const plain = (value: unknown): unknown => value ?? null;

/** `file:line:column key message`, the form editors can jump to. */
export function problemLine({ file, line, column, key, message, nearest }: ConfigProblem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : file;
  const hint = nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
  return visibleLine(`${place} ${key === "" ? "" : `${key} `}${message}${hint}`);
}

/** What is shown beside a broken configuration is partly defaults, and the reader should know. */
export async function warnOfProblems(app: App, io: Io): Promise<void> {
  const found = await app.call("config.validate", {});
  if (!found.ok || found.value.problems.length === 0) return;
  io.warn("the configuration has problems, so defaults stand in for some values: ov config validate");
}
