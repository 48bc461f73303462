import type { FileHandle } from "node:fs/promises";
import { visibleText } from "../../domain/text/visible.ts";

const everyMs = 150;
/** More than anybody can read between two looks. */
const lookBytes = 256 * 1024;

export interface Following {
  /** Shows what has come since the last look, then stops. Throws what the watcher threw. */
  stop(): Promise<void>;
}

/**
 * Tells a watcher the lines of a growing log, made visible. It never holds up whoever writes: what comes faster than it
 * can be watched is left out, and said to be.
 */
export function follow(log: FileHandle, tell: (text: string) => void): Following {
  const stopped = Promise.withResolvers<void>();
  let isOver = false;
  const watch = async (): Promise<void> => {
    const lines = new Lines(tell);
    for (let at = 0; ; ) {
      const isLast = isOver;
      at = await look(log, at, lines);
      if (isLast) return lines.end();
      await Promise.race([stopped.promise, Bun.sleep(everyMs)]);
    }
  };
  const ended = watch().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  return {
    stop: async () => {
      isOver = true;
      stopped.resolve();
      const failure = await ended;
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** Reads up to the present end; answers where that was. */
async function look(log: FileHandle, from: number, lines: Lines): Promise<number> {
  const { size } = await log.stat();
  // A shorter log was emptied by the command itself: everything in it is new.
  const begin = size < from ? 0 : from;
  const start = Math.max(begin, size - lookBytes);
  if (start > begin) lines.skip(start - begin);
  if (size === start) return size;
  const { buffer, bytesRead } = await log.read(new Uint8Array(size - start), 0, size - start, start);
  lines.add(buffer.subarray(0, bytesRead));
  return start + bytesRead;
}

/** Turns bytes into whole lines; one that has no end yet waits for it, unless it gets too long. */
class Lines {
  readonly #tell: (text: string) => void;
  #decoder = new TextDecoder();
  #pending = "";

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  add(bytes: Uint8Array): void {
    const text = this.#pending + this.#decoder.decode(bytes, { stream: true });
    const cut = text.length > lookBytes ? text.length : text.lastIndexOf("\n") + 1;
    this.#pending = text.slice(cut);
    this.#say(text.slice(0, cut));
  }

  skip(bytes: number): void {
    this.end();
    this.#tell(`[${bytes} bytes are only in the log]\n`);
  }

  end(): void {
    this.#say(this.#pending + this.#decoder.decode());
    this.#decoder = new TextDecoder();
    this.#pending = "";
  }

  #say(text: string): void {
    if (text !== "") this.#tell(visibleText(text.replaceAll("\r\n", "\n")));
  }
}
