import { visibleLine } from "../../domain/text/visible.ts";
import { timeOfDay } from "../shared/format.ts";
import type { Paint } from "../shared/paint.ts";
import { fit } from "../shared/screen.ts";
import { filtered, type Model, pageLines, selectedAt } from "./model.ts";
import { type Row, rowsOf } from "./rows.ts";
import { viewNames } from "./snapshot.ts";

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** Lines around the list: title, views, a rule above and the line at the bottom. */
const frameLines = 4;

/** How many rows of a list fit. */
export const listHeight = ({ rows }: FrameSize): number => Math.max(1, rows - frameLines);

/** The rows that the model shows now. */
export const shownRows = (model: Model, { columns }: FrameSize, paint: Paint, now: number): readonly Row[] =>
  model.snapshot === undefined
    ? []
    : filtered(rowsOf(model.view, model.snapshot, { paint, now, width: columns }), model.filter);

/** The whole screen, a line for each row of the terminal, each exactly as wide. */
export function frame(model: Model, size: FrameSize, paint: Paint, now: number): readonly string[] {
  const lines = [titleLine(model, paint, now, size.columns), tabLine(model, paint), rule(paint, size.columns)];
  const height = listHeight(size);
  const body = bodyLines(model, size, paint, now);
  const filled = [...body, ...Array.from({ length: Math.max(0, height - body.length) }, () => "")].slice(0, height);
  return [...lines, ...filled, bottomLine(model, paint)].slice(0, size.rows).map((line) => fit(line, size.columns));
}

function titleLine({ snapshot, scope, paused }: Model, paint: Paint, now: number, width: number): string {
  const run = snapshot?.overview.run;
  const about =
    run == null ? "no run is active" : `${run.id}${run.objective === null ? "" : `: ${visibleLine(run.objective)}`}`;
  const left = `${paint.bold(paint.brand("overstory"))} ${scope.all ? "all runs" : paint.accent(about)}`;
  const right = `${paused ? paint.yellow("paused ") : ""}${timeOfDay(now)}`;
  return `${fit(left, Math.max(0, width - Bun.stringWidth(right) - 1))} ${right}`;
}

const tabLine = ({ view, snapshot }: Model, paint: Paint): string =>
  viewNames
    .map((name, at) => {
      const unread = snapshot?.overview.unreadMailCount ?? 0;
      const open = snapshot?.overview.openMerges ?? 0;
      const count = name === "mail" && unread > 0 ? ` ${unread}` : name === "merges" && open > 0 ? ` ${open}` : "";
      const label = `${at + 1} ${name}${count}`;
      return name === view ? paint.bold(`[${label}]`) : ` ${label} `;
    })
    .join("");

const rule = (paint: Paint, width: number): string => paint.muted("─".repeat(width));

function bodyLines(model: Model, size: FrameSize, paint: Paint, now: number): readonly string[] {
  const height = listHeight(size);
  const { mode } = model;
  if (mode.kind === "page") {
    return pageLines(mode, size.columns).slice(mode.top, mode.top + height);
  }
  if (mode.kind === "runs") {
    const names = [
      "the current run",
      ...mode.runs.map(({ run, status }) => `${run.id}  ${status}  ${visibleLine(run.objective ?? "")}`),
    ];
    const top = Math.max(0, mode.at - height + 2);
    return [paint.bold("Choose a run"), ...names.map((name, at) => marked(name, at === mode.at, size.columns))].slice(
      top,
      top + height,
    );
  }
  const rows = shownRows(model, size, paint, now);
  if (rows.length === 0 && model.isReading) return ["Reading ..."];
  if (rows.length === 0)
    return [model.filter === "" ? "Nothing is here yet." : `No row contains "${model.filter}". Escape shows all.`];
  const at = selectedAt(model, rows);
  const top = topOf(at, rows.length, height);
  return rows.slice(top, top + height).map(({ text }, index) => marked(text, top + index === at, size.columns));
}

/** The selected row stays in sight, near the middle of a long list. */
const topOf = (at: number, length: number, height: number): number =>
  Math.max(0, Math.min(length - height, at - Math.floor(height / 2)));

/** A selected row in inverse colours: colours of its own would end them. */
const marked = (text: string, isSelected: boolean, width: number): string =>
  isSelected ? `\x1b[7m${fit(Bun.stripANSI(text), width)}\x1b[27m` : text;

function bottomLine(model: Model, paint: Paint): string {
  const { mode, said, filter } = model;
  switch (mode.kind) {
    case "confirm":
      return paint.bold(paint.yellow(`${visibleLine(mode.question)} [y/N]`));
    case "write":
      return `${paint.bold(`${visibleLine(mode.prompt)}:`)} ${visibleLine(mode.text)}█`;
    case "filter":
      return `${paint.bold("/")}${visibleLine(filter)}█`;
    case "page":
      return paint.dim("up down scroll   Escape back");
    case "runs":
      return paint.dim("up down select   Enter take it   Escape back");
    case "browse":
      if (said !== null) return said.isBad ? paint.red(visibleLine(said.text)) : paint.brand(visibleLine(said.text));
      return paint.dim(
        `${filter === "" ? "" : `rows with "${visibleLine(filter)}"   `}? keys  q quit  / filter  Enter details  n nudge  m write  s stop  a x u merges`,
      );
  }
}
