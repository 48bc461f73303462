import { closeSync, constants, openSync, rmSync } from "node:fs";

/** How long what was written before everybody left may take to be read. */
const drainMs = 1_000;

/**
 * A pipe for the output of a command: `write` is for the command and is closed here once it has it. A real pipe and not
 * the socket that a spawned process would get: scripts open `/dev/stdout` again, which no socket lets them.
 */
export interface OutputPipe {
  readonly write: number;
  /** Hands on what comes, in order. */
  read(take: (bytes: Uint8Array) => void): Reading;
}

export interface Reading {
  /** Waits until nobody can write any more; whoever still could after a moment is no longer listened to. */
  end(): Promise<void>;
}

/** `name` is where the pipe is made; it is nameless by the time anybody writes. */
export async function openPipe(name: string): Promise<OutputPipe> {
  await makeFifo(name);
  try {
    const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
    const source = openSync(name, O_RDONLY | O_NONBLOCK);
    return { write: openSync(name, O_WRONLY), read: (take) => reading(source, take) };
  } finally {
    rmSync(name, { force: true });
  }
}

async function makeFifo(name: string): Promise<void> {
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", 'mkfifo -m 600 "$1"', "sh", name],
    // Every system has it in one of these, whatever somebody's PATH leaves out.
    env: { PATH: `${process.env.PATH ?? ""}:/usr/bin:/bin` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`no pipe could be made: ${said.trim()}`);
}

function reading(source: number, take: (bytes: Uint8Array) => void): Reading {
  const reader = Bun.file(source).stream().getReader();
  const pump = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      take(value);
    }
  };
  // What cannot be taken is closed at once: whoever writes must not wait for us for ever.
  const ended = pump()
    .then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    .finally(() => closeSync(source));
  return {
    end: async () => {
      const late = Symbol();
      const outcome = await Promise.race([ended, Bun.sleep(drainMs).then(() => late)]);
      if (outcome === late) await reader.cancel();
      const failure = await ended;
      if (failure !== undefined) throw failure.error;
    },
  };
}
