import { Failure, failureOf } from "../domain/failure.ts";

/** A spot in a source. For the environment `file` is the variable's name, and line and column are 0. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Something wrong with the configuration, or worth a warning. `message` completes the sentence "`<key>` ...". */
export interface ConfigProblem extends Place {
  /** Dotted path; empty when the file as a whole is meant. */
  readonly key: string;
  readonly message: string;
  /** The key or value most likely meant. */
  readonly nearest?: string;
}

/** The failure of a command in a project with these problems. It names the project's file, unless that one is sound. */
export const unusableConfig = (projectFile: string, problems: readonly ConfigProblem[]): Failure =>
  new Failure({
    kind: "config-invalid",
    path: [projectFile, ...filesOf(problems)].find((path) => problems.some(({ file }) => file === path)) ?? projectFile,
    problems: problems.map(({ key, message, file, line, column }) => ({
      field: key,
      problem: message,
      file,
      ...(line > 0 ? { line, column } : {}),
    })),
  });

/** Names the first problem of such a failure; undefined for any other. */
export function unusableWords(thrown: unknown): string | undefined {
  const failure = failureOf(thrown);
  if (failure.kind !== "config-invalid") return undefined;
  const [first] = failure.problems;
  return `${first?.file ?? failure.path}${first === undefined ? "" : `, ${first.field} ${first.problem}`}`;
}

/** The files that the problems stand in. The environment is none. */
export const filesOf = (problems: readonly ConfigProblem[]): readonly string[] =>
  [...new Set(problems.map(({ file }) => file))].filter((file) => file.startsWith("/"));

/** Where values come from; later ones win. */
export const layers = ["default", "project", "local", "environment"] as const;
export type Layer = (typeof layers)[number];

export interface Origin extends Place {
  readonly layer: Layer;
}

export interface Findings {
  readonly problems: ConfigProblem[];
  readonly warnings: ConfigProblem[];
}

export const noFindings = (): Findings => ({ problems: [], warnings: [] });

/** The same findings, safe to print: a file we only read must not be able to steer a terminal. */
export function printable(found: readonly ConfigProblem[]): ConfigProblem[] {
  return found.map((problem) => ({ ...problem, key: escaped(problem.key), message: escaped(problem.message) }));
}

const escaped = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
