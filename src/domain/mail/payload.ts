import { type InvalidInput, invalid } from "../refusal.ts";
import { jsonProblem } from "../text/json-problem.ts";
import { type FieldSource, type PayloadField, payloadShapes } from "./payload-shapes.ts";
import type { MailType, Message } from "./types.ts";

/** Facts a caller knows at the time of sending. Absent means unknown; null means known to be nothing. */
export type PayloadFacts = { readonly [S in FieldSource]?: string | number | readonly string[] | null };

type Fields = Readonly<Record<string, unknown>>;

/** Everything wrong with a payload for this type; empty when it may be stored. `null` is a payload without fields. */
export function checkPayload(type: MailType, json: string | null): readonly InvalidInput[] {
  const shape = payloadShapes[type];
  const read = readFields(json);
  if (read.kind === "malformed") {
    return [invalid("payload", `is not valid JSON: ${jsonProblem(read.text)}`, { value: read.text })];
  }
  if (shape.length === 0) return [];
  if (read.kind === "other")
    return [invalid("payload", `must be a JSON object for type ${type}`, { value: read.text })];
  return shape.flatMap((field) => checkField(type, field, read.fields));
}

/**
 * Adds fields that the sender left out and the facts know; fields that were written stay. Text that is no JSON object
 * is returned unchanged, for `checkPayload` to judge.
 */
export function fillPayload(type: MailType, json: string | null, facts: PayloadFacts): string | null {
  const read = readFields(json);
  if (read.kind !== "fields") return json;
  const known = { ...branchFacts(read.fields), ...facts };
  const added = payloadShapes[type].flatMap((field) => {
    if (read.fields[field.name] !== undefined) return [];
    const value = field.computable === undefined ? undefined : known[field.computable];
    if (value === undefined || (value === null && field.nullable !== true)) return [];
    return [[field.name, value] as const];
  });
  if (added.length === 0) return json;
  return JSON.stringify({ ...read.fields, ...Object.fromEntries(added) });
}

/** All problems as one refusal, for surfaces that print a single sentence. */
export function payloadRefusal(problems: readonly InvalidInput[]): InvalidInput | undefined {
  const [first, ...rest] = problems;
  if (first === undefined || rest.length === 0) return first;
  return invalid(first.field, [first.problem, ...rest.map(({ field, problem }) => `${field} ${problem}`)].join("; "));
}

/** The fields of a stored payload; none when it is missing, malformed or no object. Never throws. */
export function payloadFields(json: string | null): Fields {
  const read = readFields(json);
  return read.kind === "fields" ? read.fields : {};
}

/** Subjects of the messages that come with the instructions of an agent: with the first ones, and after a recovery. */
export const orderSubjects = {
  first: (taskId: string | null): string => `Dispatch: ${taskId}`,
  again: (taskId: string | null): string => `Go on with ${taskId ?? "your work"}`,
} as const;

/** What the instructions tell that come with such a message. Nothing else tells it where a dispatch was written by hand. */
const inInstructions: ReadonlySet<string> = new Set(["fileScope", "sharedFiles", "taskId"]);

function comesWithInstructions(subject: string, { taskId }: Fields): boolean {
  const task = typeof taskId === "string" ? taskId : null;
  return Object.values(orderSubjects).some((subjectFor) => subject === subjectFor(task));
}

/** What programs read of these messages: each is said in words too, or says nothing to a reader. */
const forPrograms: Partial<Readonly<Record<MailType, readonly string[]>>> = {
  dispatch: ["capability", "change", "criterion"],
  review: ["commit"],
  worker_done: ["commit", "exitCode", "noCode", "receiptId", "reviewedCommit", "verified"],
};

/** Answers that stand in a payload. Their words may stand in the text by chance, so they count only in its frame. */
const answers: ReadonlySet<string> = new Set(["option", "options", "verdict"]);

/**
 * The part of a message's payload that the message does not say in words; null when that is nothing. The news of the
 * engine says all of it. `ov mail read` shows the whole.
 */
