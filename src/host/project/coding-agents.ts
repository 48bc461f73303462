import { statSync } from "node:fs";
import { join } from "node:path";
import { begin } from "../../domain/project/section.ts";
import { readText } from "../read-text.ts";

/** A coding-agent program people install, the runtime that drives it, and the file it reads at the top of a project. */
interface CodingAgent {
  readonly program: string;
  readonly runtime: string;
  readonly instructionFile: string;
}

/** In order of preference where several are installed. */
const codingAgents: readonly CodingAgent[] = [
  { program: "claude", runtime: "claude", instructionFile: "CLAUDE.md" },
  { program: "codex", runtime: "codex", instructionFile: "AGENTS.md" },
  { program: "gemini", runtime: "gemini", instructionFile: "GEMINI.md" },
  { program: "opencode", runtime: "opencode", instructionFile: "AGENTS.md" },
  { program: "copilot", runtime: "copilot", instructionFile: "AGENTS.md" },
  { program: "pi", runtime: "pi", instructionFile: "AGENTS.md" },
  { program: "cursor-agent", runtime: "cursor", instructionFile: "AGENTS.md" },
];

/** Coding agents on PATH, by the name of their runtime. */
export function installedRuntimes(path: string | undefined): readonly string[] {
  return codingAgents
    .filter(({ program }) => Bun.which(program, { PATH: path ?? "" }) !== null)
    .map(({ runtime }) => runtime);
}

/**
 * The file a person's own session reads: the one that has our section already, else that of the first coding agent they
 * have, which need not be one that we can drive, else that of the project's runtime.
 */
export function instructionFileOf({
  root,
  path,
  runtime,
}: {
  root: string;
  path: string | undefined;
  runtime: string;
}): string {
  const files = new Set(codingAgents.map(({ instructionFile }) => instructionFile));
  const isFile = (name: string): boolean => statSync(join(root, name), { throwIfNoEntry: false })?.isFile() === true;
  const marked = [...files].find((name) => isFile(name) && readText(join(root, name))?.includes(begin) === true);
  if (marked !== undefined) return marked;
  const [own = runtime] = installedRuntimes(path);
  // What programs without a file of their own agree on.
  return codingAgents.find((agent) => agent.runtime === own)?.instructionFile ?? "AGENTS.md";
}
