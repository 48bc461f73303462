import { no, ok } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

/** Refuses what is the operator's alone to everybody else, and puts the attempt on record. */
export const requireOperator: UseCase<{ readonly action: string }, null> = {
  kind: "read",
  request: fields({ action: text }),
  guarded: true,
  run: async (_tx, { caller }, { action }) =>
    caller.kind === "operator"
      ? ok(null)
      : no({ kind: "not-allowed", action, caller: caller.name, why: "that is for the operator" }),
};

/** Refuses a caller whom nobody knows, and puts the attempt on record. */
export const checkCaller: UseCase<object, null> = {
  kind: "read",
  request: noFields,
  guarded: true,
  run: async () => ok(null),
};
