import { payloadFields } from "../mail/payload.ts";

/** What whoever slung an agent asked for beyond the task; kept with the agent as JSON. */
export interface Asked {
  readonly siblings: readonly string[];
  readonly profile: string | null;
  /** Agents a lead may have at work at once; 0: no word about it. */
  readonly dispatchMaxAgents: number;
  readonly skipScout: boolean;
  readonly skipReview: boolean;
}

/** Reads what was stored; whatever is missing or of another shape counts as not asked for. */
export function readAsked(json: string | null): Asked {
  const { siblings, profile, dispatchMaxAgents, skipScout, skipReview } = payloadFields(json);
  return {
    siblings: Array.isArray(siblings) ? siblings.filter((name) => typeof name === "string") : [],
    profile: typeof profile === "string" && profile !== "" ? profile : null,
    dispatchMaxAgents: typeof dispatchMaxAgents === "number" ? dispatchMaxAgents : 0,
    skipScout: skipScout === true,
    skipReview: skipReview === true,
  };
}
