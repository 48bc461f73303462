import type { CheckoutTerms } from "../../../domain/gate/gate.ts";
import { nameOf, type TrackedFile } from "./tracked.ts";

/**
 * Names everything of a commit that decides what its setup command installs: lock files, manifests and settings of
 * package managers, at any depth, with the command itself and what is kept of its work. What was installed for one key
 * is not used for another.
 */
export function installKey(files: readonly TrackedFile[], { setup, keepIgnored, cache }: CheckoutTerms): string {
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(JSON.stringify([setup, ...[keepIgnored, cache].map((list) => [...new Set(list)].sort())]));
  for (const { path, oid, mode } of files) if (decidesInstall(path)) hash.update(`\0${mode} ${oid}\t${path}`, "latin1");
  return hash.digest("hex").slice(0, 16);
}

export const decidesInstall = (path: string): boolean =>
  names.has(nameOf(path)) || patterns.some((pattern) => pattern.test(path));

const names: ReadonlySet<string> = new Set([
  // npm, yarn, pnpm, bun
  "package.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  ".npmrc",
  "yarn.lock",
  ".yarnrc",
  ".yarnrc.yml",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  ".pnpmfile.cjs",
  "bun.lock",
  "bun.lockb",
  "bunfig.toml",
  "lerna.json",
  ".nvmrc",
  ".node-version",
  // Python
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "poetry.lock",
  "poetry.toml",
  "uv.lock",
  "uv.toml",
  "Pipfile",
  "Pipfile.lock",
  "pdm.lock",
  "pip.conf",
  ".python-version",
  "environment.yml",
  // Rust
  "Cargo.toml",
  "Cargo.lock",
  "rust-toolchain",
  "rust-toolchain.toml",
  // Go, PHP, Ruby, Java, Elixir, .NET
  "go.mod",
  "go.sum",
  "go.work",
  "go.work.sum",
  "composer.json",
  "composer.lock",
  "Gemfile",
  "Gemfile.lock",
  ".ruby-version",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "settings.gradle",
  "settings.gradle.kts",
  "gradle.lockfile",
  "mix.exs",
  "mix.lock",
  "packages.lock.json",
  "Directory.Packages.props",
  "global.json",
  // several
  ".tool-versions",
  "mise.toml",
]);

/** Whole directories that package managers read, and names with a part that varies. */
const patterns: readonly RegExp[] = [
  /(^|\/)(requirements|constraints)[^/]*\.(txt|in)$/,
  /(^|\/)\.cargo\/config(\.toml)?$/,
  /(^|\/)\.bundle\/config$/,
  /(^|\/)\.yarn\/(releases|plugins|patches)\//,
  /(^|\/)patches\/[^/]+\.patch$/,
  /\.(gemspec|csproj|fsproj)$/,
];
