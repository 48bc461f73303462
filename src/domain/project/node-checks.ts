import type { FoundCheck, GateKind, ProjectTexts } from "./gates.ts";

export type Manager = "npm" | "pnpm" | "yarn" | "bun";

/** Most telling first: a lock file of npm is often left over from before a project moved on. */
const locks: readonly (readonly [file: string, manager: Manager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
];

export const lockFiles: readonly string[] = locks.map(([file]) => file);

const scripts: readonly (readonly [kind: GateKind, names: readonly string[]])[] = [
  ["tests", ["test"]],
  ["lint", ["lint"]],
  ["types", ["typecheck", "type-check", "check-types", "check:types"]],
  ["build", ["build"]],
];

/** The scripts of package.json that check something, run by the package manager the project uses. */
export function nodeChecks(texts: ProjectTexts): readonly FoundCheck[] {
  const manifest = parsed(texts.get("package.json"));
  const manager = managerOf(manifest, texts);
  return scriptChecks(manifest, "package.json", (script) =>
    manager === "npm" && script === "test" ? "npm test" : `${manager} run ${script}`,
  );
}

/** PHP's manifest has scripts of the same form. */
export const composerChecks = (texts: ProjectTexts): readonly FoundCheck[] =>
  scriptChecks(parsed(texts.get("composer.json")), "composer.json", (script) => `composer run-script ${script}`);

function scriptChecks(manifest: unknown, from: string, command: (script: string) => string): readonly FoundCheck[] {
  const found: FoundCheck[] = [];
  const own = field(manifest, "scripts");
  for (const [kind, names] of scripts) {
    const script = names.find((name) => ends(field(own, name)));
    if (script !== undefined) found.push({ kind, command: command(script), from });
  }
  return found;
}

/** A script that really checks and then ends: not the one `npm init` writes, and none that waits for changes. */
function ends(script: unknown): boolean {
  if (Array.isArray(script)) return script.length > 0 && script.every(ends);
  if (typeof script !== "string" || script.trim() === "") return false;
  return !/no test specified/i.test(script) && !/\s--watch(All)?(?![\w=-])/.test(script);
}

/** What the manifest says (`"packageManager": "pnpm@9.1.0"`) counts more than a file that may be left over. */
export function managerOf(manifest: unknown, texts: ProjectTexts): Manager {
  const stated = field(manifest, "packageManager");
  const name = typeof stated === "string" ? stated.split("@")[0] : undefined;
  const said = locks.find(([, manager]) => manager === name);
  const locked = locks.find(([file]) => texts.has(file));
  return (said ?? locked)?.[1] ?? "npm";
}

export function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}

export function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // A manifest that cannot be read vouches for nothing; its own tools will complain about it.
    return undefined;
  }
}
