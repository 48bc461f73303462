import { ok } from "../../../../domain/result.ts";
import type { ConfigKey } from "../../../../usecases/config/config.ts";
import type { Handler, Paint } from "../../command.ts";
import { plain, shown, warnOfProblems } from "./render.ts";

export const explain: Handler = async ({ app, args, io }) => {
  const found = await app.call("config.explain", { key: String(args.key) });
  if (!found.ok) return found;
  await warnOfProblems(app, io);
  const key = found.value;
  return ok({
    json: { ...key, value: plain(key.value), default: plain(key.default) },
    text: lines(io.paint, key).join("\n"),
  });
};

function lines(paint: Paint, view: ConfigKey): readonly string[] {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(8))} ${value}`;
  return [
    paint.accent(view.key),
    `  ${view.doc}`,
    fact("type", view.type),
    fact("takes", view.takes),
    fact("default", view.defaultIs ?? (shown(view.default) || "not set")),
    fact("value", `${shown(view.value) || "not set"} (${view.origin})`),
    fact("variable", view.variable),
  ];
}