export function payloadBeyondText(
  message: Pick<Message, "type" | "fromAgent" | "subject" | "body" | "replyTo" | "payload">,
): string | null {
  const { type, fromAgent, subject, body, replyTo, payload } = message;
  const read = readFields(payload);
  if (read.kind !== "fields") return payload;
  if (fromAgent === "system") return null;
  const frame = `${subject}\n${replyTo ?? ""}`;
  const all = Object.entries(read.fields);
  const isOrder = type === "dispatch" && comesWithInstructions(subject, read.fields);
  const left = all.filter(([name, value]) => {
    if (forPrograms[type]?.includes(name) || (isOrder && inInstructions.has(name))) return false;
    // The verdict of a report is that of its gates, which its text tells; that of a review stands in its subject.
    const isAnswer = answers.has(name) && type !== "worker_done";
    return !isSaidIn(isAnswer ? (body === value ? body : frame) : `${frame}\n${body}`, value);
  });
  if (left.length === all.length) return payload;
  return left.length === 0 ? null : JSON.stringify(Object.fromEntries(left));
}

/**
 * Every text of the value stands in the words, as whole words. A number may stand there by chance, so it counts only beside
 * texts; truth values have no words. The status of a gate tells its exit code.
 */
function isSaidIn(words: string, value: unknown): boolean {
  if (value === null || value === "") return true;
  if (typeof value === "string") return hasWords(words, value);
  if (Array.isArray(value)) return value.every((item) => isSaidIn(words, item));
  if (!isRecord(value)) return false;
  const parts = Object.entries(value).filter(([name]) => name !== "exitCode");
  return (
    parts.some(([, part]) => typeof part === "string") &&
    parts.every(([, part]) => (typeof part === "number" ? hasWords(words, String(part)) : isSaidIn(words, part)))
  );
}

function hasWords(words: string, value: string): boolean {
  for (let at = words.indexOf(value); at >= 0; at = words.indexOf(value, at + 1)) {
    const [before = "", after = ""] = [words[at - 1], words[at + value.length]];
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) return true;
  }
  return false;
}

type Read =
  | { readonly kind: "fields"; readonly fields: Fields }
  | { readonly kind: "other"; readonly text: string }
  | { readonly kind: "malformed"; readonly text: string };

function readFields(json: string | null): Read {
  if (json === null) return { kind: "fields", fields: {} };
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? { kind: "fields", fields: value } : { kind: "other", text: json };
  } catch {
    // JSON.parse has no other way to say no; the caller reports the text as malformed.
    return { kind: "malformed", text: json };
  }
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkField(type: MailType, field: PayloadField, fields: Fields): readonly InvalidInput[] {
  const name = `payload.${field.name}`;
  const value = fields[field.name];
  if (value === undefined) return field.required ? [invalid(name, `is required for type ${type}`, allowed(field))] : [];
  if (value === null && field.nullable === true) return [];
  const problem = kindProblem(field, value);
  return problem === undefined ? [] : [invalid(name, problem, { value: JSON.stringify(value), ...allowed(field) })];
}

const allowed = (field: PayloadField) => (field.oneOf === undefined ? {} : { allowed: field.oneOf });

function kindProblem(field: PayloadField, value: unknown): string | undefined {
  switch (field.kind) {
    case "string":
      if (typeof value !== "string" || value === "") return "must be a text that is not empty";
      return field.oneOf === undefined || field.oneOf.includes(value) ? undefined : "is not one of the allowed values";
    case "number":
      return typeof value === "number" ? undefined : "must be a number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "texts":
      return isTexts(value) ? undefined : "must be a list of texts";
    case "time":
      return isTime(value) ? undefined : "must be an ISO-8601 time";
    case "findings":
      return Array.isArray(value) && value.every(isFinding)
        ? undefined
        : "must be a list of {file, line?, severity, text, expected?, criterion?}";
  }
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string");

const isTime = (value: unknown): boolean =>
  typeof value === "string" && /^\d{4}-\d{2}-\d{2}/.test(value) && !Number.isNaN(Date.parse(value));

function isFinding(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { file, line, severity, text, expected, criterion } = value;
  const texts = [file, severity, text].every((part) => typeof part === "string");
  const mayBeLeftOut = expected === undefined || expected === null || typeof expected === "string";
  const numbers = [line, criterion].every((part) => part === undefined || part === null || typeof part === "number");
  return texts && mayBeLeftOut && numbers;
}

/** Agents' branches are `overstory/<agent>/<task>`, so the branch tells whose work it is. */
function branchFacts(fields: Fields): PayloadFacts {
  const match = typeof fields.branch === "string" ? /^overstory\/([^/]+)\/([^/]+)$/.exec(fields.branch) : null;
  const [, agent, task] = match ?? [];
  if (agent === undefined || task === undefined || agent === "integration") return {};
  return { "branch.agent": agent, "branch.task": task };
}
