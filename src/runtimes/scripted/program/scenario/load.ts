import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { no, ok, type Result } from "../../../../domain/result.ts";
import { Notes, refused } from "./decode.ts";
import { type Rule, scenario } from "./rule.ts";

/** Reads and fully checks a scenario file. The refusal has one `file:line: problem` per mistake. */
export function loadScenario(path: string): Result<readonly Rule[], readonly string[]> {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    return no([`${path}: cannot be read: ${error instanceof Error ? error.message : String(error)}`]);
  }
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return no(document.errors.map((error) => `${path}:${lines.linePos(error.pos[0]).line}: ${error.message}`));
  }
  const notes = new Notes(document, lines);
  const rules = notes.within("scenario", () => scenario(document.contents, notes));
  if (rules !== refused) return ok(rules);
  const problems = notes.problems.toSorted((a, b) => a.line - b.line);
  return no(problems.map(({ line, message }) => `${path}:${line}: ${message}`));
}
