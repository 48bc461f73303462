/** A command that writes a file anew from what it is made of. Words, never a shell line. */
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
