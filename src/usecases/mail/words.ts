import {
  isMailType,
  isPriority,
  type MailType,
  mailTypes,
  type Priority,
  priorities,
} from "../../domain/mail/types.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { type InvalidInput, invalid } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";

/** A mail type as typed. */
export function parseType(text: string): Result<MailType, InvalidInput> {
  if (isMailType(text)) return ok(text);
  return no(unknownWord("type", "is not a mail type", text, mailTypes));
}

/** A priority as typed. */
export function parsePriority(text: string): Result<Priority, InvalidInput> {
  if (isPriority(text)) return ok(text);
  return no(unknownWord("priority", "is not a priority", text, priorities));
}

function unknownWord(field: string, problem: string, value: string, allowed: readonly string[]): InvalidInput {
  const near = nearest(value, allowed);
  return invalid(field, problem, { value, allowed, ...(near === undefined ? {} : { nearest: near }) });
}
