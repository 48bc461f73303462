import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";

const root = resolve(import.meta.dir, "..");

/** Who may import whom. A folder may always import itself. */
const arrows: Record<string, readonly string[]> = {
  "src/structured-merge": [],
  "src/domain": ["src/structured-merge"],
  "src/ports": ["src/domain"],
  "src/contract": ["src/domain", "src/usecases"],
  "src/usecases": ["src/domain", "src/ports", "src/structured-merge"],
  "src/engine": ["src/domain", "src/ports", "src/usecases", "src/structured-merge"],
  "src/store": ["src/domain", "src/ports"],
  "src/runtimes/shared": ["src/domain", "src/ports"],
  // The scripted agent speaks as Claude Code does.
  "src/runtimes/scripted": ["src/domain", "src/ports", "src/runtimes/shared", "src/runtimes/claude"],
  "src/host": ["src/domain", "src/ports"],
  "src/config": ["src/domain", "src/ports"],
  "src/surfaces/shared": ["src/contract", "src/usecases", "src/domain"],
  "src/surfaces/cli": ["src/contract", "src/usecases", "src/domain", "src/surfaces/shared"],
  "src/surfaces/mcp": ["src/contract", "src/usecases", "src/domain", "src/surfaces/shared"],
  "src/surfaces/server": ["src/contract", "src/usecases", "src/domain", "src/surfaces/shared"],
  "src/surfaces/tui": ["src/contract", "src/usecases", "src/domain", "src/surfaces/shared"],
  "src/compose": ["src", "agents"],
  agents: [],
  testkit: ["src"],
  bench: ["src", "testkit", "web"],
  test: ["src", "testkit"],
  scripts: ["src", "testkit"],
  // The page names types of the program through one file, and loads nothing of it.
  "web/src": ["web/src/api/types.ts"],
  "web/src/api/types.ts": ["src/contract", "web/src"],
  "web/test": ["src", "testkit", "web/src", "scripts"],
};
/** Arrows for types only: naming a type loads nothing. */
const typesOnly: Record<string, readonly string[]> = {
  "src/contract": ["src/usecases"],
  "web/src/api/types.ts": ["src/contract"],
};
/** Layers with one entry: other code imports that file and nothing else of the layer. Tests may look inside. */
const entries: Record<string, string> = { "src/structured-merge": "src/structured-merge/index.ts" };
const runtime = ["src/domain", "src/ports", "src/runtimes/shared", "src/structured-merge"];

/** Modules of the platform each layer may name. Absent: anything. */
const platform: Record<string, readonly string[]> = {
  "src/structured-merge": [
    "node-diff3",
    "web-tree-sitter",
    "web-tree-sitter/web-tree-sitter.wasm",
    "@vscode/tree-sitter-wasm/wasm/tree-sitter-javascript.wasm",
    "@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm",
    "@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm",
    "@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm",
    "yaml",
  ],
  "src/domain": [],
  "src/ports": [],
  "src/contract": [],
  "src/usecases": [],
};

function layerOf(path: string): string {
  const known = Object.keys(arrows).filter((layer) => path === layer || path.startsWith(`${layer}/`));
  const deepest = known.sort((a, b) => b.length - a.length)[0];
  if (path.startsWith("src/runtimes/") && deepest === undefined) return path.split("/").slice(0, 3).join("/");
  if (deepest === undefined) throw new Error(`${path} is in no known layer; add it to test/layers.test.ts`);
  return deepest;
}

