/**
 * The number that an agent's process and everything below it carry as their limit of file locks. It is made of an id
 * that nobody else has, so it is nobody else's limit, and it needs no storing.
 */
export type Mark = number;

const deepest = 15;
const idBits = 48;

/** Below this no mark is ever given out: a process with such a limit has lowered it by itself, to hide. */
export const leastMark: Mark = (deepest + 1) * 2 ** idBits;

/** The mark of a gate's run: the lowest rank, so that no gate can take an agent's number. */
export const gateMark = (digest: string): Mark => markOf(digest, deepest);

/**
 * A limit can be lowered by whoever has it, never raised: the nearer an agent is to the top, the larger its number, so
 * that nobody can take the number of somebody above it. `digest` is of the id of a turn, a session or a gate's run.
 */
export function markOf(digest: string, depth: number): Mark {
  const rank = deepest - Math.min(Math.max(depth, 0), deepest);
  return (deepest + 1 + rank) * 2 ** idBits + Number.parseInt(digest.slice(0, idBits / 4), 16);
}
