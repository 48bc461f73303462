import type { FoundCheck, ProjectTexts } from "../gate.ts";

/** Cargo has tests built in; clippy is an extra, so only where the project configures it. */
export function rustChecks(texts: ProjectTexts): readonly FoundCheck[] {
  const from = "Cargo.toml";
  const manifest = texts.get(from);
  if (manifest === undefined) return [];
  const scope = /^\[workspace\b/m.test(manifest) ? " --workspace" : "";
  const tests: FoundCheck = { kind: "tests", command: `cargo test${scope}`, from };
  const lints =
    texts.has("clippy.toml") || texts.has(".clippy.toml") || /^\[(workspace\.)?lints\.clippy\b/m.test(manifest);
  return lints ? [tests, { kind: "lint", command: `cargo clippy --all-targets${scope}`, from }] : [tests];
}

/** Go has tests and vet built in. */
export function goChecks(texts: ProjectTexts): readonly FoundCheck[] {
  if (!texts.has("go.mod")) return [];
  const linter = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"].find((file) =>
    texts.has(file),
  );
  return [
    { kind: "tests", command: "go test ./...", from: "go.mod" },
    linter === undefined
      ? { kind: "lint", command: "go vet ./...", from: "go.mod" }
      : { kind: "lint", command: "golangci-lint run", from: linter },
  ];
}

/** The wrapper a project ships is the version it is built with. `check` of Gradle includes the tests. */
export function javaChecks(texts: ProjectTexts): readonly FoundCheck[] {
  const gradle = ["build.gradle", "build.gradle.kts"].find((file) => texts.has(file));
  if (gradle !== undefined) {
    const program = texts.has("gradlew") ? "./gradlew" : "gradle";
    return [{ kind: "tests", command: `${program} check`, from: gradle }];
  }
  if (!texts.has("pom.xml")) return [];
  const program = texts.has("mvnw") ? "./mvnw" : "mvn";
  return [{ kind: "tests", command: `${program} --batch-mode test`, from: "pom.xml" }];
}

export const mixChecks = (texts: ProjectTexts): readonly FoundCheck[] =>
  texts.has("mix.exs") ? [{ kind: "tests", command: "mix test", from: "mix.exs" }] : [];
