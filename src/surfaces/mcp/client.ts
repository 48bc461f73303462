import { isParams } from "./protocol.ts";

/**
 * Programs that show their model the structured part of an answer instead of its text. They get the text alone: it is
 * what was written for a model, says what to do next, and has the words of others behind bars.
 */
const dataInsteadOfText: readonly unknown[] = ["claude-code"];

/** What a client calls itself decides what it can make use of, never what it may do. */
export const wantsTextOnly = (name: unknown): boolean => dataInsteadOfText.includes(name);

/** Its name in the greeting. */
export const nameIn = (clientInfo: unknown): unknown => (isParams(clientInfo) ? clientInfo.name : undefined);

export function textOnly(result: object): object {
  return Object.fromEntries(Object.entries(result).filter(([key]) => key !== "structuredContent"));
}
