import { ok } from "../../../../domain/result.ts";
import type { OverrideState } from "../../../../domain/role/override.ts";
import { changesOnly, type DiffLine } from "../../../../domain/text/line-diff.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { ComparedPrompt } from "../../../../usecases/prompts/prompts.ts";
import type { Handler, Paint } from "../../command.ts";
import { rolesMeant } from "./roles-meant.ts";

export const diff: Handler = async ({ app, args, io }) => {
  const found = await app.call("prompt.compare", { roles: rolesMeant(args).map(({ capability }) => capability) });
  if (!found.ok) return found;
  const compared = found.value;
  return ok({
    json: {
      roles: compared.map(({ role, state, added, files, lines }) => ({
        role,
        state,
        added,
        file: state === "built-in" ? files.addition : files.replacement,
        changes: lines.filter(({ mark }) => mark !== " ").map(({ mark, text }) => `${mark}${text}`),
      })),
    },
    text:
      compared.length === 0
        ? "No text of the project's own: agents are told what ships."
        : compared.map((one) => section(io.paint, one)).join("\n\n"),
  });
};

function section(paint: Paint, { role, state, added, files, lines }: ComparedPrompt): string {
  const about = [
    ...(state === "built-in" ? [] : [`${files.replacement}: ${meaning[state]}`]),
    ...(added ? [`${files.addition}: added to it`] : []),
  ];
  const changes = changesOnly(lines).map((line) => (line === undefined ? paint.dim("  ...") : coloured(paint, line)));
  const none = [paint.dim("  no difference to the text that ships")];
  return [paint.accent(role), ...about.map((line) => `  ${line}`), ...(changes.length === 0 ? none : changes)].join(
    "\n",
  );
}

const meaning: Readonly<Record<Exclude<OverrideState, "built-in">, string>> = {
  replaced: "counts instead of the text that ships",
  outdated: "counts, but the text that ships has changed since it was made",
  ignored: "does not count, for its first line does not say what it replaces; see ov prompt show --text",
};

function coloured(paint: Paint, { mark, text }: DiffLine): string {
  const line = visibleLine(`${mark} ${text}`);
  if (mark === "+") return paint.green(line);
  return mark === "-" ? paint.red(line) : line;
}
