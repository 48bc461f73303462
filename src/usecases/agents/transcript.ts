import type { Agent } from "../../domain/agent/agent.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Effect } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

/** One incarnation of an agent with its turns, oldest first. */
export interface Generation {
  readonly agent: Agent;
  readonly turns: readonly Turn[];
}

/** More turns than a person looks through. */
const mostTurns = 300;

/** Every incarnation of a name, the oldest first, with the newest of their turns. */
export const listTurns: UseCase<{ readonly name: string }, { readonly generations: readonly Generation[] }> = {
  kind: "read",
  request: fields({ name: text }),
  run: async (tx, _context, { name }) => {
    const agents = (await tx.agents.list({ name })).toSorted((a, b) => a.generation - b.generation);
    if (agents.length === 0) return no(notFound("agent", name, nearest(name, await tx.agents.names())));
    const ids = agents.map(({ id }) => id);
    const turns = Map.groupBy(await tx.turns.newestOf(ids, mostTurns), ({ agentId }) => agentId);
    return ok({ generations: agents.map((agent) => ({ agent, turns: turns.get(agent.id) ?? [] })) });
  },
};

export const findTurn: UseCase<{ readonly id: string }, { readonly turn: Turn }> = {
  kind: "read",
  request: fields({ id: text }),
  run: async (tx, _context, { id }) => {
    const turn = await tx.turns.get(id);
    return turn === undefined ? no(invalid("turn", "is no turn of any agent", { value: id })) : ok({ turn });
  },
};

/** A part of what the program of an agent wrote in a turn, as it wrote it. */
export interface OutputPart {
  readonly turn: Turn;
  readonly lines: readonly string[];
  /** Where the first of these lines begins, in bytes. */
  readonly from: number;
  readonly size: number;
  /** The `before` that brings the lines before these; null when there are none. */
  readonly older: number | null;
}

const partBytes = 64 * 1024;

/** The newest lines of a turn's output, or those before an offset. A line that is longer than a part comes in pieces. */
export const readOutput: Effect<{ readonly turn: string; readonly before?: number | undefined }, OutputPart> = {
  kind: "effect",
  request: fields({ turn: text }, { before: whole }),
  place: "engine",
  run: async (world, { turn: id, before = null }) => {
    const found = await world.call("turn.find", { id });
    if (!found.ok) return found;
    const { turn } = found.value;
    const none = { turn, lines: [], from: 0, size: 0, older: null };
    if (turn.logDir === null) return ok(none);
    if (before !== null && before < 0) return no(invalid("before", "must not be negative", { value: String(before) }));
    const { from, size, bytes } = (await world.turnOutputs()).read(turn.logDir, { before, most: partBytes });
    // The part begins inside of a line, unless it begins the file.
    const cut = from === 0 ? 0 : bytes.indexOf(10) + 1;
    const begin = cut === bytes.length ? 0 : cut;
    const whole = new TextDecoder().decode(bytes.subarray(begin)).replace(/\n$/, "");
    const start = from + begin;
    return ok({
      turn,
      lines: whole === "" ? [] : whole.split("\n"),
      from: start,
      size,
      older: start > 0 ? start : null,
    });
  },
};

/** The same of the turn that the newest incarnation of an agent had last. */
export const readNewest: Effect<{ readonly name: string; readonly before?: number | undefined }, OutputPart> = {
  kind: "effect",
  request: fields({ name: text }, { before: whole }),
  place: "engine",
  run: async (world, { name, before }) => {
    const found = await world.call("turn.list", { name });
    if (!found.ok) return found;
    const turn = found.value.generations.at(-1)?.turns.at(-1);
    return turn === undefined
      ? no(invalid("agent", "has had no turn yet", { value: name }))
      : world.call("turn.readOutput", { turn: turn.id, before });
  },
};
