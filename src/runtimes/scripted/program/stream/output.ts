import { closeSync, openSync, write } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const stdout = 1;
const splitPieces = 6;
const splitPauseMs = 5;
const fullPipePauseMs = 2;

/**
 * Standard output, one line after the other. A call resolves when the last byte has been handed to the system, so
 * nothing is lost by an exit that follows. The writing itself happens off the main thread: a reader that has stopped
 * reading blocks the line, but never the signals.
 */
export class Output {
  #last: Promise<void> = Promise.resolve();
  #closed = false;
  #splitNext = false;

  /** Writes one event. */
  event(value: object): Promise<void> {
    return this.line(JSON.stringify(value));
  }

  /** Writes raw lines as they are. */
  line(...lines: readonly string[]): Promise<void> {
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    const pieces = this.#splitNext ? splitPieces : 1;
    this.#splitNext = false;
    this.#last = this.#last.then(() => this.#write(bytes, pieces));
    return this.#last;
  }

  /** Lets the next line arrive in small pieces, cut at any byte. */
  splitNext(): void {
    this.#splitNext = true;
  }

  /** The reader sees the end; what is written later goes nowhere. */
  close(): void {
    this.#closed = true;
    closeSync(stdout);
    // Keeps the number taken, so that no file opened later becomes "standard output".
    openSync("/dev/null", "w");
  }

  async #write(bytes: Buffer, pieces: number): Promise<void> {
    const size = Math.max(1, Math.ceil(bytes.length / pieces));
    for (let from = 0; from < bytes.length; from += size) {
      if (from > 0) await pause(splitPauseMs);
      await this.#writeAll(bytes.subarray(from, from + size));
    }
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    let done = 0;
    while (done < bytes.length && !this.#closed) {
      const written = await writeSome(bytes.subarray(done));
      if (written === 0) await pause(fullPipePauseMs);
      done += written;
    }
  }
}

/** How many bytes went out; 0 when a non-blocking pipe is full. */
function writeSome(bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    write(stdout, bytes, 0, bytes.length, null, (error, written) => {
      if (error === null || error === undefined) return resolve(written);
      if (error.code === "EAGAIN" || error.code === "EINTR") return resolve(0);
      reject(error);
    });
  });
}
