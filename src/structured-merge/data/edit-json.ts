import { attempt, merged, unsure } from "../outcome.ts";
import { type Branch, type Document, type Leaf, type Node, type Part, printDocument } from "./document-tree.ts";
import { parseJson } from "./json-parse.ts";

export type JsonEdit =
  | { readonly ok: true; readonly text: string }
  /** `problem` names the place. */
  | { readonly ok: false; readonly problem: string };

/** Changes a JSON text in place: whatever `change` leaves alone keeps every byte. */
export function editJson(text: string, change: (root: Branch, style: Style) => Branch): JsonEdit {
  const outcome = attempt(() => {
    const bom = text.startsWith(byteOrderMark) ? byteOrderMark : "";
    const document: Document = parseJson(text.slice(bom.length));
    const root = change(asMap(document.root, "the file"), styleOf(text, document.root));
    return merged(`${bom}${printDocument({ ...document, root })}`);
  });
  return outcome.kind === "merged" ? { ok: true, text: outcome.content } : { ok: false, problem: outcome.reason };
}

const byteOrderMark = "\ufeff";

/** How the file is written: its own indentation and line ends. */
export interface Style {
  readonly unit: string;
  readonly newline: string;
}

function styleOf(text: string, root: Node): Style {
  const first = root.kind === "scalar" ? undefined : root.parts[0];
  const indent = first === undefined ? undefined : indentOf(first.lead);
  return {
    unit: indent === undefined || indent === "" ? "  " : indent,
    newline: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** What a line of this part starts with; undefined when it shares its line with what is before it. */
const indentOf = (lead: string): string | undefined => /\n([ \t]*)$/.exec(lead)?.[1];

export function asMap(node: Node, what: string): Branch {
  return node.kind === "map" ? node : unsure(`${what} is not an object`);
}

export function asList(node: Node, what: string): Branch {
  return node.kind === "list" ? node : unsure(`${what} is not a list`);
}

export const partOf = (branch: Branch, key: string): Part | undefined => branch.parts.find((part) => part.key === key);

/** The text of a string; undefined for anything else. */
export const stringOf = (node: Node | undefined): string | undefined =>
  node?.kind === "scalar" && node.value.kind === "scalar" && node.value.is.startsWith("s:")
    ? node.value.is.slice(2)
    : undefined;

/** Where something is added: the branch, the indentation of its own line, and the key if it is an object. */
export interface Place {
  readonly branch: Branch;
  readonly indent: string;
  readonly key?: string;
}

/** Adds a value behind the others, written the way they are. */
export function added({ branch, indent, key }: Place, value: unknown, { unit, newline }: Style): Branch {
  const last = branch.parts.at(-1);
  const inline = last !== undefined && branch.parts.every(({ lead }) => indentOf(lead) === undefined);
  const own = innerIndent(branch, indent, unit);
  const text = inline ? JSON.stringify(value) : JSON.stringify(value, null, unit).replaceAll("\n", `${newline}${own}`);
  const leaf: Leaf = { kind: "scalar", text, value: { kind: "scalar", is: "" } };
  const head = key === undefined ? "" : `${JSON.stringify(key)}:${inline ? "" : " "}`;
  const part = { head, value: leaf, after: "", trail: "", ...(key === undefined ? {} : { key }) };
  if (last !== undefined) {
    const lead = inline ? (branch.parts[1] ?? last).lead : `${newline}${own}`;
    return { ...branch, parts: [...branch.parts, { ...part, lead }] };
  }
  // Comments of an empty branch stay before the first that comes in.
  const remarks = branch.close.slice(0, -1).trimEnd();
  const close = `${newline}${indent}${branch.close.slice(-1)}`;
  return { ...branch, parts: [{ ...part, lead: `${remarks}${newline}${own}` }], close };
}

export function innerIndent(branch: Branch, indent: string, unit: string): string {
  const found = branch.parts.map(({ lead }) => indentOf(lead)).findLast((one) => one !== undefined);
  return found ?? indent + unit;
}

export const without = (branch: Branch, gone: readonly Part[]): Branch => ({
  ...branch,
  parts: branch.parts.filter((part) => !gone.includes(part)),
});

export const replaced = (branch: Branch, part: Part, value: Node): Branch => ({
  ...branch,
  parts: branch.parts.map((one) => (one === part ? { ...part, value } : one)),
});
