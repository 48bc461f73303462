import type { TokenCounts } from "../../domain/budget/usage.ts";
import { type Spending, spendingRows } from "../../domain/cost/spending.ts";
import { costSources, type PriceList, turnCost } from "../../domain/prices/prices.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, list, noFields, oneOf, orNull, text, whole } from "../../domain/schema/schema.ts";
import type { Transcript } from "../../ports/transcripts.ts";
import type { Effect } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

export interface OwnSession {
  readonly path: string;
  readonly sessionId: string;
  readonly model: string | null;
  readonly tokens: TokenCounts;
  readonly costUsd: number | null;
}

/** What the newest session of the caller's own used and cost, read from the file of its program and stored nowhere. */
export const ownSession: Effect<object, OwnSession> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const found = (await world.transcripts()).newest();
    if (found === undefined)
      return no(invalid("--self", "finds no conversation of Claude Code with answers in this directory"));
    const rows = rowsOf(found, (await world.prices()).list);
    const sum = (count: "input" | "output" | "cacheRead" | "cacheWrite" | "costMicros"): number =>
      rows.reduce((total, row) => total + (row[count] ?? 0), 0);
    const isKnown = rows.every(({ costMicros }) => costMicros !== null);
    return ok({
      path: found.path,
      sessionId: found.sessionId,
      model: rows[0]?.model ?? null,
      tokens: {
        input: sum("input"),
        output: sum("output"),
        cacheRead: sum("cacheRead"),
        cacheWrite: sum("cacheWrite"),
      },
      costUsd: isKnown ? sum("costMicros") / 1_000_000 : null,
    });
  },
};

/** The part of a row that the file tells; the store knows to whom it belongs. */
export type SessionSpending = Omit<Spending, "agentId" | "agentName" | "capability" | "runId" | "taskId">;

/** No program says what a whole session cost, so only the list of prices can. */
function rowsOf(transcript: Transcript, prices: PriceList): readonly SessionSpending[] {
  const { sessionId, runtime, answers, startedAt, endedAt } = transcript;
  const cost = turnCost({ reportedUsd: null, answers, model: null, at: startedAt, list: prices });
  const nobody = { agentId: null, agentName: "", capability: "", runId: null, taskId: null };
  const source = { ...nobody, ...cost, source: `session:${sessionId}`, model: null, runtime, startedAt, endedAt };
  return spendingRows(source, answers, prices).map(({ agentId, agentName, capability, runId, taskId, ...row }) => row);
}

export interface BookSessionRequest {
  /** The file of the conversation. */
  readonly transcript: string;
  /** The owner of the session, where a person's command says so; agents speak for themselves. */
  readonly agent?: string | undefined;
}

/** Books what a person's session used and cost until now. Safe to repeat while the session goes on. */
export const bookSession: Effect<BookSessionRequest, { readonly booked: boolean }> = {
  kind: "effect",
  request: fields<BookSessionRequest>({ transcript: text }, { agent: text }),
  place: "caller",
  run: async (world, { transcript: path, agent }) => {
    const found = (await world.transcripts()).read(path);
    if (found === undefined) return ok({ booked: false });
    const messageIds = found.answers.map(({ messageId }) => messageId);
    const unbooked = await world.call("cost.findUnbooked", { messageIds, agent });
    if (!unbooked.ok) return unbooked;
    const wanted = new Set(unbooked.value.messageIds);
    const answers = found.answers.filter(({ messageId }) => wanted.has(messageId));
    if (answers.length === 0) return ok({ booked: false });
    const { list: prices } = await world.prices();
    return world.call("cost.recordSession", { rows: rowsOf({ ...found, answers }, prices), agent });
  },
};

/** Which of these answers no turn has told. In a turn none: its driver tells them. */
export const findUnbooked: UseCase<
  { readonly messageIds: readonly string[]; readonly agent?: string | undefined },
  { readonly messageIds: readonly string[] }
> = {
  kind: "read",
  request: fields({ messageIds: list(text) }, { agent: text }),
  guarded: true,
  run: async (tx, { caller }, { messageIds, agent }) => {
    if (caller.kind === "agent" && caller.turnId !== null) return ok({ messageIds: [] });
    const known = new Set(await tx.usage.knownAnswers(nameOf(caller, agent), messageIds));
    return ok({ messageIds: messageIds.filter((id) => !known.has(id)) });
  },
};

const nameOf = (caller: { readonly kind: string; readonly name: string }, named: string | undefined): string =>
  caller.kind === "agent" ? caller.name : (named ?? caller.name);

/** Stores the usage of a person's session, in place of the usage stored before. */
export const recordSession: UseCase<
  { readonly rows: readonly SessionSpending[]; readonly agent?: string | undefined },
  { readonly booked: boolean }
> = {
  kind: "write",
  request: fields(
    {
      rows: list(
        fields<SessionSpending>({
          source: text,
          part: whole,
          model: orNull(text),
          runtime: text,
          told: flag,
          input: whole,
          output: whole,
          cacheRead: whole,
          cacheWrite: whole,
          costMicros: orNull(whole),
          costSource: oneOf(costSources),
          priceVersion: orNull(text),
          startedAt: whole,
          endedAt: whole,
        }),
      ),
    },
    { agent: text },
  ),
  run: async (tx, { caller }, { rows, agent: named }) => {
    // A turn is booked when it settles, by what its driver told. A source of another sort would replace a turn.
    const isTurn = caller.kind === "agent" && caller.turnId !== null;
    if (isTurn || rows.some(({ source }) => !source.startsWith("session:"))) return ok({ booked: false });
    const name = nameOf(caller, named);
    const agent = caller.kind === "agent" ? await tx.agents.get(caller.agentId) : await tx.agents.byName(name);
    const owner =
      agent === undefined
        ? { agentName: name, capability: caller.kind === "agent" ? caller.capability : "operator" }
        : { agentName: agent.name, capability: agent.capability };
    const work = { runId: agent?.runId ?? null, taskId: agent?.taskId ?? null };
    // Its own line in every list: what a person does beside an agent's turns is told apart from them.
    await tx.spending.book(rows.map((row) => ({ ...row, ...owner, ...work, agentId: null })));
    return ok({ booked: true });
  },
};
