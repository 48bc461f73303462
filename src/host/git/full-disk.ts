import { Failure, failureOf } from "../../domain/failure.ts";
import type { GitAnswer } from "./git.ts";

/**
 * Throws where git failed for want of space: that is no fault of what it was asked to do, and the same may well succeed
 * later.
 */
export function expectRoom(answer: Pick<GitAnswer, "code" | "err">, path: string | null): void {
  if (answer.code !== 0) passOnFull(new Error(answer.err.trim()), path);
}

/** Throws what was caught as what it is, when it came from a full disk. */
export function passOnFull(error: unknown, path: string | null): void {
  if (error instanceof Failure && error.data.kind === "disk-full") throw error;
  const failure = failureOf(error);
  const full = failure.kind === "disk-full" || (failure.kind === "unexpected" && saysFull.test(failure.problem));
  if (full) throw new Failure({ kind: "disk-full", path }, { cause: error });
}

/**
 * Git speaks English to us, and where it could open a file but not write it, it often does not say why not. Hardly
 * anything but a lack of space does that.
 */
const saysFull = new RegExp(
  ["No space left on device", "Disk quota exceeded", "unable to write (file|new index file)", "couldn't write '"].join(
    "|",
  ),
);
