import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addTokens, noTokens, type Tokens } from "./stream/tokens.ts";

/** One provider session as it is stored between processes. */
export interface Conversation {
  readonly id: string;
  /** Turns begun, also those that were cut short. */
  readonly turns: number;
  readonly inputs: readonly string[];
  /** Used so far, by model. */
  readonly tokens: Readonly<Record<string, Tokens>>;
}

export const newConversation = (id: string): Conversation => ({ id, turns: 0, inputs: [], tokens: {} });

export function withTokens(conversation: Conversation, model: string, tokens: Tokens): Conversation {
  // A turn without a single model reply leaves no trace in the usage.
  if (tokens === noTokens) return conversation;
  const before = conversation.tokens[model] ?? noTokens;
  return { ...conversation, tokens: { ...conversation.tokens, [model]: addTokens(before, tokens) } };
}

/** The conversations kept under one home directory. */
export class Conversations {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, ".scripted-agent", "sessions");
  }

  find(id: string): Conversation | undefined {
    // An id is a file name here; one that could be a path belongs to no conversation of ours.
    if (!/^[\w-]+$/.test(id)) return undefined;
    try {
      const stored: Conversation = JSON.parse(readFileSync(this.#file(id), "utf8"));
      return stored;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Replaces the file in one step, so that a process killed here leaves the old state or the new one. */
  save(conversation: Conversation): void {
    mkdirSync(this.#folder, { recursive: true });
    const draft = `${this.#file(conversation.id)}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(conversation, null, 2)}\n`);
    renameSync(draft, this.#file(conversation.id));
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
