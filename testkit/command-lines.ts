import { parse } from "../src/surfaces/cli/parse.ts";
import { tree } from "../src/surfaces/cli/tree.ts";
import type { UsageProblem } from "../src/surfaces/cli/usage.ts";

/** Every `ov …` a text tells its reader to type, as words. It ends where the prose goes on, outside of quotes. */
export function commandLinesIn(text: string): string[][] {
  return [...text.matchAll(/\bov ((?:'[^'\n]*'|"[^"\n]*"|.)*?)(?=[,;)\n]| or | && |$)/gm)].map(([, line = ""]) =>
    wordsOf(line),
  );
}

export interface BrokenLine {
  readonly line: string;
  readonly problem: UsageProblem["kind"];
}

/** The commands named in a text that the real command tree would not run, each with what is wrong with it. */
export function brokenLinesIn(text: string): BrokenLine[] {
  return commandLinesIn(text).flatMap((words) => {
    const parsed = parse(tree, words);
    return parsed.kind === "problem" ? [{ line: `ov ${words.join(" ")}`, problem: parsed.problem.kind }] : [];
  });
}

/** The words of a line as a shell would read them, placeholders like `<task>` included. */
function wordsOf(line: string): string[] {
  return [...line.trim().matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
