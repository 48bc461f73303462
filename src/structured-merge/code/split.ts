import { endsCase } from "./fall-through.ts";
import { splitLines } from "./split-lines.ts";
import { splitList } from "./split-list.ts";
import { type Code, fieldOf, partsOf, textOf } from "./syntax.ts";
import type { Container, Unit } from "./unit.ts";

const braced = ["class_body", "interface_body", "object_type", "statement_block", "switch_body"];
const lists = ["object", "object_pattern", "enum_body", "named_imports", "export_clause", "dictionary", "list"];

/** Cuts a node into keyed units; undefined where it is no container or cannot be cut without doubt. */
export function split(code: Code): Container | undefined {
  const { type } = code.node;
  if (type === "program" || type === "module")
    return code.node.start === 0 || type === "program" || code.language === "python" ? splitFile(code) : undefined;
  if (type === "class_definition") return splitPythonClass(code);
  if (lists.includes(type)) return withSlots(code, splitList(code, partsOf(code)));
  if (!braced.includes(type)) return undefined;
  if (textOf(code).replace(/[{}\s]/g, "") === "") return empty(code);
  if (type === "switch_body") return withFallThrough(splitBraces(code));
  const isType = type === "interface_body" || type === "object_type";
  return splitBraces(code) ?? (isType ? splitList(code, partsOf(code)) : undefined);
}

/** Bodies that can be cut for sure only if they say nothing yet. */
const empty = (code: Code): Container => ({
  layout: "inline",
  head: textOf(code),
  units: [],
  tail: "",
  separator: "",
  trailing: false,
});

function splitFile(code: Code): Container | undefined {
  const units = splitLines({ src: code.src, from: 0, to: code.src.length, items: itemsOf(code) });
  return units && { layout: "lines", head: "", units, tail: "", separator: "", trailing: false };
}

function splitBraces(code: Code): Container | undefined {
  const { src, node } = code;
  const open = node.children[0];
  const close = node.children.at(-1);
  if (open?.type !== "{" || close?.type !== "}") return undefined;
  const newline = src.indexOf("\n", open.end);
  const from = newline + 1;
  const to = src.lastIndexOf("\n", close.start) + 1;
  if (newline === -1 || from > to) return undefined;
  const inside = itemsOf(code).filter(({ node: item }) => item.start >= from);
  const onOpening = itemsOf(code).filter(({ node: item }) => item.start < from);
  if (onOpening.some(({ node: item }) => item.type !== "comment" || item.end > newline)) return undefined;
  if (src.slice(to, close.start).trim() !== "") return undefined;
  const units = splitLines({ src, from, to, items: inside });
  return (
    units && {
      layout: "lines",
      head: src.slice(node.start, from),
      units,
      tail: src.slice(to, node.end),
      separator: "",
      trailing: false,
    }
  );
}

/** The body of a class, from the line after its colon to its last statement. */
function splitPythonClass(code: Code): Container | undefined {
  const { src, node } = code;
  const body = fieldOf(code, "body");
  const colon = node.children.find(({ type }) => type === ":");
  if (body === undefined || colon === undefined) return undefined;
  const newline = src.indexOf("\n", colon.end);
  if (newline === -1 || newline > body.node.start || !/^\s*(#.*)?$/.test(src.slice(colon.end, newline)))
    return undefined;
  const early = itemsOf(code).filter(({ node: item }) => item.type === "comment" && item.start > newline);
  const items = [...early, ...itemsOf(body)].filter(({ node: item }) => item.end <= node.end);
  const units = splitLines({
    src,
    from: newline + 1,
    to: node.end,
    items: items.toSorted((a, b) => a.node.start - b.node.start),
  });
  const last = units?.at(-1);
  if (units === undefined || last === undefined) return undefined;
  // The class node ends before its last newline; every unit owns one while the body is put together.
  const complete = [...units.slice(0, -1), { ...last, after: `${last.after}\n` }];
  const container: Container = {
    layout: "lines",
    head: src.slice(node.start, newline + 1),
    units: complete.map((unit) => pythonSlots(code, unit)),
    tail: "",
    separator: "",
    trailing: false,
  };
  return container;
}

const positional = /\b(NamedTuple|Structure)\b/;
const generated = /@\s*(\w+\.)?(dataclass|dataclasses|define|attrs?|frozen|mutable|s)\b/;

/** Where a class turns its attributes into positions or numbers, an attribute's place has a meaning. */
function pythonSlots(code: Code, unit: Unit): Unit {
  if (!unit.key.startsWith("variable ")) return unit;
  const bases = fieldOf(code, "superclasses");
  const above = code.src.slice(Math.max(0, code.src.lastIndexOf("\n\n", code.node.start)), code.node.start);
  const counted =
    /\bauto\s*\(/.test(unit.text) || generated.test(above) || (bases !== undefined && positional.test(textOf(bases)));
  return counted ? { ...unit, flow: "slot" } : unit;
}

/** A case that runs on into the next one is bound to its place. */
function withFallThrough(container: Container | undefined): Container | undefined {
  if (container === undefined) return undefined;
  const units = container.units.map(
    (unit): Unit => ({ ...unit, flow: unit.code === undefined || endsCase(unit.code) ? "free" : "slot" }),
  );
  return { ...container, units };
}

/** Members of an enum without a value of their own are numbered by their place. */
function withSlots(code: Code, container: Container | undefined): Container | undefined {
  if (container === undefined || code.node.type !== "enum_body") return container;
  const counted = container.units.some((unit) => unit.code?.node.type === "property_identifier");
  return counted
    ? { ...container, units: container.units.map((unit) => ({ ...unit, flow: "slot" as const })) }
    : container;
}

const itemsOf = (code: Code): Code[] =>
  code.node.children.filter(({ named }) => named).map((node) => ({ ...code, node }));
