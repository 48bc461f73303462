import { pick, type Triple } from "./syntax.ts";
import type { Container, Layout, Unit } from "./unit.ts";

/** Whether the three versions are laid out in ways that can be written as one. */
export function commonLayout(versions: Triple<Container>): Layout | undefined {
  const filled = [versions.base, versions.ours, versions.theirs].filter(({ units }) => units.length > 0);
  const seen = new Set(filled.map(({ layout }) => layout));
  if (seen.size === 0) return undefined;
  if (seen.size === 1) return filled[0]?.layout;
  if (seen.has("lines")) return undefined;
  return "rows";
}

/** Writes the merged units back between the brackets of the versions. */
export function render(versions: Triple<Container>, units: readonly Unit[], layout: Layout): string | undefined {
  const like = (container: Container) => container.layout === layout && container.units.length > 0;
  const model = [versions.ours, versions.theirs, versions.base].find(like);
  if (model === undefined) return undefined;
  const fill = (container: Container) => (like(container) ? container : like(versions.base) ? versions.base : model);
  const filled = {
    base: like(versions.base) ? versions.base : undefined,
    ours: fill(versions.ours),
    theirs: fill(versions.theirs),
  };
  const edge = (of: (container: Container) => string) => {
    const [ours, theirs] = [of(filled.ours), of(filled.theirs)];
    return pick({ base: filled.base === undefined ? theirs : of(filled.base), ours, theirs });
  };
  const head = edge((container) => container.head);
  const tail = edge((container) => container.tail);
  const trailing = edge((container) => String(container.trailing));
  if (head === undefined || tail === undefined || trailing === undefined) return undefined;
  const indent = /[ \t]*$/.exec(model.units[0]?.before ?? "")?.[0] ?? "";
  const inner = units.map((unit, index) => {
    const last = index === units.length - 1;
    const separator = layout === "lines" || (last && trailing !== "true") ? "" : model.separator;
    if (layout !== "inline") return written(layout === "rows" ? asRow(unit, indent) : unit, separator);
    return `${unit.text}${separator}${last ? "" : " "}`;
  });
  return `${head}${inner.join("")}${tail}`;
}

const written = ({ gap, before, text, after }: Unit, separator: string): string =>
  `${gap}${before}${text}${separator}${after}`;

/** A unit that stood among others on one line gets a line of its own. */
const asRow = (unit: Unit, indent: string): Unit =>
  unit.after.endsWith("\n") ? unit : { ...unit, before: indent, after: "\n" };
