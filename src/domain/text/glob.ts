/**
 * Does the path equal the pattern or match it? `*` and `?` stay within a name, `**` crosses directories, `[ab]` and
 * `{a,b}` choose, and a pattern that ends in a slash means everything below it. What is no valid pattern is a plain path.
 *
 * Agents write patterns. So all ways through a pattern are followed at the same time, character by character: the time
 * grows with the length of path and pattern, and with nothing else. A regular expression would try one way after another.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  if (path === pattern) return true;
  const { begin, end, steps } = known.get(pattern) ?? remembered(pattern);
  return steps !== undefined && path.startsWith(begin) && path.endsWith(end) && isMatched(path, steps);
}

/**
 * Does the path lie in what the pattern means: is it that file, does it match, or is it below a directory that the pattern
 * names? `src`, `src/` and `./src` are one directory, `.` is all of it. `src/*` has the files of `src` alone.
 */
export function covers(pattern: string, path: string): boolean {
  const plain = plainPattern(pattern);
  if (plain === "" || matchesGlob(path, plain) || path.startsWith(`${plain}/`)) return true;
  return !/[*?[][^/]*$/.test(plain) && /[*?[{]/.test(plain) && matchesGlob(path, `${plain}/**`);
}

/** A pattern without what may stand around it: `./` before it and slashes behind it. */
export const plainPattern = (pattern: string): string =>
  pattern
    .replace(/^(?:\.\/+)+/, "")
    .replace(/\/+$/, "")
    .replace(/^\.$/, "");

interface Compiled {
  /** The plain text before the first and behind the last special character. */
  readonly begin: string;
  readonly end: string;
  /** Undefined for an invalid pattern. */
  readonly steps: readonly Step[] | undefined;
}

/** A list of paths is compared with the same few patterns. */
const known = new Map<string, Compiled>();
const mostKnown = 200;

function remembered(given: string): Compiled {
  const pattern = given.endsWith("/") ? `${given}**` : given;
  const begin = /^[^*?[{]*/.exec(pattern)?.[0] ?? "";
  const last = Math.max(...[..."*?]}"].map((special) => pattern.lastIndexOf(special)));
  // The slash of `**/` may be missing from a path.
  const end = last < 0 ? "" : pattern.slice(last + 1).replace(/^\//, "");
  const compiled = { begin, end, steps: stepsOf(pattern) };
  if (known.size >= mostKnown) known.clear();
  known.set(given, compiled);
  return compiled;
}

/** A place in a pattern. It is left with a character that it takes, or at once for other places. The last one is the end. */
interface Step {
  takes: ((character: string) => boolean) | undefined;
  next: number;
  readonly also: number[];
}

const inName = (character: string): boolean => character !== "/";
const anything = (): boolean => true;

/** The places of a pattern; undefined when a bracket or brace is left open, or a class is malformed. */
function stepsOf(pattern: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  const add = (takes?: Step["takes"]): number => steps.push({ takes, next: steps.length + 1, also: [] }) - 1;
  const also = (from: number, to: number): void => void steps[from]?.also.push(to);
  /** Any number of characters, none included. */
  const repeat = (takes: Step["takes"]): void => {
    const at = add(takes);
    also(at, at + 1);
    const step = steps[at];
    if (step !== undefined) step.next = at;
  };
  /** Of each open brace, where it began and where its choices end. */
  const braces: { readonly begin: number; readonly ends: number[] }[] = [];
  for (let at = 0; at < pattern.length; ) {
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    const brace = braces.at(-1);
    if (pattern.startsWith("**/", at)) {
      const skip = add();
      repeat(anything);
      add((one) => one === "/");
      also(skip, steps.length);
      also(skip, skip + 1);
      at += 3;
    } else if (pattern.startsWith("**", at)) {
      repeat(anything);
      at += 2;
    } else if (character === "[") {
      const choice = /^\[(!?)([^\]/]+)\]/.exec(pattern.slice(at));
      const takes = choice === null ? undefined : oneOf(choice[2] ?? "", choice[1] === "!");
      if (takes === undefined) return undefined;
      add(takes);
      at += choice?.[0].length ?? 1;
    } else {
      at += character.length;
      if (character === "*") repeat(inName);
      else if (character === "?") add(inName);
      else if (character === "{") {
        const begin = add();
        also(begin, begin + 1);
        braces.push({ begin, ends: [] });
      } else if (character === "," && brace !== undefined) {
        brace.ends.push(add());
        also(brace.begin, steps.length);
      } else if (character === "}" && brace !== undefined) {
        braces.pop();
        for (const end of brace.ends) also(end, steps.length);
      } else add((one) => one === character);
    }
  }
  add();
  return braces.length === 0 ? steps : undefined;
}

/** The characters of a class such as `a-z_`; undefined when a range goes backwards. */
function oneOf(listed: string, isNegated: boolean): ((character: string) => boolean) | undefined {
  const characters = [...listed];
  const singles = new Set<string>();
  const ranges: (readonly [number, number])[] = [];
  for (let at = 0; at < characters.length; at++) {
    const first = characters[at] ?? "";
    const last = characters[at + 2];
    if (characters[at + 1] !== "-" || last === undefined) {
      singles.add(first);
      continue;
    }
    const range = [codeOf(first), codeOf(last)] as const;
    if (range[0] > range[1]) return undefined;
    ranges.push(range);
    at += 2;
  }
  return (character) => {
    const code = codeOf(character);
    const isListed = singles.has(character) || ranges.some(([first, last]) => first <= code && code <= last);
    return isNegated ? !isListed && character !== "/" : isListed;
  };
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0;

function isMatched(path: string, steps: readonly Step[]): boolean {
  /** For each place, after how many characters it was reached last. */
  const reached = new Uint32Array(steps.length);
  let count = 1;
  let here: number[] = [];
  let there: number[] = [];
  const reach = (at: number): void => {
    if (reached[at] === count) return;
    reached[at] = count;
    there.push(at);
    for (const to of steps[at]?.also ?? []) reach(to);
  };
  reach(0);
  for (const character of path) {
    [here, there] = [there, here];
    there.length = 0;
    count++;
    for (const at of here) {
      const step = steps[at];
      if (step?.takes?.(character) === true) reach(step.next);
    }
    if (there.length === 0) return false;
  }
  return reached[steps.length - 1] === count;
}
