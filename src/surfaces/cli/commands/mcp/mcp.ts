import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";

export const mcp: Handler = async ({ app }) => {
  const served = await (await app.mcp()).serve();
  return served.ok ? ok({ json: {}, text: "" }) : served;
};
