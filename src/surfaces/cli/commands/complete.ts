import { Failure } from "../../../domain/failure.ts";
import { ok } from "../../../domain/result.ts";
import { type ValueSource, valueSources } from "../../../usecases/status/values.ts";
import type { App } from "../app.ts";
import type { Handler } from "../command.ts";

/** Anything that goes wrong offers nothing: a key press is no place for an error. */
export const complete: Handler = async ({ app, args }) => {
  const source = String(args.source);
  const prefix = typeof args.prefix === "string" ? args.prefix : "";
  const found = await valuesOf(app, source, prefix).catch((thrown: unknown) => {
    // Outside of a project, or in one that cannot be used, there is nothing to complete; other commands say why.
    if (thrown instanceof Failure) return [];
    throw thrown;
  });
  return ok({ json: { values: found }, text: found.join("\n") });
};

async function valuesOf(app: App, source: string, prefix: string): Promise<readonly string[]> {
  if (source === "configKeys") {
    const listed = await app.call("config.list", {});
    return listed.ok ? listed.value.map(({ key }) => key).filter((key) => key.startsWith(prefix)) : [];
  }
  if (source === "branches") {
    const listed = await app.call("branch.list", {});
    return listed.ok ? listed.value.branches.filter((branch) => branch.startsWith(prefix)) : [];
  }
  if (!isSource(source)) return [];
  const reply = await app.call("status.values", { source, prefix });
  return reply.ok ? reply.value.values : [];
}

const isSource = (text: string): text is ValueSource => valueSources.some((known) => known === text);
