import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { FlagValue } from "./command.ts";

type Given = FlagValue | undefined;

/** The parser has checked every value against the tree; these only tell the compiler which kind it is. */
export const text = (given: Given): string | undefined => (typeof given === "string" ? given : undefined);

export const integer = (given: Given): number | undefined => (typeof given === "number" ? given : undefined);

export const texts = (given: Given): readonly string[] | undefined =>
  typeof given === "object" ? given : given === undefined || typeof given !== "string" ? undefined : [given];

export const isOn = (given: Given): boolean => given === true;

/** A required argument. */
export const word = (given: Given): string => text(given) ?? "";

/** Numbers such as those of criteria: `2`, or `1,3`. Undefined when nothing was typed. */
export function numbers(field: string, given: Given): Result<readonly number[] | undefined, Refusal> {
  const typed = texts(given)?.flatMap((one) => one.split(",").map((part) => part.trim()));
  const wrong = typed?.find((one) => !/^[1-9]\d{0,5}$/.test(one));
  if (wrong !== undefined) return no(invalid(field, "must be a whole number of 1 or more", { value: wrong }));
  return ok(typed?.map(Number));
}

/** The same for one number that must be there. */
export function number(field: string, given: Given): Result<number, Refusal> {
  const parsed = numbers(field, given);
  if (!parsed.ok) return parsed;
  const [only] = parsed.value ?? [];
  return only === undefined ? no(invalid(field, "must be a whole number of 1 or more")) : ok(only);
}
