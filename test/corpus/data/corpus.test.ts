import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { type FileMerge, mergeFile } from "../../../src/usecases/merge/merge-file.ts";
import { worldWith } from "../../../testkit/world.ts";
import { type Case, refuse, type Sections } from "./case.ts";
import { jsonCases } from "./json.cases.ts";
import { lineCases } from "./line.cases.ts";
import { markdownCases } from "./markdown.cases.ts";
import { yamlCases } from "./yaml.cases.ts";
import { yamlFormCases } from "./yaml-forms.cases.ts";

const merger = {
  mergeFile: async (versions: Parameters<typeof mergeFile.run>[1]): Promise<FileMerge> => {
    const merged = await mergeFile.run(worldWith({}), versions);
    if (!merged.ok) throw new Error(JSON.stringify(merged.refusal));
    return merged.value;
  },
};
const families = { json: jsonCases, yaml: [...yamlCases, ...yamlFormCases], markdown: markdownCases, lines: lineCases };

for (const [family, cases] of Object.entries(families)) {
  describe(family, () => {
    for (const one of cases) {
      test(one.name, async () => {
        const merge = await merger.mergeFile(one);
        if (one.expect === refuse) expect(merge.kind).toBe("refused");
        else expect(merge.kind === "merged" ? said(one.path, merge.content) : merge).toEqual(one.expect);
      });
      test(`${one.name}, with the sides exchanged`, async () => {
        const merge = await merger.mergeFile({ ...one, ours: one.theirs, theirs: one.ours });
        expect(merge.kind).toBe(one.expect === refuse ? "refused" : "merged");
      });
    }
  });
}

test("the corpus is large, and most of what git leaves to a person is settled", () => {
  const all = Object.values(families).flat();
  const collide = all.filter(gitConflicts);
  const solved = collide.filter(({ expect: wanted }) => wanted !== refuse);
  const solvable = `${solved.length} of ${collide.length}`;
  expect(all.length).toBeGreaterThanOrEqual(70);
  expect({ solvable, most: solved.length / collide.length > 0.4 }).toMatchObject({ most: true });
});

/** What a file says, read by something other than the merger. */
function said(path: string, content: string): unknown {
  if (path.endsWith(".jsonl"))
    return content
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  if (/\.(json|ya?ml)$/.test(path)) {
    const text = path.endsWith("json") ? content.replace(/\/\/.*$/gm, "") : content;
    const documents = parseAllDocuments(text).map((document) => document.toJS() as unknown);
    return documents.length === 1 ? documents[0] : documents;
  }
  return path.endsWith(".md") ? sectionsOf(content) : content;
}

function sectionsOf(content: string): Sections {
  const found: [string, string[]][] = [["", []]];
  let fenced = false;
  const lines = content
    .replace(/^(.+)\n=+$/gm, "# $1")
    .replace(/^(\w.*)\n-{3,}$/gm, (all, title) => (title.includes(":") ? all : `## ${title}`));
  for (const line of lines.split("\n")) {
    if (line.startsWith("```")) fenced = !fenced;
    if (!fenced && /^#+ /.test(line)) found.push([line, []]);
    else found.at(-1)?.[1].push(line);
  }
  return found
    .map(([heading, body]) => [heading, body.join("\n").trim()] as const)
    .filter(([heading, body]) => heading !== "" || body !== "");
}

function gitConflicts({ base, ours, theirs }: Case): boolean {
  const dir = mkdtempSync(join(tmpdir(), "ov-corpus-"));
  try {
    const [o = "", b = "", t = ""] = Object.entries({ ours, base, theirs }).map(([name, text]) => {
      writeFileSync(join(dir, name), text);
      return join(dir, name);
    });
    return spawnSync("git", ["merge-file", "-p", o, b, t]).status !== 0;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
