import type { Flag } from "./command.ts";

export const formats = ["json", "jsonl", "table", "tsv"] as const;
export type Format = (typeof formats)[number];

/** Flags every command takes, in any position. A command that declares one of these names gets the global meaning. */
export const globalFlags: readonly Flag[] = [
  { name: "json", summary: "Print one JSON document on stdout" },
  { name: "quiet", short: "q", summary: "Print errors and requested data only" },
  { name: "verbose", summary: "Say more; show where unexpected failures happened" },
  { name: "timing", summary: "Print the elapsed time on stderr" },
  { name: "project", value: "path", summary: "Root of the project to work on", complete: "files" },
  { name: "no-color", summary: "Print without colours" },
  { name: "yes", short: "y", summary: "Answer yes to every confirmation" },
  { name: "format", value: "format", choices: formats, summary: "How to print" },
  { name: "help", short: "h", summary: "Show help for the command" },
  { name: "version", short: "v", summary: "Print the version" },
];

export const isGlobalFlag = (name: string): boolean => globalFlags.some((flag) => flag.name === name);

/** What the global flags of one call said. */
export interface Globals {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly timing: boolean;
  readonly noColor: boolean;
  readonly yes: boolean;
  readonly project?: string;
  readonly format?: Format;
}
