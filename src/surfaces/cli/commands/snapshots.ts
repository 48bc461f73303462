import { restoredSnapshotView, snapshotDetailView, snapshotView } from "../../../contract/views/worktree.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { NamedSnapshot } from "../../../usecases/worktrees/snapshots.ts";
import { iso, shortTime } from "../../shared/format.ts";
import type { Handler, Paint } from "../command.ts";
import { text, word } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("snapshot.list", {});
  if (!found.ok) return found;
  const agent = text(flags.agent);
  const snapshots = found.value
    .filter(({ agentName }) => agent === undefined || agentName === agent)
    .toSorted((a, b) => b.createdAt - a.createdAt);
  const empty = `Nothing is kept${agent === undefined ? "" : ` of ${agent}`}.`;
  const hint = hintLine(
    io.paint,
    "look into one: ov snapshots show <snapshot>, get it back: ov snapshots restore <snapshot>",
  );
  return ok({
    json: { snapshots: snapshots.map(snapshotView), count: snapshots.length },
    text: snapshots.length === 0 ? empty : [...snapshots.map((one) => line(io.paint, one)), hint].join("\n"),
    quietText: snapshots.map(({ name }) => visibleLine(name)).join("\n"),
    rows: {
      columns: ["SNAPSHOT", "AGENT", "TAKEN", "REASON", "COMMIT"],
      cells: snapshots.map((one) => [one.name, one.agentName, iso(one.createdAt), one.reason ?? "", one.commit]),
      objects: snapshots.map(snapshotView),
    },
  });
};

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("snapshot.show", { of: word(args.snapshot) });
  if (!found.ok) return found;
  const { uncommitted, files, trash, onTop, inSubmodules, ...view } = found.value;
  const loose = new Set(uncommitted.map(({ path }) => path));
  const lines = [
    line(io.paint, view),
    `  commit ${view.commit}`,
    ...files.map(
      ({ path, status }) =>
        `  ${status} ${visibleLine(path)}${loose.has(path) ? io.paint.muted(" (uncommitted)") : ""}`,
    ),
    ...view.skipped.map((path) => warningLine(io.paint, `not in it: ${visibleLine(path)}`)),
    ...submoduleLines(io.paint, view.agentName, inSubmodules),
    ...trash.map((path) => hintLine(io.paint, `files that no snapshot holds are in ${visibleLine(path)}`)),
    hintLine(io.paint, `get it back: ov snapshots restore ${visibleLine(view.name)}`),
  ];
  return ok({
    json: snapshotDetailView(found.value),
    text: lines.join("\n"),
    quietText: files.map(({ path }) => visibleLine(path)).join("\n"),
  });
};

export const restore: Handler = async ({ app, args, flags, io }) => {
  const place = { dir: text(flags.to), branch: text(flags.branch) };
  const done = await app.call("snapshot.restore", { of: word(args.snapshot), ...place });
  if (!done.ok) return done;
  const { dir, branch, files, inSubmodules, ...view } = done.value;
  const lines = [
    ...(dir === null
      ? []
      : [successLine(io.paint, `Wrote ${files === 1 ? "1 file" : `${files} files`} to`, visibleLine(dir))]),
    ...(branch === null ? [] : [successLine(io.paint, "Made the branch", visibleLine(branch))]),
    ...view.skipped.map((path) => warningLine(io.paint, `not in it: ${visibleLine(path)}`)),
    ...submoduleLines(io.paint, view.agentName, inSubmodules),
  ];
  return ok({
    json: restoredSnapshotView(done.value),
    text: lines.join("\n"),
    quietText: visibleLine(dir ?? branch ?? ""),
  });
};

/** A commit of the project only names commits of its submodules, so neither a directory nor a branch has these files. */
const submoduleLines = (paint: Paint, agentName: string, files: readonly string[]): readonly string[] =>
  files.length === 0
    ? []
    : [
        ...files.map((path) => warningLine(paint, `uncommitted in a submodule, not restored: ${visibleLine(path)}`)),
        hintLine(paint, `bring it back with its agent: ov recover ${visibleLine(agentName)}`),
      ];

function line(paint: Paint, view: NamedSnapshot): string {
  const when = shortTime(view.createdAt, Date.now());
  const reason = view.reason === null ? "" : ` ${visibleLine(view.reason)}`;
  const left = view.skipped.length === 0 ? "" : paint.yellow(` (${view.skipped.length} left out)`);
  return `${paint.accent(visibleLine(view.name))} ${paint.muted(when)}${reason}${left}`;
}
