import { invalid, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { FilePlace } from "../../app.ts";
import type { Call, Handler } from "../../command.ts";
import { counted } from "../../format.ts";
import { text } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { readyLines, taskJson } from "./render.ts";

const defaultFile = ".seeds/issues.jsonl";
const standard = "-";

export const importFile: Handler = async (call) => {
  const { app, io } = call;
  const given = await input(call);
  if (!given.ok) return given;
  const imported = await app.call("task.import", { text: given.value });
  if (!imported.ok) return imported;
  const { created, updated, unchanged, unknownDependencies, ready, completedGroups } = imported.value;
  for (const { taskId, dependsOn } of unknownDependencies) {
    io.warn(`left out: ${visibleLine(taskId)} waits for ${visibleLine(dependsOn)}, but one of them does not exist`);
  }
  const counts = `${created.length} new, ${updated.length} updated, ${unchanged} unchanged`;
  return ok({
    json: {
      created,
      updated,
      unchanged,
      unknownDependencies,
      ready: ready.map(taskJson),
      completedGroups: completedGroups.map(({ id, name }) => ({ id, name })),
    },
    text: [successLine(io.paint, `Imported tasks: ${counts}`), ...readyLines(io.paint, ready)].join("\n"),
    quietText: "",
  });
};

export const exportFile: Handler = async ({ app, args, io }) => {
  const path = text(args.file) ?? defaultFile;
  const toOutput = path === standard;
  const place = placeOf(args.file);
  const there = toOutput ? ok(undefined) : await app.files.readText(path, place);
  if (!there.ok) return there;
  const exported = await app.call("task.export", { existing: there.value });
  if (!exported.ok) return exported;
  const { tasks, kept } = exported.value;
  if (toOutput) return ok({ json: { path: null, tasks, kept, text: exported.value.text }, text: exported.value.text });
  const written = await app.files.writeText(path, exported.value.text, place);
  if (!written.ok) return written;
  const others =
    kept === 0 ? "" : `; kept ${counted(kept, "line")} of the file that ${kept === 1 ? "is" : "are"} newer or not ours`;
  return ok({
    json: { path, tasks, kept },
    text: successLine(io.paint, `Exported ${counted(tasks, "task")}${others} to`, path),
    quietText: path,
  });
};

async function input({ app, args, io }: Call): Promise<Result<string, Refusal>> {
  const path = text(args.file) ?? defaultFile;
  if (path !== standard) {
    const read = await app.files.readText(path, placeOf(args.file));
    if (!read.ok) return read;
    if (read.value !== undefined) return ok(read.value);
    const isTyped = text(args.file) !== undefined;
    const problem = isTyped ? "does not exist" : "does not exist in the root of the project";
    return no(invalid("file", problem, { value: isTyped ? app.absolute(path) : path }));
  }
  const given = await io.stdin();
  return given === undefined ? no(invalid("file", "is -, but nothing was piped in")) : ok(given);
}

/** The default file is the project's, wherever in it the command was typed. */
const placeOf = (typed: Call["args"][string]): FilePlace => (text(typed) === undefined ? "project" : "typed");
