import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Start {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly systemPrompt: string | undefined;
}

export interface Input {
  readonly session: string;
  readonly turn: number;
  readonly attempt: number;
  readonly text: string;
}

/** What one agent's processes leave behind for tests to look at: a folder of files with one JSON value per line. */
export class Diary {
  readonly #folder: string;

  constructor(root: string, agent: string) {
    this.#folder = join(root, encodeURIComponent(agent === "" ? "unnamed" : agent));
    mkdirSync(this.#folder, { recursive: true });
  }

  /**
   * Notes that a process has started and answers how many there have been. The number is the place of our own line, so
   * two processes that start at once never get the same one.
   */
  start(facts: Start): number {
    const id = crypto.randomUUID();
    this.#append("starts.ndjson", { id, pid: process.pid, ...facts });
    const lines = readFileSync(join(this.#folder, "starts.ndjson"), "utf8").split("\n");
    return lines.findIndex((line) => line.includes(id)) + 1;
  }

  input(input: Input): void {
    this.#append("inputs.ndjson", input);
  }

  child(child: { readonly pid: number; readonly command: string }): void {
    this.#append("children.ndjson", child);
  }

  answer(answer: { readonly request: string; readonly answer: object }): void {
    this.#append("answers.ndjson", answer);
  }

  #append(file: string, value: object): void {
    appendFileSync(join(this.#folder, file), `${JSON.stringify({ at: new Date().toISOString(), ...value })}\n`);
  }
}
