/** The terminal as a full screen: the size it has, and where its frames go. */
export interface Screen {
  readonly columns: () => number;
  readonly rows: () => number;
  /** Shows these lines. Only rows that differ from the last frame are written. */
  draw(lines: readonly string[]): void;
  /** The next frame is written whole: after a resize, or when another program wrote to the terminal. */
  forget(): void;
  /** Rings the bell. */
  ring(): void;
  /** Gives the terminal back as it was. Frames that come later are not written. */
  close(): void;
}

export interface ScreenOutput {
  readonly write: (text: string) => void;
  readonly size: () => { readonly columns: number; readonly rows: number };
}

/** The terminal marks pasted text, so that it is not taken for keys. */
const enter = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J";
const leave = "\x1b[?2004l\x1b[?25h\x1b[?1049l";
/** Terminals that know these show a frame at once. Others ignore them. */
const [begin, end] = ["\x1b[?2026h", "\x1b[?2026l"];

/** A screen of its own: what stood on the terminal before comes back when it is closed. */
export function openScreen({ write, size }: ScreenOutput): Screen {
  write(enter);
  let shown: readonly string[] = [];
  let isOpen = true;
  return {
    columns: () => size().columns,
    rows: () => size().rows,
    draw: (lines) => {
      if (!isOpen) return;
      // Cleared before it is written: after the last column of a line some terminals would clear that column.
      const changed = lines.flatMap((line, at) =>
        shown[at] === line ? [] : [`\x1b[${at + 1};1H\x1b[K${line}\x1b[0m`],
      );
      const below = lines.length < shown.length ? [`\x1b[${lines.length + 1};1H\x1b[J`] : [];
      shown = [...lines];
      if (changed.length + below.length > 0) write(`${begin}${changed.join("")}${below.join("")}${end}`);
    },
    forget: () => {
      if (!isOpen) return;
      shown = [];
      write("\x1b[2J");
    },
    ring: () => {
      if (isOpen) write("\x07");
    },
    close: () => {
      if (isOpen) write(leave);
      isOpen = false;
    },
  };
}

/** A line of exactly this width: cut where it is wider, filled with spaces where it is narrower. Colours take no room. */
export function fit(line: string, width: number): string {
  const wide = Bun.stringWidth(line);
  if (wide <= width) return line + " ".repeat(width - wide);
  const cut = `${Bun.sliceAnsi(line, 0, Math.max(0, width - 1))}…`;
  return cut + " ".repeat(Math.max(0, width - Bun.stringWidth(cut)));
}
