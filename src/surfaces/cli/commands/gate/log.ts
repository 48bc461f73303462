import { ok } from "../../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../../domain/text/visible.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler } from "../../command.ts";
import { word } from "../../given.ts";
import { errorLine } from "../../marks.ts";
import { resultJson } from "./render.ts";

/** The output as it came, with what a terminal would obey made visible. */
export const log: Handler = async ({ app, args, io }) => {
  const found = await app.call("gate.log", { id: word(args["result-id"]) });
  if (!found.ok) return found;
  const { result, path } = found.value;
  const read = await app.files.readText(path, "project");
  if (!read.ok) return read;
  const output = read.value;
  if (output === undefined) {
    return ok({
      json: { success: false, result: resultJson(result), log: null, errorMessage: `${path} is gone` },
      text: errorLine(io.paint, `the output is no longer there: ${visibleLine(path)}`),
      exit: exits.notFound,
    });
  }
  return ok({ json: { result: resultJson(result), log: output }, text: visibleText(output) });
};
