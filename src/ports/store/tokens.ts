/** A token proves that a process speaks for one incarnation. Only its digest is stored. */
export interface Token {
  readonly digest: string;
  readonly agentId: string;
  readonly turnId: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

export interface TokenRows {
  insert(token: Token): Promise<void>;
  get(digest: string): Promise<Token | undefined>;
  revokeForTurn(turnId: string, now: number): Promise<void>;
  /** Revokes what an agent was given outside of its turns. */
  revokeWithoutTurn(agentId: string, now: number): Promise<void>;
}

/** Replies of remote calls, kept so that a repeated frame gets the answer of the first. */
export interface RequestRows {
  reply(id: string): Promise<string | undefined>;
  store(id: string, name: string, reply: string, now: number): Promise<void>;
}
