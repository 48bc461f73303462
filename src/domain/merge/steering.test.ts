import { describe, expect, test } from "bun:test";
import { namedByCommand } from "../gate/named-by-command.ts";
import { type SteeringFacts, steeringGaps, touchedSteering } from "./steering.ts";

const touched = (path: string, more: Partial<SteeringFacts> = {}): string | undefined =>
  touchedSteering({
    changed: [path],
    guarded: [],
    ofRuntimes: [],
    roleTexts: ".overstory/agent-defs",
    kept: ["node_modules", "web/dist"],
    commands: [
      {
        by: "the gate Tests",
        named: namedByCommand("npm test && sh tools/check.sh && node test.js && bun test a.test.ts"),
      },
      { by: "the setup command", named: namedByCommand("npm ci") },
    ],
    changedScripts: new Map(),
    links: new Map(),
    ...more,
  })[0]?.why;

test("what steers a runtime that the project describes needs the operator's word", () => {
  const ofRuntimes = ["**/.heron/**", "HERON.md"];
  for (const path of [".heron/settings.json", "packages/a/.heron/x", "HERON.md"])
    expect(touched(path, { ofRuntimes })).toContain("a runtime of this project");
  expect(touched("src/heron.ts", { ofRuntimes })).toBeUndefined();
});

describe("what a branch needs the operator's word for", () => {
  test.each([
    ".overstory/config.yaml",
    ".overstory/agent-defs/builder.md",
    ".overstory/agent-manifest.json",
    ".Overstory/config.yaml",
    ".overstory",
    ".claude/settings.json",
    "packages/a/.claude/hooks/stop.sh",
    ".claude",
    ".mcp.json",
    ".codex/config.toml",
    "CLAUDE.md",
    "packages/a/AGENTS.md",
    "CLAUDE.local.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".agents/skills/evil/SKILL.md",
    ".agents",
    ".github/agents/e.agent.md",
    ".github/skills/e/SKILL.md",
    ".github/instructions/x.instructions.md",
    ".github/copilot/settings.json",
    ".github/mcp.json",
    ".github/lsp.json",
    ".github",
    ".vscode/mcp.json",
    ".qwen/settings.json",
    ".factory/settings.json",
    ".kiro/steering/a.md",
    ".crush/x",
    ".goose/x",
    ".amp/x",
    ".sapling/guards.json",
    ".aider.conf.yml",
    ".windsurf/rules/a.md",
    "CONTEXT.md",
    "packages/a/GEMINI.md",
    ".claude/skills/x/SKILL.md",
  ])("%s steers agents or the queue", (path) => {
    expect(touched(path)).toBe("steers agents or the merge queue");
  });

  test.each([
    ["docs/guide.md", { "CLAUDE.md": "docs/guide.md" }, "CLAUDE.md"],
    ["tooling/claude/settings.json", { ".claude": "tooling/claude" }, ".claude/settings.json"],
    ["shared/x.json", { ".claude": "tooling", "tooling/settings.json": "../shared/x.json" }, ".claude/settings.json"],
    ["b/guide.md", { "AGENTS.md": "a/guide.md", a: "b" }, "AGENTS.md"],
    ["settings.json", { ".claude": "." }, ".claude/settings.json"],
    ["a/x.md", { "a/self": ".", "AGENTS.md": "a/self/x.md" }, "AGENTS.md"],
    ["conf/y", { ".overstory": "conf" }, ".overstory/y"],
    ["conf/config.yaml", { ".overstory/config.yaml": "../conf/config.yaml" }, ".overstory/config.yaml"],
  ])("%s by the links %j", (path, links, name) => {
    expect(touched(path)).toBeUndefined();
    const why = `is ${name} by a link, which steers agents or the merge queue`;
    expect(touched(path, { links: new Map(Object.entries(links)) })).toBe(why);
  });

  test("a file that merge.guarded names by a link, and a link in the place of the role texts", () => {
    const links = new Map([["ci", "build/ci"]]);
    expect(touched("build/ci/x.yml", { links, guarded: ["ci/*.yml"] })).toBe(
      "is ci/x.yml by a link, which merge.guarded names",
    );
    expect(touched("build/ci/x.yml", { links })).toBeUndefined();
    expect(touched("roles", { roleTexts: "roles/team/" })).toBe("steers agents or the merge queue");
  });

  test("links in a knot end in a question", () => {
    const links = new Map(Array.from({ length: 60 }, (_, at) => [`d/${at}`, "."]));
    expect(touched("d/x", { links })).toContain("too many other names");
  });

  test("a script that a gate names, also when a link takes the place of its directory", () => {
    expect(touched("tools/check.sh")).toBe("the gate Tests names");
    expect(touched("tools")).toBe("the gate Tests names");
    expect(touched(".npmrc")).toBe("the gate Tests names");
    expect(touched("test.js")).toBe("the gate Tests names");
  });

  test("the entry behind npm test, and what installing runs; another entry is ordinary work", () => {
    const changes = (...names: string[]) => ({ changedScripts: new Map([["package.json", new Set(names)]]) });
    expect(touched("package.json", changes("test"))).toBe("has the script test that the gate Tests runs");
    expect(touched("package.json", changes("pretest", "test"))).toContain("pretest, test");
    expect(touched("package.json", changes("postinstall"))).toBe(
      "has the script postinstall that the setup command runs",
    );
    expect(touched("package.json", changes("build"))).toBeUndefined();
    expect(touched("package.json")).toBeUndefined();
  });

  test("files in what setup makes, and what merge.guarded names", () => {
    expect(touched("node_modules/runner/index.js")).toContain("which the setup command makes");
    expect(touched("packages/a/node_modules/x")).toContain("node_modules");
    expect(touched("web/dist/a.js")).toContain("which the setup command makes");
    for (const guarded of ["ci/**", "ci", "./ci/"]) {
      expect(touched("ci/deploy.yml", { guarded: [guarded] })).toBe("merge.guarded names");
    }
  });

  test("attributes of git, which may write a gate's own script in another form", () => {
    for (const path of [".gitattributes", "ci/.gitattributes"]) expect(touched(path)).toContain("how git writes");
  });

  test("role texts that lie elsewhere", () => {
    expect(touched("prompts/builder.md", { roleTexts: "prompts" })).toBe("steers agents or the merge queue");
  });
});

