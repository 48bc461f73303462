import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { successLine } from "../../marks.ts";
import { plain, shown } from "./render.ts";

export const set: Handler = async ({ app, args, flags, io }) => {
  const key = String(args.key);
  const changed = await app.call("config.set", { key, value: String(args.value), local: flags.local === true });
  if (!changed.ok) return changed;
  const { file, before, after, inForce } = changed.value;
  if (!inForce) io.warn(`${after.origin} overrules it: ${key} is still ${shown(after.value) || "not set"}`);
  const was = shown(before) || "not set";
  const change = inForce ? `${key}: ${was} -> ${shown(after.value) || "not set"} in` : `${key} was written to`;
  return ok({
    json: { key, file, before: plain(before), value: plain(after.value), origin: after.origin, inForce },
    text: successLine(io.paint, change, file),
    quietText: "",
  });
};
