import { type Key, keyReader } from "./keys.ts";
import { openScreen, type Screen } from "./screen.ts";

/** A terminal that a command has for itself. */
export interface Terminal {
  readonly screen: Screen;
  onKeys(listener: (keys: readonly Key[]) => void): void;
  onResize(listener: () => void): void;
  /** The terminal was closed, or its input has ended: no key will come. */
  onEnd(listener: () => void): void;
}

/**
 * The terminal of this process, for as long as `work` runs: raw keys and a screen of its own. The terminal is given
 * back as it was, also after a failure. `write` has handed everything to the system when it returns, because a process
 * that exits must not keep the end of it.
 */
export async function withTerminal<T>(
  write: (text: string) => void,
  work: (terminal: Terminal) => Promise<T>,
): Promise<T> {
  const { stdin, stdout } = process;
  const heard: { keys: (keys: readonly Key[]) => void; resize: () => void; end: () => void } = {
    keys: () => {},
    resize: () => {},
    end: () => {},
  };
  const decoder = new TextDecoder();
  const keysIn = keyReader();
  const onData = (bytes: Uint8Array): void => heard.keys(keysIn(decoder.decode(bytes, { stream: true })));
  const onResize = (): void => heard.resize();
  const onEnd = (): void => heard.end();
  const screen = openScreen({ write, size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }) });
  const giveBack = (): void => {
    screen.close();
    if (stdin.isTTY) stdin.setRawMode(false);
  };
  process.once("exit", giveBack);
  process.on("SIGHUP", onEnd);
  try {
    stdin.setRawMode(true);
    stdin.on("data", onData).on("end", onEnd).on("error", onEnd).resume();
    stdout.on("resize", onResize);
    return await work({
      screen,
      onKeys: (listener) => {
        heard.keys = listener;
      },
      onResize: (listener) => {
        heard.resize = listener;
      },
      onEnd: (listener) => {
        heard.end = listener;
      },
    });
  } finally {
    stdin.off("data", onData).off("end", onEnd).off("error", onEnd);
    stdout.off("resize", onResize);
    process.off("SIGHUP", onEnd);
    process.off("exit", giveBack);
    giveBack();
    stdin.pause();
  }
}
