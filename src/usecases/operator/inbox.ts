import { ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { type OpenDecision, openDecisions } from "./decisions.ts";

/** What waits for the operator's word. Their mail is read by `mail.check`, which keeps their place in it. */
export const operatorInbox: UseCase<object, { readonly decisions: readonly OpenDecision[] }> = {
  access: "read",
  operatorOnly: true,
  run: async (tx) => ok({ decisions: await openDecisions(tx) }),
};
