import { ok } from "../../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../../domain/text/visible.ts";
import { patchedFiles } from "../../../shared/patch.ts";
import type { Handler } from "../../command.ts";
import { isOn, word } from "../../given.ts";
import { isTerminal } from "../../sink.ts";

export const diff: Handler = async ({ app, args, flags, io }) => {
  const work = await app.call("agent.diff", { name: word(args.agent).trim().toLowerCase() });
  if (!work.ok) return work;
  const { agentName, patch, skipped } = work.value;
  const files = patchedFiles(patch).map(({ path, added, removed }) => ({ path, added, removed }));
  if (skipped.length > 0) io.warn(`left out: ${skipped.map(visibleLine).join(", ")}`);
  const json = { ...work.value, files };
  // Standard output carries the patch for other programs, so this line goes to standard error.
  if (files.length === 0) io.say(`${agentName} has changed nothing since it started.`);
  if (isOn(flags.stat)) {
    const rows = files.map(({ path, added, removed }) => [`+${added}`, `-${removed}`, path]);
    return ok({
      json: { ...json, patch: undefined },
      text: files.map(({ path, added, removed }) => `+${added} -${removed} ${visibleLine(path)}`).join("\n"),
      rows: { columns: ["added", "removed", "file"], cells: rows, objects: files },
    });
  }
  return ok({ json, text: isTerminal(1) ? visibleText(patch) : patch, exact: true });
};
