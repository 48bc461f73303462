import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { RadarCell, RadarView } from "../../../../usecases/merge/radar.ts";
import type { Handler, Paint } from "../../command.ts";
import { hintLine } from "../../marks.ts";
import { table } from "../../table.ts";

/** Which live branches would collide with each other or with what has landed. */
export const radar: Handler = async ({ app, io }) => {
  const found = await app.call("merge.radar", {});
  if (!found.ok) return found;
  const { branches, pairs } = found.value;
  const lines =
    branches.length === 0 ? nothing(io.paint) : [matrix(io.paint, branches, pairs), ...notes(io.paint, pairs)];
  return ok({
    json: {
      branches: branches.map(({ branch, agentName, commit, landsOn, moved }) => ({
        branchName: branch,
        agentName,
        commit,
        landsOn,
        moved,
      })),
      pairs: pairs.map(pairJson),
    },
    text: lines.join("\n"),
    rows: {
      columns: ["A", "B", "OUTCOME", "FILES"],
      cells: pairs.map(({ a, b, outcome, files }) => [a, b, outcome ?? unknown, files.join(", ")]),
      objects: pairs.map(pairJson),
    },
  });
};

const unknown = "unknown";

const pairJson = ({ a, b, outcome, files }: RadarCell) => ({ a, b, outcome: outcome ?? unknown, files });

const nothing = (paint: Paint): readonly string[] => [
  "No agent has work that could collide.",
  hintLine(paint, "see what is on its way: ov merge list"),
];

const looks = {
  clean: ["·", "green"],
  structured: ["s", "yellow"],
  conflict: ["X", "red"],
} as const satisfies Record<string, readonly [sign: string, hue: keyof Paint]>;

/** One row and one numbered column per branch; only one half is filled, for the other says the same. */
function matrix(paint: Paint, branches: RadarView["branches"], pairs: readonly RadarCell[]): string {
  const cellOf = new Map(pairs.map((pair) => [`${pair.a}\0${pair.b}`, pair]));
  const ordered = branches.map(({ branch }) => branch).toSorted();
  const cells = ordered.map((row, at) => [
    String(at + 1),
    row,
    ...ordered.map((column, to) => (to >= at ? "" : signOf(cellOf.get(`${column}\0${row}`)))),
  ]);
  const columns = ["#", "BRANCH", ...ordered.map((_, at) => String(at + 1))];
  return table({ columns, cells }, paint, (cell, column) => {
    if (column === "BRANCH") return paint.accent(cell);
    const look = column === "#" ? undefined : Object.values(looks).find(([sign]) => sign === cell);
    return look === undefined ? cell : paint[look[1]](cell);
  });
}

function signOf(pair: RadarCell | undefined): string {
  if (pair === undefined) return "";
  return pair.outcome === null ? "?" : looks[pair.outcome][0];
}

function notes(paint: Paint, pairs: readonly RadarCell[]): readonly string[] {
  const meet = pairs.filter(({ outcome }) => outcome === "conflict" || outcome === "structured");
  const legend = `${looks.clean[0]} clean  ${looks.structured[0]} settled by rule  ${looks.conflict[0]} conflict`;
  return [
    "",
    paint.dim(legend),
    ...meet.map(({ a, b, outcome, files }) => {
      const where = files.length === 0 ? "no history in common" : files.map(visibleLine).join(", ");
      const word = outcome === "conflict" ? paint.red("conflict") : paint.yellow("by rule");
      return `  ${word}  ${visibleLine(a)} and ${visibleLine(b)}: ${where}`;
    }),
  ];
}
