import type { Agent, Message, Radar } from "../../api/types.ts";
import { count } from "../../state/words.ts";

/** What joins two agents, in the order in which it is drawn and told. */
export const edgeKinds = {
  parent: "Parent",
  waits: "Waits for",
  mail: "Mail of 10 min",
  overlap: "Collisions",
} as const;
export type EdgeKind = keyof typeof edgeKinds;

export interface FleetEdge {
  readonly id: string;
  readonly kind: EdgeKind;
  /** The parent of the other, or the one that waits for it. Mail and files have no direction. */
  readonly source: string;
  readonly target: string;
  /** How many messages or files. */
  readonly many: number;
  readonly files: readonly string[];
}

/** Mail that is older than this joins nobody any more. */
export const mailWindowMs = 10 * 60_000;

/** All that joins these agents. Mail to a group names no reader, so it joins nobody. */
export function edgesOf(
  agents: readonly Agent[],
  mail: readonly Pick<Message, "from" | "to" | "createdAt">[],
  radar: Radar | undefined,
  now: number,
): readonly FleetEdge[] {
  const names = new Set(agents.map(({ name }) => name));
  const plain = { many: 1, files: [] };
  const ofAgents = agents.flatMap(({ name, parent, waits }): FleetEdge[] => [
    ...(parent !== null && names.has(parent)
      ? [{ id: `parent ${parent} ${name}`, kind: "parent" as const, source: parent, target: name, ...plain }]
      : []),
    ...[...new Set(waits.map(({ ref }) => ref))]
      .filter((ref) => names.has(ref))
      .map((ref) => ({ id: `waits ${name} ${ref}`, kind: "waits" as const, source: name, target: ref, ...plain })),
  ]);
  const letters = new Map<string, FleetEdge>();
  for (const { from, to, createdAt } of mail) {
    const isOld = createdAt === null || Date.parse(createdAt) < now - mailWindowMs;
    if (isOld || from === to || !names.has(from) || !names.has(to)) continue;
    const edge = between("mail", from, to, []);
    letters.set(edge.id, { ...edge, many: (letters.get(edge.id)?.many ?? 0) + 1 });
  }
  const owners = new Map(radar?.branches.map(({ branch, agentName }) => [branch, agentName]));
  const overlaps = (radar?.pairs ?? []).flatMap(({ a, b, files }) => {
    const [one, other] = [owners.get(a), owners.get(b)];
    const isShown = one != null && other != null && names.has(one) && names.has(other);
    return isShown && files.length > 0 ? [between("overlap", one, other, files)] : [];
  });
  return [...ofAgents, ...letters.values(), ...overlaps];
}

function between(kind: EdgeKind, one: string, other: string, files: readonly string[]): FleetEdge {
  const [source = one, target = other] = [one, other].toSorted();
  return { id: `${kind} ${source} ${target}`, kind, source, target, many: files.length, files };
}

/** What an edge says about one of its two agents. */
export function edgeWords({ kind, source, target, many, files }: FleetEdge, about: string): string {
  const other = source === about ? target : source;
  if (kind === "parent") return source === about ? `leads ${other}` : `works for ${other}`;
  if (kind === "waits") return source === about ? `waits for ${other}` : `${other} waits for it`;
  if (kind === "mail") return `${count(many, "message")} with ${other} in the last 10 minutes`;
  return `collides with ${other} in ${count(many, "file")}: ${files.join(", ")}`;
}
