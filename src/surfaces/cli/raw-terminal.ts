import { fileSink } from "./sink.ts";

/** A terminal that a command has for itself: its own screen, and each key as it is typed. */
export interface RawTerminal {
  /** The next key, as the bytes that the terminal sent; undefined when the input has ended or the process is told to end. */
  key(): Promise<string | undefined>;
  draw(lines: readonly string[]): void;
  size(): { readonly rows: number; readonly columns: number };
  /** Calls this when the window got another size. */
  onResize(redraw: () => void): void;
}

const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
const home = "\u001b[H";
const eraseLine = "\u001b[K";
const eraseBelow = "\u001b[J";

/**
 * Lends the terminal to `work`. Whatever happens, it is given back as it was: at the end, by Ctrl-C, by a signal and by an
 * exception.
 */
export async function withRawTerminal<T>(work: (terminal: RawTerminal) => Promise<T>): Promise<T> {
  const { stdin, stdout } = process;
  const sink = fileSink(1);
  const waiting: ((key: string | undefined) => void)[] = [];
  const typed: (string | undefined)[] = [];
  let isOver = false;
  const give = (key: string | undefined): void => {
    const next = waiting.shift();
    if (next === undefined) typed.push(key);
    else next(key);
  };
  const onData = (bytes: Buffer | string): void => {
    for (const key of keysIn(bytes.toString())) give(key);
  };
  const end = (): void => give(undefined);
  let redraw = (): void => {};
  const onResize = (): void => redraw();
  const restore = (): void => {
    if (isOver) return;
    isOver = true;
    sink.write(leave);
    stdin.setRawMode(false);
  };
  const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
  stdin.setRawMode(true);
  sink.write(enter);
  process.on("exit", restore);
  for (const signal of signals) process.on(signal, end);
  stdin.on("data", onData).on("end", end).resume();
  stdout.on("resize", onResize);
  try {
    return await work({
      key: () =>
        typed.length > 0 ? Promise.resolve(typed.shift()) : new Promise((resolve) => void waiting.push(resolve)),
      draw: (lines) => sink.write(`${home}${lines.map((line) => line + eraseLine).join("\r\n")}${eraseBelow}`),
      size: () => ({ rows: stdout.rows || 24, columns: stdout.columns || 80 }),
      onResize: (then) => {
        redraw = then;
      },
    });
  } finally {
    restore();
    process.off("exit", restore);
    for (const signal of signals) process.off(signal, end);
    stdin.off("data", onData).off("end", end).pause();
    stdout.off("resize", onResize);
  }
}

/** Keys come several at a time when they are typed or pasted fast. An escape sequence is one key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys such as the arrows begin with one
const keysIn = (bytes: string): readonly string[] => bytes.match(/\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])|[\s\S]/gu) ?? [];
