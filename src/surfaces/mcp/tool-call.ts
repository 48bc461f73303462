import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { RoleSpec } from "../../domain/role/role-spec.ts";
import type { Fields } from "../../domain/schema/check.ts";
import type { Self } from "../../usecases/identity/caller-rights.ts";
import type { Call, Follow } from "../../usecases/operation.ts";

/** What tools may ask of the program, as the agent whose token it is. Filled by `compose`. */
export interface McpApp {
  readonly version: string;
  readonly call: Call;
  readonly follow: Follow;
}

/** Everything a tool needs besides its arguments. */
export interface ToolContext {
  readonly app: McpApp;
  readonly self: Self;
  readonly role: RoleSpec;
  /** Fires when the client has given up on the call. */
  readonly signal: AbortSignal;
  /** Reports progress to a waiting client. Without reports, some clients end a call that takes minutes. */
  progress(message: string): void;
}

/** What a tool answers: a few lines for the model, and the same as data. Texts of others in `text` must have gone through `visible`. */
export interface ToolAnswer {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The tool worked, and its answer is "no". */
  readonly failed?: boolean;
  /** Runs once the answer was handed over: for facts that are true only then. */
  readonly afterSent?: () => Promise<void>;
}

export type ToolHandler = (given: Given, context: ToolContext) => Promise<Result<ToolAnswer, Refusal>>;

/** Arguments that were checked against the tool's schema, so that reading them needs no further doubt. */
export class Given {
  readonly #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  /** A required text. */
  text(name: string): string {
    return this.optionalText(name) ?? "";
  }

  optionalText(name: string): string | undefined {
    const value = this.#fields[name];
    return typeof value === "string" ? value : undefined;
  }

  number(name: string): number | undefined {
    const value = this.#fields[name];
    return typeof value === "number" ? value : undefined;
  }

  isOn(name: string): boolean {
    return this.#fields[name] === true;
  }

  texts(name: string): readonly string[] | undefined {
    const value = this.#fields[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
  }

  numbers(name: string): readonly number[] | undefined {
    const value = this.#fields[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === "number") : undefined;
  }

  /** Anything else, as the JSON text that use cases take. */
  json(name: string): string | undefined {
    const value = this.#fields[name];
    return value === undefined ? undefined : JSON.stringify(value);
  }
}
