import { mergeUnits } from "./merge-units.ts";
import { no, ok, type Result } from "./result.ts";
import { type Code, eachOf, partsOf, pick, type Triple, textOf } from "./syntax.ts";
import type { Unit } from "./unit.ts";

const simple =
  /^(literal_type|type_identifier|predefined_type|generic_type|nested_type_identifier|array_type|template_literal_type|undefined|null|object_type|tuple_type)$/;

/** Merges union types as sets of members; undefined where the three versions are not all unions of plain types. */
export function mergeUnion(versions: Triple<Code>): Result<string, string> | undefined {
  if (![versions.base, versions.ours, versions.theirs].some(({ node }) => node.type === "union_type")) return undefined;
  const members = eachOf(versions, membersOf);
  const { base, ours, theirs } = members;
  if (base === undefined || ours === undefined || theirs === undefined) return undefined;
  const refuse = () => no("both sides changed one member of the union");
  const units = mergeUnits({ base, ours, theirs }, { changed: refuse, added: refuse });
  if (!units.ok) return units;
  const layout = pick(eachOf(versions, (code) => joinerOf(code)));
  if (layout === undefined || units.value.length === 0) return no("both sides laid the union out differently");
  const lead = pick(eachOf(versions, leadOf));
  if (lead === undefined) return no("both sides laid the union out differently");
  return ok(lead + units.value.map(({ text }) => text).join(layout));
}

function membersOf(code: Code): Unit[] | undefined {
  const flat = flatten(code);
  if (flat === undefined) return undefined;
  const units = flat.map((member): Unit => {
    const text = textOf(member);
    return { key: `member ${text}`, names: [], flow: "free", code: undefined, gap: "", before: "", text, after: "" };
  });
  return new Set(units.map(({ key }) => key)).size === units.length ? units : undefined;
}

function flatten(code: Code): Code[] | undefined {
  if (code.node.type !== "union_type")
    return simple.test(code.node.type) && !textOf(code).includes("\n") ? [code] : undefined;
  if (code.node.children.some(({ type }) => type === "comment")) return undefined;
  const parts = partsOf(code).map(flatten);
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

/** How the members are joined: ` | ` or one to a line. A type of one member has no say. */
function joinerOf(code: Code): string {
  const [first, second] = flatten(code) ?? [];
  return first === undefined || second === undefined ? " | " : code.src.slice(first.node.end, second.node.start);
}

/** What stands before the first member, such as the bar that opens a union written one to a line. */
const leadOf = (code: Code): string => {
  const [first] = flatten(code) ?? [];
  return first === undefined ? "" : code.src.slice(code.node.start, first.node.start);
};
