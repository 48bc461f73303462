import { readText } from "../read-text.ts";

/**
 * The variables in the first of these files that is still there, and those of all of them: what is in the others is not
 * passed on, but must not be shown either.
 */
export function captured(files: readonly string[]): {
  readonly passed: Readonly<Record<string, string>>;
  readonly all: readonly Readonly<Record<string, string>>[];
} {
  const all = files.flatMap((path) => {
    const text = readText(path);
    return text === undefined ? [] : [JSON.parse(text) as Record<string, string>];
  });
  return { passed: all[0] ?? {}, all };
}
