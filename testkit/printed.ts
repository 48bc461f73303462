import { ovBinary } from "./ov.ts";
import type { TestProject } from "./project.ts";

/** A command that goes on printing until it is ended. */
export interface Printing extends AsyncDisposable {
  /** Everything it has printed so far. */
  readonly text: () => string;
  /** Waits until it has printed this. */
  until(what: string, isPrinted: (text: string) => boolean): Promise<void>;
  /** Ctrl-C; the exit code. */
  interrupt(): Promise<number>;
}

/** Starts `ov` with these arguments and reads what it prints as it comes. */
export function printing(project: TestProject, ...args: readonly string[]): Printing {
  const child = Bun.spawn({
    cmd: [ovBinary(), ...args],
    cwd: project.root,
    env: project.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const read = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) text += decoder.decode(bytes, { stream: true });
  })();
  return {
    text: () => text,
    until: (what, isPrinted) => project.until(`it printed ${what}`, async () => isPrinted(text)),
    interrupt: async () => {
      child.kill("SIGINT");
      await read;
      return child.exited;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
