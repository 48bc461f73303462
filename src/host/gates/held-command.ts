import type { Mark, ProcessIdentity } from "../../domain/process/process.ts";
import { takeMark } from "../linux/mark.ts";
import { identityOf } from "../linux/process-table.ts";

/** A shell that waits to be told to go. It is a process already, and can be put on record as one. */
export interface HeldCommand {
  readonly identity: ProcessIdentity;
  release(): Promise<void>;
  /** It leaves without having run anything. */
  abandon(): void;
  readonly exited: Promise<Ended>;
}

/** `code` is null when a signal ended it. */
export interface Ended {
  readonly code: number | null;
}

interface Command {
  /** What everything that it starts is known by. */
  readonly mark: Mark;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where standard output and standard error go. */
  readonly output: number;
}

/** End of input before the word means that the engine is gone, and with it the only process that knows of this one. */
const gate = `${takeMark}read -r _ || exit 125; exec "$@" </dev/null`;

/** Starts a shell that becomes the command, leading its own session and process group. Throws where that cannot be done. */
export function holdCommand({ argv, mark, cwd, env, output }: Command): HeldCommand {
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", gate, "ov-gate", String(mark), ...argv],
    env: { ...env },
    cwd,
    stdio: ["pipe", output, output],
    detached: true,
  });
  const identity = identityOf(child.pid);
  if (identity === undefined) throw new Error("its process is not there");
  return {
    identity,
    release: async () => {
      child.stdin.write("go\n");
      await child.stdin.end();
    },
    abandon: () => {
      void child.stdin.end();
    },
    exited: child.exited.then(() => ({ code: child.signalCode === null ? child.exitCode : null })),
  };
}
