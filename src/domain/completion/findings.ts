import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { jsonProblem } from "../text/json-problem.ts";

/** One thing a review found. An empty file: it is about the whole. */
export interface Finding {
  readonly file: string;
  readonly line: number | null;
  readonly severity: string;
  readonly text: string;
}

/** Findings as JSON, `[{file, line?, severity?, text}]`, or as lines: `file:line: text`, `file: text`, or plain text. */
export function parseFindings(typed: string): Result<readonly Finding[], InvalidInput> {
  const text = typed.trim();
  if (text === "") return ok([]);
  if (text.startsWith("[") || text.startsWith("{")) return fromJson(text);
  const lines = text.split("\n").map((line) => line.trim());
  return ok(lines.filter((line) => line !== "").map(fromLine));
}

/** One line a person can read, in the form that is also read back. */
export function findingLine({ file, line, text }: Finding): string {
  if (file === "") return text;
  return line === null ? `${file}: ${text}` : `${file}:${line}: ${text}`;
}

const ordinary = "error";

function fromLine(line: string): Finding {
  const [, file, number, text] = /^(?:[-*]\s+)?([^\s:]+)(?::(\d+))?(?::\d+)?:\s+(.+)$/.exec(line) ?? [];
  const isPath = file !== undefined && (number !== undefined || /[./]/.test(file));
  if (!isPath || text === undefined) return { file: "", line: null, severity: ordinary, text: line };
  return { file, line: number === undefined ? null : Number(number), severity: ordinary, text };
}

const forms = "must be lines of text, or JSON: a list of {file, line?, severity?, text}";

function fromJson(text: string): Result<readonly Finding[], InvalidInput> {
  const broken = jsonProblem(text);
  if (broken !== undefined) return no(invalid("findings", `${forms}; as JSON, ${broken}`));
  const value = parsed(text);
  const list = Array.isArray(value) ? value : [value];
  const findings = list.map(findingOf);
  if (findings.some((finding) => finding === undefined)) {
    return no(invalid("findings", forms));
  }
  return ok(findings.filter((finding) => finding !== undefined));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // JSON.parse has no other way to say no; what is no JSON is no list of findings either.
    return undefined;
  }
}

function findingOf(value: unknown): Finding | undefined {
  if (typeof value !== "object" || value === null || !("text" in value) || typeof value.text !== "string") {
    return undefined;
  }
  const file = "file" in value && typeof value.file === "string" ? value.file : "";
  const line = "line" in value && typeof value.line === "number" ? value.line : null;
  const severity = "severity" in value && typeof value.severity === "string" ? value.severity : ordinary;
  return { file, line, severity, text: value.text };
}
