import { constants, linkSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { OpenInput } from "../ports/agent-process.ts";
import { errorCode } from "./writable.ts";

/**
 * An agent's input that stays open, in the directory of its turn:
 *
 *   input.json       what the input starts with
 *   input/stdin      named pipe: what the agent reads
 *   input/words      named pipe: ids of replies, and `close`
 *   input/kept/ID    the text of a reply, written whole before its id is said
 *   input/given/ID   the reply was handed to the agent
 *
 * A small shell, the feeder, copies replies into the agent's input. It belongs to the agent, not to the supervisor: it
 * lives when the supervisor dies, so the agent never sees half a reply or an early end of its input. A successor says the
 * ids of replies again that it does not know to be given; the feeder gives each one once, because a second `ln` to
 * the same name fails. The agent's input ends when the feeder leaves.
 */
export const feed = `
ov_turn=$1; shift
(
  command -p cat "$ov_turn/input.json" >&9
  while read -r ov_word <&8; do
    [ "$ov_word" = close ] && exit
    command -p ln "$ov_turn/input/kept/$ov_word" "$ov_turn/input/given/$ov_word" && command -p cat "$ov_turn/input/kept/$ov_word" >&9
  done
) </dev/null >/dev/null 2>&1 8<>"$ov_turn/input/words" 9>"$ov_turn/input/stdin" &
exec 0<"$ov_turn/input/stdin"
`;

/** Makes the pipes. What an earlier try left is taken away: its agent never ran. */
export function makeOpenInput(turnDir: string): void {
  const dir = join(turnDir, "input");
  rmSync(dir, { recursive: true, force: true });
  for (const name of ["", "kept", "given"]) mkdirSync(join(dir, name), { mode: 0o700 });
  const made = Bun.spawnSync({ cmd: ["mkfifo", "-m", "600", join(dir, "stdin"), join(dir, "words")] });
  if (!made.success) throw new Error(`mkfifo failed: ${made.stderr.toString()}`);
}

export function openInput(turnDir: string): OpenInput {
  const dir = join(turnDir, "input");
  let words: number | undefined;
  const say = (word: string): void => {
    // Opened for both, so that opening does not wait for the feeder. It stays open, so that what was said before the
    // feeder came is still there.
    words ??= openSync(join(dir, "words"), constants.O_RDWR | constants.O_NONBLOCK);
    writeSync(words, `${word}\n`);
  };
  return {
    keep: (id, text) => {
      const written = join(dir, "kept", `.${id}.${process.pid}`);
      writeFileSync(written, text, { mode: 0o600 });
      try {
        linkSync(written, join(dir, "kept", id));
      } catch (error) {
        // A predecessor, or a supervisor that lost the turn without knowing it yet, was faster: its reply counts.
        if (errorCode(error) !== "EEXIST") throw error;
      } finally {
        rmSync(written, { force: true });
      }
    },
    write: (id) => say(id),
    closeInput: () => say("close"),
  };
}
