import type { Mark } from "../src/domain/process/process.ts";
import { randomIds } from "../src/host/ids.ts";
import { takeMark } from "../src/host/linux/mark.ts";
import type { Tx } from "../src/ports/store.ts";
import { type CallerSight, markFor } from "../src/usecases/identity/identify.ts";

/** A process outside of all agents: without a token it is the operator. */
export const outside: CallerSight = { kind: "process", mark: () => undefined, ancestors: () => [] };

/** A process that carries this mark, as the turn's own. */
export const carrying = (mark: Mark): CallerSight => ({ ...outside, mark: () => mark });

/** The command line that runs this one inside an agent, as far as can be seen. */
export const markedCommand = (mark: Mark, argv: readonly string[]): string[] => [
  "/bin/sh",
  "-c",
  `${takeMark}exec "$@"`,
  "ov-agent",
  String(mark),
  ...argv,
];

/** The mark of the processes that this token was given to; undefined for a token that we never gave out. */
export async function markOfToken(tx: Tx, token: string): Promise<Mark | undefined> {
  const known = await tx.tokens.get(randomIds.digest(token));
  const agent = known === undefined ? undefined : await tx.agents.get(known.agentId);
  return known === undefined || agent === undefined ? undefined : markFor(randomIds, agent, known.turnId);
}
