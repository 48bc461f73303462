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

/** The file a person's own session reads. AGENTS.md is what programs without a file of their own agree on. */
export const instructionFileOf = (runtime: string): string =>
  codingAgents.find((agent) => agent.runtime === runtime)?.instructionFile ?? "AGENTS.md";
