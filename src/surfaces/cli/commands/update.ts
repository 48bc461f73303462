import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { Kept, NamedPart, UpdateReport } from "../../../usecases/project/update.ts";
import type { Call, Handler, Paint } from "../command.ts";
import { isOn } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";

export const update: Handler = async ({ app, flags, io }) => {
  const request = { only: partsMeant(flags), dryRun: isOn(flags["dry-run"]), force: isOn(flags.force) };
  const done = await app.call("project.update", request);
  if (!done.ok) return done;
  const text = lines(io.paint, done.value).join("\n");
  return ok({ json: { ...done.value }, text, quietText: "" });
};

const partsMeant = (flags: Call["flags"]): readonly NamedPart[] => [
  ...(isOn(flags.agents) ? (["agents"] as const) : []),
  ...(isOn(flags.manifest) ? (["manifest"] as const) : []),
  ...(isOn(flags.hooks) ? (["hooks"] as const) : []),
];

function lines(paint: Paint, { dryRun, written, kept, backups, hooks }: UpdateReport): readonly string[] {
  const remarks = kept.filter(isNews).map((one) => {
    return warningLine(paint, `${visibleLine(one.path)} was kept: it ${visibleLine(one.why)}`, hintOf(one));
  });
  return [
    headline(paint, { dryRun, count: written.length }),
    ...written.map((path) => hintLine(paint, visibleLine(path))),
    ...backups.map((path) => hintLine(paint, `${visibleLine(path)} (a copy of what was there)`)),
    ...remarks,
    ...(hooks.updated && !dryRun ? [hintLine(paint, "The hooks count from your next session on.")] : []),
  ];
}

/** A text of one's own that is not behind is as its owner wants it. */
const isNews = ({ part, state }: Kept): boolean => part !== "agentDefs" || state !== "edited";

function hintOf({ part, path, replaceable }: Kept): string | undefined {
  if (part !== "agentDefs") return replaceable ? "ov update --force" : undefined;
  const role = path.replace(/^.*\//, "").replace(/\.md$/, "");
  return `ov prompt diff ${visibleLine(role)}`;
}

function headline(paint: Paint, { dryRun, count }: { readonly dryRun: boolean; readonly count: number }): string {
  if (count === 0) return "Nothing to update";
  const files = count === 1 ? "1 file" : `${count} files`;
  return dryRun ? `Would bring ${files} up to date:` : successLine(paint, `Brought ${files} up to date:`);
}
