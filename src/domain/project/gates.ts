import type { DetectedGate, FoundCheck, GateKind, ProjectTexts } from "./gate.ts";
import { goChecks, javaChecks, mixChecks, rustChecks } from "./gates/compiled.ts";
import { makeChecks, makefileNames } from "./gates/make.ts";
import { composerChecks, lockFiles, nodeChecks } from "./gates/node.ts";
import { pythonChecks, pythonFiles } from "./gates/python.ts";

/** The files whose texts decide; everything else in a project is of no interest here. */
export const gateFiles: readonly string[] = [
  "package.json",
  ...lockFiles,
  "composer.json",
  ...pythonFiles,
  "Cargo.toml",
  "clippy.toml",
  ".clippy.toml",
  "go.mod",
  ".golangci.yml",
  ".golangci.yaml",
  ".golangci.toml",
  ".golangci.json",
  "build.gradle",
  "build.gradle.kts",
  "gradlew",
  "pom.xml",
  "mvnw",
  "mix.exs",
  ...makefileNames,
];

/**
 * The quality gates a project already has. Only commands that something in the project vouches for: a gate that cannot
 * pass keeps all work from landing, so none is better than a guess.
 */
export function detectGates(texts: ProjectTexts): readonly DetectedGate[] {
  const native = ecosystems.flatMap((checksIn) => checksIn(texts));
  const covered = new Set(native.filter(({ kind }) => kind !== "build").map(({ kind }) => kind));
  const found = [...native, ...makeChecks(texts, covered)];
  const proving = found.filter(({ kind }) => kind !== "build");
  return named(proving.length > 0 ? proving : found);
}

const ecosystems: readonly ((texts: ProjectTexts) => readonly FoundCheck[])[] = [
  nodeChecks,
  pythonChecks,
  rustChecks,
  goChecks,
  javaChecks,
  mixChecks,
  composerChecks,
];

const words: Readonly<Record<GateKind, { readonly name: string; readonly description: string }>> = {
  tests: { name: "Tests", description: "All tests pass" },
  lint: { name: "Lint", description: "The linter has no complaint" },
  types: { name: "Typecheck", description: "The type checker has no complaint" },
  checks: { name: "Checks", description: "All checks of the project pass" },
  build: { name: "Build", description: "The project builds" },
};

/** In a project of two languages there are two kinds of tests; the file tells them apart. */
function named(found: readonly FoundCheck[]): readonly DetectedGate[] {
  const taken = new Set<string>();
  return found.map(({ kind, command, from }) => {
    const { name, description } = words[kind];
    const own = taken.has(name) ? `${name} (${from})` : name;
    taken.add(own);
    return { name: own, command, description, from };
  });
}
