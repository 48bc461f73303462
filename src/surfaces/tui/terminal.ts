import { keysOf } from "../shared/keys.ts";
import { openScreen } from "../shared/screen.ts";
import type { DrawClock, Terminal } from "./dashboard.ts";

/**
 * The terminal of this process, for as long as `work` runs: raw keys and a screen of its own. Whatever ends the work, the
 * terminal is given back as it was.
 */
export async function withTerminal<T>(clock: DrawClock, work: (terminal: Terminal) => Promise<T>): Promise<T> {
  const { stdin, stdout } = process;
  const screen = openScreen({
    write: (text) => void stdout.write(text),
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
  });
  const decoder = new TextDecoder();
  const listeners: { keys?: (bytes: Uint8Array) => void; resize?: () => void } = {};
  const giveBack = (): void => {
    screen.close();
    if (stdin.isTTY) stdin.setRawMode(false);
  };
  process.once("exit", giveBack);
  try {
    stdin.setRawMode(true);
    stdin.resume();
    return await work({
      screen,
      clock,
      onKeys: (listener) => {
        listeners.keys = (bytes) => listener(keysOf(decoder.decode(bytes, { stream: true })));
        stdin.on("data", listeners.keys);
      },
      onResize: (listener) => {
        listeners.resize = listener;
        stdout.on("resize", listener);
      },
    });
  } finally {
    if (listeners.keys !== undefined) stdin.off("data", listeners.keys);
    if (listeners.resize !== undefined) stdout.off("resize", listeners.resize);
    process.off("exit", giveBack);
    giveBack();
    stdin.pause();
  }
}
