import { hasEnded } from "../../domain/agent/agent.ts";
import type { Event } from "../../domain/event/event.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { ok } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { findHead, type HeadQuestion } from "./find.ts";

export interface OutputRequest extends HeadQuestion {
  /** The newest so many lines. */
  readonly lines: number;
  /** Only what was said after this place. */
  readonly after?: number | undefined;
}

export interface OutputLine {
  readonly turnId: string | null;
  readonly at: number;
  readonly text: string;
}

export interface OutputReply {
  readonly agentName: string;
  readonly lines: readonly OutputLine[];
  /** The place to go on from. */
  readonly cursor: number;
  /** Nothing more will come. */
  readonly ended: boolean;
}

/** What an agent said in its turns, as text. */
export const readOutput: UseCase<OutputRequest, OutputReply> = {
  kind: "read",
  run: async (tx, { caller }, { lines, after, ...question }) => {
    const found = await findHead(tx, caller, question);
    if (!found.ok) return found;
    const agent = found.value;
    const cursor = await tx.events.last();
    const from = { agentId: agent.id, since: agent.startedAt, after: after ?? 0, cursor };
    const said = await newest(tx, from, lines);
    return ok({ agentName: agent.name, lines: said.slice(-lines), cursor, ended: hasEnded(agent) });
  },
};

const page = 500;

/** Backwards in pages, until there are enough lines or the agent's first moment is reached. */
async function newest(
  tx: Tx,
  from: { readonly agentId: string; readonly since: number; readonly after: number; readonly cursor: number },
  wanted: number,
): Promise<readonly OutputLine[]> {
  let found: readonly OutputLine[] = [];
  for (let end = from.cursor; end > from.after && found.length < wanted; end -= page) {
    const start = Math.max(from.after, end - page);
    const events = (await tx.events.after(start, page)).filter(({ seq }) => seq <= end);
    const said = events.filter((event) => event.agentId === from.agentId && event.type === "progress");
    found = [...said.flatMap(linesOf), ...found];
    const oldest = events[0];
    if (oldest !== undefined && oldest.createdAt < from.since) break;
  }
  return found;
}

function linesOf({ data, turnId, createdAt }: Event): readonly OutputLine[] {
  const { text } = payloadFields(data);
  if (typeof text !== "string" || text.trim() === "") return [];
  return text
    .trimEnd()
    .split("\n")
    .map((line) => ({ turnId, at: createdAt, text: line }));
}
