import { adviceLines } from "../../../../domain/coordination/advice-text.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";

export const advise: Handler = async ({ app }) => {
  const found = await app.call("advise.plan", {});
  if (!found.ok) return found;
  const { advice } = found.value;
  const said = adviceLines(advice);
  return ok({ json: { ...advice, advice: said }, text: said.map(visibleLine).join("\n"), wraps: true });
};
