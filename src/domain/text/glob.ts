/**
 * Does the path equal the pattern or match it? `*` and `?` stay within a name, `**` crosses directories, `[ab]` and
 * `{a,b}` choose, and a pattern that ends in a slash means everything below it. What is no valid pattern is a plain path.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  if (path === pattern) return true;
  const expression = known.get(pattern) ?? remembered(pattern);
  return expression?.test(path) ?? false;
}

/** A list of paths is compared with the same few patterns. */
const known = new Map<string, RegExp>();
const mostKnown = 200;

function remembered(pattern: string): RegExp | undefined {
  const expression = expressionOf(pattern.endsWith("/") ? `${pattern}**` : pattern);
  if (known.size >= mostKnown) known.clear();
  if (expression !== undefined) known.set(pattern, expression);
  return expression;
}

function expressionOf(pattern: string): RegExp | undefined {
  const source = sourceOf(pattern);
  if (source === undefined) return undefined;
  try {
    return new RegExp(`^${source}$`, "u");
  } catch {
    // A class such as `[z-a]` is malformed: then the pattern is a name like any other.
    return undefined;
  }
}

/** The pattern as the source of a regular expression; undefined when a bracket or brace is left open. */
function sourceOf(pattern: string): string | undefined {
  let source = "";
  let braces = 0;
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at);
    const character = pattern[at] ?? "";
    if (rest.startsWith("**/")) {
      source += "(?:.*/)?";
      at += 2;
    } else if (rest.startsWith("**")) {
      source += ".*";
      at += 1;
    } else if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (character === "[") {
      const choice = /^\[(!?)([^\]/]+)\]/.exec(rest);
      if (choice === null) return undefined;
      source += `[${choice[1] === "!" ? "^/" : ""}${(choice[2] ?? "").replace(/[\\^[]/g, "\\$&")}]`;
      at += choice[0].length - 1;
    } else if (character === "{") {
      braces++;
      source += "(?:";
    } else if (character === "}" && braces > 0) {
      braces--;
      source += ")";
    } else if (character === "," && braces > 0) source += "|";
    else source += character.replace(/[\\^$.|+()[\]{}/]/g, "\\$&");
  }
  return braces === 0 ? source : undefined;
}
