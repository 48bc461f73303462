import type { Tx } from "./store.ts";

/** What the user asked of `ov demo`. */
export interface DemoRequest {
  /** How many builders; at least the four that the story needs. */
  readonly agents: number;
  /** Decides which builder's program is killed in the middle of its first turn. */
  readonly seed: number;
  /** Keep the repository afterwards. */
  readonly keep: boolean;
}

/** A throwaway repository with a home of its own, in which a team of scripted agents works on one objective. */
export interface DemoStage {
  readonly root: string;
  /** Sets the project up and starts the team. Everything that follows is the agents' doing. */
  begin(): void;
  look<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** False when the command failed. */
  promote(): boolean;
  /** Are the tests green in the checkout? */
  test(): boolean;
  /** Ends the team and its engine, and deletes the repository unless it is to be kept. */
  end(options: { readonly isComplete: boolean }): Promise<void>;
}
