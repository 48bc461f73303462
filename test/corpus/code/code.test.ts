import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mergeCode } from "../../../src/structured-merge/code/merge-code.ts";
import { bodies } from "./bodies.ts";
import { type MergeCase, sideOf } from "./case.ts";
import { declarations } from "./declarations.ts";
import { form } from "./form.ts";
import { imports } from "./imports.ts";
import { jsx } from "./jsx.ts";
import { members } from "./members.ts";
import { python } from "./python.ts";
import { traps } from "./traps.ts";

const dir = mkdtempSync(join(tmpdir(), "merge-corpus-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const themes: Readonly<Record<string, readonly MergeCase[]>> = {
  imports,
  declarations,
  members,
  bodies,
  jsx,
  python,
  form,
  traps,
};
const interpreter = Bun.which("python3");
const suffix = { typescript: "ts", tsx: "tsx", javascript: "cjs", python: "py" } as const;
let made = 0;

for (const [theme, cases] of Object.entries(themes)) {
  describe(theme, () => {
    for (const one of cases) {
      test(`${one.name}: ${one.holds === undefined ? "refused" : "merged"}`, () => settles(one));
    }
  });
}

async function settles(one: MergeCase): Promise<void> {
  const language = one.language ?? "typescript";
  const versions = { base: one.base, ours: sideOf(one.base, one.ours), theirs: sideOf(one.base, one.theirs) };
  const merge = await mergeCode({ language, ...versions });
  const mirrored = await mergeCode({
    language,
    base: versions.base,
    ours: versions.theirs,
    theirs: versions.ours,
  });
  expect(mirrored.kind).toBe(merge.kind);
  if (one.holds === undefined) {
    if (merge.kind === "merged") throw new Error(`should have been refused:\n${merge.content}`);
    return;
  }
  for (const result of [merge, mirrored]) {
    if (result.kind === "refused") throw new Error(`refused: ${result.reason}`);
    for (const text of one.once ?? []) {
      if (result.content.split(text).length !== 2) throw new Error(`"${text}" not once in:\n${result.content}`);
    }
    await runs(one, result.content);
  }
}

async function runs(one: MergeCase, content: string): Promise<void> {
  const home = join(dir, String(made++));
  mkdirSync(home);
  for (const [name, text] of Object.entries(one.files ?? {})) writeFileSync(join(home, name), text);
  const language = one.language ?? "typescript";
  if (language === "tsx") makeElements(home);
  const path = join(home, `merged.${suffix[language]}`);
  writeFileSync(path, content);
  if (language === "python") return runsInPython(one, path, content);
  const exported: unknown = await import(path);
  for (const claim of one.holds ?? []) {
    const holds: unknown = new Function("m", `return (${claim});`)(exported);
    if (holds !== true) throw new Error(`${claim} does not hold in:\n${content}`);
  }
}

/** Stands in for the library that turns tags into elements. */
function makeElements(home: string): void {
  const react = join(home, "node_modules/react");
  mkdirSync(react, { recursive: true });
  writeFileSync(join(react, "package.json"), '{ "name": "react", "type": "module" }');
  const make = "(tag, props) => ({ tag, props })";
  for (const name of ["jsx-runtime.js", "jsx-dev-runtime.js"]) {
    writeFileSync(
      join(react, name),
      `export const jsx = ${make};\nexport const jsxs = ${make};\nexport const jsxDEV = ${make};\n`,
    );
  }
}

function runsInPython(one: MergeCase, path: string, content: string): void {
  if (interpreter === null) return;
  const claims = (one.holds ?? []).map((claim) => `assert ${claim}, ${JSON.stringify(claim)}`).join("\n");
  writeFileSync(path, `${content}\n${claims}\n`);
  const done = Bun.spawnSync([interpreter, path], { stderr: "pipe" });
  if (done.exitCode !== 0) throw new Error(`${done.stderr.toString()}\nin:\n${content}`);
}

/** Below this share of git's conflicts among the mergeable triples, a change has made the merge more timid. */
const solvedAtLeast = 0.95;

test("of the triples that can be merged and that git cannot, nearly all are solved; of the others, none", async () => {
  const tally = { conflicts: 0, mergeable: 0, solved: 0, wronglySolved: 0 };
  for (const one of Object.values(themes).flat()) {
    const versions = { base: one.base, ours: sideOf(one.base, one.ours), theirs: sideOf(one.base, one.theirs) };
    if (!gitConflicts(versions)) continue;
    const merge = await mergeCode({ language: one.language ?? "typescript", ...versions });
    tally.conflicts++;
    if (one.holds !== undefined) tally.mergeable++;
    if (merge.kind === "merged" && one.holds !== undefined) tally.solved++;
    if (merge.kind === "merged" && one.holds === undefined) tally.wronglySolved++;
  }
  expect(tally.conflicts).toBeGreaterThan(90);
  expect(tally.wronglySolved).toBe(0);
  expect(tally.solved / tally.mergeable).toBeGreaterThanOrEqual(solvedAtLeast);
}, 60_000);

function gitConflicts({ base, ours, theirs }: { base: string; ours: string; theirs: string }): boolean {
  const paths = [ours, base, theirs].map((text, index) => {
    const path = join(dir, `git-${index}`);
    writeFileSync(path, text);
    return path;
  });
  return Bun.spawnSync(["git", "merge-file", "-p", "-q", ...paths]).exitCode !== 0;
}
