import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { type FileMerge, mergeFile } from "../../../src/usecases/merge/merge-file.ts";
import { worldWith } from "../../../testkit/world.ts";
import { sideOf, type Triple } from "./triple.ts";

const merger = {
  mergeFile: async (versions: Parameters<typeof mergeFile.run>[1]): Promise<FileMerge> => {
    const merged = await mergeFile.run(worldWith({}), versions);
    if (!merged.ok) throw new Error(JSON.stringify(merged.refusal));
    return merged.value;
  },
};
const interpreter = Bun.which("python3");

/** What became of a triple: `complaint` is absent when that is as decided. */
export interface Judgement {
  readonly kind: "merged" | "refused";
  /** The merged text, or why there is none. */
  readonly text: string;
  readonly complaint?: string;
}

/** Merges one triple, as given or with the sides exchanged, and reads the outcome with something other than the merger. */
export async function judge(one: Triple, side: "given" | "exchanged"): Promise<Judgement> {
  const [ours, theirs] = [sideOf(one.base, one.ours), sideOf(one.base, one.theirs)];
  const sides = side === "given" ? { ours, theirs } : { ours: theirs, theirs: ours };
  const merge = await merger.mergeFile({ path: one.path, base: one.base, ...sides });
  if (merge.kind === "refused") {
    const complaint = one.verdict === "merge" ? "should have been merged" : undefined;
    return { kind: "refused", text: merge.reason, ...(complaint !== undefined && { complaint }) };
  }
  const complaint = one.verdict === "refuse" ? "should have been refused" : await wrongIn(one, merge.content, side);
  return { kind: "merged", text: merge.content, ...(complaint !== undefined && { complaint }) };
}

async function wrongIn(one: Triple, content: string, side: "given" | "exchanged"): Promise<string | undefined> {
  const text = content.replaceAll("\r\n", "\n");
  const form = (wanted: string) => (side === "given" ? wanted : wanted.replaceAll("\r\n", "\n"));
  const read = side === "given" && one.once?.some((wanted) => wanted.includes("\r")) ? content : text;
  for (const wanted of one.once ?? []) {
    if (read.split(form(wanted)).length !== 2) return `${JSON.stringify(wanted)} is not there once`;
  }
  for (const unwanted of one.never ?? []) if (text.includes(unwanted)) return `${JSON.stringify(unwanted)} is there`;
  let from = 0;
  for (const wanted of one.order ?? []) {
    from = text.indexOf(wanted, from);
    if (from < 0) return `${JSON.stringify(wanted)} is not in its order`;
  }
  if ("says" in one && !Bun.deepEquals(said(content), one.says)) return `says ${JSON.stringify(said(content))}`;
  return one.holds === undefined ? undefined : fails(one, content);
}

function said(content: string): unknown {
  const documents = parseAllDocuments(content, { uniqueKeys: false }).map((document) => document.toJS() as unknown);
  return documents.length === 1 ? documents[0] : documents;
}

async function fails(one: Triple, content: string): Promise<string | undefined> {
  const home = mkdtempSync(join(tmpdir(), "ov-adversary-"));
  try {
    mkdirSync(home, { recursive: true });
    for (const [name, text] of Object.entries(one.files ?? {})) writeFileSync(join(home, name), text);
    const path = join(home, `merged${extname(one.path)}`);
    writeFileSync(path, content);
    return await (path.endsWith(".py") ? failsInPython(one, path, content) : failsInScript(one, path));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function failsInScript(one: Triple, path: string): Promise<string | undefined> {
  try {
    const exported: unknown = await import(path);
    return one.holds?.find((claim) => new Function("m", `return (${claim});`)(exported) !== true);
  } catch (broken) {
    return String(broken);
  }
}

function failsInPython(one: Triple, path: string, content: string): string | undefined {
  if (interpreter === null) return undefined;
  const claims = (one.holds ?? []).map((claim) => `assert ${claim}, ${JSON.stringify(claim)}`).join("\n");
  writeFileSync(path, `${content}\n${claims}\n`);
  const done = Bun.spawnSync([interpreter, "-S", path], { stderr: "pipe" });
  return done.exitCode === 0 ? undefined : done.stderr.toString();
}
