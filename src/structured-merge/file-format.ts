export const formats = [
  "generated",
  "jsonl",
  "line-set",
  "ignore-list",
  "changelog",
  "json",
  "yaml",
  "markdown",
  "other",
] as const;
export type Format = (typeof formats)[number];

/** How a file is written, told from its name. `other`: code, or text of an unknown form. */
export function formatOf(path: string): Format {
  const name = (path.split("/").at(-1) ?? path).toLowerCase();
  if (name === "go.sum") return "line-set";
  if (regenerationFor(path) !== undefined) return "generated";
  if (/\.(jsonl|ndjson)$/.test(name)) return "jsonl";
  if (/^\.(git|docker|npm|prettier|eslint|stylelint)ignore$/.test(name)) return "ignore-list";
  if (/^(changelog|changes|history|release[-_]?notes)([-_.].*)?\.(md|markdown)$/.test(name)) return "changelog";
  if (/\.(json|jsonc|code-workspace|webmanifest|geojson|ipynb)$/.test(name)) return "json";
  if (/^\.(babelrc|eslintrc|swcrc|jshintrc)$/.test(name)) return "json";
  if (/\.(yaml|yml)$/.test(name)) return "yaml";
  if (/\.(md|markdown)$/.test(name)) return "markdown";
  return "other";
}

/** A command that makes a file anew from its sources. Words, never a shell line. */
export interface Regeneration {
  readonly command: readonly string[];
}

/** How to make a generated file again, by its name; undefined for files that people write. */
export function regenerationFor(path: string): Regeneration | undefined {
  const command = commands[path.split("/").at(-1) ?? path];
  return command === undefined ? undefined : { command };
}

const npm = ["npm", "install", "--package-lock-only", "--ignore-scripts"] as const;

const commands: Readonly<Record<string, readonly string[]>> = {
  "package-lock.json": npm,
  "npm-shrinkwrap.json": npm,
  "yarn.lock": ["yarn", "install", "--ignore-scripts"],
  "pnpm-lock.yaml": ["pnpm", "install", "--lockfile-only", "--ignore-scripts"],
  "bun.lock": ["bun", "install", "--lockfile-only", "--ignore-scripts"],
  "deno.lock": ["deno", "install"],
  "Cargo.lock": ["cargo", "update", "--workspace"],
  "poetry.lock": ["poetry", "lock"],
  "uv.lock": ["uv", "lock"],
  "pdm.lock": ["pdm", "lock"],
  "Pipfile.lock": ["pipenv", "lock"],
  "composer.lock": ["composer", "update", "--lock", "--no-scripts"],
  "Gemfile.lock": ["bundle", "lock"],
  "mix.lock": ["mix", "deps.get"],
  "pubspec.lock": ["dart", "pub", "get"],
  "flake.lock": ["nix", "flake", "lock"],
};

/** The languages whose files can be merged by structure. */
export const languages = ["typescript", "tsx", "javascript", "python"] as const;
export type Language = (typeof languages)[number];

const byExtension: Readonly<Record<string, Language>> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "tsx",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  py: "python",
  pyi: "python",
};

/** The language of a path by its extension; undefined means: not code that can be merged by structure. */
export function languageOf(path: string): Language | undefined {
  const extension = /\.([a-z]+)$/.exec(path)?.[1];
  return extension === undefined || !Object.hasOwn(byExtension, extension) ? undefined : byExtension[extension];
}

/** Whether a rule knows the form of this file, so that changes of two sides to different parts of it are joined. */
export const joinsByRule = (path: string): boolean => formatOf(path) !== "other" || languageOf(path) !== undefined;
