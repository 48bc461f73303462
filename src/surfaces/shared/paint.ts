/** Colours for one stream. Without colours each function gives its text back. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  /** Side remarks: elapsed time, timestamps. */
  muted(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  blue(text: string): string;
  magenta(text: string): string;
  /** Ids and names. */
  accent(text: string): string;
  /** Success. */
  brand(text: string): string;
}

type Env = Readonly<Record<string, string | undefined>>;

export type Depth = "none" | "256" | "true";

/**
 * How many colours a stream takes. Asked in this order: --no-color, NO_COLOR, FORCE_COLOR, TERM=dumb, and last whether
 * it is a terminal (a function, because finding out is not free).
 */
export function colorDepth(options: { env: Env; noColor: boolean; isTTY: () => boolean }): Depth {
  const { env, noColor, isTTY } = options;
  if (noColor || (env.NO_COLOR ?? "") !== "") return "none";
  const forced = env.FORCE_COLOR;
  if (forced !== undefined)
    return forced === "0" || forced === "false" ? "none" : forced === "3" ? "true" : depthOf(env);
  if (env.TERM === "dumb" || !isTTY()) return "none";
  return depthOf(env);
}

/** The palette for a depth. Colours nest: what follows an inner colour gets the outer one back. */
export function makePaint(depth: Depth): Paint {
  if (depth === "none") return plain;
  const rgb = (red: number, green: number, blue: number, nearest256: number) =>
    style(depth === "true" ? `38;2;${red};${green};${blue}` : `38;5;${nearest256}`, "39");
  return {
    bold: style("1", "22"),
    dim: style("2", "22"),
    muted: rgb(120, 120, 110, 243),
    red: style("31", "39"),
    green: style("32", "39"),
    yellow: style("33", "39"),
    cyan: style("36", "39"),
    blue: style("34", "39"),
    magenta: style("35", "39"),
    accent: rgb(255, 183, 77, 215),
    brand: rgb(46, 125, 50, 28),
  };
}

const same = (text: string): string => text;

/** No colours at all. */
export const plain: Paint = {
  bold: same,
  dim: same,
  muted: same,
  red: same,
  green: same,
  yellow: same,
  cyan: same,
  blue: same,
  magenta: same,
  accent: same,
  brand: same,
};

function depthOf(env: Env): Depth {
  return env.COLORTERM === "truecolor" || env.COLORTERM === "24bit" ? "true" : "256";
}

function style(open: string, close: string): (text: string) => string {
  const before = `\x1b[${open}m`;
  const after = `\x1b[${close}m`;
  return (text) => {
    if (text === "") return "";
    return before + (text.includes(after) ? text.replaceAll(after, after + before) : text) + after;
  };
}
