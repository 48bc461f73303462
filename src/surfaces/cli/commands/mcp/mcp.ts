import { ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";

export const mcp: Handler = async ({ app }) => {
  const served = await app.serveTools();
  return served.ok ? ok({ json: {}, text: "" }) : served;
};
