import { matchesGlob } from "../text/glob.ts";

/** Directories that belong to the programs of agents. Every file in them steers an agent. */
const ofPrograms: readonly string[] = `.codex .gemini .opencode .cursor .pi .sapling .copilot .goose .amp .qwen .factory
  .kiro .crush .windsurf .roo .augment .continue .junie .trae`.split(/\s+/);

/** The same with those of git and of us. */
const directories: readonly string[] = [".git", ".overstory", ...ofPrograms];

/** Directories of which some files steer agents; others are the project's own. */
const shared = [".claude"];

/** Files by their names, wherever they lie: settings, hooks, tools and instructions that are not the project's to write. */
const files: readonly string[] = `.mcp.json opencode.json opencode.jsonc crush.json .crush.json AGENTS.override.md
  CLAUDE.local.md .cursorrules .windsurfrules .clinerules .roorules .roomodes .goosehints .aider.conf.yml
  .aider.model.settings.yml`.split(/\s+/);

/** The same for names below a directory that is the project's own. Each is a file or a directory. */
const below: readonly string[] = `.claude/settings.json .claude/settings.local.json .claude/CLAUDE.md .claude/hooks
  .github/hooks .github/copilot-instructions.md .github/copilot .github/mcp.json .github/lsp.json .vscode/mcp.json`.split(
  /\s+/,
);

/** Instructions that a project has as part of its work. Agents may write them; they land by the word of the operator. */
const instructions: readonly string[] = `.claude .agents .agent .github/agents .github/skills .github/instructions
  .github/prompts .github/chatmodes`.split(/\s+/);
const instructionFile = /^(?:claude|agents?|gemini|qwen|crush|warp|context)(?:\.local|\.override)?\.md$/;

/**
 * Does a file at this path, relative to a worktree, steer agents of any runtime or git? Those of a project's own runtimes
 * come on top. Some file systems make no difference between small and capital letters.
 */
export function isSteeringFile(inside: string, own: readonly string[]): boolean {
  const path = inside.toLowerCase();
  const parts = path.split("/");
  return (
    parts.some((part) => directories.includes(part)) ||
    isSettingsFile(path) ||
    own.some((pattern) => matchesGlob(path, pattern.toLowerCase()))
  );
}

/** Does a file at this path of a branch steer agents of any runtime once it has landed? A link in its place does, too. */
export function steersAgents(changed: string): boolean {
  const path = changed.toLowerCase();
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  return (
    parts.some((part) => ofPrograms.includes(part)) ||
    isSettingsFile(path) ||
    names(instructions, path) ||
    instructionFile.test(name) ||
    // It is the directory itself that changed: a link or a submodule, with everything behind it.
    [...below, ...instructions].some((each) => each.startsWith(`${name}/`))
  );
}

const isSettingsFile = (path: string): boolean =>
  names(files, path) || names(below, path) || /(?:^|\/)\.claude\/settings[^/]*\.json$/.test(path);

/** Does one of these paths end the given one, or stand in it? */
const names = (known: readonly string[], path: string): boolean =>
  known.some((each) => `/${path}/`.includes(`/${each.toLowerCase()}/`));

/** The same for what is to be removed or moved away as a whole. */
export const holdsSteering = (inside: string): boolean =>
  shared.includes((inside.toLowerCase().split("/").at(-1) ?? "").trim());

/** Names that a pattern must not match when all that it matches is removed. */
const removable: readonly string[] = [...directories, ...shared, ...files, "settings.json", "settings.local.json"];

/** May this pattern for the name of a file, as `find -name` takes it, match a file that steers? */
export const isSteeringName = (pattern: string): boolean => removable.some((name) => matchesGlob(name, pattern));

/** What could a path with a pattern in it be, relative to a worktree? Those of its meanings that steer agents. */
export function steeringMatches(inside: string): readonly string[] {
  const [first = "", ...rest] = inside.split("/");
  // It stands for any number of directories, also for none.
  if (first === "**" && rest.length > 0) return steeringMatches(rest.join("/"));
  const isPattern = /[*?[{]/.test(first);
  // With more behind it, it is a directory.
  const known = [...directories, ...shared, ...files].filter((name) => rest.length === 0 || name.startsWith("."));
  const found = isPattern
    ? known.filter((name) => shellMatches(name, first))
    : shared.includes(first.toLowerCase())
      ? [first]
      : [];
  if (!isPattern && rest.length > 0 && found.length > 0) {
    return ["settings.json", "settings.local.json", "CLAUDE.md", "hooks"]
      .filter((name) => shellMatches(name, rest[0] ?? ""))
      .map((name) => `${first}/${name}`);
  }
  return found;
}

/** A shell lets a pattern match a name with a dot in front only when the pattern has one, too. */
export const shellMatches = (name: string, pattern: string): boolean =>
  isPattern.test(pattern) ? anyMatches(name, pattern) : name === pattern;

const isPattern = /[*?[{]/;

const anyMatches = (name: string, pattern: string): boolean =>
  alternatives(pattern).some((each) => (!name.startsWith(".") || each.startsWith(".")) && matchesGlob(name, each));

/** The words that braces stand for; with braces left in them where there are too many. */
export function alternatives(pattern: string): readonly string[] {
  let words: readonly string[] = [pattern];
  for (let round = 0; round < 4; round++) {
    const more = words.flatMap(ofFirstBrace);
    if (more.length === words.length || more.length > mostAlternatives) break;
    words = more;
  }
  return words;
}

const mostAlternatives = 64;

function ofFirstBrace(pattern: string): readonly string[] {
  const end = pattern.indexOf("}");
  const start = pattern.lastIndexOf("{", end);
  const inner = end < 0 || start < 0 ? [] : pattern.slice(start + 1, end).split(",", mostAlternatives + 1);
  return inner.length < 2
    ? [pattern]
    : inner.map((each) => `${pattern.slice(0, start)}${each}${pattern.slice(end + 1)}`);
}
