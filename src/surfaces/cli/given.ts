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
