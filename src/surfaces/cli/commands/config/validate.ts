import { ok } from "../../../../domain/result.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler } from "../../command.ts";
import { errorLine, successLine, warningLine } from "../../marks.ts";
import { problemLine } from "./render.ts";

export const validate: Handler = async ({ app, io }) => {
  const found = await app.call("config.validate", {});
  if (!found.ok) return found;
  const { problems, warnings } = found.value;
  const valid = problems.length === 0;
  const lines = [
    ...problems.map((problem) => errorLine(io.paint, problemLine(problem))),
    ...warnings.map((warning) => warningLine(io.paint, problemLine(warning))),
    ...(valid ? [successLine(io.paint, "The configuration can be used")] : []),
  ];
  return ok({
    json: { success: valid, valid, problems, warnings },
    text: lines.join("\n"),
    exit: valid ? exits.ok : exits.setup,
  });
};
