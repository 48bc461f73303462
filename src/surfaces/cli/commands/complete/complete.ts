import { ok } from "../../../../domain/result.ts";
import { type ValueSource, valueSources } from "../../../../usecases/status/values.ts";
import type { Handler } from "../../command.ts";

/** Anything that goes wrong offers nothing: a key press is no place for an error. */
export const complete: Handler = async ({ app, args }) => {
  const source = String(args.source);
  const prefix = typeof args.prefix === "string" ? args.prefix : "";
  const offer = (found: readonly string[]) => ok({ json: { values: found }, text: found.join("\n") });
  if (source === "configKeys") {
    const listed = await (await app.config()).list(undefined);
    return offer(listed.ok ? listed.value.map(({ key }) => key).filter((key) => key.startsWith(prefix)) : []);
  }
  if (!isSource(source)) return offer([]);
  const reply = await app.call("status.values", { source, prefix });
  return offer(reply.ok ? reply.value.values : []);
};

const isSource = (text: string): text is ValueSource => valueSources.some((known) => known === text);
