import type { GateStatus } from "../../domain/gate/gate.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import { colouredText } from "../../domain/text/coloured-text.ts";
import type { GateLogPart } from "../../ports/gate-logs.ts";
import type { Effect } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

export interface FoundLog {
  readonly path: string;
  readonly gate: string;
  /** Null while the gate runs. */
  readonly status: GateStatus | null;
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  /** The gate may still write to it. */
  readonly isRunning: boolean;
}

/** More results than gates of one attempt leave while a log of it is looked at. */
const recently = 500;

/** Where the output of a gate is: by the id of its result, or while it runs as `<attempt>/<check>/<log>`. */
export const findLog: UseCase<{ readonly id: string }, FoundLog> = {
  kind: "read",
  request: fields({ id: text }),
  run: async (tx, _context, { id }) => {
    const result = await tx.gates.get(id);
    if (result !== undefined) return ok({ ...result, path: result.logPath, isRunning: false });
    const [, attemptId = "", log = ""] = /^([\w-]+)\/([\w-]+\/[\w-]+)$/.exec(id) ?? [];
    const attempt = await tx.mergeAttempts.get(attemptId);
    if (attempt?.logDir == null) return no(notFound("gate result", id));
    const path = `${attempt.logDir}/${log}.log`;
    const ended = (await tx.gates.recent(recently)).find(({ logPath }) => logPath === path);
    if (ended !== undefined) return ok({ ...ended, path, isRunning: false });
    const gate = log.replace(/^.*\/\d+-/, "");
    const isRunning = attempt.outcome === null;
    return ok({ path, gate, status: null, exitCode: null, durationMs: null, isRunning });
  },
};

export interface ReadLogRequest {
  readonly id: string;
  /** Only what comes after so many bytes. */
  readonly from?: number | undefined;
}

export interface GateLog extends Omit<FoundLog, "path"> {
  readonly id: string;
  readonly parts: readonly GateLogPart[];
  /** The output is not kept any more. */
  readonly isGone: boolean;
}

/** The output of a gate, with its colours and without what else a terminal would obey. */
export const readLog: Effect<ReadLogRequest, GateLog> = {
  kind: "effect",
  request: fields({ id: text }, { from: whole }),
  place: "engine",
  run: async (world, { id, from = 0 }) => {
    const found = await world.call("gate.findLog", { id });
    if (!found.ok) return found;
    const { path, gate, status, exitCode, durationMs, isRunning } = found.value;
    const logs = await world.gateLogs();
    const parts = await logs.read(path, Math.max(0, from), isRunning);
    const clean = (parts ?? []).map(({ text: written, end }) => ({ text: colouredText(written), end }));
    const facts = { id, gate, status, exitCode, durationMs, isRunning };
    return ok({ ...facts, parts: clean, isGone: parts === undefined && !isRunning });
  },
};
