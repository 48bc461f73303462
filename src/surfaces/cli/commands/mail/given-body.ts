import { invalid, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../../domain/result.ts";
import type { Call } from "../../command.ts";
import { word } from "../../given.ts";

/** The text of a message: what was typed, or standard input for `-`. */
export async function givenBody({ flags, io }: Call): Promise<Result<string, Refusal>> {
  const typed = word(flags.body);
  if (typed !== "-") return ok(typed);
  const piped = await io.stdin();
  return piped === undefined ? no(invalid("body", "is -, but nothing was piped in")) : ok(piped);
}
