import { converted } from "../../domain/earlier/columns.ts";
import {
  type EarlierPart,
  type EarlierRow,
  type EarlierValues,
  earlierPartNames,
  earlierParts,
  editedParts,
  type RowProblem,
} from "../../domain/earlier/earlier-project.ts";
import { ok, type Result } from "../../domain/result.ts";
import { anything, fields, flag, list, noFields, oneOf, text, whole } from "../../domain/schema/schema.ts";
import type { ImportRecord } from "../../ports/store/imports.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { takers, unread } from "./takers.ts";

export interface TakeRequest {
  readonly part: EarlierPart;
  /** The place that the caller read on from. */
  readonly from: number;
  /** Of the shape `EarlierRow`. */
  readonly rows: readonly unknown[];
  /** No row of the part comes after these. */
  readonly isLast: boolean;
  readonly targetBranch: string;
}

export interface Taken {
  /** Where to read on. */
  readonly place: number;
  readonly taken: number;
  /** Rows of which the project has the same already. */
  readonly present: number;
  readonly problems: readonly RowProblem[];
}

/**
 * The tools with which one part imports its rows. `take` counts a row as imported, `present` as known before, and
 * `problem` notes why a row was left out or changed.
 */
export interface Taking {
  readonly tx: Tx;
  readonly context: Context;
  readonly targetBranch: string;
  /** The value of a row, or undefined after its problem was noted. */
  convert<T>(row: EarlierRow, convert: (values: EarlierValues) => T): T | undefined;
  take(): void;
  present(): void;
  problem(row: EarlierRow, problem: string): void;
}

/**
 * Stores the next rows of a part, and how far it came, in one transaction. A caller that read from another place than the
 * one on record, because an earlier import was cut short or another one runs, is only told the place.
 */
export const takeRows: UseCase<TakeRequest, Taken> = {
  kind: "write",
  request: fields({
    part: oneOf(earlierPartNames),
    from: whole,
    rows: list(anything),
    isLast: flag,
    targetBranch: text,
  }),
  operatorOnly: true,
  run: async (tx, context, { part, from, rows, isLast, targetBranch }) => {
    const source = earlierParts[part];
    const before = await tx.imports.get(source);
    const place = before?.place ?? 0;
    if (place !== from && !editedParts.includes(part)) return ok({ place, taken: 0, present: 0, problems: [] });
    const given = rows as readonly EarlierRow[];
    const tally = { taken: 0, present: 0 };
    const problems: RowProblem[] = [];
    await takers[part](
      {
        tx,
        context,
        targetBranch,
        convert: (row, convert) => {
          const { values, where, problem = unread } = row;
          const read: Result<ReturnType<typeof convert>, string> = values === undefined
            ? { ok: false, refusal: problem }
            : converted(() => convert(values));
          if (read.ok) return read.value;
          problems.push({ where, problem: read.refusal });
          return undefined;
        },
        take: () => {
          tally.taken++;
        },
        present: () => {
          tally.present++;
        },
        problem: ({ where }, problem) => problems.push({ where, problem }),
      },
      given,
    );
    const after = given.at(-1)?.row ?? place;
    const taken = (before?.taken ?? 0) + tally.taken;
    // An edited file is looked at again and again; only what changes is written.
    const isNew = tally.taken > 0 || before?.place !== after;
    if (isNew) await tx.imports.put({ source, place: after, taken, updatedAt: context.now });
    if (isLast && isNew) {
      const data = { source, rows: taken };
      await record(tx, context.now, { ...byCaller(context.caller), type: "imported", data });
    }
    return ok({ place: after, ...tally, problems });
  },
};

/** How far the parts were taken over. */
export const readImports: UseCase<object, readonly ImportRecord[]> = {
  kind: "read",
  request: noFields,
  run: async (tx) => ok(await tx.imports.list()),
};
