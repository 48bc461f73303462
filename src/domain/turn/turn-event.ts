import type { TokenCounts } from "../budget/usage.ts";
import type { GuardRule } from "../guard/tool-use.ts";
import type { FailureCause } from "./failure.ts";

/** What a runtime's output means, in our words. Adapters translate; nothing above them knows a vendor's format. */
export type TurnEvent =
  | {
      readonly kind: "session";
      readonly providerSessionId: string;
      readonly model: string | null;
      readonly version: string | null;
    }
  | { readonly kind: "text"; readonly text: string }
  /** `text` may be empty: some programs say only that the agent thinks. */
  | { readonly kind: "thinking"; readonly text: string }
  | ToolStart
  | ToolEnd
  | { readonly kind: "retry"; readonly attempt: number; readonly delayMs: number; readonly cause: string }
  | ({ readonly kind: "usage"; readonly messageId: string; readonly model: string | null } & TokenCounts)
  /** The program made the conversation shorter. Tokens before and after; null where it does not say. */
  | {
      readonly kind: "compacted";
      readonly asked: boolean;
      readonly tokensBefore: number | null;
      readonly tokensAfter: number | null;
    }
  /** Another model answers than before. `why`: a reason in a few words; null where the program gives none. */
  | { readonly kind: "model-changed"; readonly from: string; readonly to: string; readonly why: string | null }
  /** What the turn has cost so far, by the program's own word. */
  | { readonly kind: "cost"; readonly usd: number }
  /** A tool that the supervisor's guard did not allow. */
  | {
      readonly kind: "denied";
      readonly tool: string;
      readonly id: string | null;
      readonly summary: string | null;
      readonly rule: GuardRule;
      readonly reason?: string;
      readonly of?: string;
    }
  /** The model was given the message of this id, which came during its turn. */
  | { readonly kind: "heard"; readonly id: string }
  | TurnEnded
  /** The rest of the turn would not be worth its cost: it is ended at once. */
  | { readonly kind: "hopeless"; readonly failure: FailureCause; readonly text: string }
  /** A line that is no event: words of the program, or of its platform, for a person. */
  | { readonly kind: "malformed"; readonly bytes: number; readonly text: string }
  | { readonly kind: "other"; readonly name: string };

/** A tool is called. `at`: when, ms UTC, by the runtime's own word; null when its output does not say. */
export interface ToolStart {
  readonly kind: "tool-start";
  /** The id of the call. */
  readonly id: string;
  readonly name: string;
  /** What the tool is used on, in one short line; null when the input does not tell. */
  readonly summary: string | null;
  readonly input: unknown;
  readonly at: number | null;
}

/** The call with this id has ended. `said`: the answer of a tool that failed. */
export interface ToolEnd {
  readonly kind: "tool-end";
  readonly id: string;
  readonly failed: boolean;
  readonly said?: string;
  readonly at: number | null;
}

/** The runtime's own word that the turn is over. */
export interface TurnEnded {
  readonly kind: "turn-ended";
  /** The cause of a failure, which outranks every other claim of the runtime; null for a success. */
  readonly failure: FailureCause | null;
  readonly text: string | null;
  /** When a limit says it lifts, ms UTC. */
  readonly resetAt: number | null;
  /** The cost since the beginning of the turn, or since the last event that told one. */
  readonly costUsd: number | null;
}