test("tests, code and specs are ordinary work, also a file of tests that a gate gives to a test runner", () => {
  const ordinary = [
    ".github/workflows/ci.yml",
    ".vscode/settings.json",
    "src/agents/a.ts",
    "docs/context.txt",
    "src/a.ts",
    "test/a.test.ts",
    "a.test.ts",
    "tools/other.sh",
    ".overstory/specs/a.md",
    "dist/a.js",
  ];
  expect(ordinary.filter((path) => touched(path) !== undefined)).toEqual([]);
});

test("many files are told in a few sentences", () => {
  const gaps = steeringGaps(Array.from({ length: 20 }, (_, at) => ({ path: `f${at}`, why: "merge.guarded names" })));
  expect([gaps.length, gaps[0], gaps.at(-1)]).toEqual([
    9,
    "it changes f0, which merge.guarded names",
    "it changes 12 more files of that kind",
  ]);
});

describe("a gate that names its files by a pattern", () => {
  const by = (gate: string, path: string): string | undefined =>
    touched(path, { commands: [{ by: "the gate Checks", named: namedByCommand(gate) }] });

  test.each([
    ["sh scripts/*.sh", "scripts/lint.sh"],
    ["for f in scripts/*.sh; do sh $f; done", "scripts/lint.sh"],
    ["cd ci && bash check-?.sh", "ci/check-1.sh"],
    ["cat checks/*.sh | sh", "checks/a.sh"],
    ["./checks/[a-m]*", "checks/lint"],
    ["node checks/*.js", "checks/types.js"],
    ["sh -c 'python3 tools/check_*.py'", "tools/check_names.py"],
    ["bash test/*.sh", "test/run.sh"],
  ])("%s runs %s", (gate, path) => {
    expect(by(gate, path)).toBe("the gate Checks names");
  });

  test.each([
    ["node --test test/*.js", "test/parse.js"],
    ["bun test test/*.ts", "test/parse.ts"],
    ["python3 -m pytest tests/*.py", "tests/parsing.py"],
    ["npx vitest run 'src/**/*.ts'", "src/a/b.ts"],
    ["eslint 'src/**/*.ts'", "src/a/b.ts"],
    ["prettier --check src/*.ts", "src/a.ts"],
    ["shellcheck scripts/*.sh", "scripts/lint.sh"],
    ["ls src/*.ts | xargs eslint", "src/a.ts"],
    ["sh scripts/*.sh", "scripts/lint.js"],
    ["sh scripts/*.sh", "scripts/lib/a.sh"],
  ])("%s judges or tests, and does not run by itself, %s", (gate, path) => {
    expect(by(gate, path)).toBeUndefined();
  });
});
