import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import { exits } from "../../shared/exits.ts";
import type { App } from "../app.ts";
import type { Handler } from "../command.ts";
import { isOn, word } from "../given.ts";

export const mergeFile: Handler = async ({ app, args, flags, io }) => {
  const texts: string[] = [];
  for (const name of ["base", "ours", "theirs"] as const) {
    const read = await readSide(app, name, word(args[name]));
    if (!read.ok) return read;
    texts.push(read.value);
  }
  const [base = "", ours = "", theirs = ""] = texts;
  const versions = { path: word(flags.path), base, ours, theirs, union: isOn(flags.union) };
  const merged = await app.call("file.merge", versions);
  if (!merged.ok) return merged;
  const merge = merged.value;
  if (merge.kind === "merged") {
    const { content, strategy } = merge;
    return ok({ json: { result: "merged", content, strategy }, text: content, exact: true });
  }
  const { reason } = merge;
  if (!io.json) io.say(`refused: ${visibleLine(reason)}`);
  return ok({ json: { result: "refused", reason }, text: "", exit: exits.merge });
};

async function readSide(app: App, name: string, path: string): Promise<Result<string, Refusal>> {
  const read = await app.call("file.read", { path });
  if (!read.ok) return read;
  const { text, path: place } = read.value;
  return text === undefined ? no(invalid(name, "does not exist", { value: place })) : ok(text);
}