function importsOf(source: string): string[] {
  const code = codeOf(source);
  const found = [
    ...code.matchAll(/(?:^|[;\s])(?:import|export)[^"';]*?from\s*"([^"]+)"/g),
    ...code.matchAll(/import\(\s*"([^"]+)"\s*\)/g),
  ];
  return [...found, ...code.matchAll(/^import\s+"([^"]+)"/gm)].map((match) => match[1] ?? "");
}

const codeOf = (source: string): string => source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

/** Without the imports that are gone when the program runs. */
const loadedBy = (source: string): string[] =>
  importsOf(codeOf(source).replace(/(^|[;\s])import type [^"';]*?from\s*"[^"]+"/g, ""));

test("imports follow the arrows of the layout", () => {
  const wrong: string[] = [];
  let edges = 0;
  for (const file of new Glob("{src,testkit,test,bench,scripts,web}/**/*.{ts,tsx}").scanSync(root)) {
    if (file === "test/layers.test.ts") continue;
    const isTest = file.endsWith(".test.ts");
    const from = layerOf(file);
    const allowed = arrows[from] ?? runtime;
    const source = readFileSync(join(root, file), "utf8");
    const loaded = new Set(loadedBy(source));
    for (const target of importsOf(source)) {
      if (!target.startsWith(".")) {
        const names = platform[from];
        if (!isTest && names !== undefined && !names.includes(target)) wrong.push(`${file} names ${target}`);
        continue;
      }
      edges++;
      const path = relative(root, resolve(dirname(join(root, file)), target));
      if (path === "package.json" && from === "src/compose") continue;
      // The pack of the page is built, not written.
      if (path === "node_modules/.cache/web/ui.pack" && from === "src/host") continue;
      const to = layerOf(path);
      const fine = to === from || allowed.some((layer) => to === layer || to.startsWith(`${layer}/`));
      if (!fine && !(isTest && to === "testkit")) wrong.push(`${file} imports ${path}`);
      const loads = !isTest && loaded.has(target) && typesOnly[from]?.includes(to) === true;
      if (loads) wrong.push(`${file} loads ${path}, and may only name its types`);
      const entry = entries[to];
      const around = to !== from && entry !== undefined && path !== entry && layerOf(file) !== "test";
      if (around) wrong.push(`${file} imports ${path}, not ${entry}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(edges).toBeGreaterThan(0);
});

/** What a file says when it decides about the product instead of saying which part serves which port. */
const decides = /\bnew Failure\(|\b(?:no|invalid|notFound)\(/;

test("compose is wiring: few files, and none of them refuses anything", () => {
  const files = [...new Glob("src/compose/*.ts").scanSync(root)].filter((file) => !/\.(test|d)\.ts$/.test(file));
  expect(files.length).toBeLessThanOrEqual(18);
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => decides.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
  expect(decides.test('return no(invalid("file", "is missing"));')).toBe(true);
});

/** How a file would wait between two looks of its own. */
const waits = /\b(?:setTimeout|setInterval|setImmediate|Bun\.sleep)\b/;

test("no surface looks again by itself: it follows a stream of the catalogue", () => {
  const files = [...new Glob("src/surfaces/**/*.ts").scanSync(root)].filter((file) => !/\.test\.ts$/.test(file));
  expect(files.length).toBeGreaterThan(0);
  // A timer that does nothing looks at nothing: it only keeps a program that waits for a signal.
  const textOf = (file: string): string =>
    readFileSync(join(root, file), "utf8").replaceAll("setInterval(() => {},", "");
  expect(files.filter((file) => waits.test(textOf(file)))).toEqual([]);
  expect(waits.test("await Bun.sleep(100);")).toBe(true);
});

/** A view is what programs read (GLOSSARY.md): only `contract/views` has them. */
const viewNames = /\b(?:interface|type|const|function) \w*[vV]iew(?:Of)?\b/;

test("no part below the contract calls its own values views", () => {
  const files = [...new Glob("src/{domain,ports,usecases,engine}/**/*.ts").scanSync(root)];
  expect(files.length).toBeGreaterThan(0);
  const texts = files.map((file) => [file, readFileSync(join(root, file), "utf8")] as const);
  const named = texts.flatMap(([file, text]) => (text.match(new RegExp(viewNames, "g")) ?? []).map((it) => [file, it]));
  expect(named.filter(([, name]) => !/[rR]eview|[oO]verview|[pP]review/.test(name ?? ""))).toEqual([]);
  expect(viewNames.test("export interface AgentView {")).toBe(true);
});

test("a forbidden import would be noticed", () => {
  expect(importsOf('import { x } from "../store/x.ts";')).toEqual(["../store/x.ts"]);
  expect(importsOf('const later = () => import("../store/y.ts");')).toEqual(["../store/y.ts"]);
  expect(importsOf('export * from "../z.ts";\nimport "./side.ts";')).toEqual(["../z.ts", "./side.ts"]);
  const types = 'import type { X } from "../x.ts";\nimport { type Y, z } from "../y.ts";';
  expect(importsOf(types)).toEqual(["../x.ts", "../y.ts"]);
  expect(loadedBy(types)).toEqual(["../y.ts"]);
  expect(layerOf("src/runtimes/claude/spec.ts")).toBe("src/runtimes/claude");
  expect(() => layerOf("src/utils/x.ts")).toThrow("no known layer");
});
