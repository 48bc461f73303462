import { Failure } from "../../domain/failure.ts";
import { commandFor, type GitCall, patienceMs, usualPlaces } from "./git.ts";
import { watchForPipes } from "./planted-pipes.ts";

/** A git process that answers one question after the other, until it is disposed of or its owner ends. */
export interface GitSession extends Disposable {
  /**
   * Writes the question, and reads until `isWhole` says that the answer is complete. Undefined when the process has
   * ended, or gave no whole answer in time: then it is of no more use, and another process has to be asked.
   */
  ask(question: string, isWhole: (answer: Buffer) => boolean): Promise<Buffer | undefined>;
  /** False once a question was left without an answer. */
  isUsable(): boolean;
}

export interface GitSessionCall extends Pick<GitCall, "cwd" | "args" | "env" | "limitMs"> {
  /** By itself this command would hold its answers back until its input ends. Only where `canUnbuffer`. */
  readonly unbuffered?: boolean | undefined;
}

/**
 * Starts a git command that reads questions from its input and answers each at once. Each of them takes a small part of
 * the time that a process takes to start.
 */
export function openGitSession(call: GitSessionCall): GitSession {
  const { cmd, ...where } = commandFor(call);
  const before = call.unbuffered === true ? [unbuffer() ?? noUnbuffer(), "-o0"] : [];
  const child = Bun.spawn({ ...where, cmd: [...before, ...cmd], stdio: ["pipe", "pipe", "ignore"] });
  // This process may end without waiting for git, which ends with its input.
  child.unref();
  const reader = child.stdout.getReader();
  let usable = true;
  const close = (): void => {
    usable = false;
    // None of these commands starts another program.
    child.kill("SIGKILL");
    void reader.cancel().catch(() => undefined);
  };
  const converse = async (question: string, isWhole: (answer: Buffer) => boolean): Promise<Buffer | undefined> => {
    if (!usable) return undefined;
    const limit = setTimeout(close, call.limitMs ?? patienceMs);
    // The caller asks another git process then, which names the pipe.
    const endWatch = watchForPipes({ ...where, pid: child.pid }, close);
    try {
      child.stdin.write(question);
      await child.stdin.flush();
      const answer = new GrowingBuffer();
      for (;;) {
        const { done, value } = await reader.read();
        if (value !== undefined) answer.add(value);
        if (isWhole(answer.bytes)) return answer.bytes;
        if (done) break;
      }
    } catch {
      // Its input or output is gone, and so is the process.
    } finally {
      clearTimeout(limit);
      endWatch();
    }
    close();
    return undefined;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask: (question, isWhole) => {
      const answered = last.then(() => converse(question, isWhole));
      last = answered;
      return answered;
    },
    isUsable: () => usable,
    [Symbol.dispose]: close,
  };
}

/** Bytes that come in many small parts. */
class GrowingBuffer {
  #room = Buffer.alloc(0);
  #size = 0;

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  add(part: Uint8Array): void {
    const needed = this.#size + part.length;
    if (needed > this.#room.length) this.#room = Buffer.concat([this.bytes], Math.max(needed, 2 * this.#room.length));
    this.#room.set(part, this.#size);
    this.#size = needed;
  }
}

/** Can git be made to answer each question at once, also with a command that collects its answers? */
export const canUnbuffer = (): boolean => unbuffer() !== undefined;

let unbufferer: string | null | undefined;

/** The full path of `stdbuf`, looked up once: what follows it on the command line writes its output at once. */
function unbuffer(): string | undefined {
  if (unbufferer === undefined) unbufferer = Bun.which("stdbuf", { PATH: usualPlaces });
  return unbufferer ?? undefined;
}

function noUnbuffer(): never {
  throw new Failure({ kind: "program-missing", program: "stdbuf" });
}
