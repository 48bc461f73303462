import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { plain, shown } from "./render.ts";

export const get: Handler = async ({ app, args }) => {
  const key = String(args.key);
  const found = await app.call("config.get", { key });
  if (!found.ok) return found;
  return ok({ json: { key, value: plain(found.value) }, text: shown(found.value) });
};
